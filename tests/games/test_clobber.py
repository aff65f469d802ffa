"""Tests of Clobber: drawn moves and ends, the start, OpenSpiel's games, perft, solved boards, the laws."""

import re
from itertools import product

import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_random_games, check_recorded_games, stones
from .perft import perft

GAME = make_game("clobber")
SHAPES = [(2, 2), (2, 10), (10, 2), (5, 6), (6, 5), (7, 3), (10, 10)]


def make_board(rows: int, columns: int) -> Game:
    return make_game(f"clobber(rows={rows},columns={columns})")


def read_drawing(drawing: str, player: int) -> State:
    """Returns the drawn position with `player` to move. X is the first player."""
    lines = ["".join(line.split()) for line in drawing.split("\n") if line.strip()]
    game = make_board(len(lines), len(lines[0]))
    record = game.new_initial_state().record
    record.stones[:] = 0
    for row, line in enumerate(lines):
        for column, text in enumerate(line):
            if text != ".":
                record.stones["XO".index(text), row // 5] |= 1 << 11 * (row % 5) + column
    record.ply = player
    state = State.from_record(game, record)
    assert stones(str(state)) == [line.lower() for line in lines]
    return state


def cells_of(state: State) -> dict[str, str]:
    """Returns the content of each cell, x, o or ., by the cell's name."""
    lines = reversed(stones(str(state)))
    return {
        f"{'abcdefghij'[column]}{row}": text
        for row, line in enumerate(lines, start=1)
        for column, text in enumerate(line)
    }


DRAWN = {
    "up, right, down and left, but not diagonally, and not onto one's own or an empty cell": (
        """
        . O O O .
        O O X O O
        . . X . .
        . O O O .""",
        "c3b3 c3d3 c3c4 c2c1",
        "b3c3 d3c3 c4c3 c1c2",
    ),
    "not over the ends of rows": (
        """
        . . X
        O . X
        O . .
        . . X
        O . .""",
        "",
        "",
    ),
    "not over the ends of the longest rows, where nothing lies between": (
        """
        . X . . . . . . . O
        X . . . . . . . . O
        O . . . . . . . . X
        O . . . . . . . . .""",
        "a3a2 j2j3",
        "a2a3 j3j2",
    ),
    "not from the top to the bottom of a board": (
        """
        X . O
        . . .
        O . X""",
        "",
        "",
    ),
    "not from the top to the bottom of the highest board, or of its halves": (
        """
        X O .
        . . .
        . . .
        . . .
        O . X
        X . O
        . . .
        . . .
        . . .
        O X .""",
        "a10b10 c6c5 a5a6 b1a1",
        "b10a10 c5c6 a6a5 a1b1",
    ),
}


@pytest.mark.parametrize(("drawing", "first", "second"), DRAWN.values(), ids=DRAWN.keys())
def test_drawn_moves(drawing, first, second):
    for player, expected in enumerate((first, second)):
        state = read_drawing(drawing, player)
        assert {state.game.action_to_text(state, each) for each in state.legal_actions()} == set(expected.split())
        assert state.is_terminal() == (expected == "") and state.returns()[player] == (0 if expected else -1)
        for move in expected.split():
            child, (start, end) = state.clone(), re.findall(r"[a-j]\d+", move)
            child.apply_action(state.game.text_to_action(state, move))
            assert cells_of(child) == {**cells_of(state), start: ".", end: "xo"[player]}


@pytest.mark.parametrize("player", [0, 1])
def test_last_to_move_wins(player):
    state = read_drawing("X O X\n. . .", player)
    state.apply_action(state.legal_actions()[0])
    assert state.is_terminal() and state.returns()[player] == 1


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_start_is_chequered_and_a1_the_first_players(rows, columns):
    cells = cells_of(make_board(rows, columns).new_initial_state())
    assert cells == {
        f"{'abcdefghij'[column]}{row + 1}": "xo"[(row + column) % 2]
        for row, column in product(range(rows), range(columns))
    }


def test_planes_are_own_stones_their_stones_and_empty_cells():
    own, theirs, empty = make_board(2, 3).state_from_moves("a1b1").planes().tolist()
    assert own == [[1, 0, 1], [0, 0, 0]]
    assert theirs == [[0, 1, 0], [0, 1, 1]]
    assert empty == [[0, 0, 0], [1, 0, 0]]


@pytest.mark.parametrize(
    ("rows", "columns", "known"), [(5, 6, [49, 2116, 80063, 2630382]), (8, 8, [112, 11848, 1182276])]
)
def test_perft(rows, columns, known):
    length = len(known) if IS_COMPILED else 2
    assert perft(make_board(rows, columns), length) == known[:length]


@pytest.mark.parametrize(("rows", "columns"), [(5, 6), (8, 8)])
def test_recorded_openspiel_games(rows, columns):
    game = make_board(rows, columns)
    start = game.new_initial_state().record

    def rows_of(final: str) -> list[str]:
        return [line.lstrip(" 0123456789").translate(str.maketrans("xo", "ox")) for line in final.split("\n")[:rows]]

    name = f"clobber_rows{rows}_columns{columns}"
    check_recorded_games(game, name, lambda move: game.rules.text_to_action(start, move), rows_of)


@pytest.mark.parametrize(
    ("rows", "columns", "num_games"),
    [*((*shape, 20) for shape in SHAPES), pytest.param(8, 8, 1000, marks=pytest.mark.long)],
)
def test_random_games_as_openspiel_plays_them(rows, columns, num_games):
    game = make_board(rows, columns)

    def to_ours(state, theirs, action):
        return game.rules.text_to_action(state.record, theirs.action_to_string(action))

    check_random_games(game, f"clobber(rows={rows},columns={columns})", num_games, rows, to_ours)


def test_moves_are_written_from_and_to():
    state = make_board(10, 10).new_initial_state()
    for text in ("a9a10", "a9-a10", "A9A10"):
        assert state.game.text_to_action(state, text) == 10
    assert state.game.action_to_text(state, 10) == "a9a10"
    assert GAME.rules.split_moves("a5b5c4-c5, A9A10;j10\nj10j9") == ["a5b5", "c4-c5", "A9A10", "j10", "j10j9"]


def test_marks_stand_at_the_stones_that_move():
    state = make_board(2, 3).state_from_moves("a1b1")
    assert state.draw({6 + 4: "12"}) == "2  O  X  O\n1  . 12  X\n   a  b  c"


@pytest.mark.parametrize(
    ("rows", "columns"), [(5, 6), *thorough((2, 10), (7, 3)), *long((2, 2), (10, 2), (6, 5), (10, 10))]
)
def test_laws(rows, columns):
    check_laws(make_board(rows, columns), num_games=3 if rows * columns < 50 else 1, seed=rows)
