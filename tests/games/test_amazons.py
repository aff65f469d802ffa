"""Tests of Amazons: drawn moves, shots and ends, starts, a plain reference, OpenSpiel's games, perft, the laws."""

import random
from itertools import product

import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import Game, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_random_games, read_recorded_games, stones
from .perft import perft

GAME = make_game("amazons")
SHAPES = [(4, 4), (4, 10), (10, 4), (6, 7), (10, 10)]
DIRECTIONS = [step for step in product((-1, 0, 1), repeat=2) if step != (0, 0)]


def make_board(rows: int, columns: int) -> Game:
    return make_game(f"amazons(rows={rows},columns={columns})")


def read_drawing(drawing: str, player: int) -> State:
    """Returns a position with `player` to move, who owns X and A of the drawing; * is an empty cell."""
    letters = str.maketrans("AXO*", "xxo." if player == 0 else "oox.")
    lines = ["".join(line.split()).translate(letters) for line in drawing.split("\n") if line.strip()]
    game = make_board(len(lines), len(lines[0]))
    record = game.new_initial_state().record
    for name in ("rows", "columns", "falling", "rising"):
        record[name][:] = 0
    framed = ["#" * (len(lines[0]) + 2), *(f"#{line}#" for line in lines), "#" * (len(lines[0]) + 2)]
    amazons: tuple[list, list] = ([], [])
    for row, line in enumerate(framed):
        for column, text in enumerate(line):
            if text in "xo":
                amazons["xo".index(text)].append((row, column))
            if text != ".":
                record.rows[row] |= 1 << column
                record.columns[column] |= 1 << row
                record.falling[row - column + 11] |= 1 << column
                record.rising[row + column] |= 1 << column
    record.amazons[:] = amazons
    record.player = player
    state = State.from_record(game, record)
    assert stones(str(state)) == lines
    return state


def legal_texts(state: State) -> list[str]:
    return [state.game.action_to_text(state, action) for action in state.legal_actions()]


def play(state: State, text: str) -> State:
    child = state.clone()
    for move in state.game.rules.split_moves(text):
        child.apply_action(state.game.text_to_action(child, move))
    return child


def drawn_texts(drawing: str, mark: str) -> list[str]:
    """Returns the names of the drawing's cells with this mark, in rows from the top."""
    lines = [line.split() for line in drawing.split("\n") if line.strip()]
    cells = product(range(len(lines)), range(len(lines[0])))
    return [f"{'abcdefghij'[column]}{len(lines) - row}" for row, column in cells if lines[row][column] == mark]


BEFORE = """
    * . X . . O #
    . * . # . * .
    X . * * * . O
    X * * A * * *
    . . # O * . .
    O . . . . * ."""

MOVED = """
    . * X . * O #
    . . * # * . *
    X . . * * * O
    X * * * A * *
    . . # O * * .
    O . . . * . *"""


@pytest.mark.parametrize("player", [0, 1])
def test_drawn_moves_and_shots(player):
    """Nothing passes over a piece, an arrow or an edge. An arrow may pass through the cell that the amazon left."""
    state = read_drawing(BEFORE, player)
    assert legal_texts(state) == ["c6", "a4", "a3", "d3"]
    state = play(state, "d3")
    assert legal_texts(state) == [f"-{cell}" for cell in drawn_texts(BEFORE, "*")]
    state = play(state, "-e3")
    assert legal_texts(state) == [f"/{cell}" for cell in drawn_texts(MOVED, "*")]
    state = play(state, "/c3")
    assert stones(str(state)) == stones(str(read_drawing(MOVED.replace("X * * *", "X . # ."), player)))


def test_one_player_moves_goes_and_shoots():
    state, players = GAME.new_initial_state(), []
    for text in GAME.rules.split_moves("d1-d7/g7 g10-g8/d8"):
        players.append(state.current_player())
        state.apply_action(GAME.text_to_action(state, text))
    assert players == [0, 0, 0, 1, 1, 1] and state.current_player() == 0


@pytest.mark.parametrize("player", [0, 1])
def test_blocked_in_is_lost(player):
    state = read_drawing("O O # .\nO O # .\n# # . .\nX X X X", player)
    open_board = play(state, "d1-d2/d1")
    assert not open_board.is_terminal() and open_board.returns() == [0, 0]
    assert open_board.current_player() == 1 - player and legal_texts(open_board) == ["b3"]
    blocked = play(state, "d1-d2/c2")
    assert blocked.is_terminal() and blocked.returns()[player] == 1


@pytest.mark.parametrize("player", [0, 1])
def test_who_is_to_move_has_lost_where_both_are_blocked_in(player):
    state = read_drawing("O O # #\nO O # #\n# # . #\nX X X X", player)
    assert legal_texts(state) == ["b1", "c1", "d1"]
    assert legal_texts(play(state, "c1-c2")) == ["/c1"]
    state = play(state, "c1-c2/c1")
    assert state.is_terminal() and state.returns()[player] == 1


STARTS = [
    """
    . O O .
    O . . O
    X . . X
    . X X .""",
    """
    . O . O .
    O . . . O
    . . . . .
    X . . . X
    . X . X .""",
    """
    . . O . O . .
    O . . . . . O
    X . . . . . X
    . . X . X . .""",
    """
    . O O .
    . . . .
    O . . O
    . . . .
    X . . X
    . . . .
    . X X .""",
    """
    . . . O . . O . . .
    . . . . . . . . . .
    . . . . . . . . . .
    O . . . . . . . . O
    . . . . . . . . . .
    . . . . . . . . . .
    X . . . . . . . . X
    . . . . . . . . . .
    . . . . . . . . . .
    . . . X . . X . . .""",
]


@pytest.mark.parametrize("drawing", STARTS, ids=["4x4", "5x5", "4x7", "7x4", "10x10"])
def test_start(drawing):
    state = read_drawing(drawing, player=0)
    start = state.game.new_initial_state()
    assert str(start) == str(state) and start.legal_actions() == state.legal_actions()


def reach(lines: list[str], row: int, column: int) -> list[tuple[int, int]]:
    """Returns the empty cells that a queen can reach, by walking in each direction."""
    cells = []
    for down, right in DIRECTIONS:
        y, x = row + down, column + right
        while 0 <= y < len(lines) and 0 <= x < len(lines[0]) and lines[y][x] == ".":
            cells.append((y, x))
            y, x = y + down, x + right
    return sorted(cells)


@pytest.mark.parametrize(("rows", "columns"), SHAPES)
def test_random_games_as_the_reference_plays_them(rows, columns):
    chooser, game, mover = random.Random(rows), make_board(rows, columns), (0, 0)
    for _ in range(5 if IS_COMPILED else 1):
        state, lines = game.new_initial_state(), stones(str(game.new_initial_state()))
        for ply in range(game.max_plies + 1):
            player, phase = ply // 3 % 2, ply % 3
            own = [cell for cell in product(range(rows), range(columns)) if lines[cell[0]][cell[1]] == "xo"[player]]
            cells = [cell for cell in own if reach(lines, *cell)] if phase == 0 else reach(lines, *mover)
            assert state.legal_actions() == [(phase * rows + row) * columns + column for row, column in cells]
            if not cells:
                break
            assert not state.is_terminal() and state.current_player() == player
            action = chooser.choice(state.legal_actions())
            state.apply_action(action)
            row, column = divmod(action % (rows * columns), columns)
            changes = {1: {mover: ".", (row, column): "xo"[player]}, 2: {(row, column): "#"}}.get(phase, {})
            lines = ["".join(changes.get((y, x), lines[y][x]) for x in range(columns)) for y in range(rows)]
            assert stones(str(state)) == lines
            mover = mover if phase == 2 else (row, column)
        assert phase == 0 and state.is_terminal() and state.returns()[player] == -1


def test_planes_are_amazons_arrows_empty_cells_and_the_phase():
    def planes(moves: str) -> list[str]:
        """Returns the names of each plane's cells."""
        state = make_board(4, 4).state_from_moves(moves)
        return [
            " ".join(f"{'abcd'[cell % 4]}{4 - cell // 4}" for cell in plane.ravel().nonzero()[0])
            for plane in state.planes()
        ]

    everywhere = "a4 b4 c4 d4 a3 b3 c3 d3 a2 b2 c2 d2 a1 b1 c1 d1"
    first, second, empty = "a2 d2 b1 c1", "b4 c4 a3 d3", "a4 d4 b3 c3 b2 c2 a1 d1"
    assert planes("") == [first, second, "", empty, "", "", ""]
    assert planes("b1") == [first, second, "", empty, "b1", everywhere, ""]
    moved, left = "a2 b2 d2 c1", "a4 d4 b3 c3 c2 a1 b1 d1"
    assert planes("b1-b2") == [moved, second, "", left, "b2", "", everywhere]
    assert planes("b1-b2/b3") == [second, moved, "b3", "a4 d4 c3 c2 a1 b1 d1", "", "", ""]


def test_keys_of_all_positions_after_two_moves():
    start = make_board(4, 4).new_initial_state()
    for first in whole_moves(start)[::20]:
        after = play(start, first)
        states = [play(after, second) for second in whole_moves(after)]
        assert len({str(state) for state in states}) == len({state.hash_key() for state in states})


@pytest.mark.parametrize(("size", "known"), [(6, [544, 238532]), (8, [1232]), (10, [2176, 4307152])])
def test_perft_in_whole_moves(size, known):
    num_moves = len(known) if IS_COMPILED else 1
    assert perft(make_board(size, size), 3 * num_moves)[2::3] == known[:num_moves]


def whole_moves(state: State) -> list[str]:
    """Returns the legal moves, each of three actions, as text."""
    found = []
    for start in legal_texts(state):
        chosen = play(state, start)
        for end in legal_texts(chosen):
            found += [start + end + shot for shot in legal_texts(play(chosen, end))]
    return found


@pytest.mark.parametrize("size", [6, 10])
def test_recorded_openspiel_games(size):
    for recorded in read_recorded_games(f"amazons_{size}")[: None if IS_COMPILED else 1]:
        state = make_board(size, size).new_initial_state()
        for k, move in enumerate(recorded["moves"]):
            moves = whole_moves(state)
            assert state.current_player() == recorded["player"][k] and len(moves) == recorded["n_legal"][k]
            assert recorded["legal"][k] in (None, sorted(moves))
            state = play(state, move)
        assert state.is_terminal() and state.returns() == recorded["returns"]
        assert stones(str(state)) == recorded["final"].lower().split()


@pytest.mark.parametrize(
    ("size", "num_games"), [(6, 20), (8, 20), (10, 20), pytest.param(10, 1000, marks=pytest.mark.slow)]
)
def test_random_games_as_openspiel_plays_them(size, num_games):
    """OpenSpiel's actions are cells in all three phases."""

    def to_ours(state, theirs, action):
        return len(state.history()) % 3 * size**2 + action

    check_random_games(make_board(size, size), f"amazons(board_size={size})", num_games, size, to_ours)


def test_moves_are_split_into_three():
    assert GAME.rules.split_moves("d1-d7/g7") == ["d1", "-d7", "/g7"]
    assert GAME.rules.split_moves("J4-j10/a1 a4 -b4,/c4;x") == ["J4", "-j10", "/a1", "a4", "-b4", "/c4", "x"]
    assert GAME.state_from_moves("d1-d7/g7").history() == [93, 133, 236]
    assert GAME.state_from_moves("D1 d7 G7").history() == [93, 133, 236]


def test_text_of_a_move_that_is_not_legal():
    with pytest.raises(BadInput) as error:
        GAME.text_to_action(GAME.new_initial_state(), "d2")
    assert str(error.value) == "'d2' is not legal here; legal moves: a4 j4 d1 g1"


def test_marks_stand_at_the_cells_of_actions():
    state = make_board(4, 4).state_from_moves("b1-b2")
    assert state.draw({32 + 13: "12"}) == ("4  .  O  O  .\n3  O  .  .  O\n2  X  X  .  X\n1  . 12  X  .\n   a  b  c  d")


@pytest.mark.parametrize(
    ("rows", "columns"), [SHAPES[0], *thorough(SHAPES[1]), *long(*SHAPES[2 : None if IS_COMPILED else -1])]
)
def test_laws(rows, columns):
    check_laws(make_board(rows, columns), num_games=3 if IS_COMPILED and rows * columns < 50 else 1, seed=rows)
