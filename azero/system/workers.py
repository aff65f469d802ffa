"""Worker processes for an experiment: by default one per core, so that they do not slow each other down."""

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from typing import Any

from azero.errors import BadInput
from azero.system.interrupt import follow_parent, interruption_waits
from azero.system.machine import count_cores

_POLL_S = 0.1


def check_workers(threads: int | None) -> int:
    """Returns the number of workers: `threads`, or all cores if it is None. Raises BadInput if it is less than 1."""
    if threads is not None and threads < 1:
        raise BadInput(f"threads = {threads} should be 1 or more")
    return threads or count_cores()


def do_in_order(work: Callable[[Any], Any], units: Sequence, num_workers: int) -> Iterator[Any]:
    """Yields `work(unit)` for each unit, in order. With one worker or one unit, it runs in this process."""
    if num_workers == 1 or len(units) < 2:
        yield from map(work, units)
        return
    executor = ProcessPoolExecutor(num_workers, multiprocessing.get_context("spawn"), follow_parent)
    try:
        with interruption_waits() as interrupted:  # a KeyboardInterrupt could leave the executor's locks held
            for future in [executor.submit(work, unit) for unit in units]:
                yield _result_of(future, interrupted)
    except BaseException:  # the workers' results are no longer needed
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
