"""Tests of selection rules: the papers' formulas, computed by hand."""

import math

import pytest
from pytest import approx

from azero.config.schema import SearchConfig
from azero.mcts import DepthBias, Puct, Uct, selection_from_config


def score(selection, parent_visits, visits, value, prior=0.0, depth=0, length=0.0):
    return selection.score(selection.exploration(parent_visits, depth, length), visits, value, prior)


def test_uct_by_hand():
    """ln 10 = 2.302585. A third of it is 0.767528, with the root 0.876087."""
    assert score(Uct(1.4), 10, 3, 0.2) == approx(0.2 + 1.4 * 0.876087, abs=1e-6)
    assert score(Uct(0.5), 10, 3, -0.2) == approx(-0.2 + 0.5 * 0.876087, abs=1e-6)


def test_uct_of_two_roots_of_two_is_ucb1():
    """UCB1 (Auer et al. 2002) adds sqrt(2 ln n / n_j) to a mean in [0, 1]. Our mean lies in [-1, 1]."""
    for mean, visits in [(0.25, 3), (0.5, 40), (1.0, 57)]:
        ucb1 = mean + math.sqrt(2 * math.log(100) / visits)
        assert score(Uct(2 * math.sqrt(2)), 100, visits, 2 * mean - 1) == approx(2 * ucb1 - 1)


@pytest.mark.parametrize(("C_p", "mean", "visits"), [(1 / math.sqrt(2), 0.25, 3), (0.1, 0.5, 40), (1.0, 1.0, 57)])
def test_uct_by_its_bias(C_p, mean, visits):
    """Kocsis & Szepesvari (2006), (8): c_(t, s) = 2 C_p sqrt(ln t / s), for a mean in [0, 1]."""
    paper = mean + 2 * C_p * math.sqrt(math.log(100) / visits)
    assert score(Uct.of_bias(C_p), 100, visits, 2 * mean - 1) == approx(2 * paper - 1)


@pytest.mark.parametrize(("K", "wins", "visits"), [(1.0, 1, 3), (0.5, 20, 40)])
def test_uct_by_rates_of_wins(K, wins, visits):
    """Sensei's Library: winrate + K sqrt(ln N / (5 n))."""
    sensei = wins / visits + K * math.sqrt(math.log(100) / (5 * visits))
    assert score(Uct.of_win_rate(K), 100, visits, 2 * wins / visits - 1) == approx(2 * sensei - 1)


def test_a_bias_by_depth_by_hand():
    """With D = 20 - 4 = 16 plies left and 4 played, ln 10 / 3 has the exponent (16 + 4) / (32 + 4) = 5 / 9."""
    assert score(DepthBias(2.0), 10, 3, 0.2, depth=4, length=20.0) == approx(0.2 + 2.0 * 0.767528 ** (5 / 9), abs=1e-6)
    assert score(DepthBias(2.0), 10, 3, 0.2, length=7.0) == score(Uct(2.0), 10, 3, 0.2)


def test_a_bias_by_depth_shrinks_to_the_end_of_the_game_and_not_beyond():
    at_the_end = score(DepthBias(1.0), 10, 30, 0.0, depth=19, length=20.0)
    assert at_the_end == approx((math.log(10) / 30) ** (20 / 21))
    assert score(DepthBias(1.0), 10, 30, 0.0, depth=40, length=20.0) == approx((math.log(10) / 30) ** (41 / 42))


def test_uct_knows_no_priors_and_visits_all_children_first():
    assert Uct().is_sweeping() and not Puct().is_sweeping()
    assert score(Uct(), 10, 3, 0.2, prior=0.0) == score(Uct(), 10, 3, 0.2, prior=1.0)


def test_alphago_zero_by_hand():
    """U = 2 * 0.3 * sqrt(100) / (1 + 4) = 1.2."""
    assert score(Puct(c_puct=2.0, c_puct_factor=0.0), 100, 4, 0.1, prior=0.3) == approx(0.1 + 1.2)


def test_alphazero_by_hand():
    """AlphaZero's pseudocode: pb_c = ln((100 + 19652 + 1) / 19652) + 1.25 = 1.2551263, times sqrt(100) / (4 + 1)."""
    assert score(Puct(), 100, 4, 0.1, prior=0.3) == approx(0.1 + 1.2551263 * 2 * 0.3, abs=1e-7)


def test_c_puct_grows_by_ln_2_at_its_base():
    grown = Puct(c_puct=1.25, c_puct_base=400.0, c_puct_factor=3.0).exploration(399, 0, 0.0)
    assert grown / math.sqrt(399) == approx(1.25 + 3 * math.log(2))


def test_first_play_value():
    reduced, absolute = Puct(fpu_reduction=0.2), Puct(is_fpu_absolute=True, fpu_value=-1.0, fpu_reduction=0.2)
    assert reduced.first_play_value(0.5, 0.36) == approx(0.5 - 0.2 * 0.6)
    assert reduced.first_play_value(-0.5, 0.0) == -0.5
    assert absolute.first_play_value(0.5, 0.36) == -1.0


@pytest.mark.parametrize(("fpu", "is_absolute"), [("reduced", False), ("absolute", True)])
def test_puct_from_settings(fpu, is_absolute):
    config = SearchConfig(
        c_puct=3.0, c_puct_factor=0.5, c_puct_base=500.0, fpu=fpu, fpu_reduction=0.25, fpu_value=-0.75
    )
    assert Puct.from_config(config) == Puct(3.0, 500.0, 0.5, is_absolute, -0.75, 0.25)


def test_uct_s_own_constant_is_that_of_the_settings():
    assert selection_from_config(SearchConfig(selection="uct")) == Uct()
