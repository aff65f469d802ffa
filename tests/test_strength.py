"""Tests of benchmarks/strength.py: opponents that are missing, that fail, and the page of results."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = '[nobody]\nboard = "Tic-tac-toe"\nagent = "uct@10"\nopponent = "gtp:there-is-no-such-engine --level 3"\n'


@pytest.fixture
def script(monkeypatch, tmp_path):
    """The script as a module, with files of its own."""
    spec = importlib.util.spec_from_file_location("strength", ROOT / "benchmarks" / "strength.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("ROWS", "RESULTS", "KEPT"):
        monkeypatch.setattr(module, name, tmp_path / name.lower())
    return module


def result_of(games: int) -> str:
    """Returns what `azero evaluate --json` prints, as far as the script reads it."""
    fields = ("wins", "draws", "losses", "score", "elo", "distinct_games")
    pairs = {"score_ci95": [0, 1], "elo_ci95": [None, 0], "simulations_per_move": [10.0, 0.0]}
    return json.dumps({"games": games, **dict.fromkeys(fields, 0), **pairs})


def answered(module, monkeypatch, *answers: tuple[int, int]) -> list[list[str]]:
    """Lets azero end with these exit codes and numbers of finished games; returns the list of its commands."""
    commands, left = list[list[str]](), list(answers)

    def run(command, **_):
        commands.append(command)
        code, games = left.pop(0)
        return subprocess.CompletedProcess(command, code, result_of(games) if games else "")

    monkeypatch.setattr(module.subprocess, "run", run)
    return commands


def test_a_row_without_its_opponent_is_skipped_with_one_line(script, monkeypatch, capsys):
    script.ROWS.write_text(f"{ROW}games = 2\n")
    monkeypatch.setattr(sys, "argv", ["strength.py"])
    script.main()
    assert capsys.readouterr().err == "nobody: skipped, there-is-no-such-engine is not on PATH\n"
    assert not script.RESULTS.exists()


@pytest.mark.parametrize(
    ("words", "played"), [([], "ab abc b"), (["ab"], "ab"), (["a"], "ab abc"), (["b", "abc"], "abc b")]
)
def test_words_choose_rows_by_name_or_by_how_names_begin(script, monkeypatch, words, played):
    script.ROWS.write_text("".join(ROW.replace("nobody", name) + "games = 2\n" for name in ("ab", "abc", "b")))
    monkeypatch.setattr(sys, "argv", ["strength.py", *words])
    monkeypatch.setattr(script, "why_missing", lambda row: "")
    names = list[str]()
    monkeypatch.setattr(script, "play", lambda name, *_: names.append(name))
    script.main()
    assert names == played.split()


@pytest.mark.parametrize(
    ("answers", "games"),
    [
        ([(0, 10)], 10),
        ([(1, 4), (1, 7), (0, 10)], 10),  # it fails twice, each time after some games
        ([(1, 4), (1, 4)], 4),  # it fails in the same game again
        ([(1, 0)], None),  # in the first game
        ([(2, 0)], None),  # bad input
    ],
)
def test_a_match_goes_on_as_long_as_games_are_finished(script, monkeypatch, answers, games):
    commands = answered(script, monkeypatch, *answers)
    script.play("nobody", {"agent": "uct@10", "opponent": "gtp:engine"}, 10, 1)
    assert len(commands) == len(answers) and all(each == commands[0] for each in commands)
    kept = json.loads(script.RESULTS.read_text()) if script.RESULTS.exists() else {}
    assert kept.get("nobody", {}).get("games") == games


def test_after_ctrl_c_the_result_so_far_is_kept_and_nothing_more_is_played(script, monkeypatch):
    answered(script, monkeypatch, (130, 4))
    with pytest.raises(SystemExit) as error:
        script.play("nobody", {"agent": "uct@10", "opponent": "gtp:engine"}, 10, 1)
    assert error.value.code == 130 and json.loads(script.RESULTS.read_text())["nobody"]["games"] == 4
