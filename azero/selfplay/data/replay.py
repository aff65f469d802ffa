"""Replay: the newest positions of self-play, and training batches of these positions and of lessons."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.auxiliary import AuxiliaryTarget, endings_when_asked, positions_of
from azero.selfplay.data.endings import Endings
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import PER_POSITION, Shard, join_shards
from azero.selfplay.data.returns import ends_of, write_returns


class Sample(NamedTuple):
    """A batch of B training positions with their targets, for the player to move, each in a random symmetry."""

    planes: np.ndarray  # [B, C, H, W] float32
    policies: np.ndarray  # [B, A] float32, the search's; sums to 1; zeros for a lesson without a policy target
    results: np.ndarray  # [B, 3] float32, target probabilities of win, draw and loss; sums to 1
    auxiliary: dict[str, np.ndarray]  # [B, columns] float32 each, targets of auxiliary heads, by their names

    def at(self, rows: np.ndarray | slice) -> "Sample":
        """Returns the sample's `rows`, in their order."""
        auxiliary = {name: targets[rows] for name, targets in self.auxiliary.items()}
        return Sample(self.planes[rows], self.policies[rows], self.results[rows], auxiliary)


class Targets(NamedTuple):
    """Settings of the targets, in addition to the search's policy.

    The value target is the lambda-return, which is the game's result if `value_lambda` is 1. The search's value of the
    position is mixed in with the weight `root_value_weight`: a value q counts as a win with probability (1 + q) / 2,
    else a loss. If `learns_proven`, a result that the search has proven replaces the target. `auxiliary` lists the
    targets of auxiliary heads.
    """

    value_lambda: float = 1.0
    root_value_weight: float = 0.0
    learns_proven: bool = False
    auxiliary: tuple[AuxiliaryTarget, ...] = ()


def targets_of(config: TrainingConfig, auxiliary: tuple[AuxiliaryTarget, ...]) -> Targets:
    """Returns the targets that a run's settings describe, with those of auxiliary heads."""
    return Targets(config.value_lambda, config.root_value_weight, config.learn_proven, auxiliary)


_EXPONENT = 0.75


class Window(NamedTuple):
    """The number of positions kept: after N positions in all,

        first (1 + beta ((max(N, first) / first)^0.75 - 1) / 0.75)

    Source: Wu, Accelerating self-play learning in Go (2019), appendix C.
    """

    first: int
    growth: float = 0.0  # beta

    def size(self, num_seen: int) -> int:
        """Returns the window's size after `num_seen` positions in all."""
        ratio = max(1.0, num_seen / self.first)
        return round(self.first * (1.0 + self.growth * (ratio**_EXPONENT - 1.0) / _EXPONENT))


class Replay:
    """The replay window. It stores states; planes are computed when positions are sampled.

    Whole shards enter and leave, so that it keeps up to a shard more than the window's size.
    """

    def __init__(
        self,
        game: Game,
        window: Window,
        targets: Targets = Targets(),
        num_before: int = 0,
        lessons: Lessons | None = None,
    ):
        """Begins empty, after `num_before` training positions that have left the window already."""
        self.game = game
        self.window = window
        self.targets = targets
        self.lessons = lessons
        self._num_seen = num_before
        self.names: list[str] = []
        self._shards: list[Shard] = []
        self._joined: Shard | None = None
        self._cumulative_weights = np.empty(0)  # of the joined shard's positions
        self._endings: Callable[[], Endings] | None = None  # of its games

    def add(self, name: str, shard: Shard) -> list[str]:
        """Adds a shard; returns the names of the shards that leave."""
        self.names.append(name)
        self._shards.append(shard)
        self._joined = None
        self._num_seen += shard.num_learnt
        window, leaving = self.window.size(self._num_seen), []
        while self.num_learnt - self._shards[0].num_learnt >= window:
            leaving.append(self.names.pop(0))
            self._shards.pop(0)
        return leaving

    def renew(self, name: str, shard: Shard) -> None:
        """Replaces a shard by one with the same number of training positions."""
        self._shards[self.names.index(name)] = shard
        self._joined = None

    @property
    def num_learnt(self) -> int:
        """Number of training positions in the window."""
        return sum(shard.num_learnt for shard in self._shards)

    @property
    def shards(self) -> list[Shard]:
        """The shards in the window, oldest first."""
        return list(self._shards)

    def sample(self, batch_size: int, rng: np.random.Generator) -> Sample:
        """Draws positions by their weights, with replacement, each in a uniformly random symmetry.

        If there are lessons, their share of the batch, rounded, is drawn from them. The batch is shuffled, since batch
        normalisation computes its statistics over parts of it.
        """
        if self.lessons is None:
            return self._sample_games(batch_size, rng)
        num_lessons = round(self.lessons.share * batch_size)
        sample = self._sample_games(batch_size - num_lessons, rng)
        lessons = sample_lessons(self.lessons, num_lessons, self.targets.auxiliary, rng)
        return _join_samples(sample, lessons).at(rng.permutation(batch_size))

    def _sample_games(self, batch_size: int, rng: np.random.Generator) -> Sample:
        if self._joined is None:
            self._joined = join_shards(self._shards)
            self._shards = _split_again(self._joined, self._shards)
            self._cumulative_weights = np.cumsum(self._joined.weights, dtype=np.float64)
            if not self._cumulative_weights[-1] > 0:
                raise BadInput("the replay window has no training positions")
            self._endings = endings_when_asked(self.game, self._joined)
        draws = rng.random(batch_size) * self._cumulative_weights[-1]
        indices = np.searchsorted(self._cumulative_weights, draws, side="right")
        symmetries = rng.integers(0, len(self.game.symmetries.cells), batch_size)
        return make_sample(self.game, self._joined, indices, symmetries, self.targets, self._endings)

    def samples(self, batch_size: int, generators: Iterable[np.random.Generator]) -> Iterator[Sample]:
        """Yields the sample of each generator. A thread prepares the next sample while the caller uses one."""
        with ThreadPoolExecutor(1) as thread:
            pending: deque[Future[Sample]] = deque()
            for rng in generators:
                pending.append(thread.submit(self.sample, batch_size, rng))
                if len(pending) == 2:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()


def make_sample(
    game: Game,
    shard: Shard,
    indices: np.ndarray,
    symmetries: np.ndarray,
    targets: Targets = Targets(),
    endings: Callable[[], Endings] | None = None,
) -> Sample:
    """Returns a sample of the positions at `indices` ([B] int64) of a shard, in `symmetries` ([B] int64).

    Args:
      endings: as in `positions_of`.
    """
    planes, policies = _seen(game, shard.states, shard.visits, indices, symmetries)
    positions = positions_of(game, shard, indices, symmetries, endings)
    auxiliary = {each.name: each.targets(positions) for each in targets.auxiliary}
    return Sample(planes, policies, results_to_learn(shard, indices, targets), auxiliary)


def sample_lessons(
    lessons: Lessons, size: int, auxiliary: tuple[AuxiliaryTarget, ...], rng: np.random.Generator
) -> Sample:
    """Draws `size` lessons with replacement, each in a uniformly random symmetry."""
    indices = rng.integers(0, len(lessons), size)
    symmetries = rng.integers(0, len(lessons.game.symmetries.cells), size)
    planes, policies = _seen(lessons.game, lessons.states, lessons.keeping, indices, symmetries)
    targets = {each.name: each.lesson_targets(lessons.game, lessons.results[indices]) for each in auxiliary}
    return Sample(planes, policies, lessons.results_to_learn(indices), targets)


def _join_samples(one: Sample, other: Sample) -> Sample:
    """Returns one sample with the positions of both."""
    planes, policies, results = (np.concatenate(arrays) for arrays in zip(one[:3], other[:3], strict=True))
    auxiliary = {name: np.concatenate([targets, other.auxiliary[name]]) for name, targets in one.auxiliary.items()}
    return Sample(planes, policies, results, auxiliary)


def _seen(
    game: Game, states: np.ndarray, visits: np.ndarray, indices: np.ndarray, symmetries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns planes [B, C, H, W] and policies [B, A] of the positions at `indices`, each in its symmetry."""
    planes = np.empty((len(indices), *game.planes_shape), np.float32)
    policies = np.empty((len(indices), game.num_actions), np.float32)
    work = np.empty(game.planes_shape, np.float32)
    _fill(game.rules, game.symmetries, states.view(np.recarray), visits, indices, symmetries, planes, policies, work)
    return planes, policies


def results_to_learn(shard: Shard, indices: np.ndarray, targets: Targets) -> np.ndarray:
    """Returns target probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
    z = shard.outcomes[indices] * sign_of(shard.players[indices])  # for the player to move
    q = shard.root_values[indices]
    proven = shard.proven[indices]
    results = _as_results(z)
    if targets.value_lambda < 1.0:
        results = _lambda_results(shard, indices, z, targets.value_lambda)
    results = (1 - targets.root_value_weight) * results + targets.root_value_weight * _as_chances(q)
    if targets.learns_proven:
        results = np.where((proven != UNPROVEN)[:, None], _as_results(proven), results)
    return results.astype(np.float32)


def _lambda_results(shard: Shard, indices: np.ndarray, z: np.ndarray, value_lambda: float) -> np.ndarray:
    """Returns the lambda-return as probabilities, [B, 3], made of the game's result and the search's values."""
    ends, returns = ends_of(shard, indices), np.zeros(len(indices))
    write_returns(shard.players, shard.root_values, shard.outcomes, indices, ends, 1 - value_lambda, True, returns)
    share = (value_lambda ** (ends - indices))[:, None]  # of the result
    return share * _as_results(z) + _as_chances(returns - share[:, 0] * z, 1 - share[:, 0])


def _as_chances(q: np.ndarray, share: np.ndarray | float = 1.0) -> np.ndarray:
    """Returns values q ([B], in [-share, share]) as probabilities, [B, 3]: win and loss add up to `share`; no draws."""
    return np.stack([(share + q) / 2, np.zeros_like(q), (share - q) / 2], axis=1)


def _as_results(z: np.ndarray) -> np.ndarray:
    """Returns results z ([B]) as one-hot rows of win, draw and loss, [B, 3]."""
    return np.stack([z == 1, z == 0, z == -1], axis=1)


@kernel
def _fill(rules, symmetries, states, visits, indices, chosen, planes, policies, work):
    """Writes planes and policies of the positions at `indices`, each in its symmetry."""
    width = work.shape[2]
    for row in range(len(indices)):
        index, symmetry = indices[row], chosen[row]
        rules.encode(states[index], work)
        for plane in range(work.shape[0]):
            for cell in range(work.shape[1] * width):
                source = symmetries.cells[symmetry, cell]
                planes[row, plane, cell // width, cell % width] = work[plane, source // width, source % width]
        total = 0
        for action in range(visits.shape[1]):
            total += visits[index, action]
        for action in range(visits.shape[1]):
            policies[row, action] = visits[index, symmetries.actions[symmetry, action]] / max(total, 1)


def _split_again(joined: Shard, shards: list[Shard]) -> list[Shard]:
    """Returns the shards as views of the joined one, so that each position is in memory only once."""
    views = []
    ends = np.cumsum([shard.num_positions for shard in shards])
    for shard, end in zip(shards, ends, strict=True):
        own = slice(end - shard.num_positions, end)
        views.append(shard._replace(**{name: getattr(joined, name)[own] for name in PER_POSITION}))
    return views
