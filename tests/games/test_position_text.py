"""Tests of positions as text: each game's texts, drawn boards, refusals, equal positions, and moves instead."""

import random

import pytest

from azero.errors import BadInput
from azero.games import State, make_game, registered_games
from azero.games.defaults import has_own
from azero.games.laws.laws import random_games

from .user_games import NIM, write_file

GAMES = {
    "tic_tac_toe": "3/3/3 X",
    "connect_four(rows=4,columns=5)": "5/5/5/5 X",
    "gomoku(rows=3,columns=12,k=3)": "12/12/12 X",
    "hex(size=3,swap=true)": "3/3/3 X",
    "breakthrough(rows=6,columns=3)": "OOO/OOO/3/3/XXX/XXX X",
    "clobber(rows=2,columns=4)": "OXOX/XOXO X",
    "othello(size=4)": "4/1OX1/1XO1/4 X",
    "go(size=4)": "4/4/4/4 X",
    "amazons(rows=4,columns=4)": "1OO1/O2O/X2X/1XX1 X",
    "p_game(depth=6)": "moves:",
}


def test_every_game_is_here():
    assert {name.partition("(")[0] for name in GAMES} == set(registered_games())


@pytest.mark.parametrize("name", GAMES)
def test_a_text_leads_back_to_its_position(name):
    game = make_game(name)
    assert game.new_initial_state().to_text() == GAMES[name]
    for actions in random_games(game, 2, seed=3):
        state = game.new_initial_state()
        for action in actions:
            state.apply_action(action)
            back = game.state_from_text(f"  {state.to_text()}\n")
            assert back.to_text() == state.to_text() and (back == state or name.startswith("go"))
            assert eval(repr(state), {"make_game": make_game}).to_text() == state.to_text()


@pytest.mark.parametrize("name", [name for name in GAMES if not name.startswith("p_game")])
@pytest.mark.parametrize("has_names", [True, False])
def test_a_drawn_board_is_read(name, has_names):
    game = make_game(name)
    for actions in random_games(game, 1, seed=5):
        state = game.new_initial_state()
        for action in actions[: len(actions) // 6 * 3]:  # whole turns of Amazons
            state.apply_action(action)
        drawn = str(state)
        if not has_names:
            rows = [[word for word in line.split() if word in "XO.#"] for line in drawn.splitlines()]
            drawn = "\n".join("".join(row) for row in rows)
        player = "XO"[state.current_player()]
        assert game.state_from_text(f"{drawn}\n\n{player}").to_text().split()[:2] == state.to_text().split()[:2]


def test_the_number_of_stones_decides_who_moves():
    for name in ("tic_tac_toe", "connect_four", "gomoku", "hex", "clobber", "amazons"):
        state = make_game(name).new_initial_state()
        assert state.game.state_from_text(str(state)) == state
        assert state.game.state_from_text(state.to_text().split()[0]) == state
    for name in ("breakthrough", "othello", "go"):
        state = make_game(name).new_initial_state()
        with pytest.raises(BadInput, match="it should end with the player to move, X or O"):
            state.game.state_from_text(str(state))


REFUSED = [
    ("tic_tac_toe", "", "the board has 3 rows, not 1"),
    ("tic_tac_toe", "3/3 X", "the board has 3 rows, not 2"),
    ("tic_tac_toe", "3/4/3 X", "the board has 3 columns, but row 2 from the top has 4 cells"),
    ("tic_tac_toe", "3/3/1x1 X", "row 3 from the top has 'x'; a cell is one of X O ."),
    ("tic_tac_toe", "3/3/3 Y", "it should end with the player to move, X or O, not with 'Y'"),
    ("tic_tac_toe", "3/3/3 X X", "it should end with the player to move, X or O, not with 'X X'"),
    ("tic_tac_toe", "3/3/3 O", "O is to move, but by the number of stones it is X's turn"),
    ("tic_tac_toe", "XX1/3/3 X", "it has 2 X and 0 O; X has as many stones as O, or one more"),
    ("tic_tac_toe", "XXX/OO1/O2 X", "X has 3 in a row already, so O could not have moved"),
    ("tic_tac_toe", "XXX/OOO/3", "X has 3 in a row already"),
    ("tic_tac_toe", ". . .\n. . .", "the board has 3 rows, not 2"),
    ("connect_four", "7/7/7/7/3X3/7 O", "the X in column 4, row 5 from the top, has an empty cell below it"),
    ("connect_four", "X6/7/7/7/7/7", "the X in column 1, row 1 from the top, has an empty cell below it"),
    ("gomoku(size=6,k=3)", "XXX3/OOO3/6/6/6/6", "X has 3 in a row already"),
    ("hex(size=3)", "XO1/XO1/XO1 X", "X has won already, so O could not have moved"),
    ("hex(size=3)", "O2/3/3 X", "it has 0 X and 1 O"),
    ("hex(size=3,swap=true)", "O2/3/3 O", "O is to move, but by the number of stones it is X's turn"),
    ("hex(size=3,swap=true)", "XO1/3/3", "it should end with the player to move"),
    ("breakthrough(size=4)", "OOOO/4/X3/XXXX X", "it has 5 X; each player begins with 4"),
    ("breakthrough(size=4)", "X3/OO2/4/4 X", "X has won already"),
    ("breakthrough(size=4)", "4/4/4/XX2 X", "X has won already"),
    ("clobber(rows=2,columns=4)", "XXOX/1XX1 X", "it has 5 X and 1 O; with 2 stones taken it should have 3 X and 3 O"),
    ("othello(size=4)", "4/1O2/1XO1/4 X", "a cell in the centre is empty"),
    ("go(size=3)", "XX1/OX1/XX1 X", "the O at a2 has no liberties"),
    ("go(size=3)", "3/3/3 X ply:1", "it is at ply 1; with X to move it should be even, at least 0 and at most 27"),
    ("go(size=3)", "3/3/3 X ply:28", "it is at ply 28"),
    ("go(size=3)", "3/3/3 O passes:1 ply:0", "it is at ply 0; with O to move it should be odd, at least 1"),
    ("go(size=3)", "3/3/3 X passes:3", "'passes:3' should be like ko:e5, passes:1 or ply:40"),
    ("go(size=3)", "3/3/3 X ko:d1", "the ko d1 is not on the board"),
    ("go(size=3)", "1O1/O1X/1O1 X ko:b2", "b2 is no ko: it should be an empty point among stones of O"),
    ("go(size=3,max_game_length=2)", "XO1/X2/3 O", "it is at ply 3; with O to move it should be odd, at least 3"),
    ("amazons(size=4)", "1OO1/O2O/X2X/1X2 X", "it has 3 X and 4 O; each player has 4 amazons"),
    ("amazons(size=4)", "1OO1/O2O/X2X/1XX1 O", "O is to move, but by the number of stones it is X's turn"),
    ("amazons(size=4)", "1OO1/O2O/X2X/1XX1 X a1-", "'a1-' should be an amazon of X that moves"),
    ("amazons(size=4)", "OOO1/O#2/4/XXXX O d4-", "'d4-' should be an amazon of O that moves"),
    ("amazons(size=4)", "OOO1/O##1/4/XXXX X c1- d1-", "'c1- d1-' should be an amazon of X"),
    ("amazons(size=4)", "OOOO/####/X2#/1XXX O a4-", "the amazon at a4 cannot move"),
    ("p_game", "3/3/3 X", "this game has no text for positions; write the moves that lead to one, after 'moves:'"),
]


@pytest.mark.parametrize(("name", "text", "message"), REFUSED)
def test_what_is_no_position_is_refused(name, text, message):
    game = make_game(name)
    with pytest.raises(BadInput) as error:
        game.state_from_text(text)
    assert message in str(error.value) and str(error.value).startswith("position '") and "\n" not in str(error.value)
    assert f"the initial position is {game.new_initial_state().to_text()!r}" in str(error.value)


def test_a_number_is_no_position():
    with pytest.raises(BadInput, match="^position '7': "):
        make_game("tic_tac_toe").state_from_text(7)


def test_a_finished_position_is_one():
    for name, text, returns in [
        ("tic_tac_toe", "XXX/OO1/3 O", [1, -1]),
        ("gomoku(size=6,k=3,exact=true)", "XXXX2/OOO3/6/6/6/5O X", [-1, 1]),
        ("hex(size=3)", "XOO/X2/X2", [1, -1]),
        ("breakthrough(size=4)", "4/4/4/XX2 O", [1, -1]),
        ("breakthrough(size=4)", "4/OO2/4/O3 X", [-1, 1]),
        ("othello(size=4)", "4/1XX1/1XX1/4 O", [1, -1]),
        ("go(size=3)", "1X1/3/3 X passes:2 ply:4", [1, -1]),
    ]:
        state = make_game(name).state_from_text(text)
        assert state.is_terminal() and state.returns() == returns and state.legal_actions() == []


def test_longer_rows_do_not_count_if_exact():
    game = make_game("gomoku(size=6,k=3,exact=true)")
    state = game.state_from_text("XXXX2/OO1O2/6/6/6/6 O")
    assert not state.is_terminal() and not game.state_from_text("XXXX2/OO1O2/5O/6/6/6 X").is_terminal()


def test_the_swap_of_hex_may_be_behind_a_position():
    game = make_game("hex(size=3,swap=true)")
    assert 9 in game.state_from_text("1X1/3/3 O").legal_actions()
    swapped = game.state_from_moves("b1 swap")
    assert game.state_from_text("3/O2/3 X") == swapped == game.state_from_text(swapped.to_text())
    assert game.state_from_text("X2/O2/3 O") == game.state_from_moves("b1 swap a1")
    assert game.state_from_text("X2/O2/3 X") == game.state_from_moves("a1 a2")
    assert game.state_from_moves("swap", game.state_from_text("1X1/3/3 O")) == swapped


def test_a_ko_is_kept_and_superko_knows_two_boards():
    simple = make_game("go(size=4,superko=false)")
    state = simple.state_from_text("1XO1/X1XO/1XO1/4 O")
    state.apply_action(simple.text_to_action(state, "b3"))
    assert state.to_text() == "1XO1/XO1O/1XO1/4 X ko:c3"
    assert 6 not in state.legal_actions() and 6 not in simple.state_from_text(state.to_text()).legal_actions()
    strict = make_game("go(size=4)")
    after = strict.state_from_moves("b3", strict.state_from_text("1XO1/X1XO/1XO1/4 O"))
    assert 6 not in after.legal_actions(), "the board before b3 is known"
    assert 6 in strict.state_from_text("1XO1/XO1O/1XO1/4 X").legal_actions(), "the board before is not known"
    assert 6 not in strict.state_from_text(after.to_text()).legal_actions(), "the text has the ko"


def test_moves_instead_of_a_board_keep_the_history():
    game = make_game("go(size=4)")
    state = game.state_from_text("moves: a1 b1 pass")
    assert state == game.state_from_moves("a1 b1 pass") and len(state.history()) == 3 and state.is_replayable()
    assert not game.state_from_text(state.to_text()).is_replayable()
    with pytest.raises(BadInput, match="^move 2: 'a1' is not legal here"):
        game.state_from_text("moves: a1 a1")


def test_positions_are_equal_in_spite_of_their_histories():
    game = make_game("tic_tac_toe")
    one, other = game.state_from_moves("a1 b1 c1"), game.state_from_moves("c1 b1 a1")
    assert one == other and one != game.state_from_moves("a1 c1 b1") and one != one.to_text()
    assert one != make_game("gomoku(size=3,k=3)").state_from_text(one.to_text())
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    go = make_game("go(size=4)")
    assert go.state_from_moves("a1 b1 c1 d1") != go.state_from_moves("c1 d1 a1 b1"), "superko knows other boards"
    assert go.state_from_moves("a1 b1") == go.state_from_moves("a1 b1")


def test_a_game_without_texts_writes_moves(tmp_path):
    write_file(tmp_path / "nim.py", NIM)
    game = make_game(f"{tmp_path / 'nim.py'}:Nim")
    assert not has_own(game.rules, "position_to_text")
    state = game.new_initial_state()
    chooser = random.Random(0)
    while not state.is_terminal():
        assert game.state_from_text(state.to_text()).history() == state.history()
        state.apply_action(chooser.choice(state.legal_actions()))
    unknown = State.from_record(game, state.record)
    assert repr(unknown) == f"<State of {game} after unknown moves>"
    with pytest.raises(BadInput, match="does not write positions, and the moves that led to this one are not known$"):
        unknown.to_text()
