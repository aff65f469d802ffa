"""Tests of the guides to a user's own game and net: their files are written and their commands run, in order."""

import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from azero import cli
from azero.config.reading import load_config
from azero.games import make_game
from azero.games.laws.laws import check_laws

DOCS = Path(__file__).parent.parent / "docs"
FEW = (
    "training.iterations=1",
    "selfplay.games_per_iteration=16",
    "gate.games=4",
    "gate.final_games=0",
    "net.blocks=1",
    "net.channels=16",
)
"""What a test trains in place of some minutes."""


def files_in(page: str) -> dict[str, str]:
    return dict(re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", (DOCS / page).read_text(), re.DOTALL))


def commands_in(page: str) -> list[str]:
    blocks = re.findall(r"```sh\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def run(words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", words)
        patch.setattr("builtins.input", lambda prompt: "quit")
        return cli.run()


def test_the_game_of_the_guide_is_short():
    lines = [line for line in files_in("your_own_game.md")["domineering.py"].splitlines() if line.strip()]
    assert len(lines) < 80


def test_the_larger_game_runs_in_plain_python(tmp_path):
    for name, text in files_in("second_game.md").items():
        (tmp_path / name).write_text(text)
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    look = subprocess.run([sys.executable, "look.py"], cwd=tmp_path, env=plain, capture_output=True, text=True)
    assert "'d1d3'" in look.stdout and "2 o o o . o o" in look.stdout, look
    assert load_config(tmp_path / "leap.toml").game.name.endswith("leap.py:Leap")


def test_the_texts_of_the_guide_lead_back_to_their_positions(tmp_path):
    source, page = files_in("your_own_game.md")["domineering.py"], (DOCS / "rules_of_a_game.md").read_text()
    methods = textwrap.indent(re.search(r"```python\n(def position_to_text.*?)```", page, re.DOTALL)[1], "    ")
    source = source.replace(
        "import (\n", "import (\n    BadInput,\n    board_to_text,\n    read_player,\n    text_to_board,\n"
    )
    source = source.replace("    def reset", f"{methods}\n    def reset")
    (tmp_path / "domineering.py").write_text(source)
    game = make_game(f"{tmp_path / 'domineering.py'}:Domineering(size=4)")
    check_laws(game, num_games=2, seed=0)
    assert game.state_from_text("##..\n....\n#...\n#...").to_text() == "##2/4/#3/#3 X"


def test_the_picture_of_the_guide_has_both_ends_of_each_domino(tmp_path):
    source, page = files_in("your_own_game.md")["domineering.py"], (DOCS / "rules_of_a_game.md").read_text()
    method = textwrap.indent(re.search(r"```python\n(def picture.*?)```", page, re.DOTALL)[1], "    ")
    source = source.replace("import (\n", "import (\n    Picture,\n    Player,\n    pieces_from,\n    squares,\n")
    (tmp_path / "domineering.py").write_text(source.replace("    def reset", f"{method}\n    def reset"))
    game = make_game(f"{tmp_path / 'domineering.py'}:Domineering(size=4)")
    check_laws(game, num_games=2, seed=0)
    picture = game.picture(game.state_from_moves("b4"))
    assert picture.problem is None and [piece.cell for piece in picture.pieces] == [1, 5]
    assert picture.moves[2] == "c4" and picture.clicks[2] == (2, 3) and picture.players[1].name == "Horizontal"


@pytest.mark.thorough
@pytest.mark.parametrize(("page", "count"), [("your_own_game.md", 7), ("second_game.md", 2), ("your_own_net.md", 7)])
def test_the_guide_works_from_its_first_line_to_its_last(monkeypatch, tmp_path, capsys, page, count):
    monkeypatch.chdir(tmp_path)
    for name, text in files_in(page).items():
        (tmp_path / name).write_text(f"# {name}\n{text}")
    assert len(commands_in(page)) == count
    for command in commands_in(page):
        words = shlex.split(command)
        if words[1] == "train":
            end = words.index("--minutes") if "--minutes" in words else len(words)
            words = [*words[:end], *(f"--set={setting}" for setting in FEW)]
        assert run(words) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
        if words[1] == "check-game":
            assert "BROKEN" not in told and told.count("ok") >= 8 and "UCT simulations/s" in told
        elif words[1] == "evaluate" and words[2].startswith("uct"):
            assert float(re.search(r"score (\S+)%", told)[1]) > 70
