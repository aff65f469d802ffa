"""Self-play of many games in lockstep. A slot is a game with its tree. A batch for the net has one leaf of each slot.

On an accelerator the slots are split into lanes, and a batch has the leaves of one lane.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from azero.config.schema import Config
from azero.errors import BrokenRules
from azero.games import Game
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
from azero.mcts.search.settings import SearchParts, check_parts
from azero.selfplay.data.records import Shard, join_shards
from azero.selfplay.lanes import GameList, Lane, Setup, play_side_by_side
from azero.selfplay.pool import share_of_cores
from azero.selfplay.slots import PlaySettings

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
