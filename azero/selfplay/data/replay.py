"""Replay: the newest positions of self-play, from which training batches are drawn."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.joined import JoinedPositions
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import Shard, SizedShard
from azero.selfplay.data.samples import Sample, Targets, draw_lessons, join_samples, sample_lessons

_EXPONENT = 0.75
_ALL = slice(None)


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

    Attributes:
      num_learnt: number of training positions in the window.
      names: of the shards in the window, the oldest first.
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
        self.num_learnt = 0
        self.names: list[str] = []
        self._shards: list[SizedShard] = []
        self._joined: JoinedPositions | None = None
        self._cumulative_weights = np.empty(0)  # of the joined positions

    def add(self, name: str, shard: Shard, size: int = 0) -> list[str]:
        """Adds a shard of one of the sizes; returns the names of the shards that leave."""
        self.names.append(name)
        self._shards.append(SizedShard(size, shard))
        self._joined = None
        num_new = shard.num_learnt
        self._num_seen += num_new
        self.num_learnt += num_new
        window, leaving = self.window.size(self._num_seen), []
        while self.num_learnt - (num_oldest := self._shards[0].shard.num_learnt) >= window:
            leaving.append(self.names.pop(0))
            self._shards.pop(0)
            self.num_learnt -= num_oldest
        return leaving

    def sized_shards(self) -> dict[str, SizedShard]:
        """Returns the shards in the window by name, oldest first."""
        return dict(zip(self.names, self._shards, strict=True))

    @property
    def shards(self) -> list[Shard]:
        """The shards in the window, oldest first."""
        return [shard for _, shard in self._shards]

    def follow(self, names: Sequence[str], new: Mapping[str, SizedShard]) -> None:
        """Takes over the shards of another window, by name. Those that are not here yet are `new`."""
        own = {**self.sized_shards(), **new}
        if self.names != list(names):
            self._joined = None
        self.names, self._shards = list(names), [own[name] for name in names]
        self.num_learnt = sum(shard.num_learnt for _, shard in self._shards)

    def sample(self, batch_size: int, rng: np.random.Generator, rows: slice = _ALL) -> Sample:
        """Draws positions by their weights, with replacement, each in a uniformly random symmetry.

        If there are lessons, their share of the batch, rounded, is drawn from them. The batch is shuffled, since batch
        normalisation computes its statistics over parts of it.

        Args:
          rows: of the batch, the rows that are returned. The whole batch is drawn in any case.
        """
        num_lessons = round(self.lessons.share * batch_size) if self.lessons else 0
        joined, num_games = self._join(), batch_size - num_lessons
        draws = rng.random(num_games) * self._cumulative_weights[-1]
        indices = np.searchsorted(self._cumulative_weights, draws, side="right")
        symmetries = joined.draw_symmetries(indices, rng)
        if self.lessons is None:
            return joined.sample(indices[rows], self.targets, symmetries[rows])
        lessons, symmetries_of_lessons = draw_lessons(self.lessons, num_lessons, rng)
        order = rng.permutation(batch_size)[rows]
        is_game = order < num_games
        games, taught = order[is_game], order[~is_game] - num_games
        parts = [
            joined.sample(indices[games], self.targets, symmetries[games]),
            sample_lessons(self.lessons, lessons[taught], symmetries_of_lessons[taught], self.targets.auxiliary),
        ]
        places = np.concatenate([np.flatnonzero(is_game), np.flatnonzero(~is_game)])
        return join_samples(parts).at(np.argsort(places))

    def _join(self) -> JoinedPositions:
        """Returns the joined positions of the window; raises BadInput if none are for training."""
        if self._joined is None:
            self._joined = JoinedPositions(self.games, self._shards)
            self._shards = list(self._joined.split(self._shards))
            self._cumulative_weights = np.cumsum(self._joined.weights, dtype=np.float64)
            if not self._cumulative_weights[-1] > 0:
                raise BadInput("the replay window has no training positions")
        return self._joined

    def samples(
        self, batch_size: int, generators: Iterable[np.random.Generator], rows: slice = _ALL
    ) -> Iterator[Sample]:
        """Yields the sample of each generator. A thread prepares the next sample while the caller uses one."""
        with ThreadPoolExecutor(1) as thread:
            pending: deque[Future[Sample]] = deque()
            for rng in generators:
                pending.append(thread.submit(self.sample, batch_size, rng, rows))
                if len(pending) == 2:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
