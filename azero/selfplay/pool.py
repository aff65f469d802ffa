"""The workers of self-play: this process, or several others. They take tasks and return shards."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from types import TracebackType
from typing import TypeVar

from azero.config.schema import Config
from azero.games.user.failures import failures_named
from azero.nets.runtimes.choice import pick_devices, take_gpu
from azero.selfplay.data.records import Shard
from azero.system.interrupt import follow_parent, interruption_waits
from azero.system.machine import count_cores

_POLL_S = 0.1

_Task = TypeVar("_Task")
_Work = Callable[[_Task, Callable[[int], None]], Shard]
"""A module's function that turns a task into a shard. It reports progress through its second argument."""


def count_workers(config: Config) -> int:
    """Returns the number of workers: the setting's, or by default one per core, or one per GPU if there are GPUs."""
    if config.selfplay.num_workers:
        return config.selfplay.num_workers
    devices = pick_devices(config.device.device)
    return count_cores() if devices[0].type == "cpu" else len(devices)


class Pool:
    """Worker processes that live as long as the `with` block. A single worker is this process itself."""

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
            if error is not None:  # the tasks under way are no longer needed
                for process in list((self._executor._processes or {}).values()):
                    process.kill()
            self._executor.shutdown(cancel_futures=True)

    def run(self, work: _Work, tasks: Sequence[_Task], on_done: Callable[[int], None]) -> Iterator[tuple[int, Shard]]:
        """Runs all tasks; yields the place of each and its shard as they finish.

        `on_done` is called with the number of games (`play_task`) or positions (`search_task`) finished since the last
        call.
        """
        if self._executor is None:
            for place, task in enumerate(tasks):
                yield place, work(task, on_done)
            return
        with interruption_waits() as interrupted:  # an interrupt at once could leave the executor's locks held
            yield from self._gather(self._executor, work, tasks, on_done, interrupted)

    def _gather(
        self,
        executor: ProcessPoolExecutor,
        work: _Work,
        tasks: Sequence[_Task],
        on_done: Callable[[int], None],
        interrupted: Callable[[], bool],
    ) -> Iterator[tuple[int, Shard]]:
        """Submits tasks to the processes, and yields their results."""
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
"""In a worker process: the progress counter that all workers share."""


def _start_worker(num_done, num_started) -> None:
    """Prepares a worker process. Workers take the GPUs in turn."""
    global _num_done
    _num_done = num_done
    with num_started.get_lock():
        take_gpu(num_started.value)
        num_started.value += 1
    follow_parent()


def _do(work: _Work, task: _Task) -> Shard:
    with failures_named():  # the traceback stays in this process
        return work(task, _count)


def _count(num: int) -> None:
    assert _num_done is not None
    with _num_done.get_lock():
        _num_done.value += num
