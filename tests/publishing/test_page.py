"""What a page contains, and what is refused before anything is compiled. The agents here have no modules."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from azero.compiler.machine import VARIABLE, WASM
from azero.compiler.wasm import target
from azero.compiler.wasm.compiling import as_written
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import identity_of
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import RolloutCard, save_rollout
from azero.publishing.build import Published, describe_game, game_of
from azero.publishing.files import check_target, games_of, is_page, publish, write_site
from azero.publishing.page import about_agent, html_of, site_of
from azero.publishing.worker import Job, Wanted, compile_apart

RUN = Path("tests/data/formats/run")


def without_module(name: str, game=None, **manifest) -> Published:
    game = game_of(name, game)
    return Published(name, game, b"", b"", {"game": describe_game(game), **manifest}, {})


def block(page: str, name: str):
    """Returns a block of data of a page."""
    return json.loads(re.search(rf'id="{name}">(.*?)</script>', page)[1])


def test_a_run_is_an_agent(monkeypatch):
    absolute = RUN.resolve()
    for name in (str(RUN), f"{absolute}@30"):
        page = html_of([without_module(name)])
        (agent,) = block(page, "agents")
        assert agent["about"]["simulations"] == (30 if "@" in name else 400)
        assert agent["about"]["id"] == absolute.joinpath(name).name and agent["about"]["kind"] == "net"
    monkeypatch.chdir(RUN)
    (agent,) = block(html_of([without_module(".")]), "agents")
    assert agent["about"]["id"] == "run"


def test_what_a_page_says_of_an_agent(monkeypatch, tmp_path):
    game = make_game("connect_four")
    about = about_agent("connect_four(level=3)", game, set())
    assert (about["id"], about["title"]) == ("connect_four", "azero Connect Four")
    file = tmp_path / "mine.safetensors"
    weights = [np.zeros(size) for size in (NUM_PATTERNS, game.num_actions)]
    save_rollout(file, *weights, RolloutCard(str(game), "", 1, 1, 1, 0, {}))
    about = about_agent(f"uct(c=2,rollout={file})@50", game, {"uct"})
    assert {about["id"], about["title"]} == {"uct(c=2,rollout=mine.safetensors)@50"} and about["name"] is None
    monkeypatch.chdir(RUN)
    assert about_agent(".", game_of("."), set())["id"] == "run"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "uct").mkdir()
    assert about_agent("uct", game, set())["kind"] == "uct"


def test_agents_of_a_page_have_different_titles():
    published = [without_module(name) for name in ("connect_four", "connect_four@50")]
    titles = [each["about"]["title"] for each in block(html_of(published), "agents")]
    assert titles == ["azero Connect Four (connect_four)", "azero Connect Four (connect_four@50)"]


@pytest.fixture
def secret(tmp_path):
    """A folder whose name nobody should see, with a game and a run."""
    folder = tmp_path / "secret_folder"
    folder.mkdir()
    shutil.copy("tests/data/nim.py", folder / "nim.py")
    shutil.copytree(RUN, folder / "run")
    return folder


def test_a_page_has_no_name_of_a_folder(secret):
    for published in (without_module(f"{secret}/run"), without_module("uct", f"{secret}/nim.py:Nim")):
        page = html_of([published])
        packed = [base64.b64decode(each) for each in re.findall(r'id="(?:wasm|weights)-\d">([^<]+)<', page)]
        assert all(b"secret_folder" not in zlib.decompress(each) for each in packed)
        assert "secret_folder" not in page and secret.parent.name not in page


FAILING = """
from azero.errors import BrokenRules

def fail(number: int) -> int:
    if number > 2:
        raise BrokenRules("it is more than two")
    return number
"""

COMPILE = """
import sys
sys.path.insert(0, sys.argv[1])
from failing import fail
from azero.compiler.wasm.compiling import STACK_BYTES, compile_entries
from azero.compiler.wasm.memory import Room
made = compile_entries({"fail": fail}, Room(STACK_BYTES))
assert list(made.errors.values()) == [("BrokenRules", "it is more than two")]
sys.stdout.buffer.write(made.module)
"""


def test_a_module_has_no_name_of_a_file(tmp_path):
    (tmp_path / "failing.py").write_text(FAILING)
    command = [sys.executable, "-c", COMPILE, str(tmp_path)]
    environment = {**os.environ, VARIABLE: WASM, "NUMBA_DISABLE_JIT": "0"}
    module = subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout
    assert module.startswith(b"\0asm") and b"failing" not in module and tmp_path.name.encode() not in module


def test_functions_that_browsers_lack_are_named_as_users_write_them():
    names = ["numba_gamma", "numba_gammaf", "erf", "erff", "atan2f", "numba_cpow"]
    assert [as_written(each) for each in names] == ["gamma", "gamma", "erf", "erf", "atan2", "numba_cpow"]


def test_numbers_of_a_page_are_those_of_json():
    with pytest.raises(ValueError, match="JSON"):
        html_of([without_module("uct", "tic_tac_toe", weight=float("nan"))])


def test_the_script_of_a_page_hides_none_of_it(monkeypatch):
    monkeypatch.setattr("azero.publishing.page.joined", lambda path: f'"{path.stem} </script> <!-- <script>"')
    page = html_of([without_module("uct", "tic_tac_toe")])
    for name in ("worker", "main"):
        assert f'"{name} <\\/script> <\\!-- <script>"' in page


def test_the_list_of_pages_is_written_last():
    games = games_of(["uct", "uct", "uct@50"], "tic_tac_toe")
    ((stem, (_, names)),) = games.items()
    assert names == ["uct", "uct@50"]
    assert [*site_of({stem: [without_module("uct", "tic_tac_toe")]})] == ["tic_tac_toe.html", "index.html"]


def test_a_limit_in_seconds_is_refused():
    with pytest.raises(BadInput, match=r"limit in seconds.*uct\(c=2\)@800"):
        game_of("uct(c=2)@1s", "tic_tac_toe")


def test_a_large_net_is_refused(monkeypatch):
    monkeypatch.setattr("azero.publishing.build.MOST_PARAMETERS", 1000)
    with pytest.raises(BadInput, match=r"a net of [\d,]+ parameters; a page can hold 1,000"):
        game_of("connect_four")


def test_another_numba_inside_is_refused(monkeypatch):
    monkeypatch.setattr(target, "_FIELDS", ("_tm", "_no_such_field"))
    with pytest.raises(BadInput, match=r"Numba [\d.]+ has no _no_such_field"):
        target.install()


def test_two_games_of_one_file_are_refused(monkeypatch):
    games = {"uct@1": make_game("go(size=5,komi=7)"), "uct@2": make_game("go(size=5,komi=-7)")}
    monkeypatch.setattr("azero.publishing.files.game_of", lambda agent, _: games[agent])
    with pytest.raises(BadInput, match=r"would both be go_.*_7_0\.html"):
        games_of([*games], None)


def test_all_agents_are_checked_before_the_first_is_compiled(run_azero, monkeypatch, tmp_path):
    monkeypatch.setattr("azero.publishing.build.compile_apart", None)
    for agents, problem in (
        (["uct@5", "mc"], "mc"),
        (["uct@5", "nobody"], "nobody"),
        (["connect_four", "othello"], "one file"),
    ):
        game = [] if "othello" in agents else ["--game", "tic_tac_toe"]
        code, _, said = run_azero("publish", *agents, *game, "--out", str(tmp_path / "x.html"))
        assert code == 2 and problem in said and "compiling" not in said
    with pytest.raises(BadInput, match="a page is for one game"):
        publish("connect_four", "othello")


def test_endings_of_a_page(tmp_path):
    assert is_page(tmp_path / "x.HTML") and is_page(tmp_path / "x.htm") and not is_page(tmp_path / "x")


def test_only_pages_that_azero_wrote_are_replaced(tmp_path):
    page = html_of([without_module("uct", "tic_tac_toe")])
    target, folder = tmp_path / "x.HTM", tmp_path / "site"
    target.touch()
    with pytest.raises(BadInput, match="azero has not written it"):
        check_target(target, is_forced=True)
    target.write_text(page)
    with pytest.raises(BadInput, match="--force replaces it"):
        check_target(target, is_forced=False)
    check_target(target, is_forced=True)
    folder.mkdir()
    (folder / ".git").mkdir()
    for name in (".nojekyll", "CNAME", "README.md"):
        (folder / name).touch()
    check_target(folder, is_forced=False)
    for name, content in site_of({"tic_tac_toe": [without_module("uct", "tic_tac_toe")]}).items():
        (folder / name).write_bytes(content)
    with pytest.raises(BadInput, match="--force replaces those"):
        check_target(folder, is_forced=False)
    check_target(folder, is_forced=True)
    (folder / "mine.html").write_text("<html>")
    with pytest.raises(BadInput, match=r"other files, such as 'mine\.html'"):
        check_target(folder, is_forced=True)
    (folder / "mine.html").rename(folder / "readme_of_mine.html")
    with pytest.raises(BadInput, match=r"other files, such as 'readme_of_mine\.html'"):
        check_target(folder, is_forced=True)


def test_pages_that_a_folder_has_already_are_listed(tmp_path):
    for game in ("tic_tac_toe", "connect_four"):
        write_site(tmp_path / "site", {game: [without_module("uct", game)]})
        (tmp_path / "site" / "README.md").write_text("<title>no page</title>")
    index = (tmp_path / "site" / "index.html").read_text()
    links = [("connect_four.html", "Connect Four 7 × 6"), ("tic_tac_toe.html", "Tic-tac-toe")]
    assert re.findall(r'href="(.*?)">(.*?)</a>', index) == links


def test_a_page_that_cannot_be_written_is_refused_before_anything_is_compiled():
    if not Path("/proc/self").exists():
        pytest.skip("there is no folder in which nobody can write")
    for out in (Path("/proc/x.html"), Path("/proc/x")):
        with pytest.raises(BadInput, match="cannot be written"):
            check_target(out, is_forced=False)


def test_a_file_that_writes_to_stdout_does_not_spoil_the_answer(tmp_path):
    file = tmp_path / "nim.py"
    file.write_text(Path("tests/data/nim.py").read_text() + "\nimport os\n\nos.write(1, b'spoilt')\n")
    game = make_game(f"{file}:Nim")
    with pytest.raises(BadInput, match="missing"):
        compile_apart(Job(str(game), identity_of(game.rules), [Wanted(None, 0, tmp_path / "missing")]))
