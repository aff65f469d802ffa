"""Self-play's workers: this process, or several of their own, to which tasks go out, and shards come back."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

from azero.config.schema import Config
from azero.nets.runtimes.choice import pick_devices, take_gpu
from azero.selfplay.data.records import Shard
from azero.system.interrupt import follow_parent, interruption_waits
from azero.system.machine import count_cores

_POLL_S = 0.1

_Task = TypeVar("_Task")
_Work = Callable[[_Task, Callable[[int], None]], Shard]
"""What makes a shard of a task, a function of a module; it tells how much more has been done from time to time."""


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
