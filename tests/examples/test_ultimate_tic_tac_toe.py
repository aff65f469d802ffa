"""Tests of Ultimate tic-tac-toe: random games in step with OpenSpiel, the laws."""

import random
from pathlib import Path

import pyspiel
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "ultimate_tic_tac_toe.py"


def cell_of(board: int, place: int) -> int:
    """Returns our action for a place in a small board of OpenSpiel."""
    return 9 * (board // 3 * 3 + place // 3) + board % 3 * 3 + place % 3


def turns_of(theirs: pyspiel.State) -> dict[int, list[int]]:
    """Returns the turns that OpenSpiel allows, by our action. Choosing a board is an action of its own there."""
    text = str(theirs).split("Forced board: ")[1]
    if text != "any":
        return {cell_of(int(text), place): [place] for place in theirs.legal_actions()}
    return {
        cell_of(board, place): [board, place]
        for board in theirs.legal_actions()
        for place in theirs.child(board).legal_actions()
    }


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of positions")
def test_random_games_in_step_with_openspiel():
    game, theirs_of, chooser = (
        make_game(f"{FILE}:UltimateTicTacToe"),
        pyspiel.load_game("ultimate_tic_tac_toe"),
        random.Random(1),
    )
    results = []
    for _ in range(60):
        state, theirs = game.new_initial_state(), theirs_of.new_initial_state()
        while not theirs.is_terminal():
            turns = turns_of(theirs)
            assert state.current_player() == theirs.current_player()
            assert state.legal_actions() == sorted(turns)
            action = chooser.choice(state.legal_actions())
            state.apply_action(action)
            for their_action in turns[action]:
                theirs.apply_action(their_action)
        assert state.is_terminal() and state.returns() == theirs.returns()
        results.append(state.returns()[0])
    assert set(results) == {1, 0, -1}


def test_laws():
    check_laws(make_game(f"{FILE}:UltimateTicTacToe"), num_games=1, seed=1)
