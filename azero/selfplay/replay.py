"""Replay: the newest positions of self-play, and batches of them for training."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from azero.games import Game
from azero.jit import kernel
from azero.selfplay.futures import BLIND, Foresight, look_ahead
from azero.selfplay.records import Shard, join_shards


class Sample(NamedTuple):
    """B positions to learn from, each in a random symmetry, as the player to move sees them."""

    planes: np.ndarray  # [B, C, H, W] float32
    policies: np.ndarray  # [B, A] float32, the search's; sums to 1
    results: np.ndarray  # [B, 3] float32, probabilities of win, draw and loss to learn; sums to 1
    replies: np.ndarray  # from here on as in `Futures`
    plies_left: np.ndarray
    short_term: np.ndarray


class Replay:
    """Keeps the newest positions, as states: planes are made when they are sampled.

    Whole shards come and go, so that between `window` positions and a shard more are kept.
    """

    def __init__(self, game: Game, window: int, root_value_weight: float = 0.0, foresight: Foresight = BLIND):
        self.game = game
        self.window = window
        self.root_value_weight = root_value_weight
        self.foresight = foresight
        self.names: list[str] = []
        self._shards: list[Shard] = []
        self._joined: Shard | None = None

    def add(self, name: str, shard: Shard) -> list[str]:
        """Adds a shard; returns the names of those that leave."""
        self.names.append(name)
        self._shards.append(shard)
        self._joined = None
        leaving = []
        while self.num_positions - self._shards[0].num_positions >= self.window:
            leaving.append(self.names.pop(0))
            self._shards.pop(0)
        return leaving

    @property
    def num_positions(self) -> int:
        """Positions that are kept."""
        return sum(shard.num_positions for shard in self._shards)

    @property
    def shards(self) -> list[Shard]:
        """What is kept, oldest first."""
        return list(self._shards)

    def sample(self, batch_size: int, rng: np.random.Generator) -> Sample:
        """Draws positions uniformly, with replacement, each in a symmetry drawn uniformly."""
        if self._joined is None:
            self._joined = join_shards(self._shards)
            self._shards = _split_again(self._joined, self._shards)
        indices = rng.integers(0, self._joined.num_positions, batch_size)
        symmetries = rng.integers(0, len(self.game.symmetries.cells), batch_size)
        return make_sample(self.game, self._joined, indices, symmetries, self.root_value_weight, self.foresight)

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
    root_value_weight: float = 0.0,
    foresight: Foresight = BLIND,
) -> Sample:
    """Returns the positions at `indices` ([B] int64) of a shard, seen through `symmetries` ([B] int64).

    The results to learn are the game's and, with the given weight, what the search thought: a value q counts as a win
    with probability (1 + q) / 2, else a loss.
    """
    planes = np.empty((len(indices), *game.planes_shape), np.float32)
    policies = np.empty((len(indices), game.num_actions), np.float32)
    work = np.empty(game.planes_shape, np.float32)
    states = shard.states.view(np.recarray)
    _fill(game.rules, game.symmetries, states, shard.visits, indices, symmetries, planes, policies, work)
    z = shard.outcomes[indices] * (1 - 2 * shard.players[indices])  # for the player to move
    q = shard.root_values[indices]
    ended = np.stack([z == 1, z == 0, z == -1], axis=1)
    thought = np.stack([(1 + q) / 2, np.zeros_like(q), (1 - q) / 2], axis=1)
    results = (1 - root_value_weight) * ended + root_value_weight * thought
    futures = look_ahead(shard, game.symmetries, indices, symmetries, foresight)
    return Sample(planes, policies, results.astype(np.float32), *futures)


@kernel
def _fill(game, symmetries, states, visits, indices, chosen, planes, policies, work):
    """Writes planes and policies of the positions at `indices`, each through its symmetry."""
    width = work.shape[2]
    for row in range(len(indices)):
        index, symmetry = indices[row], chosen[row]
        game.encode(states[index], work)
        for plane in range(work.shape[0]):
            for cell in range(work.shape[1] * width):
                source = symmetries.cells[symmetry, cell]
                planes[row, plane, cell // width, cell % width] = work[plane, source // width, source % width]
        total = 0
        for action in range(visits.shape[1]):
            total += visits[index, action]
        for action in range(visits.shape[1]):
            policies[row, action] = visits[index, symmetries.actions[symmetry, action]] / total


def _split_again(joined: Shard, shards: list[Shard]) -> list[Shard]:
    """Returns the shards as views into the joined one, so that each position is in memory once."""
    views = []
    ends = np.cumsum([shard.num_positions for shard in shards])
    for shard, end in zip(shards, ends, strict=True):
        own = slice(end - shard.num_positions, end)
        per_position = ("states", "players", "actions", "visits", "root_values", "outcomes")
        views.append(shard._replace(**{name: getattr(joined, name)[own] for name in per_position}))
    return views
