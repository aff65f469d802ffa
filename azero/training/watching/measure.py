"""Metrics of a run: its games, the net's predictions of positions before it learns from them, and speed."""

import numpy as np
import torch

from azero.compiler.rng import derive_seed
from azero.games import Game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.records import Shard, join_shards
from azero.selfplay.data.samples import make_sample, targets_of
from azero.training.learning.trainer import Losses, Trainer, losses_of

_JUDGED = 4096  # maximum of positions
_BINS = 10


def describe_games(game: Game, shards: list[Shard]) -> dict:
    """Returns metrics of an iteration's games."""
    shard = join_shards(shards)
    outcomes = shard.game_outcomes()
    ends = np.cumsum(shard.lengths)
    begins = ends - shard.lengths
    lines = {
        shard.states[begin].tobytes() + shard.actions[begin:end].tobytes()
        for begin, end in zip(begins, ends, strict=True)
    }
    return {
        "selfplay/games": len(shard.lengths),
        "selfplay/positions": shard.num_learnt,
        "selfplay/mean_plies": float(shard.lengths.mean()),
        "selfplay/first_player_score": float((outcomes + 1).mean() / 2),
        "selfplay/draws": float((outcomes == 0).mean()),
        "selfplay/distinct_games": len(lines) / len(shard.lengths),
        "selfplay/proven": float((shard.proven != UNPROVEN).mean()),
        "selfplay/simulations": int(shard.simulations[0]),
        "selfplay/evaluations": int(shard.evaluations[0]),
        "selfplay/cache_hits": float(shard.cache_hits[0] / max(1, shard.cache_hits[0] + shard.evaluations[0])),
    }


def describe_speed(shards: list[Shard], elapsed_s: float) -> dict:
    """Returns metrics of the speed of self-play. `shards` must be those played within `elapsed_s`."""
    return {
        "selfplay/positions_per_s": sum(shard.num_learnt for shard in shards) / elapsed_s,
        "selfplay/simulations_per_s": sum(int(shard.simulations[0]) for shard in shards) / elapsed_s,
        "selfplay/evaluations_per_s": sum(int(shard.evaluations[0]) for shard in shards) / elapsed_s,
        "time/play_s": elapsed_s,
    }


@torch.inference_mode()
def judge_fresh_positions(trainer: Trainer, game: Game, shards: list[Shard]) -> dict:
    """Returns metrics of the trained net on new positions, before it learns from them.

    Policy agreement: how often the net's first choice is the search's. Calibration error: mean distance between the
    net's values and the games' results, over ten bins of the value, weighted by their positions.
    """
    shard = join_shards(shards)
    rng = np.random.default_rng(derive_seed(trainer.steps, shard.num_positions))
    candidates = np.flatnonzero(shard.weights)
    indices = rng.choice(candidates, min(_JUDGED, len(candidates)), replace=False)
    targets = targets_of(trainer.config, auxiliary=())
    sample = make_sample(game, shard, indices, np.zeros(len(indices), np.int64), targets)
    planes, policies, results, _ = trainer.to_device(sample)
    prediction = trainer.candidate()(planes)
    losses = losses_of(prediction, policies, results)
    agreement = (prediction.policy_logits.argmax(1) == policies.argmax(1)).float().mean()
    values, outcomes = prediction.value().cpu().numpy(), shard.results()[indices]
    return {
        "fresh/policy_agreement": float(agreement),
        "fresh/policy_loss": float(losses.policy),
        "fresh/value_loss": float(losses.value),
        "fresh/calibration_error": calibration_error(values, outcomes),
        "fresh/root_value_error": float(np.abs(shard.root_values[indices] - outcomes).mean()),
    }


def calibration_error(values: np.ndarray, outcomes: np.ndarray) -> float:
    """Returns |mean outcome - mean value| of each position's bin, averaged over positions; arrays [n] in [-1, 1]."""
    bins = np.clip(((values + 1.0) / 2.0 * _BINS).astype(int), 0, _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    gaps = np.abs(np.bincount(bins, outcomes - values, _BINS))
    return float(gaps.sum() / counts.sum())


def add_steps(sums: dict[str, float], losses: list[Losses], elapsed_s: float) -> dict[str, float]:
    """Returns an iteration's sums after further steps.

    Steps are added one after another, in float64. So the result does not depend on the steps at which sums were saved.

    Args:
      sums: sums over the steps so far, by name: `steps`, their number; `seconds`; and each loss. Empty at first.
      losses: the losses of each step, in order.
      elapsed_s: seconds that these steps took.
    """
    added = {"steps": sums.get("steps", 0) + len(losses), "seconds": sums.get("seconds", 0.0) + elapsed_s}
    named = [each.by_name() for each in losses]
    for name in named[0] if named else ():
        values = torch.stack([each[name] for each in named]).cpu().numpy()
        in_float64 = values.astype(np.float64)  # on the CPU: not every device has float64
        added[name] = float(np.cumsum([sums.get(name, 0.0), *in_float64])[-1])
    return sums | added


def describe_steps(sums: dict[str, float]) -> dict:
    """Returns metrics of an iteration's training from its sums (see `add_steps`). Losses are means over its steps.

    Without steps there are no losses.
    """
    num_steps, elapsed_s = sums["steps"], sums["seconds"]
    means = {name: total / num_steps for name, total in sums.items() if name not in ("steps", "seconds")}
    notes = {f"train/{name}" + ("" if "entropy" in name else "_loss"): mean for name, mean in means.items()}
    return notes | {"train/steps_per_s": num_steps / elapsed_s, "time/train_s": elapsed_s}
