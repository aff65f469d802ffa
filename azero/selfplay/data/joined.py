"""Positions of many shards, joined so that a batch can be drawn from all of them. The game may have several sizes."""

from collections.abc import Iterator, Sequence

import numpy as np

from azero.games import Game
from azero.selfplay.data.auxiliary import Derived
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.records import PER_POSITION, PER_VISITED, SizedShard, join_shards
from azero.selfplay.data.samples import Sample, Targets, join_samples, make_sample


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
            symmetries[own] = rng.integers(0, len(game.symmetries.cells), len(own))
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
