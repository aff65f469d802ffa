"""Tests of pictures of a user's games: the default, their own, and what is said of wrong ones."""

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import compile_game, make_game, without_compiling
from azero.games.kernels import is_compiled
from azero.games.laws.laws import check_laws

from .user_games import NIM, added, write_file

pytestmark = [pytest.mark.usefixtures("folder"), pytest.mark.slow]  # it compiles kernels of its own

IMPORT = (
    "LOSS, ONGOING, WIN",
    "LOSS, ONGOING, WIN, Button, Cell, Picture, Piece, Player, squares\n\n"
    "BLACK, WHITE = Player('Black', 'black'), Player('White', 'white')",
)
BOARD = "squares(1, game.heap, 'plain')"


def nim_with(folder, *methods: str):
    """Returns Nim with 9 stones and further methods."""
    write_file(folder / "nim.py", NIM, IMPORT, *([added("\n\n    ".join(methods))] if methods else []))
    return make_game("nim.py:Nim(heap=9)", compiles=False)


def picture_after(game, moves: str = "") -> dict:
    with without_compiling(game.rules):
        return game.picture(game.state_from_moves(moves)).to_json()


def test_the_default_shows_planes_if_draw_shows_no_board(folder):
    picture = picture_after(nim_with(folder), "2")
    assert (picture["style"], picture["width"], picture["height"]) == ("plain", 9, 1)
    assert [(each["cell"], each["kind"], each["text"]) for each in picture["pieces"]] == [
        (k, "text", "1") for k in range(6)
    ]
    assert [cell["name"] for cell in picture["cells"]] == [f"row 1, column {k + 1}" for k in range(9)]
    assert [each["cells"] for each in picture["actions"]] == [[0], [1], [2]] and picture["problem"] is None
    assert [player["name"] for player in picture["players"]] == ["First", "Second"]


@pytest.mark.long
def test_a_board_of_very_many_cells_is_a_list_of_moves(folder):
    write_file(folder / "nim.py", NIM)
    picture = picture_after(make_game("nim.py:Nim(heap=2501)", compiles=False))
    assert picture["cells"] == [] and [each["move"] for each in picture["actions"]] == ["0", "1", "2"]


DRAWN = "draw(game, state, marks):\n        return {!r}"


@pytest.mark.parametrize(
    ("drawn", "pieces", "names"),
    [
        ("1 X . O # . . . . .\n  a b c d e f g h i", [(0, 0, ""), (2, 1, ""), (3, None, "")], "a1 b1 c1"),
        ("X . O # . . . . .", [(0, 0, ""), (2, 1, ""), (3, None, "")], "row 1, column 1"),
        ("  1 2 3 4 5 6 7 8 9\na 5 . . . . . . . .", [(0, None, "5")], "1a 2a 3a"),
        ("  X 2 3 4 5 6 7 8 9\n1 # . . . . . . . .", [(0, None, "")], "X1 21 31"),
        ("to move: X\n. . . . . . . . O", [(8, 1, "")], "row 1, column 1"),
    ],
)
def test_the_default_reads_a_drawn_board(folder, drawn, pieces, names):
    picture = picture_after(nim_with(folder, DRAWN.format(drawn)))
    assert [(each["cell"], each["player"], each["text"]) for each in picture["pieces"]] == pieces
    assert " ".join(cell["name"] for cell in picture["cells"]).startswith(names)


def test_actions_without_a_cell_or_with_the_same_one_are_in_the_list_of_moves(folder):
    game = nim_with(folder, "target(game, state, action):\n        return (4, 4, 99)[action]")
    assert [each["cells"] for each in picture_after(game)["actions"]] == [[4], [4], []]
    check_laws(game, num_games=2, seed=0)


@pytest.mark.parametrize(
    "method",
    [
        "draw(game, state, marks):\n        return marks[0]",
        "winning_cells(game, state):\n        return [9]",
        "picture(game, state, legal, history):\n        return 1 // 0",
    ],
)
def test_every_game_has_a_picture_although_its_methods_fail(folder, monkeypatch, method):
    monkeypatch.setattr("azero.games.user.trial._play", lambda rules, file: None)
    game = nim_with(folder, method)
    with without_compiling(game.rules):
        state = game.new_initial_state()
        while True:
            picture = game.picture(state).to_json()
            assert [each["action"] for each in picture["actions"]] == state.legal_actions()
            assert len(picture["cells"]) == 9
            if state.is_terminal():
                break
            state.apply_action(0)
    name = method.partition("(")[0]
    assert (picture["problem"] or "").startswith(
        f"nim.py:Nim.{name if name == 'picture' else 'picture: a winning'}"
    ) or (name == "draw" and picture["problem"] is None)


PRETTY = f"""picture(game, state, legal, history):
        pieces = [Piece(cell, None, "disc") for cell in range(state.left)]
        clicks = {{action: (state.left - 1 - action,) for action in legal}}
        return Picture({BOARD}, (BLACK, WHITE), pieces, clicks)"""


def test_a_game_can_have_a_picture_of_its_own(folder):
    game = nim_with(folder, PRETTY)
    picture = picture_after(game, "1 1")
    assert [each["cells"] for each in picture["actions"]] == [[4], [3], [2]] and len(picture["pieces"]) == 5
    assert [type(cell) for each in picture["actions"] for cell in each["cells"]] == [int] * 3
    assert picture["problem"] is None
    check_laws(game, num_games=2, seed=0)


WRONG = {
    "return 3": "returns 3; it should be a Picture",
    "return Picture(3, (BLACK, WHITE))": "returns Picture(board=3",
    f"return Picture({BOARD}, (BLACK, BLACK))": "they should be two, with different names",
    f"return Picture({BOARD}, (BLACK, Player('Me', 'pink')))": "colour of a player is 'pink'; it should be one of red,",
    f"return Picture({BOARD}, (BLACK, WHITE), [Piece(9, 0)])": "the place of a piece is cell 9; cells are 0 to 8",
    f"return Picture({BOARD}, (BLACK, WHITE), [Piece(1, 0, 'king')])": "kind of a piece is 'king'",
    f"return Picture({BOARD}, (BLACK, WHITE), [Piece(1, 2)])": "player of a piece is 2",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{7: (0,)}})": "action 7 is not legal; legal actions: [0, 1, 2]",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{0: (0, 1)}})": "action 0 has 2 cells; it should have 1 to 1",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{0: (-1,)}})": "a cell of action 0 is cell -1",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{0: 5}})": "has something of a wrong type: TypeError",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{0: (5,)}}, buttons=[Button(0, 'x')])": "0 is there twice",
    f"return Picture({BOARD}, (BLACK, WHITE), buttons=[Button(0, '')])": "a button is labelled ''",
    f"return Picture({BOARD}, (BLACK, WHITE), steps=())": "steps are (); they should be texts, at least one",
    f"return Picture({BOARD}, (BLACK, WHITE), step=1)": "step is 1; there are 1 steps, from 0",
    f"return Picture({BOARD}, (BLACK, WHITE), winning=[9])": "a winning cell is cell 9",
    f"return Picture({BOARD}, (BLACK, WHITE), clicks={{0: (0,)}}, drops=[[1]])": "which is in none of `drops`",
    f"return Picture({BOARD}._replace(), (BLACK, WHITE))": "AttributeError: 'Board' object has no attribute '_replace'",
    "return Picture(squares(1, 2, 'wood'), (BLACK, WHITE))": "the style is 'wood'; it should be one of squares, felt,",
}
"""The body of a wrong `picture`, and what is said of it."""


@pytest.mark.parametrize("body", WRONG)
def test_a_wrong_picture_is_named_and_replaced_by_the_default(folder, body):
    game = nim_with(folder, f"picture(game, state, legal, history):\n        {body}")
    picture = picture_after(game)
    assert WRONG[body] in picture["problem"] and picture["problem"].startswith("nim.py:Nim.picture")
    assert picture["style"] == "plain" and len(picture["actions"]) == 3
    assert "\n" not in picture["problem"]


BOARDS = {
    "cells=[Cell('a', 0, 0)] * 2, rows=[[0, 1]]": "cells 0 and 1 are both named 'a'",
    "cells=[Cell('a', 0, 0)], rows=[]": "each of the 1 cells should be in them once",
    "cells=[Cell('', 0, 0)], rows=[[0]]": "cell 0 is named ''",
    "cells=[Cell('a', 0, float('nan'))], rows=[[0]]": "a length or a place is not a finite number",
    "width=0": "width and height are 0 and 1; they should be positive",
    "cells=[Cell('a', 0, 0, 'circle')], rows=[[0]]": "the shape of a cell is 'circle'",
    "labels=[(1, 2, 3)]": "has something of a wrong type",
}


@pytest.mark.parametrize("changes", BOARDS)
def test_a_wrong_board_is_named(folder, changes):
    body = f"import dataclasses\n        board = dataclasses.replace({BOARD}, {changes})"
    game = nim_with(
        folder, f"picture(game, state, legal, history):\n        {body}\n        return Picture(board, (BLACK, WHITE))"
    )
    assert BOARDS[changes] in picture_after(game)["problem"]


def test_check_game_shows_the_law_that_a_picture_breaks(folder):
    game = nim_with(folder, f"picture(game, state, legal, history):\n        return Picture({BOARD}, (BLACK, BLACK))")
    with pytest.raises(BadInput, match="nim.py:Nim.picture: players are .*, after no move"):
        check_laws(game, num_games=1, seed=0)


def test_a_picture_that_changes_the_state_breaks_the_law(folder):
    body = f"state.left = 1\n        return Picture({BOARD}, (BLACK, WHITE))"
    game = nim_with(folder, f"picture(game, state, legal, history):\n        {body}")
    with pytest.raises(BadInput, match="picture changes the state, after no move"):
        check_laws(game, num_games=1, seed=0)


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_game_is_shown_before_it_is_compiled(folder):
    write_file(folder / "nim.py", NIM)
    game = make_game("nim.py:Nim(heap=7)", compiles=False)
    assert not is_compiled(game.rules)
    assert len(picture_after(game, "2 1")["pieces"]) == 2
    with without_compiling(game.rules):
        state = game.state_from_moves("2 1")
    compile_game(game)
    assert is_compiled(game.rules) and game.state_from_moves("2 1") == state


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_game_that_cannot_be_compiled_is_refused_when_it_is(folder):
    write_file(folder / "nim.py", NIM, ("state.left > 0", "len(sorted([state.left])) and state.left > 0"))
    game = make_game("nim.py:Nim", compiles=False)
    with pytest.raises(BadInput, match=r"nim.py:Nim.outcome, line \d+, cannot be compiled"):
        compile_game(game)
