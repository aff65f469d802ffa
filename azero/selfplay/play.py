"""Self-play of many games in lockstep. A slot is a game with its tree. A batch for the net has one leaf per slot."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

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
)
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.views import new_views
from azero.mcts.roots.strategies import root_from_config
from azero.mcts.search.lockstep import Answer
from azero.mcts.search.settings import SearchParts, check_parts
from azero.selfplay.data.records import Shard, join_shards
from azero.selfplay.groups import GameQueue, GameWalker, Group, Setup
from azero.selfplay.slots import PlaySettings


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
    num_threads: int = 1  # threads that search

    @classmethod
    def from_config(cls, config: Config, game: Game, evaluator: Evaluator, num_threads: int = 1) -> "SelfPlay":
        """Returns the self-play that the settings describe."""
        return cls(
            game,
            selection_from_config(config.search),
            _settings_of(config),
            _play_settings_of(config),
            evaluator,
            config.selfplay.parallel_games,
            rollout_from_config(config.search, game),
            num_threads,
        )


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

    A game depends only on its seed, the starts, the net and the settings. It does not depend on the other games or, if
    there is a cache, on its size. Exception: with very many slots, trees share the memory and may reach their limit on
    nodes.

    Args:
      on_games: is called with the number of games that have just ended.
      starts: texts of positions. Each game begins at one of them, chosen by its seed; at the initial position if there
        are none.

    Raises BrokenRules if the game's rules are broken.
    """
    queue = GameQueue(seeds, starts)
    num_slots, num_threads = max(1, min(selfplay.num_slots, len(seeds))), selfplay.num_threads
    setup, evaluator = _new_setup(selfplay, num_slots), selfplay.evaluator
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(num_threads)) if num_threads > 1 else None
        device = stack.enter_context(ThreadPoolExecutor(1)) if evaluator.is_on_device else None
        try:
            groups = []
            for size in _split(num_slots, 2 if evaluator.is_on_device else 1):
                walkers = [GameWalker(setup, queue, each) for each in _split(size, num_threads)]
                groups.append(Group(setup, walkers, on_games, evaluator.rows, threads))
            _take_turns(groups, evaluator, device)
        except BrokenRules as error:
            raise broken_rules(setup.game.name, f"{error}, in self-play", []) from None
    return join_shards(queue.finished())


def _new_setup(selfplay: SelfPlay, num_slots: int) -> Setup:
    """Returns what `num_slots` slots share, with an empty cache."""
    game, playing = selfplay.game, selfplay.playing
    settings = selfplay.settings._replace(is_rollout_only=False, leaves_per_tree=1, is_stopping_early=False)
    max_nodes = nodes_needed(game, playing.num_simulations, num_slots)
    views, cache = new_views(game), new_cache(settings.cache_mib)
    parts = SearchParts(game.rules, selfplay.selection, selfplay.rollout, settings, views, cache)
    check_parts(parts)
    return Setup(game, parts, playing, max_nodes)


def _split(number: int, num_parts: int) -> list[int]:
    """Splits `number` into at most `num_parts` parts, as equal as possible, none of them 0."""
    parts = [number // num_parts + (k < number % num_parts) for k in range(num_parts)]
    return [part for part in parts if part]


def _take_turns(groups: Sequence[Group], evaluator: Evaluator, device: ThreadPoolExecutor | None) -> None:
    """Runs all groups to their end, in turns. While the CPU searches in one, the net evaluates another on `device`."""
    judging: deque[tuple[Group, Callable[[], Answer]]] = deque()

    def walk(group: Group) -> None:
        planes = group.walk()
        if len(planes):
            judge = device.submit(evaluator.evaluate, planes).result if device else partial(evaluator.evaluate, planes)
            judging.append((group, judge))

    for group in groups:
        walk(group)
    while judging:
        group, answer = judging.popleft()
        group.apply_evaluations(answer())
        walk(group)
