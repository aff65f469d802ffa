"""Walkers and groups: who walks the slots of self-play, and whose leaves go to the net together.

A walker is some slots that one thread walks at a time; a group is walkers that threads walk side by side. While the net
judges the leaves of one group on a device of its own, the CPU walks another.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from azero.games import ONGOING, Game
from azero.mcts.search.lockstep import Answer, Walker
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import start_tree
from azero.selfplay.data.records import Shard
from azero.selfplay.slots import GameSlots, PlaySettings, begin_game, new_games, take_game


@dataclass(frozen=True)
class Setup:
    """What is the same for all slots."""

    game: Game
    parts: SearchParts
    playing: PlaySettings
    max_nodes: int  # of a tree


class GameQueue:
    """The games to play, in the order of their seeds, and those that have been played."""

    def __init__(self, seeds: Sequence[int]):
        self._waiting = iter(enumerate(seeds))
        self._finished: list[Shard | None] = [None] * len(seeds)

    def next_game(self) -> tuple[int, int] | None:
        """Returns the place and the seed of the next game; None where all have begun."""
        return next(self._waiting, None)

    def note(self, place: int, shard: Shard) -> None:
        """Takes in a game that has been played."""
        self._finished[place] = shard

    def finished(self) -> list[Shard]:
        """Returns the games that have been played, in order."""
        return [shard for shard in self._finished if shard is not None]


class RenewedWalker(Walker, ABC):
    """A walker whose slots make way for others when they have come to their end."""

    @abstractmethod
    def renew(self) -> None:
        """Takes what has come to its end out of its slots, and begins others there, if there are any."""


class GameWalker(RenewedWalker):
    """Plays games: a slot is at its end when its game is over."""

    def __init__(self, setup: Setup, queue: GameQueue, num_slots: int):
        self._games = new_games(setup.game, num_slots)
        super().__init__(setup.parts, GameSlots(setup.playing, self._games), num_slots, setup.max_nodes)
        self._queue = queue
        self._initial = setup.game.new_initial_state().record
        self._places: dict[int, int] = {}  # slot to place of its game
        for slot in range(num_slots):
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        """Begins the next game, if there is one, in a slot that is free."""
        following = self._queue.next_game()
        if following is not None:
            self._places[slot], seed = following
            start_tree(self.forest, slot, self._initial, np.uint64(seed))
            begin_game(self.parts, self.slots, self.forest, self.scratch, slot)

    def renew(self) -> None:
        for slot in [slot for slot in self._places if self._games.outcomes[slot] != ONGOING]:
            self._queue.note(self._places.pop(slot), take_game(self._games, self.forest.trees[slot], slot))
            self._begin(slot)


class Group:
    """Walkers whose leaves go to the net together.

    Args:
      on_ended: is called with how many slots have just come to their end.
      rows: of one forward pass; leaves that do not fill one wait for others, while there are others. 0: none wait.
      threads: to walk the walkers; None where there is but one.
    """

    def __init__(
        self,
        setup: Setup,
        walkers: Sequence[RenewedWalker],
        on_ended: Callable[[int], None],
        rows: int,
        threads: ThreadPoolExecutor | None,
    ):
        self._walkers, self._on_ended, self._rows, self._threads = walkers, on_ended, rows, threads
        num_together = sum(walker.num_slots for walker in walkers) if len(walkers) > 1 else 0
        self._together = np.zeros((num_together, *setup.game.planes_shape), np.float32)
        self._shares: list[slice] = []  # each walker's rows of what the net judges

    def walk(self) -> np.ndarray:
        """Walks all slots; returns what the net is to judge, nothing where all have come to their end.

        What has come to its end makes way for others, which are walked as well.
        """
        walkers = self._walkers
        while walkers:
            num_ended = self._side_by_side(lambda walker: walker.walk(), walkers)
            walkers = [walker for walker, num in zip(walkers, num_ended, strict=True) if num]
            for walker in walkers:
                walker.renew()
            if walkers:
                self._on_ended(sum(num_ended))
        return self._gather()

    def _gather(self) -> np.ndarray:
        """Returns the planes of all walkers, whole passes of them if there are as many."""
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
        """Takes in what the net says of the planes that `walk` returned last."""
        logits, values = answer
        shares = [(logits[share], values[share]) for share in self._shares]
        for walker, share in zip(self._walkers, shares, strict=True):  # one after the other: they write to the same
            walker.keep(share)
        self._side_by_side(Walker.apply_evaluations, self._walkers, shares)

    def _side_by_side(self, work: Callable, *arguments: Sequence) -> list:
        """Returns what `work` does for each walker, a thread each."""
        return list((self._threads.map if self._threads else map)(work, *arguments))
