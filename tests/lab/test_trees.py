"""Tests of failure rates in small P-games, against values computed in plain Python."""

import numpy as np
import pytest
from mcts.minimax import Minimax, RandomPlay

from azero.errors import BadInput
from azero.games import make_game
from azero.lab.trees import ALPHA_BETA, UCT, Unit, check_player, failure_rates, measure_tree, spaced, wrong_moves


def tree(branching, depth, seed):
    return make_game(f"p_game(branching={branching},depth={depth},seed={seed})")


def unit(player, game, iterations, runs):
    return Unit(player, game.rules.branching, game.rules.depth, 0, iterations, runs, 0)


def first_tree_with_a_wrong_move(branching, depth):
    return next(game for seed in range(100) if wrong_moves(game := tree(branching, depth, seed)).any())


@pytest.mark.parametrize(("branching", "depth"), [(2, 5), (3, 4), (4, 2)])
def test_wrong_moves_are_those_that_minimax_would_not_play(branching, depth):
    seen = set()
    for seed in range(30):
        game = tree(branching, depth, seed)
        best = Minimax().best_actions(game.new_initial_state())
        wrong = wrong_moves(game)
        assert [action for action in range(branching) if not wrong[action]] == best
        seen.add(len(best))
    assert len(seen) > 1, "some trees should have equal moves, others not"


@pytest.mark.slow
def test_one_iteration_is_a_move_at_random():
    game = first_tree_with_a_wrong_move(4, 4)
    share = wrong_moves(game).mean()
    for player in (UCT, "mc", "mmmc"):
        (rate,) = failure_rates(game, wrong_moves(game), unit(player, game, (1,), 4000))
        assert abs(rate - share) < 4 * np.sqrt(share * (1 - share) / 4000), player


def test_two_iterations_of_uct_are_a_random_game_after_each_of_two_moves():
    """Both moves have one visit, so the one with the better result is played. Of equals it is the first, at random."""
    game = first_tree_with_a_wrong_move(2, 6)
    wrong = wrong_moves(game)
    results = []
    for action in range(2):
        state = game.new_initial_state()
        state.apply_action(action)
        win, draw, _ = RandomPlay().expect(state)
        results.append({1: float(win), 0: float(draw), -1: float(1 - win - draw)})
    bad, good = results if wrong[0] else results[::-1]
    expected = sum(bad[a] * good[b] * (1.0 if a > b else 0.5) for a in (1, 0, -1) for b in (1, 0, -1) if a >= b)
    assert 0.05 < expected < 0.95
    (rate,) = failure_rates(game, wrong, unit(UCT, game, (2,), 4000))
    assert abs(rate - expected) < 4 * np.sqrt(expected * (1 - expected) / 4000)


def test_uct_finds_the_best_move_in_the_end_and_monte_carlo_the_one_that_is_best_against_random_play():
    is_mc_wrong = 0
    for seed in range(30):
        game = tree(3, 4, seed)
        wrong = wrong_moves(game)
        values = []
        for action in range(3):
            state = game.new_initial_state()
            state.apply_action(action)
            win, draw, _ = RandomPlay().expect(state)
            values.append(float(win + draw / 2))
        if not wrong.any() or sorted(values)[-1] - sorted(values)[-2] < 0.02:
            continue
        assert failure_rates(game, wrong, unit(UCT, game, (20_000,), 2)) == [0.0]
        assert failure_rates(game, wrong, unit("mc", game, (50_000,), 2)) == [float(wrong[np.argmax(values)])]
        is_mc_wrong += wrong[np.argmax(values)]
    assert is_mc_wrong > 0


def test_alpha_beta_picks_at_random_until_its_search_has_ended():
    rates = [measure_tree(Unit(ALPHA_BETA, 2, 6, tree, (1, 64), 1, 0)) for tree in range(40)]
    assert {each["1"] for each in rates} == {0.0, 0.5} and {each["64"] for each in rates} == {0.0}, (
        "the tree has 64 leaves and 2 moves at the root"
    )


def test_all_players_meet_the_same_trees_and_the_seed_settles_them():
    first = [[measure_tree(Unit("mc", 2, 8, tree, (1, 20), 3, seed)) for tree in range(20)] for seed in (0, 0, 1)]
    assert first[0] == first[1] != first[2]


def test_iterations_are_spaced():
    assert spaced(60) == (1, 2, 5, 10, 20, 50, 60)
    assert spaced(20, per_decade=10) == (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)


@pytest.mark.parametrize("name", ["ucb", "uct@100", "mc", "uct(bias=none)", "uct(c=1", "uct(rule=x)"])
def test_a_rule_that_is_unknown_is_told(name):
    with pytest.raises(BadInput):
        check_player(name)
