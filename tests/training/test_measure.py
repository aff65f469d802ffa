"""Tests of a run's figures, on constructed games with known figures."""

import json

import numpy as np
import pytest
import torch

from azero.games import make_game, new_states
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.shard import Shard, SizedShard, join_shards
from azero.training.learning.losses import Losses
from azero.training.learning.trainer import Trainer
from azero.training.measure import (
    add_steps,
    calibration_error,
    describe_games,
    describe_speed,
    describe_steps,
    judge_fresh_positions,
)

from .runs import tiny_config

GAME = make_game("tic_tac_toe")
WON, LOST, DRAWN = "a1 a2 b1 b2 c1", "a1 a2 b1 b2 c3 c2", "b2 a1 c1 a3 a2 c2 b1 b3 c3"


def shard_of(moves, root_value=0.25):
    """Returns a game in the format of self-play, with all visits on the moves played."""
    state, states, players, actions = GAME.new_initial_state(), [], [], []
    for move in moves.split():
        states.append(state.record.copy())
        players.append(state.current_player())
        actions.append(GAME.text_to_action(state, move))
        state.apply_action(actions[-1])
    n = len(actions)
    records = new_states(GAME.rules, n)
    for place, record in enumerate(states):
        records[place] = record
    return Shard(
        states=np.asarray(records),
        players=np.array(players, np.int8),
        actions=np.array(actions, np.int16),
        visited=np.array(actions, np.int16),
        visits=np.full(n, 10, np.uint16),
        num_visited=np.ones(n, np.int16),
        root_values=np.full(n, root_value, np.float32),
        proven=np.where(np.arange(n) == n - 1, 1, UNPROVEN).astype(np.int8),
        weights=np.ones(n, np.float32),
        outcomes=np.full(n, int(state.returns()[0]), np.int8),
        lengths=np.array([n], np.int32),
        evaluations=np.array([n * 3], np.int64),
        cache_hits=np.array([n], np.int64),
        simulations=np.array([n * 4], np.int64),
        full_trees=np.array([2], np.int64),
        openings=np.zeros(0, np.int16),
        opening_lengths=np.zeros(1, np.int32),
        starts=np.zeros(0, np.uint8),
        start_lengths=np.zeros(1, np.int32),
    )


def sized(shards: list[Shard]) -> list[SizedShard]:
    return [SizedShard(0, shard) for shard in shards]


def test_games_are_described():
    shards = [shard_of(WON), join_shards([shard_of(LOST), shard_of(DRAWN)]), shard_of(WON)]
    assert describe_games(sized(shards)) == pytest.approx(
        {
            "selfplay/games": 4,
            "selfplay/positions": 25,
            "selfplay/mean_plies": 6.25,
            "selfplay/first_player_score": 2.5 / 4,
            "selfplay/draws": 0.25,
            "selfplay/distinct_games": 0.75,
            "selfplay/proven": 4 / 25,
            "selfplay/simulations": 100,
            "selfplay/full_trees": 8,
            "selfplay/evaluations": 75,
            "selfplay/cache_hits": 0.25,
        }
    )


def test_speed_is_of_what_was_played_in_the_time():
    assert describe_speed([shard_of(LOST), shard_of(DRAWN)], elapsed_s=5.0) == {
        "selfplay/positions_per_s": 3.0,
        "selfplay/simulations_per_s": 12.0,
        "selfplay/evaluations_per_s": 9.0,
        "time/play_s": 5.0,
    }


def test_calibration_is_perfect_where_values_are_the_mean_results():
    values = np.repeat([-0.5, 0.0, 0.5], 4)
    outcomes = np.array([-1, -1, -1, 1, 1, -1, 0, 0, 1, 1, 1, -1.0])
    assert calibration_error(values, outcomes) == pytest.approx(0)


def test_calibration_error_weighs_bins_by_their_positions():
    values = np.array([0.9, 0.9, 0.9, -0.9])
    outcomes = np.array([1.0, 1.0, -1.0, -1.0])  # the mean is 1/3 for 0.9, and -1 for -0.9
    assert calibration_error(values, outcomes) == pytest.approx((3 * abs(0.9 - 1 / 3) + 0.1) / 4)


def test_errors_of_different_bins_do_not_cancel_and_of_one_bin_do():
    assert calibration_error(np.array([0.5, -0.5]), np.array([0.0, 0.0])) == pytest.approx(0.5)
    assert calibration_error(np.array([0.1, 0.1]), np.array([1.0, -0.8])) == pytest.approx(0)


@pytest.mark.parametrize("edge", [-1.0, 1.0])
def test_values_at_the_edges_have_a_bin(edge):
    assert calibration_error(np.array([edge]), np.array([edge])) == 0


def test_fresh_positions_are_judged_by_the_candidate():
    """The net always answers b2 and a draw. Results and moves of the games are known."""
    trainer = Trainer(tiny_config(training={"value_lambda": 1}), GAME)
    with torch.no_grad():
        trainer.candidate().policy.bias[4] = 5.0
        trainer.candidate().results.bias[1] = 50.0
    shards = [shard_of(DRAWN), shard_of(WON)]  # b2 was played in 1 of 9 and 1 of 5 positions
    notes = judge_fresh_positions(trainer, (GAME,), sized(shards))
    assert notes["fresh/policy_agreement"] == pytest.approx(2 / 14)
    rest = np.log(np.exp(5) + 8)
    assert notes["fresh/policy_loss"] == pytest.approx(rest - 5 * 2 / 14, rel=1e-4)
    assert notes["fresh/value_loss"] == pytest.approx(50 * 5 / 14, rel=1e-4)
    assert notes["fresh/calibration_error"] == pytest.approx(1 / 14)  # 3 positions are won, 2 lost
    assert notes["fresh/root_value_error"] == pytest.approx((9 * 0.25 + 3 * 0.75 + 2 * 1.25) / 14)


def test_positions_without_weight_are_not_judged_and_count_for_nothing_to_learn():
    trainer = Trainer(tiny_config(), GAME)
    with torch.no_grad():
        trainer.candidate().policy.bias[4] = 5.0
    drawn = shard_of(DRAWN)
    weights = np.array([1, 0, 1, 0, 0, 0, 0, 0, 0], np.float32)  # b2 was played in the first position
    fast = drawn._replace(weights=weights, root_values=np.where(weights > 0, 0.25, 1).astype(np.float32))
    notes = judge_fresh_positions(trainer, (GAME,), sized([fast]))
    assert notes["fresh/policy_agreement"] == 0.5 and notes["fresh/root_value_error"] == 0.25
    figures, whole = (describe_games(sized([shard])) for shard in (fast, drawn))
    assert figures == whole | {"selfplay/positions": 2}


def test_judging_changes_nothing():
    trainer = Trainer(tiny_config(training={"ema_decay": 0}), GAME)
    before = {name: tensor.clone() for name, tensor in trainer.tensors().items()}
    judged = [judge_fresh_positions(trainer, (GAME,), sized([shard_of(WON)])) for _ in range(2)]
    assert judged[0] == judged[1]
    assert all(torch.equal(before[name], tensor) for name, tensor in trainer.tensors().items())


def test_losses_are_averaged_over_steps():
    losses = [Losses(*(torch.tensor(value * factor) for factor in (1.0, 2.0, 3.0, 4.0)), {}) for value in (1.0, 3.0)]
    assert describe_steps(add_steps({}, losses, elapsed_s=4.0)) == {
        "train/policy_loss": 2.0,
        "train/value_loss": 4.0,
        "train/policy_entropy": 6.0,
        "train/target_entropy": 8.0,
        "train/steps_per_s": 0.5,
        "time/train_s": 4.0,
    }
    assert describe_steps(add_steps({}, [], elapsed_s=4.0)) == {"train/steps_per_s": 0.0, "time/train_s": 4.0}


@pytest.mark.parametrize("cut", range(8))
def test_sums_over_steps_do_not_depend_on_where_they_were_saved(cut):
    values = np.random.default_rng(0).random((7, 5)).astype(np.float32)
    losses = [Losses(*map(torch.tensor, row[:4]), {"score": torch.tensor(row[4])}) for row in values]
    sums = json.loads(json.dumps(add_steps({}, losses[:cut], elapsed_s=1.5)))
    whole = add_steps({}, losses, elapsed_s=2.0)
    assert add_steps(sums, losses[cut:], elapsed_s=0.5) == whole and whole["score"] > 0
