"""Tests of the guide to a user's own game: its files are written and its commands run, in order."""

import re
import shlex
from pathlib import Path

import pytest

from azero import cli

PAGE = (Path(__file__).parent.parent / "docs" / "your_own_game.md").read_text()
FILES = re.findall(r"```(?:python|toml)\n# (\S+)\n(.*?)```", PAGE, re.DOTALL)
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


def run(words):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", words)
        patch.setattr("builtins.input", lambda prompt: "quit")
        with pytest.raises(SystemExit) as end:
            cli.main()
    return end.value.code


def test_the_game_of_the_guide_is_short():
    lines = [line for line in dict(FILES)["domineering.py"].splitlines() if line.strip()]
    assert len(lines) < 80


@pytest.mark.thorough
def test_the_guide_works_from_its_first_line_to_its_last(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES:
        (tmp_path / name).write_text(f"# {name}\n{text}")
    assert len(COMMANDS) == 7
    for command in COMMANDS:
        words = shlex.split(command)
        if words[1] == "train":
            words += ["--set", "training.iterations=1", "--set", "selfplay.games_per_iteration=16"]
        assert run(words) == 0, capsys.readouterr().err
        told = capsys.readouterr().out
        if words[1] == "check-game":
            assert "BROKEN" not in told and told.count("ok") >= 8 and "UCT simulations/s" in told
        elif words[1] == "evaluate" and words[2].startswith("uct"):
            assert float(re.search(r"score (\S+)%", told)[1]) > 70
