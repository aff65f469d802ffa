"""What tasks of tests do. It imports little, since each new worker imports it."""

import os
import signal
import sys
import time


def work_once(shared, task, report):
    """A task's work, in whose first attempt the worker dies."""
    if not (shared / str(task)).exists():
        (shared / str(task)).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def killed_twice(shared, task, report):
    """Other work, at whose end the worker is killed in the first two attempts at any tasks."""
    marks, work, its_shared = shared
    result = work(its_shared, task, report)
    if len(list(marks.glob("mark*"))) < 2:
        (marks / f"mark {os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return result


def die(shared, task, report):
    os._exit(3)


def hang_once(shared, task, report):
    """A task's work, which hangs in the first attempt."""
    if not (shared / str(task)).exists():
        (shared / str(task)).touch()
        time.sleep(600)
    return task


def interrupt(shared, task, report):
    os.kill(shared, signal.SIGINT)
    time.sleep(600)


def surroundings(shared, task, report):
    return os.environ["RAY_USAGE_STATS_ENABLED"], sys.path


def fail(shared, task, report):
    raise ValueError(shared)


def large(shared, task, report):
    return bytes(2 << 20)


def square(shared, task, report):
    """A task's work."""
    if task == "wrong":
        raise ValueError(shared)
    report(task)
    return task * task
