"""Tests of solved games: results are true, reach as far as the limit lets them, and depend on no other game."""

import numpy as np
import pytest
from cases import thorough

from azero.exact.solver import solve
from azero.games import State, make_game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.shard import join_shards
from azero.selfplay.solving import solve_endings

from .games import CONNECT_FOUR, PLAIN, TIC_TAC_TOE, assert_same, play, random_games

PLENTY = 1 << 20
GAMES = {
    "tic_tac_toe": TIC_TAC_TOE,
    "connect_four": CONNECT_FOUR,
    "othello": make_game("othello(size=4)"),
    "go": make_game("go(size=2)"),  # no table: its positions depend on the moves before
}


@pytest.fixture(scope="module", params=["tic_tac_toe", "connect_four", *thorough("othello", "go")])
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


def test_a_limit_leaves_the_beginnings_of_games_as_they_were(shard):
    game, played = shard
    everything, solved = solve_endings(game, played, PLENTY), solve_endings(game, played, 60)
    begin = 0
    for length in played.lengths:
        own = slice(begin, begin + length)
        proven, first = solved.proven[own], length - np.count_nonzero(solved.proven[own] != UNPROVEN)
        assert (proven[:first] == UNPROVEN).all() and first < length
        assert np.array_equal(proven[first:], everything.proven[own][first:])
        assert np.array_equal(solved.root_values[own][:first], played.root_values[own][:first])
        begin += length
    assert (solved.proven == UNPROVEN).any()
    assert solve_endings(game, played, 0) is played


def test_a_game_is_solved_as_if_it_were_alone():
    one, other = play(CONNECT_FOUR, [1], settings=PLAIN), play(CONNECT_FOUR, [2], settings=PLAIN)
    together = solve_endings(CONNECT_FOUR, join_shards([one, other]), 500)
    apart = [solve_endings(CONNECT_FOUR, each, 500) for each in (one, other)]
    assert_same(together, join_shards(apart))


@pytest.mark.parametrize("num_threads", [2, 5])
def test_any_number_of_threads_solves_the_same(num_threads):
    played = play(CONNECT_FOUR, range(4), settings=PLAIN)
    assert_same(solve_endings(CONNECT_FOUR, played, 500, num_threads), solve_endings(CONNECT_FOUR, played, 500))


def test_proofs_of_the_searches_are_kept_and_cost_nothing():
    played = play(CONNECT_FOUR, range(4))
    is_proven = played.proven != UNPROVEN
    assert is_proven.any() and not is_proven.all()
    solved = solve_endings(CONNECT_FOUR, played, 1)
    assert np.array_equal(solved.proven[is_proven], played.proven[is_proven])


@pytest.mark.slow
def test_a_player_who_moves_twice_keeps_his_result():
    game = make_game("amazons(rows=4,columns=4)")
    played = random_games(game, 2)
    solved = solve_endings(game, played, 20_000)
    known = np.flatnonzero(solved.proven != UNPROVEN)
    assert len(known) > 6 and len(set(played.players[known])) == 2
    for at in known[-6:]:
        assert solved.proven[at] == truth_of(game, played, at)
