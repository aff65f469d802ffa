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

from azero.config import Config
from azero.errors import BadInput
from azero.games import make_game
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
        resign_played_on_share=config.selfplay.resign_played_on_share,
    )


def play_task(task: Task, on_games: Callable[[int], None]) -> Shard:
    """Plays a task's games; calls `on_games` with the number of those that ended."""
    config = task.config
    game = make_game(config.game.name)
    if source_digest_of(game.rules) != task.game_digest:
        raise BadInput(f"{game} has changed while it was being played; --resume goes on by the rules as they are now")
    evaluator = NetEvaluator(load_checkpoint(Path(task.checkpoint), game).net, config.device)
    rule, settings = rule_from_config(config.search), settings_of(config)
    playing = play_settings_of(config, task.resign_threshold)
    rollout, num_slots = rollout_from_config(config.search, game), config.selfplay.parallel_games
    num_threads = max(1, count_cores() // count_workers(config)) if evaluator.is_apart else 1  # a share of the cores
    search = game, rule, settings, playing, evaluator
    shard = play_games(*search, task.seeds, num_slots, on_games, rollout, num_threads)
    share = config.selfplay.policy_surprise_share
    return weigh_by_surprise(game, evaluator, shard, share) if share > 0 else shard


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
        self._num_ended, self._num_started = self._context.Value("q", 0), self._context.Value("q", 0)
        self._executor: ProcessPoolExecutor | None = None
        if num_workers > 1:
            shared = self._num_ended, self._num_started
            self._executor = ProcessPoolExecutor(num_workers, self._context, _start_worker, shared)

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None:
            if error is not None:  # nobody waits for what is being played
                for process in list((self._executor._processes or {}).values()):
                    process.kill()
            self._executor.shutdown(cancel_futures=True)

    def play(self, tasks: Sequence[Task], on_games: Callable[[int], None]) -> Iterator[tuple[int, Shard]]:
        """Plays tasks; yields the place of each and its shard as they are done. `on_games` hears of games that end."""
        if self._executor is None:
            for place, task in enumerate(tasks):
                yield place, play_task(task, on_games)
            return
        with interruption_waits() as interrupted:  # it would find the executor holding its locks
            yield from self._gather(self._executor, tasks, on_games, interrupted)

    def _gather(
        self,
        executor: ProcessPoolExecutor,
        tasks: Sequence[Task],
        on_games: Callable[[int], None],
        interrupted: Callable[[], bool],
    ) -> Iterator[tuple[int, Shard]]:
        """Hands tasks to the processes, and yields what comes back."""
        self._num_ended.value = 0
        heard = 0
        waiting: dict[Future, int] = {executor.submit(_work, task): place for place, task in enumerate(tasks)}
        while waiting:
            done, _ = wait(waiting, timeout=_POLL_S, return_when=FIRST_COMPLETED)
            num_ended = self._num_ended.value
            on_games(num_ended - heard)
            heard = num_ended
            for future in done:
                yield waiting.pop(future), future.result()
            if interrupted():
                raise KeyboardInterrupt


_num_ended = None
"""In a worker process: the counter of games that ended, shared by all workers."""


def _start_worker(num_ended, num_started) -> None:
    """Prepares a worker process; of several GPUs the workers take one each in turn."""
    global _num_ended
    _num_ended = num_ended
    with num_started.get_lock():
        take_gpu(num_started.value)
        num_started.value += 1
    follow_parent()


def _work(task: Task) -> Shard:
    return play_task(task, _count_games)


def _count_games(num: int) -> None:
    assert _num_ended is not None
    with _num_ended.get_lock():
        _num_ended.value += num
