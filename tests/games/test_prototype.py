"""Tests of prototypes: one that agrees, each kind of difference from the compiled rules, and failures."""

import re

import pytest

from azero.errors import BadInput
from azero.games import Game, Prototype, make_game
from azero.games.laws import prototype
from azero.games.laws.findings import Broken
from azero.games.laws.prototype import compare_with, load_prototype
from azero.games.user import timeouts

from .user_games import NIM, SLOW_NIM, write_file

pytestmark = pytest.mark.usefixtures("folder")

LEGAL = 'return ["0", "1", "2"][: self.left]'


@pytest.fixture(autouse=True)
def few_games(monkeypatch):
    """Comparisons end soon."""
    monkeypatch.setattr(prototype, "_FAMILIAR", 30)


@pytest.fixture
def nim(folder) -> Game:
    write_file(folder / "nim.py", NIM)
    return make_game("nim.py:Nim")


def refusal(game: Game, name: str) -> str:
    """Returns the line that reports how a prototype differs."""
    with pytest.raises(BadInput) as error:
        compare_with(game, load_prototype(name), name, seed=0)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def difference(game: Game, folder, *changes) -> str:
    """Returns the line that reports how a changed prototype of Nim differs."""
    write_file(folder / "slow.py", SLOW_NIM, *changes)
    return refusal(game, "slow.py:SlowNim")


def test_a_prototype_of_the_same_game_agrees(nim, folder):
    write_file(folder / "slow.py", SLOW_NIM)
    for game in (nim, make_game("nim.py:Nim(heap=1)"), make_game("nim.py:Nim(heap=6)")):
        num_games, num_positions = compare_with(game, load_prototype("slow.py:SlowNim"), "slow.py:SlowNim", seed=0)
        assert num_games > 30 and num_positions == 2 * game.rules.heap


def test_it_is_made_with_the_game_s_parameters_once_a_game(nim):
    made = []

    class Noting(load_prototype(f"{SLOW_NIM}:SlowNim")):
        def __init__(self, **parameters):
            made.append(parameters)
            super().__init__(**parameters)

    num_games, _ = compare_with(make_game("nim.py:Nim(heap=6)"), Noting, "slow.py:SlowNim", seed=0)
    assert made == [{"heap": 6}] * num_games


def test_a_game_without_parameters_has_prototypes_without():
    class TicTacToe(Prototype):
        def __init__(self):
            self.stones = {}

        def to_move(self):
            return len(self.stones) % 2

        def legal_moves(self):
            return [f"{letter}{row}" for letter in "abc" for row in "123" if f"{letter}{row}" not in self.stones]

        def play(self, move):
            self.stones[move] = self.to_move()

        def result(self):
            lines = ["a1b1c1", "a2b2c2", "a3b3c3", "a1a2a3", "b1b2b3", "c1c2c3", "a1b2c3", "a3b2c1"]
            for player in (0, 1):
                if any(all(self.stones.get(line[i : i + 2]) == player for i in (0, 2, 4)) for line in lines):
                    return 1 - 2 * player
            return None if len(self.stones) < 9 else 0

    game, seconds = make_game("tic_tac_toe"), []
    assert compare_with(game, TicTacToe, "slow.py:TicTacToe", seed=0, seconds=0)[0] == 1
    compared = compare_with(game, TicTacToe, "slow.py:TicTacToe", 0, 1.2, seconds.append)
    assert compared[0] > 30 and compared[1] > 100 and sum(seconds) == 1


@pytest.mark.parametrize(
    ("change", "message", "left"),
    [
        # result
        (("1 if self.mover == 1 else -1", "1"), "the result is -1 by the rules, 1 by the prototype", {0}),
        (("1 if self.mover == 1 else -1", "0"), "the result is -?1 by the rules, 0 by the prototype", {0}),
        (("if self.left:", "if self.left > 2:"), "the result is None by the rules, -?1 by the prototype", {1, 2}),
        (("if self.left:", "if True:"), "the result is -?1 by the rules, None by the prototype", {0}),
        # turn
        (("self.mover = 1 - self.mover", "pass"), "player 1 moves by the rules, 0 by the prototype", {18, 19, 20}),
        (("return self.mover", "return None"), "player 0 moves by the rules, None by the prototype", {21}),
        # legal moves
        ((LEGAL, "return ['0', '1'][: self.left]"), "2 is legal by the rules, not by the prototype", {21}),
        ((LEGAL, "return ['0'][: self.left]"), "1 2 are legal by the rules, not by the prototype", {21}),
        ((LEGAL, "return ['0', '1', '2', '3']"), "3 is legal by the prototype, not by the rules", {21}),
        ((LEGAL, "return ['0', '1', '2']"), "(1 2 are|2 is) legal by the prototype, not by the rules", {1, 2}),
        (
            (LEGAL, "return map(str, range(20))"),
            r"10 11 12 13 14 \.\.\. are legal by the prototype, not by the rules",
            {21},
        ),
        ((LEGAL, "return []"), "0 1 2 are legal by the rules, not by the prototype", {21}),
        ((LEGAL, "return [0, 1, 2]"), r"legal_moves of the prototype has \[0\]; moves should be text", {21}),
    ],
)
def test_the_first_difference_is_told_with_the_moves_to_it(nim, folder, change, message, left):
    told = difference(nim, folder, change)
    moves = told.rpartition(", after ")[2].removeprefix("no move").split()
    assert re.fullmatch(f"{message}(; legal by both: [^,]+)?, after (no move|[0-2 ]+)", told), told
    assert 21 - sum(int(move) + 1 for move in moves) in left


def test_a_difference_is_told_with_both_answers_and_the_board(folder):
    write_file(folder / "nim.py", NIM)
    write_file(folder / "slow.py", SLOW_NIM, (LEGAL, 'return ["0", "2"][: self.left]'))
    with pytest.raises(Broken) as error:
        compare_with(make_game("nim.py:Nim"), load_prototype("slow.py:SlowNim"), "slow.py:SlowNim", seed=0)
    assert str(error.value) == "1 is legal by the rules, not by the prototype; legal by both: 0 2, after no move"
    assert error.value.boards() == ["left: 21\nply: 0"]


def test_another_score_is_told(nim, folder):
    score = "    def score(self):\n        return {}\n\n    def result(self):"
    told = difference(nim, folder, ("    def result(self):", score.format("21.5")))
    assert re.fullmatch(r"the score is -?1 by the rules, 21\.5 by the prototype, after [0-2 ]+", told)
    write_file(folder / "same.py", SLOW_NIM, ("    def result(self):", score.format("self.result()")))
    compare_with(nim, load_prototype("same.py:SlowNim"), "same.py:SlowNim", seed=0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("self.left -= int(move) + 1", "self.left -= move"), "fails, line 20: TypeError: unsupported operand"),
        (("def __init__(self, heap)", "def __init__(self)"), "fails: TypeError: SlowNim.__init__() got an unexpected"),
        (("self.left = heap", "self.left = heaps"), "fails, line 10: NameError: name 'heaps' is not defined, after no"),
        ((LEGAL, "raise ValueError('two\\nlines')"), "fails, line 17: ValueError: two lines, after no move"),
        (
            ("        if self", "        assert self.left\n        if self"),
            "fails, line 24: AssertionError, after 1 1 0",
        ),
    ],
)
def test_a_prototype_that_fails_is_told_with_its_line(nim, folder, change, message):
    assert difference(nim, folder, change).startswith(f"slow.py:SlowNim {message}")


def test_a_prototype_that_does_not_come_to_an_end_is_told(nim, folder, monkeypatch):
    monkeypatch.setattr(timeouts, "COMPUTE_S", 0.2)
    told = difference(nim, folder, ("self.left -= int(move) + 1", "while True:\n            pass"))
    assert told == "slow.py:SlowNim has not ended within 0.2 s, after no move"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slow.py", "prototype 'slow.py' is not of the form FILE.py:NAME"),
        ("SlowNim", "prototype 'SlowNim' is not of the form FILE.py:NAME"),
        ("slow.txt:SlowNim", "prototype 'slow.txt:SlowNim' is not of the form FILE.py:NAME"),
        ("none.py:SlowNim", "game file 'none.py' cannot be read: No such file or directory"),
        ("slow.py:Slow", "file 'slow.py' has no class 'Slow'"),
        ("slow.py:", "file 'slow.py' has no class ''"),
        ("nim.py:Nim", "nim.py:Nim is not a prototype: it should be a class Nim(Prototype)"),
        ("nim.py:WIN", "nim.py:WIN is not a prototype: it should be a class WIN(Prototype)"),
        ("part.py:SlowNim", "part.py:SlowNim lacks play, to_move"),
        ("bad.py:SlowNim", "game file 'bad.py', line 9: '(' was never closed"),
    ],
)
def test_what_is_no_prototype_is_told(folder, name, message):
    write_file(folder / "slow.py", SLOW_NIM)
    write_file(folder / "nim.py", NIM)
    write_file(folder / "part.py", SLOW_NIM, ("def to_move", "def mover_is"), ("def play", "def plays"))
    write_file(folder / "bad.py", SLOW_NIM, ("(self, heap):", "(self, heap:"))
    with pytest.raises(BadInput) as error:
        load_prototype(name)
    assert str(error.value) == message
