"""Tests of Breakthrough: drawn moves and wins, OpenSpiel's games, perft, solved boards, the laws."""

import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_random_games, check_recorded_games, stones
from .perft import perft

GAME = make_game("breakthrough")
SHAPES = [(3, 2), (3, 10), (5, 7), (6, 6), (7, 3), (10, 2), (10, 10)]


def make_board(rows: int, columns: int) -> Game:
    return make_game(f"breakthrough(rows={rows},columns={columns})")


def read_drawing(drawing: str, player: int) -> State:
    """Returns the drawn position with `player` to move. X is the first player, who moves up."""
    lines = ["".join(line.split()) for line in drawing.split("\n") if line.strip()]
    game = make_board(len(lines), len(lines[0]))
    record = game.new_initial_state().record
    record.stones[:] = 0
    for row, line in enumerate(reversed(lines)):
        for column, text in enumerate(line):
            if text != ".":
                record.stones["XO".index(text), row // 5] |= 1 << 11 * (row % 5) + column
    record.ply = player
    state = State.from_record(game, record)
    assert stones(str(state)) == [line.lower() for line in lines]
    return state


def legal_texts(state: State) -> list[str]:
    return [state.game.action_to_text(state, action) for action in state.legal_actions()]


def play(state: State, move: str) -> State:
    child = state.clone()
    child.apply_action(state.game.text_to_action(state, move))
    return child


DRAWN = {
    "straight ahead and to both sides; nothing is taken straight ahead": (
        """
        . . . . .
        O . O . .
        . X . . O
        . . . . X
        . . . . .""",
        "b3xa4 b3-b4 b3xc4 e2-d3",
        "a4-a3 a4xb3 c4xb3 c4-c3 c4-d3 e3-d2",
    ),
    "not onto one's own": (
        """
        . . . . .
        O . . O .
        . O O . .
        . . X X .
        . X . . X
        . . . . .""",
        "c3xb4 c3-d4 d3xc4 d3-d4 d3-e4 b2-a3 b2-b3 e2-e3",
        "a5-a4 d5-d4 d5-e4 b4-a3 b4-b3 b4xc3 c4-b3 c4xd3",
    ),
    "not over the edges": (
        """
        . . .
        O . O
        X . X
        . . .""",
        "a2-b3 c2-b3",
        "a3-b2 c3-b2",
    ),
    "not over the edges of the widest board, and from one half into the other": (
        """
        . . . . . . . . . .
        . . . . . . . . . .
        . . . . . . . . . .
        . . . . . . . . . .
        O . . . . . . . . O
        X . . . . . . . . X
        . . . . . . . . . .
        . . . . . . . . . .
        . . . O X . . . . .
        . . . . . . . . . .""",
        "a5-b6 j5-i6 e2-d3 e2-e3 e2-f3",
        "a6-b5 j6-i5 d2-c1 d2-d1 d2-e1",
    ),
    "taking from one half of the board in the other": (
        """
        . . .
        . . .
        . . .
        . . .
        O . O
        . X .
        . . .
        . . .
        . . .
        . . .""",
        "b5xa6 b5-b6 b5xc6",
        "a6-a5 a6xb5 c6xb5 c6-c5",
    ),
}


@pytest.mark.parametrize(("drawing", "first", "second"), DRAWN.values(), ids=DRAWN.keys())
def test_drawn_moves(drawing, first, second):
    for player, expected in enumerate((first, second)):
        state = read_drawing(drawing, player)
        assert sorted(legal_texts(state)) == sorted(expected.split()) and not state.is_terminal()


def test_moves_take_the_enemys_stone_and_leave_the_others():
    drawing = "O . O .\n. X . .\n. . . O\n. X . ."
    assert stones(str(play(read_drawing(drawing, 0), "b3xc4"))) == ["o.x.", "....", "...o", ".x.."]
    assert stones(str(play(read_drawing(drawing, 0), "b3-b4"))) == ["oxo.", "....", "...o", ".x.."]
    assert stones(str(play(read_drawing(drawing, 1), "c4xb3"))) == ["o...", ".o..", "...o", ".x.."]
    assert stones(str(play(read_drawing(drawing, 1), "d2-c1"))) == ["o.o.", ".x..", "....", ".xo."]


@pytest.mark.parametrize(
    ("drawing", "player", "winning"),
    [
        (". O .\nX . .\n. . O\n. X .", 0, {"a3-a4", "a3xb4"}),
        (". O .\nX . .\n. . O\n. X .", 1, {"c2-c1", "c2xb1"}),
        (". O .\n. . .\n. . .\nX X .\n. . .\n. . .", 0, set()),
        (". . .\n. . .\n. . O\n. X .\n. . .\n. . .", 0, {"b3xc4"}),
        (". . .\n. . .\n. . O\n. X .\n. . .\n. . .", 1, {"c4xb3"}),
    ],
    ids=["first on the last row", "second on the last row", "not yet", "first takes the last", "second takes the last"],
)
def test_wins(drawing, player, winning):
    state = read_drawing(drawing, player)
    assert winning <= set(legal_texts(state))
    for move in legal_texts(state):
        child = play(state, move)
        assert child.is_terminal() == (move in winning)
        assert child.returns()[player] == (1 if move in winning else 0)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(3, "oo .. xx"), (5, "oo .. .. .. xx"), (6, "oo oo .. .. xx xx"), (7, "oo oo .. .. .. xx xx")],
)
def test_start_has_one_row_a_side_on_boards_of_less_than_six(rows, expected):
    assert stones(str(make_board(rows, 2).new_initial_state())) == expected.split()


def test_planes_are_turned_over_for_the_second_player_and_not_mirrored():
    drawing = "O . .\n. O .\n. . .\nX X ."
    own, theirs, empty = read_drawing(drawing, 0).planes().tolist()
    assert own == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0]]
    assert theirs == [[1, 0, 0], [0, 1, 0], [0, 0, 0], [0, 0, 0]]
    assert empty == [[0, 1, 1], [1, 0, 1], [1, 1, 1], [0, 0, 1]]
    own, theirs, empty = read_drawing(drawing, 1).planes().tolist()
    assert own == [[0, 0, 0], [0, 0, 0], [0, 1, 0], [1, 0, 0]]
    assert theirs == [[1, 1, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]
    assert empty == [[0, 0, 1], [1, 1, 1], [1, 0, 1], [0, 1, 1]]


def test_actions_are_as_the_mover_sees_the_board():
    """A move of one player, and the same move of the other with the rows reversed, are one action."""
    first = read_drawing("O O O\n. . .\n. . .\nX X X", 0)
    second = read_drawing("O O O\n. . .\n. . .\nX X X", 1)
    assert legal_texts(first) == ["b1-a2", "c1-b2", "a1-a2", "b1-b2", "c1-c2", "a1-b2", "b1-c2"]
    assert legal_texts(second) == ["b4-a3", "c4-b3", "a4-a3", "b4-b3", "c4-c3", "a4-b3", "b4-c3"]
    assert first.legal_actions() == second.legal_actions() == [10, 11, 21, 22, 23, 33, 34]


@pytest.mark.parametrize(
    ("rows", "columns", "known"), [(8, 8, [22, 484, 11132, 256036]), (6, 6, [16, 256, 4308, 71478, 1248290])]
)
def test_perft(rows, columns, known):
    length = len(known) if IS_COMPILED else 3
    assert perft(make_board(rows, columns), length) == known[:length]


def action_of(move: str, rows: int, columns: int) -> int:
    """Returns the action of OpenSpiel's text, e.g. `b7a6*`. Its first player moves down, and row 10 is `:`."""
    start, step = ord(move[0]) - ord("a"), ord(move[2]) - ord(move[0]) + 1
    rank, rank_after = ord(move[1]) - ord("0"), ord(move[3]) - ord("0")
    seen_row = rank - 1 if rank_after < rank else rows - rank
    return (step * rows + seen_row) * columns + start


@pytest.mark.parametrize(("name", "size"), [("breakthrough", 8), ("breakthrough_rows6_columns6", 6)])
def test_recorded_openspiel_games(name, size):
    def rows_of(final: str) -> list[str]:
        return [line[1:].translate(str.maketrans("bw", "xo")) for line in reversed(final.split("\n")[:size])]

    check_recorded_games(make_board(size, size), name, lambda move: action_of(move, size, size), rows_of)


@pytest.mark.parametrize(
    ("rows", "columns", "num_games"),
    [*((*shape, 20) for shape in SHAPES), pytest.param(8, 8, 1000, marks=pytest.mark.slow)],
)
def test_random_games_as_openspiel_plays_them(rows, columns, num_games):
    def to_ours(state, theirs, action):
        return action_of(theirs.action_to_string(action), rows, columns)

    openspiel_name = f"breakthrough(rows={rows},columns={columns})"
    check_random_games(make_board(rows, columns), openspiel_name, num_games, rows, to_ours)


@pytest.mark.parametrize(("text", "player"), [("b2xa3", 0), ("b2a3", 0), ("B2-A3", 0), ("a3xb2", 1), ("a3-b2", 1)])
def test_texts_that_are_read(text, player):
    state = read_drawing(". O .\nO . .\n. X .\nX . .", player)
    move = "b2xa3" if player == 0 else "a3xb2"
    assert state.game.action_to_text(state, state.game.text_to_action(state, text)) == move


def test_moves_are_split():
    assert GAME.rules.split_moves("a2-a3 b7b6,B4xA3;a9-a10\nx") == ["a2-a3", "b7b6", "B4xA3", "a9-a10", "x"]


def test_marks_stand_at_the_stones_that_move():
    state = make_board(3, 2).state_from_moves("a1-a2")
    assert state.draw({4: "12"}) == "3 12  O\n2  X  .\n1  .  X\n   a  b"
    assert state.draw({10: "7", 4: "12"}) == "3 7 O\n2 X .\n1 . X\n  a b", "of one stone's two moves the first"


@pytest.mark.parametrize(
    ("rows", "columns"), [(6, 6), *thorough((3, 10), (10, 2)), *long((3, 2), (5, 7), (7, 3), (10, 10))]
)
def test_laws(rows, columns):
    check_laws(make_board(rows, columns), num_games=3 if rows * columns < 50 else 1, seed=rows)
