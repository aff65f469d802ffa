"""Tests of the estimate of ratings and of the choice of pairings."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pytest

from azero.arena.matches.statistics import elo_from_score, elo_interval
from azero.arena.ratings.model import ELO, PRIOR_ELO, Scores, choose_pairings, estimate

PATH = Path(__file__).parents[2] / "benchmarks" / "ratings.py"


def scores_of(num_agents, *matches):
    """Returns scores; a match is (a, b, scores of a's pairs)."""
    scores = Scores.none(num_agents)
    for a, b, pairs in matches:
        for score in pairs:
            scores.add(a, b, score)
    return scores


def log_density(scores, mean, posterior):
    """Returns the log density, as the docstring of the model has it."""
    total = -sum((t / posterior.spread) ** 2 for t in mean) / 2
    for i, j in itertools.permutations(range(len(mean)), 2):
        total -= scores.points[i, j] * np.log1p(np.exp(mean[j] - mean[i])) / posterior.dispersion
    return total


SOME = scores_of(3, (0, 1, [1, 0.5, 0.75, 0.5]), (1, 2, [0.5, 0.25, 1, 0.5, 0]), (0, 2, [1, 0.5]))


def test_a_pool_of_two_has_the_elo_and_the_interval_of_their_match():
    pairs = [1, 0.5, 0.75, 0.5, 0.25, 0.5, 1, 0.75] * 20
    posterior = estimate(scores_of(2, (0, 1, pairs)))
    assert posterior.elo(1)[0] == pytest.approx(elo_from_score(np.mean(pairs)), abs=0.5)
    low, high = elo_interval(pairs)
    assert posterior.half_widths(1)[0] == pytest.approx((high - low) / 2, rel=0.03)


def test_draws_and_openings_that_decide_games_make_intervals_narrow():
    half = {
        name: estimate(scores_of(2, (0, 1, pairs * 30))).half_widths(1)[0]
        for name, pairs in {"alike": [1, 0, 1, 0], "apart": [0.5] * 4, "between": [1, 0.5, 0.5, 0]}.items()
    }
    assert half["apart"] < half["between"] / 3 and half["between"] == pytest.approx(half["alike"] / 2**0.5, rel=0.05)


def test_the_ratings_have_the_greatest_density_and_the_covariance_is_its_curvature():
    posterior = estimate(SOME)
    size = 1e-3
    moves = np.eye(3) * size

    def density(*steps):
        return log_density(SOME, posterior.mean + sum(steps), posterior)

    assert all(density(sign * 10 * move) < density() for move in moves for sign in (1, -1))
    curvature = np.array(
        [
            [(density(a, b) - density(a, -b) - density(-a, b) + density(-a, -b)) / (4 * size**2) for a in moves]
            for b in moves
        ]
    )
    np.testing.assert_allclose(np.linalg.inv(-curvature), posterior.covariance, rtol=1e-3)


def test_the_prior_is_as_wide_as_the_ratings():
    wide, narrow = ([(k, k + 1, [score] * 200) for k in range(19)] for score in (0.75, 0.5))
    spread = {name: ELO * estimate(scores_of(20, *each)).spread for name, each in (("wide", wide), ("narrow", narrow))}
    assert spread["wide"] > 1000 and 300 < spread["narrow"] < 400


def test_without_games_all_are_equal_and_as_uncertain_as_the_prior():
    posterior = estimate(Scores.none(4))
    assert (posterior.elo(0) == 0).all()
    np.testing.assert_allclose(posterior.half_widths(0)[1:], 1.95996 * PRIOR_ELO * 2**0.5, rtol=1e-3)


def test_the_anchor_has_no_interval_and_another_anchor_shifts_all():
    posterior = estimate(SOME)
    for anchor in range(3):
        assert posterior.elo(anchor)[anchor] == 0 == posterior.half_widths(anchor)[anchor]
    np.testing.assert_allclose(np.diff(posterior.elo(0)), np.diff(posterior.elo(2)))


@pytest.mark.parametrize("wins", [1, 10, 10_000])
def test_agents_that_win_or_lose_all_games_have_finite_ratings(wins):
    posterior = estimate(scores_of(3, (0, 1, [1] * wins), (1, 2, [1] * wins)))
    elo = posterior.elo(1)
    assert np.isfinite(posterior.covariance).all() and elo[0] > 150 and elo[2] == pytest.approx(-elo[0])


def test_the_order_of_agents_does_not_matter():
    turned = scores_of(3, (2, 1, [1, 0.5, 0.75, 0.5]), (1, 0, [0.5, 0.25, 1, 0.5, 0]), (2, 0, [1, 0.5]))
    np.testing.assert_allclose(estimate(turned).mean[::-1], estimate(SOME).mean, atol=1e-9)


def test_64_agents_whose_pairs_agree_get_their_ratings():
    truth = np.linspace(-3, 3, 64)
    s = 1 / (1 + np.exp(truth[None, :] - truth[:, None]))
    pairs = 1000.0 * (1 - np.eye(64))
    posterior = estimate(Scores(pairs, pairs * s, pairs * (s**2 + s * (1 - s) / 2)))
    np.testing.assert_allclose(posterior.mean, truth, atol=0.01)
    assert posterior.dispersion == pytest.approx(0.5, rel=0.02)


def test_the_first_pairings_connect_all_agents():
    chosen = choose_pairings(estimate(Scores.none(8)), 8)
    assert sum(chosen.values()) == 8 and {each for pair in chosen for each in pair} == set(range(8))


def test_each_pairing_is_the_one_that_leaves_least_uncertainty():
    posterior = estimate(SOME)
    after = {}
    for i, j in itertools.combinations(range(3), 2):
        e = np.eye(3)[i] - np.eye(3)[j]
        precision = np.linalg.inv(posterior.covariance) + posterior.information[i, j] * np.outer(e, e)
        after[i, j] = -np.linalg.slogdet(precision)[1]
    assert choose_pairings(posterior, 1) == {min(after, key=lambda pair: after[pair]): 1}


def test_after_many_games_neighbours_meet():
    """Agents of very different strength would say little about each other."""
    matches = [(k, k + 1, [0.75, 0.5, 0.75, 1, 0.5] * 10) for k in range(5)]
    chosen = choose_pairings(estimate(scores_of(6, *matches)), 60)
    assert max(j - i for i, j in chosen) <= 3 and sum(chosen.values()) == 60


@pytest.mark.long
def test_intervals_hold_their_coverage_in_simulated_pools():
    spec = importlib.util.spec_from_file_location("ratings", PATH)
    simulation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(simulation)
    shares = [simulation.coverage(kind, 40, 8, 200, seed=1)[0].mean() for kind in simulation.KINDS]
    assert 0.93 <= np.mean(shares) <= 0.97 and min(shares) > 0.88
