"""Metrics of a run: its games, the net's predictions of positions before it learns from them, and speed."""

from collections.abc import Sequence

import numpy as np
import torch

from azero.compiler.rng import derive_seed
from azero.games import Game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.replay import JoinedPositions, SizedShard
from azero.selfplay.data.samples import targets_of
from azero.selfplay.data.shard import Shard, bytes_of_states
from azero.training.learning.losses import Losses, losses_of
from azero.training.learning.trainer import Trainer

_JUDGED = 4096  # maximum of positions
_BINS = 10


def describe_games(shards: Sequence[SizedShard]) -> dict:
    """Returns metrics of an iteration's games."""
    own = [shard for _, shard in shards]
    outcomes = np.concatenate([shard.game_outcomes() for shard in own])
    lengths = np.concatenate([shard.lengths for shard in own])
    proven = np.concatenate([shard.proven for shard in own])
    lines = {(size, line) for size, shard in shards for line in _lines_of(shard)}
    evaluations, hits = (sum(int(getattr(shard, name)[0]) for shard in own) for name in ("evaluations", "cache_hits"))
    return {
        "selfplay/games": len(lengths),
        "selfplay/positions": sum(shard.num_learnt for shard in own),
        "selfplay/mean_plies": float(lengths.mean()),
        "selfplay/first_player_score": float((outcomes + 1).mean() / 2),
        "selfplay/draws": float((outcomes == 0).mean()),
        "selfplay/distinct_games": len(lines) / len(lengths),
        "selfplay/proven": float((proven != UNPROVEN).mean()),
        "selfplay/simulations": sum(int(shard.simulations[0]) for shard in own),
        "selfplay/full_trees": sum(int(shard.full_trees[0]) for shard in own),
        "selfplay/evaluations": evaluations,
        "selfplay/cache_hits": hits / max(1, hits + evaluations),
    }


def _lines_of(shard: Shard) -> list[bytes]:
    """Returns the first position and the actions of each game."""
    ends = np.cumsum(shard.lengths)
    begins = ends - shard.lengths
    first = bytes_of_states(shard.states[begins])
    games = zip(first, begins, ends, strict=True)
    return [state.tobytes() + shard.actions[begin:end].tobytes() for state, begin, end in games]


def describe_speed(shards: list[Shard], elapsed_s: float) -> dict:
    """Returns metrics of the speed of self-play. `shards` must be those played within `elapsed_s`."""
    return {
        "selfplay/positions_per_s": sum(shard.num_learnt for shard in shards) / elapsed_s,
        "selfplay/simulations_per_s": sum(int(shard.simulations[0]) for shard in shards) / elapsed_s,
        "selfplay/evaluations_per_s": sum(int(shard.evaluations[0]) for shard in shards) / elapsed_s,
        "time/play_s": elapsed_s,
    }


@torch.inference_mode()
def judge_fresh_positions(trainer: Trainer, games: Sequence[Game], shards: Sequence[SizedShard]) -> dict:
    """Returns metrics of the trained net on new positions of a game's sizes, before it learns from them.

    Policy agreement: how often the net's first choice is the search's. Calibration error: mean distance between the
    net's values and the games' results, over ten bins of the value, weighted by their positions.
    """
    positions = JoinedPositions(games, shards)
    rng = np.random.default_rng(derive_seed(trainer.steps, len(positions.weights)))
    candidates = np.flatnonzero(positions.weights)
    indices = rng.choice(candidates, min(_JUDGED, len(candidates)), replace=False)
    sample = positions.sample(indices, targets_of(trainer.config, auxiliary=()))
    prediction = trainer.predict(sample)
    policies, results = (torch.from_numpy(each).to(trainer.device) for each in (sample.policies, sample.results))
    losses = losses_of(prediction, policies, results)
    agreement = (prediction.policy_logits.argmax(1) == policies.argmax(1)).float().mean()
    values = prediction.value().cpu().numpy()
    outcomes = np.concatenate([shard.results() for shard in positions.shards])[indices]
    root_values = np.concatenate([shard.root_values for shard in positions.shards])[indices]
    return {
        "fresh/policy_agreement": float(agreement),
        "fresh/policy_loss": float(losses.policy),
        "fresh/value_loss": float(losses.value),
        "fresh/calibration_error": calibration_error(values, outcomes),
        "fresh/root_value_error": float(np.abs(root_values - outcomes).mean()),
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
