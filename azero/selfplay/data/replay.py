"""Replay: the newest positions of self-play, joined so that training batches can be drawn from all of them."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.positions import Derived
from azero.selfplay.data.samples import Sample, Targets, draw_lessons, join_samples, make_sample, sample_lessons
from azero.selfplay.data.shard import PER_POSITION, PER_VISITED, Shard, SizedShard, join_shards


class JoinedPositions:
    """The n positions of shards, those of smaller sizes first, and those of one size in the shards' order.

    Attributes:
      shards: the joined shards, one for each size that has any.
      weights: [n] float32, relative sampling frequency.
    """

    def __init__(self, games: Sequence[Game], shards: Sequence[SizedShard]):
        """Joins shards of the sizes of a game, `games`, the smallest first; these are usually one."""
        self._sizes = sorted({each.size for each in shards})
        self.shards = [join_shards([each.shard for each in shards if each.size == size]) for size in self._sizes]
        self.weights = np.concatenate([shard.weights for shard in self.shards])
        self._games = [games[size] for size in self._sizes]
        self._canvas = Canvas(games) if len(games) > 1 else None
        self._ends = np.cumsum([shard.num_positions for shard in self.shards])
        self._derived = [Derived(*pair) for pair in zip(self._games, self.shards, strict=True)]

    def draw_symmetries(self, indices: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draws a uniformly random symmetry for the position at each of `indices` ([B] int64): [B] int64."""
        symmetries = np.empty(len(indices), np.int64)
        places = np.searchsorted(self._ends, indices, side="right")
        for place, game in enumerate(self._games):
            own = np.flatnonzero(places == place)
            symmetries[own] = rng.integers(0, len(game.training_symmetries.cells), len(own))
        return symmetries

    def sample(self, indices: np.ndarray, targets: Targets, symmetries: np.ndarray | None = None) -> Sample:
        """Returns a sample of the positions at `indices` ([B] int64), each in its symmetry ([B] int64).

        Without `symmetries` the positions are as they were played.
        """
        parts, rows = [], []
        if symmetries is None:
            symmetries = np.zeros(len(indices), np.int64)
        places = np.searchsorted(self._ends, indices, side="right")
        for place, (game, shard) in enumerate(zip(self._games, self.shards, strict=True)):
            own = np.flatnonzero(places == place)
            within = indices[own] - (self._ends[place] - shard.num_positions)
            part = make_sample(game, shard, within, symmetries[own], targets, self._derived[place])
            parts.append(self._on_canvas(self._sizes[place], part))
            rows.append(own)
        return parts[0] if len(parts) == 1 else join_samples(parts).at(np.argsort(np.concatenate(rows)))

    def _on_canvas(self, size: int, sample: Sample) -> Sample:
        """Returns a sample of positions of one size, on the canvas if the game has several."""
        if self._canvas is None:
            return sample
        planes, policies = self._canvas.paint(size, sample.planes, sample.policies)
        sizes = np.full(len(planes), size, np.int64)
        return sample._replace(planes=planes, policies=policies, sizes=sizes)

    def split(self, shards: Sequence[SizedShard]) -> Iterator[SizedShard]:
        """Yields the shards that were joined, as views, so that each position is in memory only once."""
        ends = dict.fromkeys(self._sizes, (0, 0))
        for size, shard in shards:
            joined, begins = self.shards[self._sizes.index(size)], ends[size]
            ends[size] = begins[0] + shard.num_positions, begins[1] + len(shard.visited)
            parts = zip((PER_POSITION, PER_VISITED), map(slice, begins, ends[size]), strict=True)
            views = {name: getattr(joined, name)[own] for names, own in parts for name in names}
            yield SizedShard(size, shard._replace(**views))


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
