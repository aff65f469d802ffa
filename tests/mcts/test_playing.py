"""Tests of random games: known averages of Connect Four, exact ones of tic-tac-toe."""

import math

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.compiler.rng import new_rng
from azero.games import make_game, new_states
from azero.mcts.rollouts.playing import count_random_games

from .minimax import RandomPlay


def play(game, num_games):
    """Returns the mean length, the share of the first player's wins, and the share of draws."""
    rng, legal = new_rng(0), np.zeros(game.num_actions, np.int32)
    state, actions, played = new_states(game.rules, 1)[0], np.zeros(game.max_plies + 1, np.int32), np.zeros(1, np.int64)
    totals = count_random_games(game.rules, state, legal, rng, actions, played, num_games)
    return [total / num_games for total in totals]


def test_connect_four_has_its_known_averages():
    """21.3 plies (deviation below 8), 55.6 % first-player wins, 0.26 % draws; half a unit for rounding."""
    count = 200_000 if IS_COMPILED else 500
    plies, wins, draws = play(make_game("connect_four"), count)
    assert abs(plies - 21.3) < 0.05 + 4 * 8 / math.sqrt(count)
    assert abs(wins - 0.556) < 0.0005 + 4 * 0.5 / math.sqrt(count)
    assert abs(draws - 0.0026) < 0.00005 + 4 * math.sqrt(0.0026 / count)


def test_tic_tac_toe_has_its_exact_averages():
    game, count = make_game("tic_tac_toe"), 200_000 if IS_COMPILED else 2_000
    wins, draws, plies = RandomPlay().expect(game.new_initial_state())
    assert [float(wins), float(draws)] == pytest.approx([0.5849, 0.1270], abs=1e-4)  # published values
    found = play(game, count)
    assert abs(found[0] - plies) < 4 * 1.5 / math.sqrt(count)
    assert abs(found[1] - wins) < 4 * math.sqrt(wins * (1 - wins) / count)
    assert abs(found[2] - draws) < 4 * math.sqrt(draws * (1 - draws) / count)
