"""`azero check-game`: a good game's laws and speed, what is told of a broken one, and prototypes."""

import re
import sys

import pytest
from games.user_games import NIM, SLOW_NIM, added, forget_files, write_file

from azero import cli
from azero.games.laws import LAWS

KEY = ("2 * state.left + (state.ply & 1)", "state.left")
TEXT = added("action_to_text(game, state, action):\n        return str(action // 2)")


@pytest.fixture
def check(monkeypatch, capsys, tmp_path):
    """Returns a function that runs check-game in a folder of its own; it returns exit code, stdout, stderr."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["azero", "check-game", *map(str, words)])
        with pytest.raises(SystemExit) as end:
            cli.main()
        return end.value.code, *capsys.readouterr()

    return run


def laws_of(output: str) -> dict[str, str]:
    """Returns what is told of each law, of the prototype and of the speed."""
    lines = [re.fullmatch(r"  (.{16}) (.*)", line) for line in output.splitlines()[1:]]
    return {line[1].strip(): line[2] for line in lines}


def test_a_good_game_keeps_every_law_and_its_speed_is_told(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM)
    write_file(tmp_path / "slow.py", SLOW_NIM)
    code, output, errors = check("nim.py:Nim(heap=9)", "--positions", 200, "--against", "slow.py:SlowNim")
    assert (code, errors) == (0, "")
    header = r"nim\.py:Nim\(heap=9\): (\d+) positions of (\d+) random games, 3 to \d plies long"
    positions, games = map(int, re.fullmatch(header, output.splitlines()[0]).groups())
    assert 200 <= positions < 210 and 200 / 10 <= games <= 200 / 4
    told = laws_of(output)
    assert list(told) == [*LAWS, "prototype", "speed"]
    assert {told[law] for law in LAWS} == {"ok"}
    assert told["prototype"] == "ok: 1,000 games in lockstep with slow.py:SlowNim"
    assert re.fullmatch(r"[\d,.]+( M)? random games/s, [\d,.]+( M)? UCT simulations/s on one thread", told["speed"])


def test_a_game_of_azero_s_is_checked_like_any_other(check):
    code, output, errors = check("tic_tac_toe", "--positions", 1, "--seed", 5)
    assert (code, errors) == (0, "")
    assert re.match(r"tic_tac_toe: (\d+) positions of 1 random games, \d plies long\n", output)
    assert list(laws_of(output)) == [*LAWS, "speed"]


def test_laws_that_are_broken_are_told_with_the_moves_and_the_others_are_ok(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, KEY, TEXT)
    code, output, errors = check("nim.py:Nim", "--positions", 300)
    assert (code, errors) == (2, "azero: nim.py:Nim breaks 2 of the laws: keys, text\n")
    told = laws_of(output)
    assert list(told) == list(LAWS), "speed is told of a broken game"
    assert told.pop("text") == "BROKEN: action 1 is written '0', which is read as 0, after no move"
    assert re.fullmatch(r"BROKEN: hash_key is that of the position after [\d ]+, too, after [\d ]+", told.pop("keys"))
    assert set(told.values()) == {"ok"}


def test_rules_that_break_their_contract_are_told_in_a_line(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, ("return count", "return 0"))
    message = "nim.py:Nim.legal_actions finds 0 actions where the game goes on; 1 to 3 can be"
    assert check("nim.py:Nim") == (2, "", f"azero: {message}\n")


def test_rules_that_break_their_contract_late_are_told_with_the_actions(check, tmp_path):
    """So late that the first look at them sees nothing of it."""
    write_file(tmp_path / "nim.py", NIM, ("return ONGOING", "return ONGOING if state.ply < 17 else 7"))
    code, output, errors = check("nim.py:Nim(heap=30)", "--positions", 20_000)
    assert (code, output) == (2, "") and errors.count("\n") == 1
    assert re.fullmatch(
        r"azero: nim\.py:Nim(\(heap=30\))?\.outcome returns 7; it should be WIN, DRAW, LOSS, ONGOING "
        r"after the actions( [012]){17}\n",
        errors,
    )


def test_a_prototype_of_another_game_is_told_after_the_laws(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM)
    write_file(tmp_path / "slow.py", SLOW_NIM, ('"0", "1", "2"', '"0", "1"'))
    code, output, errors = check("nim.py:Nim", "--positions", 100, "--against", "slow.py:SlowNim")
    assert (code, errors) == (2, "azero: nim.py:Nim breaks 1 of the laws: prototype\n")
    told = laws_of(output)
    assert told.pop("prototype") == "BROKEN: 2 is legal by the rules, not by the prototype, after no move"
    assert list(told) == list(LAWS) and set(told.values()) == {"ok"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["conect_four"], "unknown game 'conect_four'; did you mean 'connect_four'? known: "),
        (["nim.py"], "game 'nim.py' is not of the form name or name(parameter=value,...), e.g. nim.py:MyGame"),
        (["nim.py:Nom"], "game file 'nim.py' has no class 'Nom'; it has Nim"),
        (["none.py:Nim"], "game file 'none.py' cannot be read: No such file or directory"),
        (["tic_tac_toe", "--against", "none.py:Slow"], "game file 'none.py' cannot be read: No such file"),
        (["tic_tac_toe", "--against", "slow"], "prototype 'slow' is not of the form FILE.py:NAME"),
        (["tic_tac_toe", "--against", "nim.py:Nim"], "nim.py:Nim is no prototype: it should be a class Nim(Prototype)"),
        (["tic_tac_toe", "--positions", "0"], "--positions 0 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "-5"], "--positions -5 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "1000001"], "--positions 1000001 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "many"], "Invalid value for '--positions': "),
        (["tic_tac_toe", "--seed", "-1"], "Invalid value for '--seed': "),
        ([], "Missing argument 'GAME'."),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_checked(check, tmp_path, words, message):
    write_file(tmp_path / "nim.py", NIM)
    code, output, errors = check(*words)
    assert (code, output) == (2, "") and errors.count("\n") == 1
    assert errors.startswith(f"azero: {message}"), errors
