"""Tests of the root: noise before a search; move, policy target and ranking after it, on trees made by hand."""

import math

import numpy as np
import pytest
from pytest import approx

from azero.compiler.jit import IS_COMPILED, kernel
from azero.games import make_game
from azero.mcts import OwnRollout, Puct
from azero.mcts.roots.ranking import (
    BY_BOUND,
    BY_VALUE,
    BY_VISITS,
    cannot_be_overtaken,
    chosen_child,
    greedy_child,
    rank_children,
)
from azero.mcts.roots.visits import mix_noise, write_policy_target
from azero.mcts.scratch import new_scratch
from azero.mcts.search.kernels import choose_action
from azero.mcts.search.settings import SearchParts, Settings

from .trees import make_tree

NUM_DRAWS = 20_000 if IS_COMPILED else 2_000


def greedy(*children: dict, chosen_by: int = BY_VISITS) -> int:
    """Returns the place of the best child; asserts that it is the same for both players."""
    places = {int(greedy_child(make_tree(*children, player=player).nodes[0], chosen_by)) - 1 for player in (0, 1)}
    assert len(places) == 1
    return places.pop()


def rank(*children: dict, chosen_by: int = BY_VISITS) -> list[int]:
    """Returns the places of the children, best first; asserts that they are the same for both players."""
    rankings = []
    for player in (0, 1):
        order = np.zeros(7, np.int32)
        count = rank_children(make_tree(*children, player=player), 0, chosen_by, order)
        rankings.append([int(child) - 1 for child in order[:count]])
    assert rankings[0] == rankings[1]
    return rankings[0]


def target(*children: dict, player: int = 0) -> list[int]:
    """Returns the visits of the policy target, by place of the child."""
    visits = np.full(7, 9, np.uint16)
    write_policy_target(make_tree(*children, player=player).nodes[0], visits)
    assert not visits[: 7 - len(children)].any(), "an action without a child should have no visits"
    return visits[::-1][: len(children)].tolist()


@kernel
def _draw(forest, temperature, counts):
    for _ in range(NUM_DRAWS):
        counts[chosen_child(forest.nodes[0], forest.trees[0].rng, temperature, False) - 1] += 1


def draw(*children: dict, temperature: float, player: int = 0) -> np.ndarray:
    """Returns each child's share of many draws."""
    counts = np.zeros(len(children), np.int64)
    _draw(make_tree(*children, player=player, seed=7), temperature, counts)
    return counts / NUM_DRAWS


def assert_shares(shares: np.ndarray, weights: list[float]) -> None:
    """Asserts that shares are proportional to weights, within four standard errors."""
    expected = np.array(weights) / sum(weights)
    assert np.all(np.abs(shares - expected) <= 4 * np.sqrt(expected * (1 - expected) / NUM_DRAWS))


WIN_3, WIN_5, LOST_2, LOST_4, DRAWN = (
    {"N": 5, "proven": 1, "plies": 2},
    {"N": 90, "proven": 1, "plies": 4},
    {"N": 50, "proven": -1, "plies": 1},
    {"N": 3, "proven": -1, "plies": 3},
    {"N": 7, "proven": 0, "plies": 8},
)


def test_without_visits_and_priors_a_move_is_drawn_all_the_same():
    assert draw({"P": 0.0}, {"P": 0.0}, {"P": 1.0, "proven": -1}, temperature=1.0).tolist() == [1, 0, 0]


@pytest.mark.parametrize("epsilon", [0.25, 1.0])
def test_noisy_priors_are_a_distribution(epsilon):
    forest = make_tree({"P": 0.5}, {"P": 0.3}, {"P": 0.2})
    mix_noise(forest.nodes[0], forest.trees[0].rng, 0.3, epsilon, np.zeros(64))
    priors = forest.nodes[0].P[1:4]
    assert priors.sum() == approx(1, abs=1e-6) and np.all(priors >= 0)
    assert np.all(priors > (1 - epsilon) * np.array([0.5, 0.3, 0.2]) - 1e-6)
    assert np.any(np.abs(priors - [0.5, 0.3, 0.2]) > 1e-3)


def test_noise_without_any_mass_leaves_the_priors():
    """With a tiny alpha all variates of the gamma distribution may be 0."""
    forest = make_tree({"P": 0.5}, {"P": 0.5})
    for _ in range(300):
        mix_noise(forest.nodes[0], forest.trees[0].rng, 0.001, 0.25, np.zeros(64))
        assert forest.nodes[0].P[1:3].sum() == approx(1, abs=1e-3)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
def test_noise_has_mean_and_variance_of_a_dirichlet(alpha):
    """eta_a of Dir(alpha) in n moves has mean 1/n and variance (1/n) (1 - 1/n) / (n alpha + 1)."""
    count, epsilon = 2000, 0.25
    prior = np.array([0.5, 0.3, 0.2, 0.0])
    etas = []
    for seed in range(count):
        forest = make_tree(*({"P": p} for p in prior), seed=seed)
        mix_noise(forest.nodes[0], forest.trees[0].rng, alpha, epsilon, np.zeros(64))
        etas.append((forest.nodes[0].P[1:5] - (1 - epsilon) * prior) / epsilon)
    variance = 0.25 * 0.75 / (4 * alpha + 1)
    assert np.mean(etas, axis=0) == approx(0.25, abs=4 * math.sqrt(variance / count))
    assert np.var(etas, axis=0) == approx(variance, rel=0.2)


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize(
    ("temperature", "weights"),
    [(1.0, [1, 2, 0, 5]), (0.5, [1, 4, 0, 25]), (0.25, [1, 16, 0, 625]), (2.0, [1, 2**0.5, 0, 5**0.5])],
)
def test_moves_are_drawn_from_the_visits_at_a_temperature(temperature, weights, player):
    children = [{"N": 10}, {"N": 20}, {"N": 0}, {"N": 50}]
    assert_shares(draw(*children, temperature=temperature, player=player), weights)


def test_extreme_temperatures():
    children = [{"N": 30_000}, {"N": 29_999}, {"N": 1}]
    assert draw(*children, temperature=1e-6).tolist() == [1, 0, 0]
    assert_shares(draw(*children, temperature=1e6), [1, 1, 1])


def test_before_any_visit_the_prior_is_drawn_from():
    assert_shares(draw({"P": 0.1}, {"P": 0.6}, {"P": 0.3}, temperature=1.0), [0.1, 0.6, 0.3])


def test_lost_moves_are_not_drawn():
    assert_shares(draw({"N": 30}, LOST_2, {"N": 10}, DRAWN, temperature=1.0), [30, 0, 10, 7])


def test_a_shortest_win_is_played_whatever_the_temperature():
    assert draw({"N": 800}, WIN_5, WIN_3, temperature=10.0).tolist() == [0, 0, 1]


def test_a_longest_loss_is_played_whatever_the_temperature():
    assert draw(LOST_2, LOST_4, LOST_2, temperature=10.0).tolist() == [0, 1, 0]


def test_the_best_move_has_most_visits_then_the_highest_value_then_the_greatest_prior():
    assert greedy({"N": 4, "Q": 0.9}, {"N": 5, "Q": -0.9}) == 1
    assert greedy({"N": 5, "Q": 0.1}, {"N": 5, "Q": 0.2}, {"N": 5, "Q": 0.0}) == 1
    assert greedy({"N": 5, "P": 0.1}, {"N": 5, "P": 0.2}, {"N": 5, "P": 0.2}) == 1


def test_the_best_move_by_value_has_the_highest_value_then_most_visits():
    assert greedy({"N": 1, "Q": 0.9}, {"N": 50, "Q": 0.8}, chosen_by=BY_VALUE) == 0
    assert greedy({"N": 4, "Q": 0.5}, {"N": 8, "Q": 0.5}, chosen_by=BY_VALUE) == 1


def test_the_best_move_by_bound_has_the_highest_value_less_what_few_visits_leave_open():
    assert greedy({"N": 4, "Q": 0.9}, {"N": 100, "Q": 0.51}, chosen_by=BY_BOUND) == 1  # bounds 0.4 and 0.41
    assert greedy({"N": 4, "Q": 0.9}, {"N": 100, "Q": 0.49}, chosen_by=BY_BOUND) == 0
    assert greedy({"N": 9, "Q": 0.3}, DRAWN, chosen_by=BY_BOUND) == 1, "a proven value should have no margin"
    assert greedy({"N": 16, "Q": 0.3}, DRAWN, chosen_by=BY_BOUND) == 0
    assert greedy({"N": 0, "P": 0.9}, {"N": 1, "Q": -0.5}, chosen_by=BY_BOUND) == 1
    assert greedy({"N": 4, "Q": 0.75}, {"N": 16, "Q": 0.5}, chosen_by=BY_BOUND) == 1, "visits break the tie of 0.25"
    assert rank({"N": 4, "Q": 0.9}, WIN_3, {"N": 100, "Q": 0.51}, LOST_2, chosen_by=BY_BOUND) == [1, 2, 0, 3]


def test_a_move_without_a_visit_has_no_value_to_be_chosen_by():
    assert greedy({"N": 0, "P": 0.9}, {"N": 3, "Q": -0.5}, chosen_by=BY_VALUE) == 1
    assert greedy({"N": 3, "Q": -0.5}, {"N": 0, "P": 0.9}, chosen_by=BY_VALUE) == 0


def test_proofs_decide_before_visits():
    assert greedy({"N": 800, "Q": 0.9}, WIN_5, WIN_3) == 2
    assert greedy(LOST_2, {"N": 1, "Q": -0.99}) == 1
    assert greedy(LOST_2, LOST_4) == 1
    assert greedy(LOST_2, LOST_4, {"N": 0}) == 2


def test_a_proven_draw_is_worth_exactly_a_draw():
    assert greedy({"N": 7, "Q": 0.1}, DRAWN | {"Q": 0.9}, chosen_by=BY_VALUE) == 0
    assert greedy({"N": 7, "Q": -0.1}, DRAWN | {"Q": -0.9}, chosen_by=BY_VALUE) == 1


def test_choosing_is_greedy_at_temperature_0():
    forest = make_tree({"N": 4}, {"N": 9, "Q": 0.1}, {"N": 6, "Q": 0.7})
    rules = make_game("connect_four").rules
    for chosen_by, action in ((BY_VISITS, 5), (BY_VALUE, 4)):
        parts = SearchParts(rules, Puct(), OwnRollout(), Settings(chosen_by=chosen_by))
        assert choose_action(parts, forest, new_scratch(rules), 0, 0.0) == action


def test_target_is_the_visits():
    assert target({"N": 10}, {"N": 0}, {"N": 30}, DRAWN) == [10, 0, 30, 7]


def test_target_of_lost_moves_is_zero():
    for player in (0, 1):
        assert target({"N": 10}, LOST_2, {"N": 30}, player=player) == [10, 0, 30]


def test_target_is_one_move_where_proofs_decide():
    assert target({"N": 10}, WIN_5, WIN_3) == [0, 0, 106]
    assert target(LOST_2, LOST_4) == [0, 54]


def test_target_without_visits_is_the_priors():
    assert target({"P": 0.3}, {"P": 0.4}, {"P": 0.3}) == [9_000, 12_000, 9_000]
    assert target(LOST_2, {"P": 0.1}, {"P": 0.2}, {"P": 0.0, "proven": 0}) == [0, 3_000, 6_000, 1]


def test_target_s_counts_stop_at_65535_in_proportion():
    assert target({"N": 65_534}, {"N": 65_535}, {"N": 1}) == [65_534, 65_535, 1]
    assert target({"N": 131_070}, {"N": 65_536}, {"N": 1}, {"N": 0}) == [65_535, 32_768, 1, 0]
    assert target({"N": 1_000_000_000}, {"N": 500_000_000}) == [65_535, 32_767]
    assert target(WIN_3 | {"N": 100_000}) == [65_535]


def test_ranking_is_wins_then_the_rest_then_losses():
    open_moves = {"N": 9, "Q": 0.1}, {"N": 9, "Q": 0.2}, {"N": 10, "Q": -0.3}
    assert rank(LOST_2, open_moves[0], WIN_5, LOST_4, open_moves[1], WIN_3, open_moves[2]) == [5, 2, 6, 4, 1, 3, 0]
    assert rank(LOST_2, *open_moves, WIN_3, chosen_by=BY_VALUE) == [4, 2, 1, 3, 0]


def test_ranking_begins_with_the_move_that_is_played():
    """Wins of one length are equally good for any visits. The one that is played comes first."""
    for children in [
        (WIN_3 | {"N": 1}, WIN_3 | {"N": 2}),
        (LOST_4 | {"N": 1}, LOST_4 | {"N": 2}),
        (WIN_3 | {"N": 0, "P": 0.1}, WIN_3 | {"N": 0, "P": 0.2}),
    ]:
        assert rank(*children)[0] == greedy(*children)


def test_the_leader_cannot_be_overtaken_with_fewer_simulations_than_its_lead():
    nodes = make_tree({"N": 10}, {"N": 50}, {"N": 30}).nodes[0]
    assert cannot_be_overtaken(nodes, 19)
    assert not cannot_be_overtaken(nodes, 20)


def test_a_lost_move_does_not_lead():
    """A lost move is not played despite its visits, so the other two moves still compete."""
    assert not cannot_be_overtaken(make_tree({"N": 100, "proven": -1}, {"N": 50}, {"N": 40}).nodes[0], 30)
