"""Tests of Othello: drawn moves, passes and ends, a plain reference, OpenSpiel's games, perft, the laws."""

import random
from itertools import product

import numpy as np
import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_random_games, check_recorded_games, stones
from .perft import perft, perft_with_passes

GAME = make_game("othello")
SIZES = [4, 6, 8, *thorough(10, *IS_COMPILED * [16])]
DIRECTIONS = [step for step in product((-1, 0, 1), repeat=2) if step != (0, 0)]

Cell = tuple[int, int]  # row and column, from the top left
Board = dict[Cell, str]  # x, o or . at each cell


def make_board(size: int) -> Game:
    return make_game(f"othello(size={size})")


def board_of(lines: list[str]) -> Board:
    return {(row, column): text for row, line in enumerate(lines) for column, text in enumerate(line)}


def set_up(board: Board, player: int) -> State:
    """Returns a position with `player` to move, after a pass of the opponent."""
    game = make_board(max(row for row, _ in board) + 1)
    record = game.new_initial_state().record
    record.stones[:] = 0
    for (row, column), text in board.items():
        word, bit = divmod((8 if game.rules.size <= 8 else 16) * row + column, 64)
        if text in "xo":
            record.stones["xo".index(text), word] |= 1 << bit
    record.ply = 1 - player
    game.rules.apply_action(record, game.num_actions - 1)
    return State.from_record(game, record)


def read_drawing(drawing: str, player: int) -> tuple[State, int]:
    """Returns a position, and its star, on which `player` plays. X in the drawing is `player`."""
    letters = str.maketrans("XO", "xo" if player == 0 else "ox")
    board = board_of(["".join(line.split()) for line in drawing.translate(letters).split("\n") if line.strip()])
    star = next(cell for cell, text in board.items() if text == "*")
    state = set_up({**board, star: "."}, player)
    return state, star[0] * state.game.rules.size + star[1]


def turned(board: Board, cell: Cell, own: str) -> set[Cell]:
    """Returns the discs that a disc at an empty cell flips, by walking from it in each direction."""
    found = set()
    for down, right in DIRECTIONS:
        line, (row, column) = set(), cell
        while board.get((row + down, column + right), ".") not in (".", own):
            row, column = row + down, column + right
            line.add((row, column))
        if board.get((row + down, column + right)) == own:
            found |= line
    return found


def places(board: Board, own: str) -> list[Cell]:
    return [cell for cell, text in board.items() if text == "." and turned(board, cell, own)]


def check_position(state: State, board: Board, player: int) -> None:
    """Asserts that a position agrees with the reference on its board."""
    size = state.game.rules.size
    own, theirs = "xo"[player], "xo"[1 - player]
    legal = [row * size + column for row, column in places(board, own)]
    counts = [list(board.values()).count(kind) for kind in "xo."]
    lead = counts[0] - counts[1]
    score = lead + (lead > 0) * counts[2] - (lead < 0) * counts[2]
    assert board_of(stones(str(state))) == board and state.final_score() == score
    assert all(owner == {"x": 1, "o": -1, ".": 0}[board[cell]] for cell, owner in np.ndenumerate(state.ownership()))
    if not legal and not places(board, theirs):
        assert state.is_terminal() and state.returns()[0] == (score > 0) - (score < 0)
    else:
        assert not state.is_terminal() and state.current_player() == player
        assert state.legal_actions() == (legal or [size**2])


def check_move(state: State, action: int) -> State:
    """Asserts that a move flips the same discs as the reference; returns the position after it."""
    size, player = state.game.rules.size, state.current_player()
    board, cell, child = board_of(stones(str(state))), divmod(action, size), state.clone()
    if action < size**2:
        board |= dict.fromkeys({cell, *turned(board, cell, "xo"[player])}, "xo"[player])
    child.apply_action(action)
    check_position(child, board, 1 - player)
    return child


TURNS = {
    "all eight directions, up to the edges": (
        """
        X . . X . . X .
        . O . O . O . .
        . . O O O . . .
        X O O * O O O X
        . . O O O . . .
        . O . O . O . .
        X . . O . . O .
        . . . X . . . X""",
        "b2 c3 d2 d3 f2 e3 b4 c4 e4 f4 g4 b6 c5 d5 d6 d7 e5 f6 g7",
    ),
    "from a corner along both edges and the diagonal": (
        """
        * O O O O O O X
        O O . . . . . .
        O . O . . . . .
        O . . O . . . .
        O . . . O . . .
        O . . . . O . .
        O . . . . . O .
        X . . . . . . X""",
        "b1 c1 d1 e1 f1 g1 a2 a3 a4 a5 a6 a7 b2 c3 d4 e5 f6 g7",
    ),
    "as far as the first own stone, and nothing by stones that were turned": (
        """
        . . . X . .
        . . . O . .
        * O O O X O
        . O . . . .
        X . . . X .
        . . . . . .""",
        "b3 c3 d3",
    ),
    "nothing where the line ends in an empty cell or at the edge": (
        """
        . . X . . .
        . O O . . .
        . O * O O O
        . O O O . .
        O . . . O .
        . . . . . O""",
        "c2",
    ),
}

NO_TURNS = {
    "from the end of a row to the start of the next": """
        . . . . . . . .
        . X O . . . . .
        . . . . . * O O
        X . . . . . . .
        X . . . . . . .
        . . . . . . . .
        . . . . . . . .
        . . . . . . . .""",
    "with no enemy stone between": """
        . . . . . .
        . X O . . .
        . . . * X .
        . . . . . .
        . . . X . .
        . . . . . .""",
}


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(("drawing", "expected"), TURNS.values(), ids=TURNS.keys())
def test_drawn_moves(drawing, expected, player):
    state, star = read_drawing(drawing, player)
    cells = {(int(text[1]) - 1, "abcdefgh".index(text[0])) for text in expected.split()}
    assert cells == turned(board_of(stones(str(state))), divmod(star, state.game.rules.size), "xo"[player])
    check_move(state, star)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("drawing", NO_TURNS.values(), ids=NO_TURNS.keys())
def test_drawn_places_where_no_stone_can_be_put(drawing, player):
    state, star = read_drawing(drawing, player)
    assert state.current_player() == player and star not in state.legal_actions()


def test_pass_is_forced_where_only_the_other_can_move():
    state, star = read_drawing(
        """
        X O * .
        . . . .
        . . . .
        X O . O""",
        player=0,
    )
    assert GAME.action_to_text(state, star) == "c1" and len(state.legal_actions()) == 2
    state.apply_action(star)
    assert state.current_player() == 1 and state.legal_actions() == [16]
    assert state.game.action_to_text(state, 16) == "pass" and state.game.text_to_action(state, "Pass") == 16
    state.apply_action(16)
    assert state.current_player() == 0 and state.legal_actions() == [14]
    with pytest.raises(BadInput, match="^'pass' is not legal here; legal moves: c4$"):
        state.game.text_to_action(state, "pass")


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("last_row", "score"), [(". . . .", 16), (". . . O", 14), ("O . . O", 12), ("O O . O", 0), ("O O O O", -10)]
)
def test_game_is_over_when_neither_can_move(last_row, score, player):
    """Empty cells count for the player with more discs. The first case is a wipe-out."""
    state, star = read_drawing(f"X O * .\n. . . .\n. . . .\n{last_row}", player)
    state.apply_action(star)
    assert state.is_terminal() and state.legal_actions() == []
    assert state.final_score() == score * (1 - 2 * player)
    assert state.returns()[player] == (score > 0) - (score < 0)


def test_shortest_game():
    state = GAME.state_from_moves("f5d6c5f4e7f6g5e6e3")
    assert state.is_terminal() and state.returns() == [1, -1] and state.final_score() == 64


@pytest.mark.parametrize("size", SIZES)
def test_random_games_as_the_reference_plays_them(size):
    low, high = size // 2 - 1, size // 2
    start = dict.fromkeys(product(range(size), repeat=2), ".")
    start |= {(low, low): "o", (low, high): "x", (high, low): "x", (high, high): "o"}
    chooser = random.Random(size)
    for _ in range(2 if IS_COMPILED else 1):
        state = make_board(size).new_initial_state()
        check_position(state, start, 0)
        while not state.is_terminal():
            state = check_move(state, chooser.choice(state.legal_actions()))


@pytest.mark.parametrize("size", SIZES)
def test_random_boards_as_the_reference_has_them(size):
    """Unreachable boards with long lines of one colour, which would show lines across an edge."""
    chooser = random.Random(size)
    for _ in range(200 if IS_COMPILED else 20):
        kinds = chooser.choice([".xo", "xo", "..xxxo", ".xooo", "x" * size + "." + "o" * size])
        board = {cell: chooser.choice(kinds) for cell in product(range(size), repeat=2)}
        player = chooser.randrange(2)
        state = set_up(board, player)
        check_position(state, board, player)
        if not state.is_terminal():
            check_move(state, chooser.choice(state.legal_actions()))


def test_planes_are_own_stones_their_stones_and_empty_cells():
    own, theirs, empty = make_board(4).state_from_moves("b1").planes().tolist()
    assert own == [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    assert theirs == [[0, 1, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert empty == [[1, 0, 1, 1], [1, 0, 0, 1], [1, 0, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize("length", [10 if IS_COMPILED else 5, pytest.param(11, marks=pytest.mark.long)])
def test_perft(length):
    """The published counts continue after the end with two passes. The first games that end are 228 after 9 plies."""
    known = [4, 12, 56, 244, 1396, 8200, 55092, 390216, 3005288, 24571284, 212258800]
    assert perft_with_passes(GAME, length) == known[:length]


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="25 million positions")
def test_perft_without_passes_after_the_end():
    assert perft(GAME, 10)[-1] == 24571284 - 228


def action_of(move: str) -> int:
    return 64 if move == "pass" else 8 * int(move[1]) - 8 + "abcdefgh".index(move[0])


def rows_of(final: str) -> list[str]:
    return ["".join(line.split()[1:-1]).replace("-", ".") for line in final.splitlines()[2:-1]]


def test_recorded_openspiel_games():
    check_recorded_games(GAME, "othello", action_of, rows_of)


@pytest.mark.parametrize("num_games", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_random_games_as_openspiel_plays_them(num_games):
    check_random_games(GAME, "othello", num_games, seed=num_games)


def test_moves_are_written_column_first_from_the_top():
    state = make_board(10).new_initial_state()
    assert [GAME.action_to_text(state, action) for action in (0, 7, 8, 63, 64)] == ["a1", "h1", "a2", "h8", "pass"]
    assert state.game.action_to_text(state, 99) == "j10" and state.game.rules.text_to_action(state, "J10") == 99
    assert GAME.rules.split_moves("f5d6,C3; pass\nj10") == ["f5", "d6", "C3", "pass", "j10"]


def test_marks_stand_at_their_cells():
    state = make_board(4).state_from_moves("b1")
    assert state.draw({0: "12", 2: "7", 16: "pass"}) == (
        "1 12  X  7  .\n2  .  X  X  .\n3  .  X  O  .\n4  .  .  .  .\n   a  b  c  d"
    )


@pytest.mark.parametrize(
    "size",
    [4, *thorough(6, 8), *long(10, 16)],
)
def test_laws(size):
    check_laws(make_board(size), num_games=3 if size <= 8 else 1, seed=size)
