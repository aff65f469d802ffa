"""Worker processes for an experiment: one a core, so that no thought is stretched by another's."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any

from azero.errors import BadInput
from azero.system.interrupt import follow_parent, interruption_waits
from azero.system.machine import count_cores

_POLL_S = 0.1


def check_workers(threads: int | None) -> int:
    """Returns how many workers to have: all cores, unless told; raises BadInput."""
    if threads is not None and threads < 1:
        raise BadInput(f"threads = {threads} should be 1 or more")
    return threads or count_cores()


def do_in_order(work: Callable[[Any], Any], units: Sequence, num_workers: int) -> Iterator[Any]:
    """Yields `work(unit)` for each of the units, in their order; with one worker it is done in this process."""
    if num_workers == 1 or len(units) < 2:
        yield from map(work, units)
        return
    executor = ProcessPoolExecutor(num_workers, multiprocessing.get_context("spawn"), follow_parent)
    try:
        with interruption_waits() as interrupted:  # it would find the executor holding its locks
            for future in [executor.submit(work, unit) for unit in units]:
                yield _result_of(future, interrupted)
    except BaseException:  # nobody waits for what is being done
        for process in list((executor._processes or {}).values()):
            process.kill()
        raise
    finally:
        executor.shutdown(cancel_futures=True)


def _result_of(future: Future, interrupted: Callable[[], bool]) -> Any:
    while not wait([future], timeout=_POLL_S).done:
        if interrupted():
            raise KeyboardInterrupt
    if interrupted():
        raise KeyboardInterrupt
    return future.result()
