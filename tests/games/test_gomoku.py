"""Tests of k in a row: every line on boards of every shape, overlines, solved sizes, OpenSpiel's games."""

import random
from itertools import product

import numpy as np
import pytest
from cases import thorough
from mcts.minimax import Minimax

from azero.compiler.jit import IS_COMPILED
from azero.games import LOSS, ONGOING, WIN, Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_random_games, check_recorded_games

DIRECTIONS = [(0, 1), (1, 0), (1, 1), (-1, 1)]  # down and right
SHAPES = [(1, 5, 3), (5, 1, 2), (3, 3, 3), (3, 4, 4), (7, 6, 4), (4, 9, 5), (6, 6, 6), (7, 19, 19)]
SHAPES += IS_COMPILED * [(15, 15, 5), (19, 19, 5), (19, 7, 6)]

Cell = tuple[int, int]  # row and column, from the top left


def make_board(rows: int, columns: int, k: int, exact: bool = False) -> Game:
    return make_game(f"gomoku(rows={rows},columns={columns},k={k},exact={exact})")


def runs_of(rows: int, columns: int, length: int) -> list[set[Cell]]:
    """Returns all rows of `length` > 1 cells, found by walking the board."""
    runs, inside = [], set(product(range(rows), range(columns)))
    for row, column, (down, right) in product(range(rows), range(columns), DIRECTIONS):
        run = {(row + i * down, column + i * right) for i in range(length)}
        if run <= inside:
            runs.append(run)
    return runs


def runs_through(own: set[Cell], cell: Cell) -> list[int]:
    """Returns the lengths of the four rows of stones through `cell`."""
    lengths = []
    for down, right in DIRECTIONS:
        length = 1
        for sign in (-1, 1):
            row, column = cell[0] + sign * down, cell[1] + sign * right
            while (row, column) in own:
                length, row, column = length + 1, row + sign * down, column + sign * right
        lengths.append(length)
    return lengths


def set_up(game: Game, first: set[Cell], second: set[Cell], ply: int) -> State:
    record = game.new_initial_state().record
    with np.errstate(over="ignore"):  # keys wrap around
        for player, cells in enumerate((first, second)):
            for row, column in cells:
                record.ply = player  # an early ply of this player
                game.rules.apply_action(record, row * game.rules.columns + column)
    record.ply, record.is_won = ply, 0
    return State.from_record(game, record)


def outcome_of(game: Game, own: set[Cell], last: Cell, player: int = 0) -> int:
    """Returns the outcome after `player`'s move `last`, with stones `own` and no others on the board."""
    stones_of = (own - {last}, set())
    state = set_up(game, stones_of[player], stones_of[1 - player], ply=player)
    state.apply_action(last[0] * game.rules.columns + last[1])
    assert state.is_terminal() == (state.returns() != [0, 0])
    return int(state.returns()[0]) if state.is_terminal() else ONGOING


def some(cells: set[Cell], most: int) -> list[Cell]:
    """Returns `most` of the cells, or all of them if there are fewer."""
    return random.Random(len(cells)).sample(sorted(cells), min(most, len(cells)))


@pytest.mark.parametrize(("rows", "columns", "k"), SHAPES)
@pytest.mark.parametrize("exact", [False, True])
def test_every_line_wins_whichever_stone_closes_it(rows, columns, k, exact):
    game, lines = make_board(rows, columns, k, exact), runs_of(rows, columns, k)
    across, down = max(0, columns - k + 1), max(0, rows - k + 1)
    assert len(lines) == rows * across + columns * down + 2 * across * down
    for line in lines:
        for last in some(line, 10 if rows * columns < 50 else 1):
            assert outcome_of(game, line, last, player=0) == WIN
            assert outcome_of(game, line, last, player=1) == LOSS


@pytest.mark.parametrize(("rows", "columns", "k"), SHAPES)
def test_a_line_with_a_stone_missing_does_not_win(rows, columns, k):
    game = make_board(rows, columns, k)
    for line in runs_of(rows, columns, k):
        for missing in some(line, 10 if rows * columns < 50 else 1):
            for last in some(line - {missing}, 1):
                assert outcome_of(game, line - {missing}, last) == ONGOING


@pytest.mark.parametrize(("rows", "columns", "k"), [*SHAPES[2:], (19, 19, 3)])
def test_no_line_runs_over_an_edge(rows, columns, k):
    """Cells with the spacing of a line that wrap into the next row, or to the other side, do not win."""
    game, lines = make_board(rows, columns, k), runs_of(rows, columns, k)
    spaced = []
    for start, stride in product(range(rows * columns), (1, columns - 1, columns, columns + 1)):
        spaced.append({divmod(start + i * stride, columns) for i in range(k)})
    for row, column, (down, right) in product(range(rows), range(columns), DIRECTIONS):
        spaced.append({((row + i * down) % rows, (column + i * right) % columns) for i in range(k)})
    no_lines = [cells for cells in spaced if cells not in lines and len(cells) == k and max(cells) < (rows, 0)]
    assert no_lines
    for cells in no_lines:
        for last in some(cells, 1):
            assert outcome_of(game, cells, last) == ONGOING


@pytest.mark.parametrize(("rows", "columns", "k"), [(1, 9, 3), (9, 2, 2), (7, 7, 3), (7, 8, 5)])
def test_a_longer_row_wins_unless_it_must_be_exact(rows, columns, k):
    for length in range(k + 1, min(2 * k, max(rows, columns) + 1)):
        for run in runs_of(rows, columns, length):
            for last in some(run, 2):
                assert outcome_of(make_board(rows, columns, k), run, last) == WIN
                assert outcome_of(make_board(rows, columns, k, exact=True), run, last) == ONGOING


def test_an_exact_row_wins_though_another_is_too_long():
    game = make_board(7, 7, 3, exact=True)
    for level, upright in [(range(4), range(2, 5)), (range(1, 4), range(1, 7)), (range(1, 4), range(2, 5))]:
        own = {(3, column) for column in level} | {(row, 2) for row in upright}
        assert outcome_of(game, own, (3, 2)) == WIN
    assert outcome_of(game, {(3, column) for column in range(4)} | {(2, 2), (1, 2), (4, 2)}, (3, 2)) == ONGOING


def test_stones_of_the_other_break_a_row():
    state = make_board(1, 9, 3).state_from_moves("a1 c1 b1 g1 d1")
    assert state.draw() == "1 X X O X . . O . .\n  a b c d e f g h i" and not state.is_terminal()
    assert play(state, "h1 e1 i1").returns() == [-1, 1]


def play(state: State, moves: str) -> State:
    for move in moves.split():
        state.apply_action(state.game.text_to_action(state, move))
    return state


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (1, 4), (5, 2)])
@pytest.mark.parametrize("exact", [False, True])
def test_one_in_a_row_is_the_first_stone(rows, columns, exact):
    game = make_board(rows, columns, 1, exact)
    for action in range(rows * columns):
        state = game.new_initial_state()
        state.apply_action(action)
        assert state.is_terminal() and state.returns() == [1, -1]


@pytest.mark.parametrize(
    ("rows", "columns", "k"), [(3, 3, 3), (1, 8, 3), (8, 1, 3), (6, 7, 4), (15, 15, 5), (19, 19, 3)]
)
def test_full_board_without_a_line_is_a_draw(rows, columns, k):
    cells = set(product(range(rows), range(columns)))
    first = {(row, column) for row, column in cells if (column // 2 + row // (2 if columns == 1 else 1)) % 2 == 0}
    stones_of, mover = (first, cells - first), (len(cells) - 1) % 2
    last = max(stones_of[mover])
    state = set_up(make_board(rows, columns, k), first - {last}, cells - first - {last}, ply=len(cells) - 1)
    assert not state.is_terminal() and state.legal_actions() == [last[0] * columns + last[1]]
    state.apply_action(last[0] * columns + last[1])
    assert state.is_terminal() and state.returns() == [0, 0]


def test_last_stone_of_a_full_board_can_win():
    state = make_board(3, 3, 3).state_from_moves("a1 b1 c1 a2 b2 c2 b3 a3")
    assert not state.is_terminal() and state.legal_actions() == [2]
    assert play(state, "c3").returns() == [1, -1]


@pytest.mark.parametrize(("rows", "columns", "k"), [*SHAPES, (2, 2, 2), (5, 5, 3), (19, 2, 3)])
@pytest.mark.parametrize("exact", [False, True])
def test_random_games_end_at_the_first_line(rows, columns, k, exact):
    game, chooser = make_board(rows, columns, k, exact), random.Random(rows)
    for _ in range(10 if IS_COMPILED else 1):
        state, stones_of = game.new_initial_state(), (set(), set())
        while not state.is_terminal():
            occupied = stones_of[0] | stones_of[1]
            assert state.legal_actions() == [
                action for action in range(rows * columns) if divmod(action, columns) not in occupied
            ]
            player, action = state.current_player(), chooser.choice(state.legal_actions())
            assert player == len(occupied) % 2
            stones_of[player].add(divmod(action, columns))
            state.apply_action(action)
            lengths = runs_through(stones_of[player], divmod(action, columns))
            is_won = k in lengths if exact else max(lengths) >= k
            assert state.is_terminal() == (is_won or len(occupied) + 1 == rows * columns)
            assert state.returns()[player] == is_won


@pytest.mark.parametrize(
    ("rows", "columns", "k", "solution"),
    [(1, 2, 2, (0, 2)), (1, 3, 2, (1, 3)), (2, 2, 2, (1, 3)), (3, 3, 3, (0, 9)), (2, 4, 3, (0, 8)), (4, 2, 4, (0, 8))],
)
def test_solved_boards(rows, columns, k, solution):
    """`solution` is the first player's result under best play, and its length in plies."""
    assert Minimax().solve(make_board(rows, columns, k).new_initial_state()) == solution


@pytest.mark.parametrize("size", [9, 15])
def test_recorded_openspiel_games(size):
    def rows_of(drawing: str) -> list[str]:
        return drawing.translate(str.maketrans("bw", "xo")).split()[1:]  # the first line names the player to move

    def action_of(move: str) -> int:
        row, column = map(int, move.split(","))
        return row * size + column

    check_recorded_games(make_board(size, size, 5), f"gomoku_size{size}", action_of, rows_of)


MANY = [(5, 4, 1000), (9, 5, 1000), (15, 5, 100), (19, 5, 50), (20, 5, 50)]


@pytest.mark.parametrize(
    ("size", "k", "num_games"),
    [
        *((size, k, 20) for size, k in [(3, 3), (5, 4), (7, 3), (9, 5), (15, 5), (20, 5)]),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY),
    ],
)
def test_random_games_in_step_with_openspiel(size, k, num_games):
    check_random_games(make_board(size, size, k), f"gomoku(size={size},connect={k})", num_games, seed=size)


def test_planes_are_own_stones_their_stones_and_empty_cells():
    own, theirs, empty = make_board(2, 3, 3).state_from_moves("a1 c2 b2").planes().tolist()
    assert own == [[0, 0, 1], [0, 0, 0]]
    assert theirs == [[0, 1, 0], [1, 0, 0]]
    assert empty == [[1, 0, 0], [0, 1, 1]]


def test_moves_are_written_column_first_from_the_bottom():
    game = make_board(19, 3, 3)
    state = game.new_initial_state()
    assert [game.action_to_text(state, action) for action in (0, 2, 3, 54, 56)] == ["a19", "c19", "a18", "a1", "c1"]
    assert game.text_to_action(state, "C1") == 56
    assert game.rules.split_moves("a1b19,C3; b2\n") == ["a1", "b19", "C3", "b2"]


def test_marks_stand_at_their_cells():
    state = make_board(2, 3, 3).state_from_moves("a1 b2")
    assert state.draw({0: "12", 5: "7"}) == "2 12  O  .\n1  X  .  7\n   a  b  c"


@pytest.mark.parametrize(
    ("rows", "columns", "k", "exact"),
    [
        *((1, 1, 1, False), (4, 4, 4, False), (6, 5, 3, True)),
        *thorough((1, 19, 3, True), (19, 1, 2, False), (3, 19, 19, True)),
    ],
)
def test_laws(rows, columns, k, exact):
    check_laws(make_board(rows, columns, k, exact), num_games=5 if IS_COMPILED else 1, seed=rows)


@pytest.mark.long
@pytest.mark.skipif(not IS_COMPILED, reason="hundreds of moves at hundreds of plies")
def test_laws_on_the_largest_board():
    check_laws(make_board(19, 19, 5), num_games=1, seed=19)
