"""Suggestions as text: the board with each move's value, and the table."""

import pytest

from azero.arena.names import make_agent
from azero.arena.suggestion import Move, Suggestion
from azero.engine.show import show_moves, show_suggestion, value_marks
from azero.games import make_game

GAME = make_game("tic_tac_toe")


def move(action, visits, value, proven=None, plies=None, pv=()):
    text = "abc"[action % 3] + "123"[action // 3]
    return Move(action, text, visits, value, 0.25, proven, plies, [text, *pv])


STATE = GAME.state_from_moves("a1 b1 c1 a2 b2 c2 b3")  # a3 and c3 are left, for the second player
MOVES = [move(8, 30, 0.5, pv=["a3"]), move(6, 12, -1.0, "loss", 2, pv=["c3"])]


def suggestion(moves, is_full=False):
    return Suggestion("tic_tac_toe", 1, 42, 1.234, 0.25, moves[0].move, moves, is_full)


def test_a_suggestion_is_the_board_the_table_and_the_best_move():
    assert show_suggestion(suggestion(MOVES), STATE).splitlines() == [
        "tic_tac_toe, second player to move, value +0.25 for that player",
        "",
        "1     X     O     X",
        "2     O     X     O",
        "3  -100     X +50*^",
        "      a     b     c",
        "",
        "values in hundredths; * most visited, ^ highest value",
        "",
        "move    visits   value  prior  proven      principal variation",
        "  c3        30  +0.500   0.25              c3 a3",
        "  a3        12  -1.000   0.25  loss in 2   a3 c3",
        "",
        "best: c3   (42 simulations in 1.23 s)",
    ]


def test_a_full_tree_is_said():
    last = show_suggestion(suggestion(MOVES, is_full=True), STATE).splitlines()[-1]
    assert last == "best: c3   (42 simulations in 1.23 s, the tree reached its limit of nodes and grew no more)"


def test_the_most_visited_move_and_the_one_of_highest_value_are_marked():
    assert value_marks([move(0, 50, 0.1), move(1, 5, 0.4), move(2, 4, -0.256)]) == {0: "+10*", 1: "+40^", 2: "-26"}
    assert value_marks([move(0, 50, 0.4), move(1, 5, 0.1)]) == {0: "+40*^", 1: "+10"}


def test_moves_of_which_nothing_is_known_have_no_value():
    assert value_marks([move(0, 0, 0.0), move(1, 0, 0.0)]) == {}
    assert value_marks([move(0, 3, -0.5), move(1, 0, 0.0)]) == {0: "-50*^"}
    assert show_moves([move(1, 0, 0.0)]).splitlines()[1].split() == ["b1", "0", "0.25", "b1"]


def test_a_proven_move_is_shown_though_it_was_never_visited():
    assert value_marks([move(0, 9, 0.0), move(1, 0, 1.0, "win", 1)]) == {0: "+0*", 1: "+100^"}
    assert "win in 1" in show_moves([move(1, 0, 1.0, "win", 1)])


@pytest.mark.parametrize("name", ["uct@50", "mc@50", "random"])
def test_what_agents_say_can_be_shown(name):
    state = GAME.state_from_moves("b2")
    lines = show_suggestion(make_agent(name, GAME).suggest(state), state).splitlines()
    rows = [line.split() for line in lines if line.startswith("  ") and line.split()[1:2] != ["b"]]
    assert sorted(row[0] for row in rows) == sorted(
        GAME.action_to_text(state, action) for action in state.legal_actions()
    )


def test_marks_of_connect_four_stand_above_the_columns_or_in_them():
    game = make_game("connect_four")
    state = game.state_from_moves("4453")
    text = show_suggestion(make_agent("random", game).suggest(state), state)
    assert text.startswith("connect_four, first player to move") and text.count("X") == text.count("O") == 2
