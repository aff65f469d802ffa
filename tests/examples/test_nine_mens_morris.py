"""Tests of Nine Men's Morris: drawn positions, random games in step with OpenSpiel, the laws."""

import random
from pathlib import Path

import pyspiel
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "nine_mens_morris.py"
ROWS = [[0, 1, 2], [8, 9, 10], [16, 17, 18], [7, 15, 23, 19, 11, 3], [22, 21, 20], [14, 13, 12], [6, 5, 4]]
OURS = [point for row in ROWS for point in row]  # OpenSpiel numbers the points by rows


def to_ours(action: int) -> int:
    """Returns our number of OpenSpiel's action."""
    if action < 24:
        return OURS[action]
    return 24 + 24 * OURS[action // 24 - 1] + OURS[action % 24]


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of positions")
def test_random_games_in_step_with_openspiel():
    """OpenSpiel draws after 200 turns. Otherwise its rules are the same."""
    chooser, theirs_of = random.Random(1), pyspiel.load_game("nine_mens_morris")
    game = make_game(f"{FILE}:NineMensMorris(quiet=200)")
    returns = []
    for _ in range(150):
        state, theirs = game.new_initial_state(), theirs_of.new_initial_state()
        while not theirs.is_terminal():
            assert state.current_player() == theirs.current_player()
            assert state.legal_actions() == sorted(map(to_ours, theirs.legal_actions()))
            action = chooser.choice(theirs.legal_actions())
            state.apply_action(to_ours(action))
            theirs.apply_action(action)
        if theirs.returns() != [0, 0]:
            assert state.is_terminal() and state.returns() == theirs.returns()
            returns.append(state.returns()[0])
    assert returns.count(1) > 20 and returns.count(-1) > 20


def test_a_closed_mill_removes_a_man_that_is_in_none_if_there_is_one():
    game = make_game(f"{FILE}:NineMensMorris")

    def removals(moves):
        state = game.state_from_moves(moves)
        return [game.action_to_text(state, action) for action in state.legal_actions()]

    assert removals("a7 a1 d7 d1 g7") == ["xd1", "xa1"]
    assert removals("a7 a1 d7 d1 b4 g1 xb4 g7") == ["xg1", "xd1", "xa1"]  # all are in a mill


def test_quiet_moves_draw():
    game = make_game(f"{FILE}:NineMensMorris(quiet=4)")
    state, chooser = game.new_initial_state(), random.Random(0)
    while not state.is_terminal():
        state.apply_action(chooser.choice(state.legal_actions()))
    assert state.returns() == [0, 0]


def test_laws():
    check_laws(make_game(f"{FILE}:NineMensMorris"), num_games=1, seed=1)
    check_laws(make_game(f"{FILE}:NineMensMorris(quiet=2)"), num_games=2, seed=1)
