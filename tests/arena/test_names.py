"""Tests of names of agents: every form, every error, options, and that only nets load torch."""

import json
import re
import shutil
import subprocess
import sys

import pytest

import azero
from azero.arena.agents import checkpoints
from azero.arena.agents.agent import RandomAgent
from azero.arena.agents.checkpoints import find_checkpoint, game_of, shipped_checkpoints
from azero.arena.agents.clock import UNLIMITED, Limit
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import Options, parse_name, split_options, with_options
from azero.arena.agents.search_agent import SearchAgent
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import FlatSearch, TreeSearch

from .agents import write_checkpoint

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    return write_checkpoint(tmp_path_factory.mktemp("names") / "net.safetensors")


@pytest.mark.parametrize(
    ("name", "base", "limit"),
    [
        ("uct", "uct", Limit(400, is_default=True)),
        ("uct@1000", "uct", Limit(1000)),
        ("uct@2s", "uct", Limit(seconds=2.0)),
        ("mc@0.25s", "mc", Limit(seconds=0.25)),
        ("runs/c4@1", "runs/c4", Limit(1)),
        (f"uct@{UNLIMITED}", "uct", Limit(UNLIMITED)),
        ("runs/me@home@50", "runs/me@home", Limit(50)),
        ("gtp:engine --level 3@home", "gtp:engine --level 3@home", Limit(400, is_default=True)),
    ],
)
def test_a_name_is_a_base_and_a_limit(name, base, limit):
    assert (parse_name(name).base, parse_name(name).limit) == (base, limit)


@pytest.mark.parametrize(
    ("name", "kind", "search"),
    [("uct@10", SearchAgent, TreeSearch), ("mc@10", SearchAgent, FlatSearch), ("random", RandomAgent, None)],
)
def test_agents_without_a_net(name, kind, search):
    agent = make_agent(name, GAME, seed=3)
    assert type(agent) is kind and (agent.name, agent.game, agent.seed) == (name, GAME, 3)
    assert search is None or type(agent.make_search(1, 10, 1)) is search


@pytest.mark.parametrize("name", ["a (2)", "me@home"])
def test_a_path_may_have_signs_of_names_itself(checkpoint, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    path = shutil.copy(checkpoint, folder)
    assert make_agent(str(path)).game == GAME
    for name in (f"{path}@5", f"{path}(solve_nodes=7)@5"):
        assert make_agent(name).limit == Limit(5)
    assert make_agent(f"{path}(solve_nodes=7)").make_search(1, 10, 1).settings.solve_nodes == 7
    with pytest.raises(BadInput, match="unknown option 'solve'"):
        make_agent(f"{path}(solve=7)")


def test_a_game_can_be_given_by_name():
    assert make_agent("uct@10", "connect_four(rows=5)").game == make_game("connect_four(rows=5)")


def test_a_checkpoint_tells_its_game(checkpoint):
    agent = make_agent(f"{checkpoint}@30")
    assert agent.game == GAME == make_agent(str(checkpoint), GAME).game
    assert agent.limit == Limit(30)
    assert agent.suggest(GAME.new_initial_state()).simulations == 30


def test_load_checkpoint_takes_what_agents_are_named_by(checkpoint, tmp_path):
    shutil.copy(checkpoint, tmp_path / "best.safetensors")
    assert find_checkpoint(str(tmp_path)) == tmp_path / "best.safetensors"
    for path in (checkpoint, str(tmp_path), tmp_path, "tic_tac_toe"):
        assert azero.load_checkpoint(path).game == make_agent(f"{path}@5").game == GAME
    with pytest.raises(BadInput, match="^unknown checkpoint 'uct': not a file, a run's folder or a name; "):
        azero.load_checkpoint("uct")


def test_an_agent_shows_itself():
    agent = make_agent("uct@30", GAME, seed=7)
    assert repr(agent) == "<SearchAgent 'uct@30' of tic_tac_toe, seed 7>"


def test_shipped_checkpoints_are_found_by_name(checkpoint, tmp_path, monkeypatch):
    shutil.copy(checkpoint, tmp_path / "champion.safetensors")
    monkeypatch.setattr(checkpoints, "_PLACES", (tmp_path / "none", tmp_path))
    assert find_checkpoint("champion") == tmp_path / "champion.safetensors"
    assert game_of("champion@7") == GAME
    with pytest.raises(BadInput, match=r"^unknown agent 'champoin': .* did you mean 'champion'"):
        find_checkpoint("champoin")


def test_checkpoints_that_come_with_azero_are_found_by_name():
    for name, path in shipped_checkpoints().items():
        assert find_checkpoint(name) == path and game_of(name) is not None


def test_a_game_as_an_agent_is_the_included_checkpoint_with_its_largest_board(tmp_path, monkeypatch):
    for stem in ("go_7x7", "go_13x9", "go_9x9", "gomoku_15x15", "go"):
        (tmp_path / f"{stem}.safetensors").write_bytes(b"")
    monkeypatch.setattr(checkpoints, "_PLACES", (tmp_path,))
    assert find_checkpoint("go").stem == "go"
    (tmp_path / "go.safetensors").unlink()
    assert find_checkpoint("go").stem == "go_13x9"


@pytest.mark.parametrize("name", ["uct", "mc@10", "random", "gtp:engine"])
def test_agents_that_play_any_game_tell_none_and_need_one(name):
    assert game_of(name) is None
    with pytest.raises(BadInput, match=f"^agent '{name}' can play any game: name one with --game"):
        make_agent(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("uct@", "agent 'uct@': limit '' should be simulations or seconds, e.g. uct@800 or uct@2s"),
        ("uct@many", "agent 'uct@many': limit 'many' should be simulations or seconds"),
        ("uct@1.5", "agent 'uct@1.5': limit '1.5' should be simulations or seconds"),
        ("uct@5ms", "agent 'uct@5ms': limit '5ms' should be simulations or seconds"),
        ("uct@0", "agent 'uct@0': simulations = 0 should be 1 or more"),
        ("uct@-3", "agent 'uct@-3': simulations = -3 should be 1 or more"),
        ("uct@9999999999", "agent 'uct@9999999999': simulations = 9999999999 should be "),
        ("mc@0s", "agent 'mc@0s': seconds = 0.0 should be a number greater than 0"),
        ("mc@-0.5s", "agent 'mc@-0.5s': seconds = -0.5 should be a number greater than 0"),
        ("random(x=1)", "agent 'random(x=1)': random has no limit and no options; write just random"),
        ("random@5", "agent 'random@5': random has no limit and no options; write just random"),
        ("utc@100", "unknown agent 'utc': not a file, a run's folder or a name; did you mean 'uct'? known: "),
        ("nim.py:Nim", "'nim.py:Nim' is a game, not an agent: name both, e.g. uct@1000 --game nim.py:Nim"),
        (
            "my/nim.py:Nim(heap=3)@9",
            "'my/nim.py:Nim' is a game, not an agent: name both, e.g. uct@1000 --game my/nim.py",
        ),
        ("nim.py", "'nim.py' is a game, not an agent: name both, e.g. uct@1000 --game nim.py"),
        ("p_game", "'p_game' is a game, not an agent: name both, e.g. uct@1000 --game p_game"),
        ("nowhere/net.safetensors@5", "checkpoint 'nowhere/net.safetensors' does not exist"),
        ("net.safetensors", "checkpoint 'net.safetensors' does not exist"),
        ("tests", "folder 'tests' has no best.safetensors; is it a run's folder?"),
        ("", "unknown agent ''"),
        ("@800", "unknown agent ''"),
        ("x" * 300, f"unknown agent '{'x' * 300}'"),
        *(
            (f"{word}(resign={value})@9", f"agent '{word}(resign={value})")
            for word in ("uct", "alphabeta", "tic_tac_toe")
            for value in ("2", "-1.5", "much", "")
        ),
    ],
)
def test_what_is_wrong_is_named_in_one_line(name, message, tmp_path, monkeypatch):
    (tmp_path / "tests").mkdir()
    (tmp_path / "nim.py").write_text("")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadInput) as error:
        make_agent(name, GAME)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_a_checkpoint_of_another_game_is_refused(checkpoint):
    with pytest.raises(BadInput, match=r"^checkpoint .* plays tic_tac_toe, not connect_four$"):
        make_agent(str(checkpoint), make_game("connect_four"))


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_at_least_one(threads):
    with pytest.raises(BadInput, match=f"^threads = {threads} should be 1 or more$"):
        make_agent("uct", GAME, threads=threads)


WITHOUT_TORCH = """
import json, sys
import azero
from azero.cli import run
for command in (["games"], ["suggest", "uct@20", "--game", "tic_tac_toe", "--json"],
                ["evaluate", "mc@5", "--against", "random", "--game", "tic_tac_toe", "--games", "2", "--json"]):
    sys.argv = ["azero", *command]
    assert run() == 0
print(json.dumps(sorted({"torch", "tensorboard"} & set(sys.modules))))
"""


def test_without_a_net_there_is_no_torch():
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []


@pytest.mark.parametrize(("name", "path"), [(r"runs\mine@800", r"runs\mine"), (r"me@home\mine", r"me@home\mine")])
def test_a_path_of_windows_that_is_not_there_is_said_not_to_exist(monkeypatch, name, path):
    monkeypatch.setattr("os.sep", "\\")
    with pytest.raises(BadInput) as error:
        make_agent(name, "tic_tac_toe")
    assert str(error.value) == f"checkpoint {path!r} does not exist"


# --- options ---


@pytest.mark.parametrize(
    ("base", "word", "options"),
    [
        ("uct", "uct", {}),
        ("uct()", "uct", {}),
        ("uct(c=2)", "uct", {"c": "2"}),
        ("uct(c=2,by=value)", "uct", {"c": "2", "by": "value"}),
        ("uct( c = 2 , by = value )", "uct", {"c": "2", "by": "value"}),
        ("uct(c=2,)", "uct", {"c": "2"}),
        ("x(a=b=c)", "x", {"a": "b=c"}),
        ("x(selection=r.py:R(a=1,b=2),c_puct=2)", "x", {"selection": "r.py:R(a=1,b=2)", "c_puct": "2"}),
    ],
)
def test_a_word_and_its_options(base, word, options):
    assert split_options(base) == (word, options)


def test_options_are_added_to_those_there_are():
    assert with_options("mc", root="turns") == "mc(root=turns)"
    assert with_options("uct(c=1,prove=false)", table=1000, c=2) == "uct(c=2,prove=false,table=1000)"


@pytest.mark.parametrize(
    ("base", "message"),
    [
        ("uct(c=2", "agent 'uct(c=2': options should be written uct(key=value,...)"),
        ("uct(c=2)x", "agent 'uct(c=2)x': options should be written uct(key=value,...)"),
        ("uct(2)", "agent 'uct(2)': '2' should be written key=value"),
        ("uct(c=)", "agent 'uct(c=)': 'c=' should be written key=value"),
        ("uct(c=2, )", "agent 'uct(c=2, )': '' should be written key=value"),
        ("uct(c=2\n3)", r"agent 'uct(c=2\n3)': 'c=2\n3' should be written key=value"),
        ("uct(c=2,c=3)", "agent 'uct(c=2,c=3)' sets c twice"),
    ],
)
def test_what_is_not_so_written_is_refused(base, message):
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(base)


def test_what_is_not_set_has_its_default():
    options = Options("a")
    assert options.number("c", 1.5, 0.0, 2.0) == 1.5
    assert options.whole("n", 7, 0, 9) == 7
    assert options.choice("by", ("visits", "value")) == "visits"
    assert options.text("rest") is None and options.memory("table", 32, 2, 100) is None
    options.finish()


def test_what_is_set_is_read():
    options = Options("a(c=-0.25,n=9,by=value,rest=x/y,table=100)")
    assert options.number("c", 1.5, -1.0, 2.0) == -0.25
    assert options.whole("n", 7, 0, 9) == 9
    assert options.choice("by", ("visits", "value")) == "value"
    assert options.text("rest") == "x/y"
    assert options.memory("table", 32, 2, 100) == 100
    options.finish()


@pytest.mark.parametrize(("text", "entries"), [("1MiB", 32_768), ("64MiB", 2_097_152), ("2", 2)])
def test_memory_is_entries_or_mebibytes(text, entries):
    assert Options(f"a(table={text})").memory("table", 32, 2, 1 << 28) == entries


@pytest.mark.parametrize("text", ["3", "-0.1", "x", "nan", "inf", "1e3", "1e400", "0x1", "2.0.0"])
def test_numbers_out_of_range_are_refused(text):
    message = f"agent 'a(c={text})': c = {text} should be a number from 0 to 2.5"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(c={text})").number("c", 1.0, 0.0, 2.5)


@pytest.mark.parametrize("text", ["1001", "-1", "5.0", "five", "9" * 30])
def test_whole_numbers_out_of_range_are_refused(text):
    message = f"agent 'a(n={text})': n = {text} should be a whole number from 0 to 1,000"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(n={text})").whole("n", 1, 0, 1000)


def test_what_is_no_choice_is_refused():
    with pytest.raises(BadInput, match=r"^agent 'a\(by=luck\)': by = luck should be one of visits, value$"):
        Options("a(by=luck)").choice("by", ("visits", "value"))


@pytest.mark.parametrize("text", ["1", "65537", "0MiB", "3MiB", "1GiB", "1.5MiB", "lots", "-2"])
def test_memory_out_of_range_is_refused(text):
    message = f"agent 'a(table={text})': table = {text} should be from 2 to 65,536 entries, or memory, e.g. 64MiB"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        Options(f"a(table={text})").memory("table", 32, 2, 65_536)


def test_an_option_that_nobody_asked_for_is_refused():
    options = Options("a(visit=5)")
    options.whole("visits", 1, 0, 9)
    message = "agent 'a(visit=5)': unknown option 'visit'; did you mean 'visits'? known: resign, visits"
    with pytest.raises(BadInput, match=f"^{re.escape(message)}$"):
        options.finish()
    with pytest.raises(BadInput, match=r"^agent 'a\(c=1\)': unknown option 'c'; known: resign$"):
        Options("a(c=1)").finish()
