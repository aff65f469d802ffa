"""Lanes: how threads share the slots of self-play, and which leaves go to the net together.

A lane has some slots, games to play in them, and a cache. One thread searches in the slots, waits for the net's answer
to their leaves, and goes on searching. On a CPU there is one lane. On an accelerator there are several: while the net
works for some, the CPU searches in others. Lanes do not wait for each other, and a lane's batches do not depend on the
others.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from azero.compiler.rng import derive_seed
from azero.games import ONGOING, Game
from azero.mcts import Evaluator
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.search.lockstep import Answer, Walker
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import new_forest, start_tree
from azero.selfplay.data.records import Shard
from azero.selfplay.slots import GameSlots, PlaySettings, begin_game, new_games, take_game


@dataclass(frozen=True)
class Setup:
    """What all lanes share."""

    game: Game
    parts: SearchParts  # each lane puts a cache of its own in place of theirs
    playing: PlaySettings
    max_nodes: int  # of a tree
    evaluator: Evaluator
    cache_mib: int  # of a lane


class GameList:
    """The games of all lanes: their seeds, the positions at which they begin, and what has been played.

    Args:
      starts: texts of positions, at one of which each game begins; see `play_games`.
      on_games: is called with the number of games that have just ended, by one lane at a time.

    Attributes:
      seeds: of the games. The place of a game is that of its seed.
      is_stopped: whether lanes are to end without finishing their games.
    """

    def __init__(self, seeds: Sequence[int], starts: Sequence[str], on_games: Callable[[int], None]):
        self.seeds = seeds
        self._starts = [starts[derive_seed(seed, "start") % len(starts)] if starts else "" for seed in seeds]
        self._finished: list[Shard | None] = [None] * len(seeds)
        self._on_games, self._lock = on_games, threading.Lock()
        self.is_stopped = False

    def start_of(self, place: int) -> str:
        """Returns the text of the position at which a game begins; empty for the initial position."""
        return self._starts[place]

    def note(self, place: int, shard: Shard) -> None:
        """Stores a finished game, with the position at which it began."""
        start = np.frombuffer(self.start_of(place).encode(), np.uint8)
        self._finished[place] = shard._replace(starts=start, start_lengths=np.array([len(start)], np.int32))

    def tell(self, num_games: int) -> None:
        """Reports games that have just ended."""
        with self._lock:
            self._on_games(num_games)

    def finished(self) -> list[Shard]:
        """Returns the finished games, in the order of their seeds."""
        return [shard for shard in self._finished if shard is not None]


class Lane(Walker):
    """Slots in which one thread plays games. A slot is finished when its game is over.

    Args:
      games: the list of the games of all lanes.
      number: of this lane, from 0. It plays every `num_lanes`th game of the list.
    """

    def __init__(self, setup: Setup, games: GameList, num_slots: int, number: int, num_lanes: int):
        self._played = new_games(setup.game, num_slots, setup.playing.random_opening_plies)
        parts = setup.parts._replace(cache=new_cache(setup.cache_mib))
        forest = new_forest(setup.game.rules, num_slots, setup.max_nodes)
        super().__init__(parts, GameSlots(setup.playing, self._played), forest)
        self._games, self._evaluator, self._has_neighbours = games, setup.evaluator, num_lanes > 1
        self._waiting = iter(range(number, len(games.seeds), num_lanes))  # places of games
        self._game, self._initial = setup.game, setup.game.new_initial_state()
        self._places: dict[int, int] = {}  # slot to place of its game
        for slot in range(num_slots):
            self._begin(slot)

    def play(self) -> None:
        """Plays games until all are over, or the list is stopped."""
        nothing = np.zeros((0, self._game.num_actions), np.float32), np.zeros(0, np.float32)
        answer = nothing
        try:
            while not self._games.is_stopped:
                num_ended, answer = self._go_on(answer), nothing
                if num_ended:
                    self._renew()
                    self._games.tell(num_ended)
                elif len(planes := self._planes_of_whole_passes()):
                    answer = self._evaluator.evaluate(planes)
                else:
                    return
        except BaseException:
            self._games.is_stopped = True  # the other lanes would play on for nothing
            raise

    def _go_on(self, answer: Answer) -> int:
        """Applies the net's answer, and searches on in all slots; returns how many finished."""
        if self._has_neighbours:
            return self.walk_on(answer)
        self.keep(answer)
        self.apply_evaluations(answer)
        return self.walk()

    def _planes_of_whole_passes(self) -> np.ndarray:
        """Returns the planes for the net. Leaves that do not fill a pass wait, if there is a full one."""
        total, rows = len(self.planes), self._evaluator.rows
        return self.planes[: total - total % rows if 0 < rows < total else total]

    def _renew(self) -> None:
        """Takes finished games out of their slots, and begins the next games there, if there are any."""
        for slot in [slot for slot in self._places if self._played.outcomes[slot] != ONGOING]:
            self._games.note(self._places.pop(slot), take_game(self._played, self.forest.trees[slot], slot))
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        """Begins the next game, if there is one, in a free slot."""
        place = next(self._waiting, None)
        if place is not None:
            self._places[slot] = place
            text = self._games.start_of(place)
            start = self._game.state_from_text(text) if text else self._initial
            start_tree(self.forest, slot, start.record, np.uint64(self._games.seeds[place]))
            begin_game(self.parts, self.slots, self.forest, self.scratch, slot)


def play_side_by_side(lanes: Sequence[Lane], games: GameList) -> None:
    """Plays in all lanes, each in a thread; a single one in this thread."""
    if len(lanes) == 1:
        lanes[0].play()
        return
    with ThreadPoolExecutor(len(lanes)) as threads:
        try:
            for playing in [threads.submit(lane.play) for lane in lanes]:
                playing.result()
        except BaseException:
            games.is_stopped = True  # after Ctrl-C, too, of which only this thread learns
            raise
