"""Tests of boards as a game shows them: marks of the last turn and of what decided the game, and colours."""

import pytest
from games.user_games import NIM, added, write_file

from azero.errors import BadInput
from azero.games import make_game
from azero.interfaces.terminal.board import find_cells, show_board, side_names
from azero.interfaces.terminal.game_so_far import GameSoFar


def shown(name, moves, is_coloured=False):
    game = make_game(name)
    played = GameSoFar(game.new_initial_state(), game.state_from_moves(moves).history())
    return show_board(played.state, played.before_last_turn(), is_coloured).splitlines()


@pytest.mark.parametrize(
    ("name", "moves", "marked"),
    [
        ("tic_tac_toe", "a1", ["1(X). ."]),
        ("connect_four(rows=4,columns=4)", "44", [" . . .(O)"]),
        ("go(size=3)", "b3 a3 a2", ["2(X). ."]),  # not the stone that is taken
        ("go(size=3)", "b3 pass", []),
        ("othello(size=4)", "a2", ["2(X)X X ."]),  # not the stone that is turned over
        ("hex(size=3,swap=true)", "a2 swap", ["  1 .(O)."]),
        ("breakthrough(rows=5,columns=4)", "a1-a2 a5-a4 a2-a3 b5-b4 a3xb4", ["4 O(X). ."]),
        ("clobber(rows=2,columns=2)", "a1a2", ["2(X)X"]),
        ("amazons(size=4)", "b1-a1/b1", ["1(X #)X ."]),
        ("p_game", "0 1", []),
    ],
)
def test_the_last_turn_is_in_brackets(name, moves, marked):
    lines = shown(name, moves)
    assert [line for line in lines if "(" in line] == marked
    plain = make_game(name).state_from_moves(moves).draw().splitlines()
    assert [line.replace("(", " ").replace(")", " ").rstrip() for line in lines] == plain


@pytest.mark.parametrize(
    ("name", "moves", "board"),
    [
        ("tic_tac_toe", "a1 b1 b2 c1 c3", ["1[X]O O", "2 .[X].", "3 . .(X)", "  a b c"]),
        ("connect_four(rows=4,columns=5)", "1122334", [" . . . . .", " . . . . .", " O O O . .", "[X X X(X)."]),
        ("gomoku(rows=3,columns=3,k=3)", "b2 a1 a2 b1 c2", ["3 . . .", "2[X X(X)", "1 O O ."]),
        ("hex(size=3)", "a3 a1 c1 b1 b2", ["    a b c", "  1 O O[X]", "   2 .(X).", "    3[X]. ."]),
        ("hex(size=2)", "a1 a2 b1 b2", ["    a b", "  1 X X", "   2[O(O)"]),
    ],
)
def test_what_decided_the_game_is_in_square_brackets(name, moves, board):
    lines = shown(name, moves)
    assert lines[: len(board)] == board


def test_pieces_have_the_colours_of_their_players_and_what_decided_is_reversed():
    lines = shown("tic_tac_toe", "a1 b1 a2 b2 a3", is_coloured=True)
    x, o, empty = "\x1b[31;7mX\x1b[0m", "\x1b[36mO\x1b[0m", "\x1b[2m.\x1b[0m"
    assert lines[0] == f"1[{x}]{o} {empty}" and lines[2] == f"3(\x1b[31;1;7mX\x1b[0m){empty} {empty}"
    assert lines[3] == "  a b c"


@pytest.mark.parametrize("name", ["p_game", "p_game(branching=5)"])
def test_text_that_is_no_board_has_no_marks(name):
    state = make_game(name).new_initial_state()
    assert find_cells(state, state.draw()) == [] and side_names(state) == ("first", "second")
    assert show_board(state, None, is_coloured=True) == state.draw()


@pytest.mark.parametrize(
    "name", ["connect_four", "go", "hex", "amazons", "othello", "breakthrough", "clobber", "gomoku"]
)
def test_the_cells_of_each_game_are_found_and_the_players_are_their_pieces(name):
    game = make_game(name)
    state = game.new_initial_state()
    cells = find_cells(state, state.draw())
    assert len(set(cells)) == game.planes_shape[1] * game.planes_shape[2] and side_names(state) == ("X", "O")


DRAW = "draw(game, state, marks):\n        return 'heap ' + ' '.join('#' * state.left + '.' * (game.heap - state.left))"


@pytest.mark.parametrize(
    ("returned", "board"),
    [("[game.heap - 1, 9999]", "heap . . . .[.]"), ("[]", "heap . . . . ."), ("[-1]", "heap . . . . .")],
)
def test_a_user_s_game_says_what_decided_it(tmp_path, returned, board):
    own = f"winning_cells(game, state):\n        return {returned}"
    file = write_file(
        tmp_path / "nim.py", NIM, ("    def reset(", f"    def {own}\n\n    def {DRAW}\n\n    def reset(")
    )
    assert shown(f"{file}:Nim(heap=5)", "2 1") == [board]
    assert shown(f"{file}:Nim(heap=5)", "2") == ["heap # # . . ."]  # what was taken is not marked


def test_a_mistake_in_a_user_s_winning_cells_is_named(tmp_path):
    file = write_file(tmp_path / "nim.py", NIM, added("winning_cells(game, state):\n        return 'all'"))
    game = make_game(f"{file}:Nim")
    with pytest.raises(BadInput, match="winning_cells returns 'all'; it should be a list of the numbers of cells"):
        game.rules.winning_cells(game.new_initial_state().record)
