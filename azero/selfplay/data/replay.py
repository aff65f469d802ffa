"""Replay: the newest positions of self-play, and batches of them, and of lessons, for training."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.config.training import TrainingConfig
from azero.games import Game
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.auxiliary import NO_HEADS, AuxiliaryHeads, auxiliary_heads_of, auxiliary_targets
from azero.selfplay.data.endings import Endings, endings_of
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import PER_POSITION, Shard, join_shards
from azero.selfplay.data.returns import ends_of, write_returns


class Sample(NamedTuple):
    """B positions to learn from, each in a random symmetry, as the player to move sees them."""

    planes: np.ndarray  # [B, C, H, W] float32
    policies: np.ndarray  # [B, A] float32, the search's; sums to 1, but for a lesson without one, which has zeros
    results: np.ndarray  # [B, 3] float32, probabilities of win, draw and loss to learn; sums to 1
    replies: np.ndarray  # from here on as in `AuxiliaryTargets`
    plies_left: np.ndarray
    short_term: np.ndarray
    owners: np.ndarray
    scores: np.ndarray


class Targets(NamedTuple):
    """What is to be learnt of a position, beside the search's policy.

    Its value is the lambda-return, the game's result where `value_lambda` is 1, and, with the given weight, what the
    search thought: a value q counts as a win with probability (1 + q) / 2, else a loss. Where the search proved a
    result, it is that alone, if it is asked for.
    """

    value_lambda: float = 1.0
    root_value_weight: float = 0.0
    learns_proven: bool = False
    heads: AuxiliaryHeads = NO_HEADS


def targets_of(config: TrainingConfig, game: Game) -> Targets:
    """Returns what a run's settings ask for."""
    heads = auxiliary_heads_of(config, game)
    return Targets(config.value_lambda, config.root_value_weight, config.learn_proven, heads)


_EXPONENT = 0.75


class Window(NamedTuple):
    """How many positions are kept: `first` at the least, and when N of them have come

        first (1 + beta ((max(N, first) / first)^0.75 - 1) / 0.75)

    Source: Wu, Accelerating self-play learning in Go (2019), appendix C.
    """

    first: int
    growth: float = 0.0  # beta

    def size(self, num_seen: int) -> int:
        """Returns the window's size when so many positions have come."""
        ratio = max(1.0, num_seen / self.first)
        return round(self.first * (1.0 + self.growth * (ratio**_EXPONENT - 1.0) / _EXPONENT))


class Replay:
    """Keeps the newest positions, as states: planes are made when they are sampled.

    Whole shards come and go, so that between the window's positions and a shard more are kept.
    """

    def __init__(
        self,
        game: Game,
        window: Window,
        targets: Targets = Targets(),
        num_before: int = 0,
        lessons: Lessons | None = None,
    ):
        """Begins empty; `num_before` positions to learn from have come and gone before."""
        self.game = game
        self.window = window
        self.targets = targets
        self.lessons = lessons
        self._num_seen = num_before
        self.names: list[str] = []
        self._shards: list[Shard] = []
        self._joined: Shard | None = None
        self._cumulative_weights = np.empty(0)  # of the joined shard's positions
        self._endings: Endings | None = None  # of its games, where heads need them

    def add(self, name: str, shard: Shard) -> list[str]:
        """Adds a shard; returns the names of those that leave."""
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
        """Puts a shard in the place of one with as many positions to learn from."""
        self._shards[self.names.index(name)] = shard
        self._joined = None

    @property
    def num_learnt(self) -> int:
        """Positions to learn from that are kept."""
        return sum(shard.num_learnt for shard in self._shards)

    @property
    def shards(self) -> list[Shard]:
        """What is kept, oldest first."""
        return list(self._shards)

    def sample(self, batch_size: int, rng: np.random.Generator) -> Sample:
        """Draws positions by their weights, with replacement, each in a symmetry drawn uniformly.

        Where there are lessons, their share of the batch, rounded, is drawn from them. They lie anywhere in it, since
        batch normalisation takes its statistics over parts of it.
        """
        if self.lessons is None:
            return self._sample_games(batch_size, rng)
        num_lessons = round(self.lessons.share * batch_size)
        sample = self._sample_games(batch_size - num_lessons, rng)
        lessons = sample_lessons(self.lessons, num_lessons, self.targets.heads, rng)
        places = rng.permutation(batch_size)
        return Sample(*(np.concatenate(parts)[places] for parts in zip(sample, lessons, strict=True)))

    def _sample_games(self, batch_size: int, rng: np.random.Generator) -> Sample:
        if self._joined is None:
            self._joined = join_shards(self._shards)
            self._shards = _split_again(self._joined, self._shards)
            self._cumulative_weights = np.cumsum(self._joined.weights, dtype=np.float64)
            self._endings = endings_of(self.game, self._joined) if self.targets.heads.need_endings else None
        draws = rng.random(batch_size) * self._cumulative_weights[-1]
        indices = np.searchsorted(self._cumulative_weights, draws, side="right")
        symmetries = rng.integers(0, len(self.game.symmetries.cells), batch_size)
        return make_sample(self.game, self._joined, indices, symmetries, self.targets, self._endings)

    def samples(self, batch_size: int, generators: Iterable[np.random.Generator]) -> Iterator[Sample]:
        """Yields the sample of each generator; while the caller is at work on one, a thread makes the next."""
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
    endings: Endings | None = None,
) -> Sample:
    """Returns the positions at `indices` ([B] int64) of a shard, seen through `symmetries` ([B] int64).

    `endings` are those of the shard, where they are known already.
    """
    planes, policies = _seen(game, shard.states, shard.visits, indices, symmetries)
    auxiliary = auxiliary_targets(game, shard, indices, symmetries, targets.heads, endings)
    return Sample(planes, policies, results_to_learn(shard, indices, targets), *auxiliary)


def sample_lessons(lessons: Lessons, size: int, heads: AuxiliaryHeads, rng: np.random.Generator) -> Sample:
    """Draws so many lessons with replacement, each in a symmetry drawn uniformly."""
    indices = rng.integers(0, len(lessons), size)
    symmetries = rng.integers(0, len(lessons.game.symmetries.cells), size)
    planes, policies = _seen(lessons.game, lessons.states, lessons.keeping, indices, symmetries)
    return Sample(planes, policies, lessons.results_to_learn(indices), *lessons.auxiliary_targets(indices, heads))


def _seen(
    game: Game, states: np.ndarray, visits: np.ndarray, indices: np.ndarray, symmetries: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns planes [B, C, H, W] and policies [B, A] of the positions at `indices`, each through its symmetry."""
    planes = np.empty((len(indices), *game.planes_shape), np.float32)
    policies = np.empty((len(indices), game.num_actions), np.float32)
    work = np.empty(game.planes_shape, np.float32)
    _fill(game.rules, game.symmetries, states.view(np.recarray), visits, indices, symmetries, planes, policies, work)
    return planes, policies


def results_to_learn(shard: Shard, indices: np.ndarray, targets: Targets) -> np.ndarray:
    """Returns probabilities of win, draw and loss for the player to move at `indices`, [B, 3] float32."""
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
    """Returns the lambda-return as probabilities, [B, 3]: of the result what is left of it, of values their chances."""
    ends, returns = ends_of(shard, indices), np.zeros(len(indices))
    write_returns(shard.players, shard.root_values, shard.outcomes, indices, ends, 1 - value_lambda, True, returns)
    share = (value_lambda ** (ends - indices))[:, None]  # of the result
    return share * _as_results(z) + _as_chances(returns - share[:, 0] * z, 1 - share[:, 0])


def _as_chances(q: np.ndarray, share: np.ndarray | float = 1.0) -> np.ndarray:
    """Returns [B, 3], values q ([B]), in [-share, share], as probabilities of win and loss that add up to `share`."""
    return np.stack([(share + q) / 2, np.zeros_like(q), (share - q) / 2], axis=1)


def _as_results(z: np.ndarray) -> np.ndarray:
    """Returns [B, 3], a one at the win, draw or loss that z ([B]) is."""
    return np.stack([z == 1, z == 0, z == -1], axis=1)


@kernel
def _fill(rules, symmetries, states, visits, indices, chosen, planes, policies, work):
    """Writes planes and policies of the positions at `indices`, each through its symmetry."""
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
    """Returns the shards as views into the joined one, so that each position is in memory once."""
    views = []
    ends = np.cumsum([shard.num_positions for shard in shards])
    for shard, end in zip(shards, ends, strict=True):
        own = slice(end - shard.num_positions, end)
        views.append(shard._replace(**{name: getattr(joined, name)[own] for name in PER_POSITION}))
    return views
