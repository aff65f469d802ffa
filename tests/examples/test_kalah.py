"""Tests of Kalah: drawn moves, random games in step with OpenSpiel, solved boards, the laws."""

from pathlib import Path

import pytest
from cases import thorough
from games.openspiel import check_random_games

from azero.compiler.jit import IS_COMPILED
from azero.games import State, make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "kalah.py"
GAME = make_game(f"{FILE}:Kalah")


def make_position(first: list[int], second: list[int], player: int = 0) -> State:
    record = GAME.new_initial_state().record
    record.houses[:, :6] = first, second
    record.player = player
    return State.from_record(GAME, record)


@pytest.mark.parametrize(
    ("first", "second", "move", "after", "stores", "player"),
    [
        ([0, 0, 0, 3, 0, 0], [1, 1, 1, 1, 1, 1], "d", ([0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 1, 1]), [1, 0], 0),
        ([2, 0, 0, 3, 0, 0], [1, 1, 1, 5, 1, 1], "a", ([0, 1, 0, 3, 0, 0], [1, 1, 1, 0, 1, 1]), [6, 0], 1),
        ([2, 0, 0, 3, 0, 0], [1, 1, 1, 0, 1, 1], "a", ([0, 1, 1, 3, 0, 0], [1, 1, 1, 0, 1, 1]), [0, 0], 1),
        ([1, 0, 0, 0, 9, 1], [1, 1, 1, 1, 1, 1], "e", ([2, 0, 0, 0, 0, 2], [2, 2, 2, 2, 2, 2]), [1, 0], 1),
        ([13, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1], "a", ([0, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 0]), [4, 0], 1),
    ],
    ids=["the store moves again", "takes", "nothing opposite", "leaves out the other store", "round to where it began"],
)
def test_a_move(first, second, move, after, stores, player):
    state = make_position(first, second)
    state.apply_action(GAME.text_to_action(state, move))
    assert state.record.houses[:, :6].tolist() == list(after)
    assert state.record.stores.tolist() == stores and state.current_player() == player


def test_random_games_in_step_with_openspiel():
    check_random_games(GAME, "mancala", 100, 1, lambda state, theirs, action: (action - 1) % 7)


def solve(state: State, known: dict[int, float]) -> float:
    """Returns the margin by which the first player wins with perfect play."""
    if state.is_terminal():
        return state.final_score()
    key = state.hash_key()
    if key not in known:
        margins = []
        for action in state.legal_actions():
            child = state.clone()
            child.apply_action(action)
            margins.append(solve(child, known))
        known[key] = max(margins) if state.current_player() == 0 else min(margins)
    return known[key]


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of positions")
@pytest.mark.parametrize(("houses", "results"), [(1, "DLWLWD"), (2, "WLLL"), *thorough((2, "WLLLWW"), (3, "DW"))])
def test_the_results_of_small_boards_are_those_published(houses, results):
    """By Irving, Donkers and Uiterwijk (2000), for 1, 2, ... seeds."""
    for seeds, result in enumerate(results, 1):
        margin = solve(make_game(f"{FILE}:Kalah(houses={houses},seeds={seeds})").new_initial_state(), {})
        assert "DWL"[(margin > 0) - (margin < 0)] == result, seeds


@pytest.mark.parametrize("parameters", ["", "(houses=2,seeds=1)"])
def test_the_laws_hold(parameters):
    check_laws(make_game(f"{FILE}:Kalah{parameters}"), num_games=2, seed=0)
