"""Walkers and groups: how threads share the slots of self-play, and which leaves go to the net together.

A walker has some slots, which one thread searches. A group has several walkers, which threads run side by side. While
the net evaluates the leaves of one group on an accelerator, the CPU searches in another group.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from azero.compiler.rng import derive_seed
from azero.games import ONGOING, Game
from azero.mcts.search.lockstep import Answer, Walker
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import new_forest, start_tree
from azero.selfplay.data.records import Shard
from azero.selfplay.slots import GameSlots, PlaySettings, begin_game, new_games, take_game


@dataclass(frozen=True)
class Setup:
    """What all slots share."""

    game: Game
    parts: SearchParts
    playing: PlaySettings
    max_nodes: int  # of a tree


class GameQueue:
    """The games to play, in the order of their seeds, and the finished games.

    Args:
      starts: texts of positions, at one of which each game begins; see `play_games`.
    """

    def __init__(self, seeds: Sequence[int], starts: Sequence[str] = ()):
        self._waiting = iter(enumerate(seeds))
        self._starts = [starts[derive_seed(seed, "start") % len(starts)] if starts else "" for seed in seeds]
        self._finished: list[Shard | None] = [None] * len(seeds)

    def next_game(self) -> tuple[int, int] | None:
        """Returns the place and the seed of the next game; None if all have begun."""
        return next(self._waiting, None)

    def start_of(self, place: int) -> str:
        """Returns the text of the position at which a game begins; empty for the initial position."""
        return self._starts[place]

    def note(self, place: int, shard: Shard) -> None:
        """Stores a finished game, with the position at which it began."""
        start = np.frombuffer(self.start_of(place).encode(), np.uint8)
        self._finished[place] = shard._replace(starts=start, start_lengths=np.array([len(start)], np.int32))

    def finished(self) -> list[Shard]:
        """Returns the finished games, in the order of their seeds."""
        return [shard for shard in self._finished if shard is not None]


class GameWalker(Walker):
    """A walker that plays games. A slot is finished when its game is over."""

    def __init__(self, setup: Setup, queue: GameQueue, num_slots: int):
        self._games = new_games(setup.game, num_slots, setup.playing.random_opening_plies)
        forest = new_forest(setup.game.rules, num_slots, setup.max_nodes)
        super().__init__(setup.parts, GameSlots(setup.playing, self._games), forest)
        self._queue = queue
        self._game, self._initial = setup.game, setup.game.new_initial_state()
        self._places: dict[int, int] = {}  # slot to place of its game
        for slot in range(num_slots):
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        """Begins the next game, if there is one, in a free slot."""
        following = self._queue.next_game()
        if following is not None:
            self._places[slot], seed = following
            text = self._queue.start_of(self._places[slot])
            start = self._game.state_from_text(text) if text else self._initial
            start_tree(self.forest, slot, start.record, np.uint64(seed))
            begin_game(self.parts, self.slots, self.forest, self.scratch, slot)

    def renew(self) -> None:
        """Takes finished games out of their slots, and begins the next games there, if there are any."""
        for slot in [slot for slot in self._places if self._games.outcomes[slot] != ONGOING]:
            self._queue.note(self._places.pop(slot), take_game(self._games, self.forest.trees[slot], slot))
            self._begin(slot)


class Group:
    """Walkers whose leaves go to the net together.

    Args:
      on_games: is called with the number of games that have just ended.
      rows: rows of one forward pass. Leaves that do not fill a pass wait, if there is a full one. 0: none wait.
      threads: threads that run the walkers; None if there is one walker.
    """

    def __init__(
        self,
        setup: Setup,
        walkers: Sequence[GameWalker],
        on_games: Callable[[int], None],
        rows: int,
        threads: ThreadPoolExecutor | None,
    ):
        self._walkers, self._on_games, self._rows, self._threads = walkers, on_games, rows, threads
        num_together = sum(walker.num_slots for walker in walkers) if len(walkers) > 1 else 0
        self._together = np.zeros((num_together, *setup.game.planes_shape), np.float32)
        self._shares: list[slice] = []  # each walker's rows of the batch

    def walk(self) -> np.ndarray:
        """Searches in all slots; returns the planes for the net, none if all games are over.

        Slots whose games are over get new games, which are searched as well.
        """
        walkers = self._walkers
        while walkers:
            num_ended = self._side_by_side(lambda walker: walker.walk(), walkers)
            walkers = [walker for walker, num in zip(walkers, num_ended, strict=True) if num]
            for walker in walkers:
                walker.renew()
            if walkers:
                self._on_games(sum(num_ended))
        return self._gather()

    def _gather(self) -> np.ndarray:
        """Returns the planes of all walkers, cut to whole passes if there is at least one."""
        total = sum(len(walker.planes) for walker in self._walkers)
        if self._rows and total > self._rows:
            total -= total % self._rows
        self._shares, begin = [], 0
        for walker in self._walkers:
            end = min(begin + len(walker.planes), total)
            self._shares.append(slice(begin, end))
            begin = end
        if len(self._walkers) == 1:
            return self._walkers[0].planes[:total]
        for walker, share in zip(self._walkers, self._shares, strict=True):
            self._together[share] = walker.planes[: share.stop - share.start]
        return self._together[:total]

    def apply_evaluations(self, answer: Answer) -> None:
        """Applies the net's answer to the planes that `walk` returned last."""
        logits, values = answer
        shares = [(logits[share], values[share]) for share in self._shares]
        for walker, share in zip(self._walkers, shares, strict=True):  # one after another: they share the cache
            walker.keep(share)
        self._side_by_side(Walker.apply_evaluations, self._walkers, shares)

    def _side_by_side(self, work: Callable, *arguments: Sequence) -> list:
        """Returns the result of `work` for each walker. Each runs in its own thread."""
        return list((self._threads.map if self._threads else map)(work, *arguments))
