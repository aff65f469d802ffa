"""Self-play workers: a task goes out, a shard comes back. In this process, or in several of their own.

A task is plain data and a checkpoint's path, and a shard plain arrays; so a worker can as well be on another host
that sees the same files.
"""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from azero.config import Config
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.registry import source_digest_of
from azero.interrupt import follow_parent, interruption_waits
from azero.machine import count_cores
from azero.mcts import Settings, rollout_from_config, rule_from_config
from azero.nets.checkpoint import load_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.nets.runtimes import pick_devices, take_gpu
from azero.selfplay.play import play_games
from azero.selfplay.records import Shard
from azero.selfplay.resignation import NOBODY
from azero.selfplay.slots import PlaySettings
from azero.selfplay.surprise import weigh_by_surprise

_POLL_S = 0.1

_Task = TypeVar("_Task")
_Work = Callable[[_Task, Callable[[int], None]], Shard]
"""What makes a shard of a task, a function of a module; it tells how much more has been done from time to time."""


@dataclass(frozen=True)
class Task:
    """Games for one worker to play, a game for each seed."""

    checkpoint: str
    config: Config
    seeds: tuple[int, ...]
    game_digest: str  # of the sources of a user's own game, as `source_digest_of` tells it
    resign_threshold: float = NOBODY


def settings_of(config: Config) -> Settings:
    """Returns the search of self-play."""
    is_gumbel = config.selfplay.root == "gumbel"
    is_forcing = not is_gumbel and config.search.selection == "puct"
    return Settings.from_config(config.search)._replace(
        has_random_symmetry=config.selfplay.random_symmetry,
        dirichlet_alpha=config.selfplay.dirichlet_alpha,
        dirichlet_epsilon=0.0 if is_gumbel else config.selfplay.dirichlet_epsilon,
        gumbel_considered=config.selfplay.gumbel_considered if is_gumbel else 0,
        gumbel_visit=config.selfplay.gumbel_visit,
        gumbel_scale=config.selfplay.gumbel_scale,
        forced_playouts=config.selfplay.forced_playouts if is_forcing else 0.0,
    )


def play_settings_of(config: Config, resign_threshold: float = NOBODY) -> PlaySettings:
    """Returns how self-play plays; below which values a player resigns is no setting, but chosen in the run."""
    return PlaySettings(
        num_simulations=config.selfplay.num_simulations,
        temperature=config.selfplay.temperature,
        temperature_plies=config.selfplay.temperature_plies,
        final_temperature=config.selfplay.final_temperature,
        is_keeping_tree=config.selfplay.keep_tree,
        full_search_share=config.selfplay.full_search_share,
        fast_simulations=config.selfplay.fast_simulations,
        random_opening_share=config.selfplay.random_opening_share,
        random_opening_plies=config.selfplay.random_opening_plies,
        resign_threshold=resign_threshold,
        resign_played_on_share=config.selfplay.resign_played_on_share if config.selfplay.resign_error > 0 else 1.0,
    )


def play_task(task: Task, on_games: Callable[[int], None]) -> Shard:
    """Plays a task's games; calls `on_games` with the number of those that ended."""
    config = task.config
    game, evaluator, num_threads = prepare(config, task.checkpoint, task.game_digest)
    rule, settings = rule_from_config(config.search), settings_of(config)
    playing = play_settings_of(config, task.resign_threshold)
    rollout, num_slots = rollout_from_config(config.search, game), config.selfplay.parallel_games
    search = game, rule, settings, playing, evaluator
    shard = play_games(*search, task.seeds, num_slots, on_games, rollout, num_threads)
    return weigh_by_surprise(game, evaluator, shard, config.selfplay.policy_surprise_share)


def prepare(config: Config, checkpoint: str, game_digest: str) -> tuple[Game, NetEvaluator, int]:
    """Returns what a worker needs for a task: the game, the net, and how many threads are to walk slots.

    Raises BadInput where the sources of a user's own game are not those of `game_digest`.
    """
    game = make_game(config.game.name)
    if source_digest_of(game.rules) != game_digest:
        raise BadInput(f"{game} has changed while it was being played; --resume goes on by the rules as they are now")
    evaluator = NetEvaluator(load_checkpoint(Path(checkpoint), game).net, config.device)
    num_threads = max(1, count_cores() // count_workers(config)) if evaluator.is_apart else 1  # a share of the cores
    return game, evaluator, num_threads


def count_workers(config: Config) -> int:
    """Returns how many workers the settings ask for: by itself one a core, or one a GPU where there are."""
    if config.selfplay.num_workers:
        return config.selfplay.num_workers
    devices = pick_devices(config.device.device)
    return count_cores() if devices[0].type == "cpu" else len(devices)


class Pool:
    """Workers that live as long as the `with` block; with one worker, this process is it."""

    def __init__(self, num_workers: int):
        self._context = multiprocessing.get_context("spawn")
        self._num_done, self._num_started = self._context.Value("q", 0), self._context.Value("q", 0)
        self._executor: ProcessPoolExecutor | None = None
        if num_workers > 1:
            shared = self._num_done, self._num_started
            self._executor = ProcessPoolExecutor(num_workers, self._context, _start_worker, shared)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            if error is not None:  # nobody waits for what is being done
                for process in list((self._executor._processes or {}).values()):
                    process.kill()
            self._executor.shutdown(cancel_futures=True)

    def run(self, work: _Work, tasks: Sequence[_Task], on_done: Callable[[int], None]) -> Iterator[tuple[int, Shard]]:
        """Does the work of all tasks; yields the place of each and its shard as they are done.

        `on_done` hears how much more has been done: of `play_task` games, of `search_task` positions.
        """
        if self._executor is None:
            for place, task in enumerate(tasks):
                yield place, work(task, on_done)
            return
        with interruption_waits() as interrupted:  # it would find the executor holding its locks
            yield from self._gather(self._executor, work, tasks, on_done, interrupted)

    def _gather(
        self,
        executor: ProcessPoolExecutor,
        work: _Work,
        tasks: Sequence[_Task],
        on_done: Callable[[int], None],
        interrupted: Callable[[], bool],
    ) -> Iterator[tuple[int, Shard]]:
        """Hands tasks to the processes, and yields what comes back."""
        self._num_done.value = 0
        heard = 0
        waiting: dict[Future, int] = {executor.submit(_do, work, task): place for place, task in enumerate(tasks)}
        while waiting:
            done, _ = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            num_done = self._num_done.value
            on_done(num_done - heard)
            heard = num_done
            for future in done:
                yield waiting.pop(future), future.result()
            if interrupted():
                raise KeyboardInterrupt


_num_done = None
"""In a worker process: the counter of what has been done, shared by all workers."""


def _start_worker(num_done, num_started) -> None:
    """Prepares a worker process; of several GPUs the workers take one each in turn."""
    global _num_done
    _num_done = num_done
    with num_started.get_lock():
        take_gpu(num_started.value)
        num_started.value += 1
    follow_parent()


def _do(work: _Work, task: _Task) -> Shard:
    return work(task, _count)


def _count(num: int) -> None:
    assert _num_done is not None
    with _num_done.get_lock():
        _num_done.value += num
