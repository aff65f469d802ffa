"""Self-play of many games in lockstep. A slot is a game with its tree. A batch for the net has one leaf of each slot.

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
from azero.config.schema import Config
from azero.errors import BrokenRules
from azero.games import ONGOING, Game
from azero.games.reasons import broken_rules
from azero.mcts import (
    Evaluator,
    OwnRollout,
    RolloutPolicy,
    Selection,
    Settings,
    nodes_needed,
    rollout_from_config,
    selection_from_config,
    trees_that_fit,
)
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.views import new_views
from azero.mcts.roots.strategies import root_from_config
from azero.mcts.search.lockstep import Walker
from azero.mcts.search.settings import SearchParts, check_parts
from azero.mcts.tree import new_forest, start_tree
from azero.selfplay.data.shard import Shard, join_shards
from azero.selfplay.slots import GameSlots, PlaySettings, begin_game, new_open_games, take_game
from azero.selfplay.workers import share_of_cores

_SLOTS_OF_A_LANE = 64  # at least, if that leaves two lanes; smaller passes take an accelerator and Python as long
_LANES_OF_A_CORE = 2  # while one waits for the accelerator, the other searches
_MOST_LANES = 16  # Python's lock admits some 3,000 calls of a net per second, however many threads there are


@dataclass(frozen=True)
class SelfPlay:
    """The settings and parts of self-play."""

    game: Game
    selection: Selection
    settings: Settings
    playing: PlaySettings
    evaluator: Evaluator
    num_slots: int  # games in lockstep
    rollout: RolloutPolicy = OwnRollout()
    num_lanes: int = 1  # threads that search, each in slots of its own

    @classmethod
    def from_config(cls, config: Config, game: Game, evaluator: Evaluator) -> "SelfPlay":
        """Returns the self-play that the settings describe, with this worker's share of the cores."""
        return cls(
            game,
            selection_from_config(config.search),
            _settings_of(config),
            _play_settings_of(config),
            evaluator,
            config.selfplay.parallel_games,
            rollout_from_config(config.search, game),
            _count_lanes(config) if evaluator.is_on_device else 1,
        )


def _count_lanes(config: Config) -> int:
    """Returns the number of lanes of a worker on an accelerator."""
    most, full = _LANES_OF_A_CORE * share_of_cores(config), config.selfplay.parallel_games // _SLOTS_OF_A_LANE
    return max(2, min(most, full, _MOST_LANES))


def _settings_of(config: Config) -> Settings:
    """Returns the search settings of self-play."""
    settings = Settings.from_config(config.search)
    return settings._replace(has_random_symmetry=True, root=root_from_config(config))


def _play_settings_of(config: Config) -> PlaySettings:
    """Returns the game settings of self-play."""
    return PlaySettings(
        num_simulations=config.selfplay.num_simulations,
        temperature=config.selfplay.temperature,
        temperature_plies=config.selfplay.temperature_plies,
        final_temperature=config.selfplay.final_temperature,
        full_search_share=config.selfplay.full_search_share,
        fast_simulations=config.selfplay.fast_simulations,
        random_opening_share=config.selfplay.random_opening_share,
        random_opening_plies=config.selfplay.random_opening_plies,
    )


def play_games(
    selfplay: SelfPlay,
    seeds: Sequence[int],
    on_games: Callable[[int], None] = lambda num: None,
    starts: Sequence[str] = (),
) -> Shard:
    """Plays one game for each seed, `selfplay.num_slots` at a time; returns them in the order of the seeds.

    There are fewer at a time if their trees would not fit into memory. A game depends only on its seed, the starts, the
    net and the settings. It does not depend on the other games or, if there is a cache, on its size.

    Args:
      on_games: is called with the number of games that have just ended.
      starts: texts of positions. Each game begins at one of them, chosen by its seed; at the initial position if there
        are none.

    Raises BrokenRules if the game's rules are broken.
    """
    games = GameList(seeds, starts, on_games)
    fitting = trees_that_fit(selfplay.game, selfplay.playing.num_simulations)
    sizes = _split(max(1, min(selfplay.num_slots, fitting, len(seeds))), selfplay.num_lanes)
    setup = _new_setup(selfplay, len(sizes))
    try:
        play_side_by_side([Lane(setup, games, size, k, len(sizes)) for k, size in enumerate(sizes)], games)
    except BrokenRules as error:
        raise broken_rules(setup.game.name, f"{error}, in self-play", []) from None
    return join_shards(games.finished())


@dataclass(frozen=True)
class Setup:
    """What all lanes share."""

    game: Game
    parts: SearchParts  # each lane puts a cache of its own in place of theirs
    playing: PlaySettings
    max_nodes: int  # of a tree
    evaluator: Evaluator
    cache_mib: int  # of a lane


def _new_setup(selfplay: SelfPlay, num_lanes: int) -> Setup:
    """Returns what the lanes share. The memory for caches is divided among them."""
    game, playing = selfplay.game, selfplay.playing
    settings = selfplay.settings._replace(is_rollout_only=False, leaves_per_tree=1, is_stopping_early=False)
    max_nodes = nodes_needed(game, playing.num_simulations)
    parts = SearchParts(game.rules, selfplay.selection, selfplay.rollout, settings, new_views(game), new_cache(0))
    check_parts(parts)
    return Setup(game, parts, playing, max_nodes, selfplay.evaluator, -(-settings.cache_mib // num_lanes))


def _split(number: int, num_parts: int) -> list[int]:
    """Splits `number` into at most `num_parts` parts, as equal as possible, none of them 0."""
    parts = [number // num_parts + (k < number % num_parts) for k in range(num_parts)]
    return [part for part in parts if part]


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
        self._played = new_open_games(setup.game, num_slots, setup.playing.random_opening_plies)
        parts = setup.parts._replace(cache=new_cache(setup.cache_mib))
        forest = new_forest(setup.game.rules, num_slots, setup.max_nodes)
        super().__init__(parts, GameSlots(setup.playing, self._played), forest)
        self._games, self._evaluator = games, setup.evaluator
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
                num_ended, answer = self.take_turn(answer), nothing
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
