"""Tests of Connect Four: every line on boards of every shape, none across an edge, solved positions, the laws."""

import random
from itertools import product
from pathlib import Path

import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import LOSS, ONGOING, WIN, Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_recorded_games, stones
from .perft import count_positions, perft

GAME = make_game("connect_four")
SHAPES = [(4, 4), (8, 8), (4, 8), (8, 4), (6, 7)]
PONS = Path(__file__).parents[1] / "data" / "connect4_pons"

Cell = tuple[int, int]  # column and row, from the bottom left


def make_board(rows: int, columns: int) -> Game:
    return make_game(f"connect_four(rows={rows},columns={columns})")


def lines_of(rows: int, columns: int) -> list[set[Cell]]:
    """Returns all lines of four, found by walking the board."""
    lines = []
    for column, row, (right, up) in product(range(columns), range(rows), [(1, 0), (0, 1), (1, 1), (1, -1)]):
        if column + 3 * right < columns and 0 <= row + 3 * up < rows:
            lines.append({(column + i * right, row + i * up) for i in range(4)})
    return lines


def set_up(game: Game, first: set[Cell], second: set[Cell], ply: int) -> State:
    record = game.new_initial_state().record
    for player, cells in enumerate((first, second)):
        record.stones[player] = sum(1 << (8 * column + row) for column, row in cells)
    record.ply = ply
    return State.from_record(game, record)


def read_drawing(drawing: str) -> tuple[State, int]:
    """Returns the drawn position, and the column of its star, in which the player to move plays."""
    lines = [line.split() for line in drawing.split("\n") if line.strip()]
    cells = {(column, row): text for row, line in enumerate(reversed(lines)) for column, text in enumerate(line)}
    first, second, star = ({cell for cell, text in cells.items() if text == kind} for kind in "XO*")
    assert len(first) - len(second) in (0, 1) and len(star) == 1, "not a position of the game"
    state = set_up(make_board(len(lines), len(lines[0])), first, second, ply=len(first) + len(second))
    assert stones(str(state)) == ["".join(line).lower().replace("*", ".") for line in lines]
    return state, star.pop()[0]


def outcome_of(game: Game, own: set[Cell], last: Cell, player: int) -> int:
    """Returns the outcome after `player`'s move `last`, with stones `own`; all cells below them are the opponent's."""
    others = {(column, row) for column, top in own for row in range(top)} - own
    stones_of = own - {last}, others
    state = set_up(game, stones_of[player], stones_of[1 - player], ply=player)
    state.apply_action(last[0])
    assert state.is_terminal() == (state.returns() != [0, 0])
    return int(state.returns()[0]) if state.is_terminal() else ONGOING


def tops(cells: set[Cell]) -> list[Cell]:
    """Returns the cells that can have been filled last: those with no other cell above them."""
    return [(column, row) for column, row in cells if row == max(high for same, high in cells if same == column)]


WINS = {
    "upright, at the left edge": """
        . . . . . . .
        . . . . . . .
        * . . . . . .
        X O . . . . .
        X O . . . . .
        X O . . . . .""",
    "upright, second player, to the top of the right edge": """
        . . . . . . *
        . . . . . . O
        . . . . . . O
        . . . . . . O
        . . . . . . X
        X . X . . . X""",
    "rising, second player, into the top right corner": """
        . . . . . . *
        . . . . . O O
        . . . . O X X
        . . . O X O X
        . . . X O X O
        . . . X O X X""",
    "with the last stone of a full board": """
        * O O O
        X X O X
        X O X X
        X X O O""",
}

NO_WINS = {
    "from the top of a column to the foot of the next": """
        X . . .
        X . . .
        O . . .
        O . . .
        X . . .
        O . . .
        O * . .
        X X . O""",
    "from the end of a row to the start of the next": """
        . . . . . . .
        . . . . . . .
        . . . . . . .
        . . . . . . .
        X * . . . . .
        O O . O . X X""",
}


@pytest.mark.parametrize("drawing", WINS.values(), ids=WINS.keys())
def test_drawn_wins(drawing):
    state, last = read_drawing(drawing)
    mover = state.current_player()
    state.apply_action(last)
    assert state.is_terminal() and state.returns()[mover] == 1


@pytest.mark.parametrize("drawing", NO_WINS.values(), ids=NO_WINS.keys())
def test_drawn_boards_without_a_win(drawing):
    state, last = read_drawing(drawing)
    state.apply_action(last)
    assert not state.is_terminal() and state.returns() == [0, 0]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_every_line_wins_whichever_stone_closes_it(rows, columns):
    game, lines = make_board(rows, columns), lines_of(rows, columns)
    assert len(lines) == {(4, 4): 10, (8, 8): 130, (4, 8): 38, (8, 4): 38, (6, 7): 69}[rows, columns]
    for line in lines:
        for last in tops(line):
            assert outcome_of(game, line, last, player=0) == WIN
            assert outcome_of(game, line, last, player=1) == LOSS


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_three_of_a_line_do_not_win(rows, columns):
    game = make_board(rows, columns)
    for line in lines_of(rows, columns):
        for missing in line:
            for last in tops(line - {missing}):
                assert outcome_of(game, line - {missing}, last, player=0) == ONGOING


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_no_line_runs_over_an_edge(rows, columns):
    """Four bits with the stride of a line win only if they are a line on the board."""
    game, lines, num_tried = make_board(rows, columns), lines_of(rows, columns), 0
    for start, stride in product(range(64), (1, 7, 8, 9)):
        cells = {divmod(start + i * stride, 8) for i in range(4)}
        if cells not in lines and all(column < columns and row < rows for column, row in cells):
            num_tried += 1
            for last in tops(cells):
                assert outcome_of(game, cells, last, player=0) == ONGOING
    assert (num_tried > 0) == (rows == 8)  # lower boards have a gap of bits above each column


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_full_board_without_a_line_is_a_draw(rows, columns):
    cells = set(product(range(columns), range(rows)))
    first = {(column, row) for column, row in cells if (column // 2 + row) % 2 == 0}
    last = max((column, row) for column, row in cells - first if row == rows - 1)
    state = set_up(make_board(rows, columns), first, cells - first - {last}, ply=len(cells) - 1)
    assert not state.is_terminal() and state.legal_actions() == [last[0]]
    state.apply_action(last[0])
    assert state.is_terminal() and state.returns() == [0, 0]


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_random_games_end_at_the_first_line(rows, columns):
    game, lines, chooser = make_board(rows, columns), lines_of(rows, columns), random.Random(5)
    for _ in range(20):
        state, stones_of, heights = game.new_initial_state(), (set(), set()), [0] * columns
        while not state.is_terminal():
            assert state.legal_actions() == [column for column in range(columns) if heights[column] < rows]
            player, column = state.current_player(), chooser.choice(state.legal_actions())
            stones_of[player].add((column, heights[column]))
            heights[column] += 1
            state.apply_action(column)
            has_line = any(line <= stones_of[player] for line in lines)
            assert state.is_terminal() == (has_line or sum(heights) == rows * columns)
            assert state.returns()[player] == has_line


def test_planes_are_own_stones_their_stones_and_empty_cells():
    own, theirs, empty = make_board(4, 5).state_from_moves("1 3 3").planes().tolist()
    assert own == [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0]]
    assert theirs == [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]
    assert empty == [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 1, 1], [0, 1, 0, 1, 1]]


def test_perft():
    known = [7, 49, 343, 2401, 16807, 117649, 823536, 5673234]
    length = 8 if IS_COMPILED else 4
    assert perft(GAME, length) == known[:length]


def test_positions_by_ply():
    known = [7, 49, 238, 1120, 4263, 16422, 54859]
    for ply in range(1, 8 if IS_COMPILED else 5):
        assert count_positions(GAME, ply) == known[ply - 1]


def test_recorded_openspiel_games():
    check_recorded_games(GAME, "connect_four", lambda move: int(move[1:]))


def wins_now(state: State) -> bool:
    """Returns whether some move wins at once."""
    return any(child.is_terminal() and child.returns()[state.current_player()] == 1 for child in children(state))


def children(state: State) -> list[State]:
    made = []
    for action in state.legal_actions():
        made.append(state.clone())
        made[-1].apply_action(action)
    return made


def solve(state: State) -> int:
    """Returns Pons' score of a position that is not terminal, 0 for a draw, by trying all moves."""
    if wins_now(state):
        return (43 - len(state.history())) // 2
    return max(0 if child.is_terminal() else -solve(child) for child in children(state))


@pytest.mark.parametrize("path", sorted(PONS.glob("Test_*")), ids=lambda path: path.name)
def test_solved_positions(path):
    """A score is the highest possible exactly if some move wins at once. Late positions are solved to the end."""
    lines = path.read_text().splitlines()
    assert len(lines) == 1000
    for line in lines[:: 1 if IS_COMPILED else 50]:
        moves, score = line.split()
        state = GAME.state_from_moves(moves)
        assert not state.is_terminal() and len(state.history()) == len(moves)
        assert wins_now(state) == (int(score) == (43 - len(moves)) // 2)
        if len(moves) >= 36:
            assert solve(state) == int(score)


def test_moves_are_columns_from_1():
    state = GAME.new_initial_state()
    assert [GAME.action_to_text(state, action) for action in range(7)] == list("1234567")
    assert GAME.rules.split_moves("44 5,3;x1\n") == ["4", "4", "5", "3", "x", "1"]


def test_marks_stand_above_their_columns():
    state = make_board(4, 5).state_from_moves("3 3 4")
    assert state.draw({0: "7", 2: "12"}) == (
        "  7    12\n"
        "  .  .  .  .  .\n"
        "  .  .  .  .  .\n"
        "  .  .  O  .  .\n"
        "  .  .  X  X  .\n"
        "  1  2  3  4  5"
    )  # fmt: skip


@pytest.mark.parametrize(("rows", "columns"), [(6, 7), *thorough((4, 8)), *long((4, 4), (8, 8), (8, 4))])
def test_laws(rows, columns):
    check_laws(make_board(rows, columns), num_games=5, seed=rows)
