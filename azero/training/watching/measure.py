"""Figures of a run: what the games were like, how the net judges positions it has not learnt from, what it costs."""

import numpy as np
import torch

from azero.compiler.rng import derive_seed
from azero.games import Game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.auxiliary import NO_HEADS
from azero.selfplay.data.records import Shard, join_shards
from azero.selfplay.data.replay import make_sample, targets_of
from azero.training.learning.trainer import Losses, Trainer, losses_of

_JUDGED = 4096  # positions
_BINS = 10


def describe_games(game: Game, shards: list[Shard]) -> dict:
    """Returns figures of an iteration's games."""
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
    """Returns figures of how fast games were played: those of the time that was measured, not any from before it."""
    return {
        "selfplay/positions_per_s": sum(shard.num_learnt for shard in shards) / elapsed_s,
        "selfplay/simulations_per_s": sum(int(shard.simulations[0]) for shard in shards) / elapsed_s,
        "selfplay/evaluations_per_s": sum(int(shard.evaluations[0]) for shard in shards) / elapsed_s,
        "time/play_s": elapsed_s,
    }


@torch.inference_mode()
def judge_fresh_positions(trainer: Trainer, game: Game, shards: list[Shard]) -> dict:
    """Returns how the candidate-to-be judges new positions, before it learns from them.

    Policy agreement: how often its first choice is the search's. Calibration error: mean distance between the value
    it names and the results that come, over ten bins of the value, weighted by their positions.
    """
    shard = join_shards(shards)
    rng = np.random.default_rng(derive_seed(trainer.steps, shard.num_positions))
    candidates = np.flatnonzero(shard.weights)
    indices = rng.choice(candidates, min(_JUDGED, len(candidates)), replace=False)
    targets = targets_of(trainer.config, game)._replace(heads=NO_HEADS)
    sample = make_sample(game, shard, indices, np.zeros(len(indices), np.int64), targets)
    planes, policies, results, *_ = trainer.to_device(sample)
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
    """Returns |mean outcome - mean value| of a position's bin, averaged over positions; arrays [n] in [-1, 1]."""
    bins = np.clip(((values + 1.0) / 2.0 * _BINS).astype(int), 0, _BINS - 1)
    counts = np.bincount(bins, minlength=_BINS)
    gaps = np.abs(np.bincount(bins, outcomes - values, _BINS))
    return float(gaps.sum() / counts.sum())


def add_steps(sums: dict[str, float], losses: list[Losses], elapsed_s: float) -> dict[str, float]:
    """Returns an iteration's sums with those of further steps added.

    Steps are added one after the other, in float64, so it does not matter where sums were saved and taken up again.

    Args:
      sums: by name, of the steps so far: `steps`, how many; `seconds`; and each loss that there is, by its field's
        name. Empty before the first.
      losses: a step's each, in their order.
      elapsed_s: of these steps.
    """
    added = {"steps": sums.get("steps", 0) + len(losses), "seconds": sums.get("seconds", 0.0) + elapsed_s}
    for name, steps in zip(Losses._fields, zip(*losses, strict=True), strict=False):
        values = torch.stack(steps).cpu().numpy().astype(np.float64)  # there: not every device has float64
        if values.size:
            added[name] = float(np.cumsum([sums.get(name, 0.0), *values])[-1])
    return sums | added


def describe_steps(sums: dict[str, float]) -> dict:
    """Returns figures of an iteration's training from its sums (see `add_steps`): losses are means over its steps.

    There are no losses where no step was summed.
    """
    num_steps, elapsed_s = sums["steps"], sums["seconds"]
    means = {name: sums[name] / num_steps for name in Losses._fields if name in sums}
    notes = {f"train/{name}" + ("" if "entropy" in name else "_loss"): mean for name, mean in means.items()}
    return notes | {"train/steps_per_s": num_steps / elapsed_s, "time/train_s": elapsed_s}
