"""Many games in lockstep: each slot is a game with its tree; the net is given batches with a leaf of each."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial

from azero.errors import BrokenRules
from azero.games import Game
from azero.games.face import broken_rules
from azero.mcts import Evaluator, OwnRollout, RolloutPolicy, Rule, Settings, nodes_needed
from azero.mcts.cache import new_cache
from azero.mcts.views import new_views
from azero.selfplay.groups import Answer, GameQueue, GameWalker, Group, Setup, Walker
from azero.selfplay.records import Shard, join_shards
from azero.selfplay.slots import PlaySettings


def play_games(
    game: Game,
    rule: Rule,
    settings: Settings,
    playing: PlaySettings,
    evaluator: Evaluator,
    seeds: Sequence[int],
    num_slots: int,
    on_games: Callable[[int], None] = lambda num: None,
    rollout: RolloutPolicy = OwnRollout(),
    num_threads: int = 1,
) -> Shard:
    """Plays one game for each seed, `num_slots` at a time; returns them in the order of the seeds.

    A game follows from its seed, the net and the settings alone, whatever is played beside it and however large the
    cache is, if there is one (unless so many are that their trees have to share the memory there is, and reach their
    limit of nodes). Slots are walked by `num_threads` threads. `on_games` is called with the number of games that have
    just ended. Raises BrokenRules where the game's rules cannot go on.
    """
    num_slots, queue = min(num_slots, len(seeds)), GameQueue(seeds)
    setup = new_setup(game, rule, settings, playing, rollout, num_slots)
    walk_all(setup, lambda size: GameWalker(setup, queue, size), evaluator, num_slots, on_games, num_threads)
    return join_shards(queue.finished())


def new_setup(
    game: Game, rule: Rule, settings: Settings, playing: PlaySettings, rollout: RolloutPolicy, num_slots: int
) -> Setup:
    """Returns what `num_slots` slots share, with an empty cache."""
    settings = settings._replace(is_rollout_only=False, leaves_per_tree=1, is_stopping_early=False)
    max_nodes = nodes_needed(game, playing.num_simulations, num_slots)
    views, cache = new_views(game), new_cache(game.num_actions, settings.cache_mib)
    return Setup(game, rule, rollout, settings, playing, views, cache, max_nodes)


def walk_all(
    setup: Setup,
    new_walker: Callable[[int], Walker],
    evaluator: Evaluator,
    num_slots: int,
    on_ended: Callable[[int], None],
    num_threads: int,
) -> None:
    """Walks `num_slots` slots until all have come to their end, in walkers that `new_walker` makes by their size.

    Raises BrokenRules where the game's rules cannot go on.
    """
    with ExitStack() as stack:
        threads = stack.enter_context(ThreadPoolExecutor(num_threads)) if num_threads > 1 else None
        device = stack.enter_context(ThreadPoolExecutor(1)) if evaluator.is_apart else None
        try:
            groups = [
                Group(
                    setup, [new_walker(each) for each in _split(size, num_threads)], on_ended, evaluator.rows, threads
                )
                for size in _split(num_slots, 2 if evaluator.is_apart else 1)
            ]
            _take_turns(groups, evaluator, device)
        except BrokenRules as error:
            raise broken_rules(setup.game.name, f"{error} in self-play", []) from None


def _split(number: int, num_parts: int) -> list[int]:
    """Returns parts of `number`, at most so many, as equal as can be, none of them 0."""
    parts = [number // num_parts + (k < number % num_parts) for k in range(num_parts)]
    return [part for part in parts if part]


def _take_turns(groups: Sequence[Group], evaluator: Evaluator, device: ThreadPoolExecutor | None) -> None:
    """Walks all groups to their end: the CPU one after the other; on `device`, the net judges one meanwhile."""
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
        group.take_home(answer())
        walk(group)
