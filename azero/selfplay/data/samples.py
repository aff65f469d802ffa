"""Samples: training positions with their targets, drawn from shards and lessons."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.config.schema import TrainingConfig
from azero.games import Game
from azero.games.contract import sign_of
from azero.games.kernels import new_states
from azero.heads import Head
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.positions import Derived, positions_of
from azero.selfplay.data.shard import Shard


class Sample(NamedTuple):
    """A batch of B training positions with their targets, for the player to move, each in a random symmetry.

    Positions of several sizes of a game are on a canvas, with policies by places of actions, [B, L] (`canvas.py`).
    """

    planes: np.ndarray  # [B, C, H, W] float32
    policies: np.ndarray  # [B, A] float32, the search's; sums to 1; zeros for a lesson without a policy target
    results: np.ndarray  # [B, 3] float32, target probabilities of win, draw and loss; sums to 1
    auxiliary: dict[str, np.ndarray]  # [B, columns] float32 each, targets of auxiliary heads, by their names
    sizes: np.ndarray | None = None  # [B] int64 on a canvas, the place of each position's size among all sizes

    def at(self, rows: np.ndarray | slice) -> "Sample":
        """Returns the sample's `rows`, in their order."""
        auxiliary = {name: targets[rows] for name, targets in self.auxiliary.items()}
        sizes = None if self.sizes is None else self.sizes[rows]
        return Sample(self.planes[rows], self.policies[rows], self.results[rows], auxiliary, sizes)


class Targets(NamedTuple):
    """Settings of the targets, in addition to the search's policy.

    The value target is the lambda-return (`write_returns`), or the game's result if `value_lambda` is 1. `auxiliary`
    are the heads whose targets are computed.
    """

    value_lambda: float = 1.0
    auxiliary: tuple[Head, ...] = ()


def targets_of(config: TrainingConfig, auxiliary: tuple[Head, ...]) -> Targets:
    """Returns the targets that a run's settings describe, with those of auxiliary heads."""
    return Targets(config.value_lambda, auxiliary)


def make_sample(
    game: Game,
    shard: Shard,
    indices: np.ndarray,
    symmetries: np.ndarray,
    targets: Targets = Targets(),
    derived: Derived | None = None,
) -> Sample:
    """Returns a sample of the positions at `indices` ([B] int64) of a shard, in `symmetries` ([B] int64).

    These are the game's `training_symmetries`.

    Args:
      derived: what follows from this shard, if it is known.
    """
    derived = derived or Derived(game, shard)
    planes, symmetries = encode(game, shard.states, indices, symmetries)
    policies = derived.policies.probabilities(game, indices, symmetries)
    positions = positions_of(game, shard, indices, symmetries, derived)
    auxiliary = {each.name: each.targets(positions) for each in targets.auxiliary}
    return Sample(planes, policies, results_to_learn(shard, indices, targets), auxiliary)


def draw_lessons(lessons: Lessons, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draws `size` lessons with replacement, each in a uniformly random symmetry.

    Returns their places among the lessons, and the symmetries; both [size] int64.
    """
    return rng.integers(0, len(lessons), size), rng.integers(0, len(lessons.game.training_symmetries.cells), size)


def sample_lessons(
    lessons: Lessons, indices: np.ndarray, symmetries: np.ndarray, auxiliary: tuple[Head, ...]
) -> Sample:
    """Returns a sample of the lessons at `indices` ([B] int64), in `symmetries` ([B] int64)."""
    planes, symmetries = encode(lessons.game, lessons.states, indices, symmetries)
    policies = lessons.policies.probabilities(lessons.game, indices, symmetries)
    targets = {each.name: each.lesson_targets(lessons.game, lessons.results[indices]) for each in auxiliary}
    return Sample(planes, policies, lessons.results_to_learn(indices), targets)


def join_samples(samples: Sequence[Sample]) -> Sample:
    """Returns one sample with the positions of all."""
    planes, policies, results = (np.concatenate(arrays) for arrays in zip(*(each[:3] for each in samples), strict=True))
    names = samples[0].auxiliary
    auxiliary = {name: np.concatenate([each.auxiliary[name] for each in samples]) for name in names}
    sizes = [each.sizes for each in samples if each.sizes is not None]
    return Sample(planes, policies, results, auxiliary, np.concatenate(sizes) if sizes else None)


def encode_as_played(game: Game, states: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Returns the planes of the states at `indices`, [B, C, H, W] float32."""
    return encode(game, states, indices, np.zeros(len(indices), np.int64))[0]


def encode(
    game: Game, states: np.ndarray, indices: np.ndarray, symmetries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns the planes of the states at `indices`, each in its symmetry, [B, C, H, W] float32, and the symmetries.

    If a position has no exchanged one, its symmetry is the same without the exchange.
    """
    planes, work = np.empty((len(indices), *game.planes_shape), np.float32), np.empty(game.planes_shape, np.float32)
    seen, scratch = symmetries.copy(), new_states(game.rules, 1)
    _encode(game.rules, game.symmetries.cells, states.view(np.recarray), indices, seen, scratch, planes, work)
    return planes, seen


def results_to_learn(shard: Shard, indices: np.ndarray, targets: Targets) -> np.ndarray:
    """Returns target probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
    if targets.value_lambda == 1.0:
        z = shard.outcomes[indices] * sign_of(shard.players[indices])  # for the player to move
        return np.stack([z == 1, z == 0, z == -1], axis=1).astype(np.float32)
    results, ends = np.zeros((len(indices), 3)), ends_of(shard, indices)
    fields = shard.players, shard.root_values, shard.proven, shard.outcomes
    write_returns(*fields, indices, ends, targets.value_lambda, results)
    return results.astype(np.float32)


@kernel
def _encode(rules, gathers, states, indices, symmetries, scratch, planes, work):
    """Writes the planes of the states at `indices`, each in its symmetry. `gathers` are the game's `Symmetries.cells`.

    Where there is no exchanged position, it takes the exchange out of `symmetries`. `scratch` is a state.
    """
    width = work.shape[2]
    for row in range(len(indices)):
        symmetry = symmetries[row]
        if symmetry < len(gathers):
            rules.encode(states[indices[row]], work)
        else:
            symmetry -= len(gathers)
            scratch[0] = states[indices[row]]
            player = rules.current_player(scratch[0])
            rules.exchange_players(scratch[0])
            if rules.current_player(scratch[0]) == player:
                symmetries[row] = symmetry
            rules.encode(scratch[0], work)
        gather = gathers[symmetry]
        for plane in range(work.shape[0]):
            for cell in range(work.shape[1] * width):
                source = gather[cell]
                planes[row, plane, cell // width, cell % width] = work[plane, source // width, source % width]


def ends_of(shard: Shard, indices: np.ndarray) -> np.ndarray:
    """Returns the ends of the games of the positions at `indices` ([B] int64): [B] int64, one past the last ply."""
    ends = np.cumsum(shard.lengths)
    return ends[np.searchsorted(ends, indices, side="right")]


@kernel
def write_returns(players, root_values, proven, outcomes, indices, ends, value_lambda, results):
    """Writes, for each position of `indices` ([B] int64), the return as chances of win, draw and loss:

        v(t) = (1 - lambda) q(t) + lambda v(t+1),  v(end) = z

    computed backwards from the end of its game, for the player to move at the position. This is TD(lambda) with the
    search's values q. A value q is a win with chance (1 + q) / 2, else a loss. If the result of ply t is proven, v(t)
    is this result instead.

    Args:
      players, root_values, proven, outcomes: of all positions, as in `Shard`.
      ends: [B] int64, from `ends_of`.
      results: [B, 3] floats, zeros at first; the output. A row sums to 1.

    Source: Sutton, Learning to predict by the methods of temporal differences (1988); with values of a search,
    Willemsen et al., Value targets in off-policy AlphaZero (2020).
    """
    for row in range(len(indices)):
        index, chances = indices[row], results[row]
        own = 1 - 2 * players[index]
        chances[1 - own * outcomes[index]] = 1.0
        for ply in range(ends[row] - 1, index - 1, -1):
            sign = 1 if players[ply] == players[index] else -1
            if proven[ply] != UNPROVEN:
                chances[:] = 0.0
                chances[1 - sign * proven[ply]] = 1.0
            else:
                chances *= value_lambda
                chances[0] += (1.0 - value_lambda) * (1.0 + sign * root_values[ply]) / 2.0
                chances[2] += (1.0 - value_lambda) * (1.0 - sign * root_values[ply]) / 2.0
