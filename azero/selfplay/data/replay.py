"""Replay: the newest positions of self-play, from which training batches are drawn."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.joined import JoinedPositions
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import Shard, SizedShard
from azero.selfplay.data.samples import Sample, Targets, join_samples, sample_lessons

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
        games: Sequence[Game],
        window: Window,
        targets: Targets = Targets(),
        num_before: int = 0,
        lessons: Lessons | None = None,
    ):
        """Begins empty, after `num_before` training positions that have left the window already.

        `games` are the sizes of the game, the smallest first; usually there is one.
        """
        self.games = games
        self.window = window
        self.targets = targets
        self.lessons = lessons
        self._num_seen = num_before
        self.names: list[str] = []
        self._shards: list[SizedShard] = []
        self._joined: JoinedPositions | None = None
        self._cumulative_weights = np.empty(0)  # of the joined positions

    def add(self, name: str, shard: Shard, size: int = 0) -> list[str]:
        """Adds a shard of one of the sizes; returns the names of the shards that leave."""
        self.names.append(name)
        self._shards.append(SizedShard(size, shard))
        self._joined = None
        self._num_seen += shard.num_learnt
        window, leaving = self.window.size(self._num_seen), []
        while self.num_learnt - self._shards[0].shard.num_learnt >= window:
            leaving.append(self.names.pop(0))
            self._shards.pop(0)
        return leaving

    @property
    def num_learnt(self) -> int:
        """Number of training positions in the window."""
        return sum(shard.num_learnt for _, shard in self._shards)

    @property
    def shards(self) -> list[Shard]:
        """The shards in the window, oldest first."""
        return [shard for _, shard in self._shards]

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
        return join_samples([sample, lessons]).at(rng.permutation(batch_size))

    def _sample_games(self, batch_size: int, rng: np.random.Generator) -> Sample:
        if self._joined is None:
            self._joined = JoinedPositions(self.games, self._shards)
            self._shards = list(self._joined.split(self._shards))
            self._cumulative_weights = np.cumsum(self._joined.weights, dtype=np.float64)
            if not self._cumulative_weights[-1] > 0:
                raise BadInput("the replay window has no training positions")
        draws = rng.random(batch_size) * self._cumulative_weights[-1]
        indices = np.searchsorted(self._cumulative_weights, draws, side="right")
        return self._joined.sample(indices, self.targets, rng)

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
