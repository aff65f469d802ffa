"""Tests of solved games: results are true, reach as far as the limit lets them, and depend on no other game."""

import numpy as np
import pytest

from azero.errors import BrokenRules
from azero.exact.solver import solve
from azero.games import LOSS, State, make_game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.records import join_shards
from azero.selfplay.solving import solve_endings

from .games import CONNECT_FOUR, PLAIN, TIC_TAC_TOE, assert_same, play

PLENTY = 1 << 20
GAMES = {
    "tic_tac_toe": TIC_TAC_TOE,
    "connect_four": CONNECT_FOUR,
    "othello": make_game("othello(size=4)"),
    "go": make_game("go(size=2)"),  # no table: its positions depend on the moves before
}


@pytest.fixture(scope="module", params=GAMES)
def shard(request):
    """Games whose searches proved nothing, and the game."""
    game = GAMES[request.param]
    return game, play(game, range(4), settings=PLAIN)


def truth_of(game, shard, at):
    """Returns a position's result under best play, for the player to move."""
    value = solve(State.from_record(game, shard.states[at], [])).value
    return int(value) * (1 - 2 * int(shard.players[at]))


def test_all_results_are_found_with_enough_positions_and_are_true(shard):
    game, played = shard
    assert (played.proven == UNPROVEN).all()
    solved = solve_endings(game, played, PLENTY)
    results = [truth_of(game, played, at) for at in range(played.num_positions)]
    assert solved.proven.tolist() == solved.root_values.tolist() == results
    assert len(set(results)) > 1
    same = solved._replace(proven=played.proven, root_values=played.root_values)
    assert_same(same, played)
