"""A run's workers: this process, or several others. They take tasks and return results, such as shards."""

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from types import TracebackType
from typing import Protocol, Self, TypeVar

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games.user.failures import failures_named
from azero.nets.runtimes.choice import pick_devices, take_gpu
from azero.system.machine import count_cores
from azero.system.peers import Host, local_host
from azero.system.workers import Workers, WorkersDied

_Shared = TypeVar("_Shared")
_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_Work = Callable[[_Shared, _Task, Callable[[int], None]], _Result]
"""A module's function that turns a task into a result; see `Work` of `azero.system.workers`."""


def count_workers(config: Config) -> int:
    """Returns the number of workers: the setting's, or by default one per core, or one per GPU if there are GPUs."""
    if config.selfplay.num_workers:
        return config.selfplay.num_workers
    devices = pick_devices(config.device.device)
    return count_cores() if devices[0].type == "cpu" else len(devices)


def share_of_cores(config: Config) -> int:
    """Returns the number of cores for each worker, at least 1."""
    return max(1, count_cores() // count_workers(config))


class AnyPool(Protocol):
    """Workers that do a run's tasks: the local pool below, or a cluster's."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    @property
    def plays_matches(self) -> bool:
        """Whether its workers play matches, too."""

    @property
    def works_beside(self) -> bool:
        """Whether it can run tasks for another thread while this process does something else."""

    @property
    def num_deaths(self) -> int:
        """Number of workers that have died so far."""

    def run(
        self,
        work: _Work[_Shared, _Task, _Result],
        tasks: Sequence[_Task],
        on_done: Callable[[int], None],
        shared: _Shared,
        title: str = "task",
    ) -> Generator[tuple[int, _Result]]:
        """Runs all tasks; yields the place of each and its result as they finish. See `Pool.run`."""

    def launch(self, num_processes: int) -> AbstractContextManager[Host]:
        """Opens a host for the processes of a trainer, this one among them."""

    def settings_of_workers(self, config: Config) -> Config:
        """Returns the settings with which each worker plays games of a run."""

    def figures(self) -> dict[str, float]:
        """Returns metrics of the work since the last call, by name."""

    @property
    def is_mixed(self) -> bool:
        """Whether each machine runs nets in its own fastest way, so that results depend on it."""


MakePool = Callable[[Config, Callable[[str], None]], AnyPool]
"""Makes the pool of a run's settings. Its second argument is called with a line when something happens."""


def local_pool(config: Config, tell: Callable[[str], None]) -> AnyPool:
    """Returns the workers of this machine."""
    return Pool(count_workers(config), tell)


class Pool:
    """Worker processes that live as long as the `with` block. A single worker is this process itself.

    Args:
      tell: is called with a sentence each time a worker process has died, or has been quiet for long.

    Attributes:
      plays_matches: whether its workers play matches, too. On one machine, a single process plays all games of a match
        side by side, so that forward passes are full.
    """

    plays_matches = False

    def __init__(self, num_workers: int, tell: Callable[[str], None] = lambda text: None):
        self._workers = Workers(num_workers, take_gpu, tell) if num_workers > 1 else None

    def __enter__(self) -> "Pool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._workers is not None:
            self._workers.__exit__(kind, error, trace)

    @property
    def works_beside(self) -> bool:
        """Whether there are worker processes, so that this process can do something else."""
        return self._workers is not None

    @property
    def num_deaths(self) -> int:
        """Number of worker processes that have died so far."""
        return 0 if self._workers is None else self._workers.num_deaths

    def run(
        self,
        work: _Work[_Shared, _Task, _Result],
        tasks: Sequence[_Task],
        on_done: Callable[[int], None],
        shared: _Shared,
        title: str = "task",
    ) -> Generator[tuple[int, _Result]]:
        """Runs all tasks; yields the place of each and its result as they finish.

        Args:
          on_done: is called with the number of games that have ended since the last call; the number is negative if a
            worker's death has undone some.
          shared: what all tasks have in common. Each worker receives it once.
          title: what the tasks are called where a cluster shows them.
        """
        if self._workers is None:
            for place, task in enumerate(tasks):
                yield place, work(shared, task, on_done)
            return
        try:
            yield from self._workers.run(partial(_do, work), tasks, on_done, shared)
        except WorkersDied as error:
            advice = "try fewer selfplay.num_workers or selfplay.parallel_games; --resume continues the run"
            raise BadInput(f"{error}; {advice}") from None

    def launch(self, num_processes: int) -> AbstractContextManager[Host]:
        """Opens this machine as the host of a trainer's processes."""
        return local_host(num_processes)

    def settings_of_workers(self, config: Config) -> Config:
        """Returns the run's settings: the workers share this machine."""
        return config

    def figures(self) -> dict[str, float]:
        """Returns no metrics: deaths are counted already."""
        return {}

    @property
    def is_mixed(self) -> bool:
        """Whether each machine runs nets in its own fastest way; this is one machine."""
        return False


def _do(work: _Work[_Shared, _Task, _Result], shared: _Shared, task: _Task, on_done: Callable[[int], None]) -> _Result:
    with failures_named():  # the traceback stays in this process
        return work(shared, task, on_done)
