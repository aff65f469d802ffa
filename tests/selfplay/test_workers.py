"""Tests of workers: games do not depend on the worker that plays them."""

import os
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from training.runs import needs_proc, processes, wait_until

from azero.errors import BadInput
from azero.selfplay.tasks import Identities, PlayPlan, SizedSeeds, play_task
from azero.selfplay.workers import count_workers, local_pool

from .games import assert_same, config_with, new_weights

pytestmark = pytest.mark.slow  # it starts many processes


@pytest.fixture(scope="module")
def plan() -> PlayPlan:
    config = config_with()
    return PlayPlan(new_weights(config), (config,), Identities())


def pool_of(num_workers, tell=lambda text: None):
    return local_pool(config_with(num_workers=num_workers), tell)


TASKS = [SizedSeeds(0, tuple(range(k, k + 3))) for k in (0, 3, 6)]


def play(plan, task):
    return play_task(plan, task, lambda num: None)


@pytest.fixture(autouse=True)
def threads():
    """Restores the number of torch's threads."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_play_what_their_tasks_say(plan, num_workers):
    reports, shards = [], {}
    with pool_of(num_workers) as pool:
        for place, shard in pool.run(play_task, TASKS, reports.append, plan):
            shards[place] = shard
    assert sorted(shards) == [0, 1, 2]
    for place, task in enumerate(TASKS):
        assert_same(shards[place], play(plan, task))
    assert sum(reports) == 9


def test_an_error_in_a_worker_is_an_error_here(plan):
    wrong = replace(plan, weights={"nothing": np.zeros(1)})
    with pool_of(2) as pool:
        with pytest.raises(RuntimeError, match="Missing key") as error:
            list(pool.run(play_task, TASKS[:2], lambda num: None, wrong))
        assert "\nTraceback" in error.value.__notes__[0]
        assert_same(dict(pool.run(play_task, TASKS[:1], lambda num: None, plan))[0], play(plan, TASKS[0]))


def die_once(shared, task, report):
    """Does the task's work, but kills its own process in the middle of the second task the first time."""
    marks, plan = shared
    if task.seeds[0] == 3 and not (marks / "killed").exists():
        report(2)
        (marks / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return play_task(plan, task, report)


def die(plan, task, report):
    os._exit(3)


@pytest.mark.skipif(os.name != "posix", reason="it sends SIGKILL")
def test_a_killed_worker_is_replaced_and_its_task_done_again(plan, tmp_path):
    reports, told = [], []
    with pool_of(2, told.append) as pool:
        shards = dict(pool.run(die_once, TASKS, reports.append, (tmp_path, plan)))
        assert pool.num_deaths == 1
    assert told == ["a worker was killed by SIGKILL; another one does its task again"]
    for place, task in enumerate(TASKS):
        assert_same(shards[place], play(plan, task))
    assert sum(reports) == 9 and reports.count(-2) == 1


def test_a_task_that_no_worker_survives_ends_in_a_line(plan):
    with pytest.raises(BadInput) as error, pool_of(2) as pool:
        list(pool.run(die, TASKS[:1], lambda num: None, plan))
    assert str(error.value) == (
        "3 workers have died at the same task, the last one ended with code 3; perhaps its machine is short of memory; "
        "try fewer selfplay.num_workers or selfplay.parallel_games; --resume continues the run"
    )


SLOW_TO_IMPORT = """
import multiprocessing, time
if multiprocessing.parent_process():
    open("imports", "w").close()
    time.sleep(60)

def prepare(place):
    pass

def work(shared, task, report):
    return task
"""

PARENT = """
from azero.system.worker_pool import local_workers

if __name__ == "__main__":
    import slow_to_import

    with local_workers(1, slow_to_import.prepare) as workers:
        list(workers.run(slow_to_import.work, [1]))
"""


@needs_proc
def test_a_worker_that_is_still_importing_ends_with_its_parent(tmp_path):
    (tmp_path / "slow_to_import.py").write_text(SLOW_TO_IMPORT)
    (tmp_path / "parent.py").write_text(PARENT)
    parent = subprocess.Popen([sys.executable, "parent.py"], cwd=tmp_path, start_new_session=True)
    wait_until((tmp_path / "imports").exists)
    parent.kill()
    parent.wait()
    wait_until(lambda: not processes(group=parent.pid), timeout_s=10)


def test_workers_are_counted(monkeypatch):
    monkeypatch.setattr("azero.selfplay.workers.count_cores", lambda: 12)
    assert count_workers(config_with(num_workers=3)) == 3
    assert count_workers(config_with(num_workers=0)) == 12
    for count in (1, 4):
        gpus = [torch.device("cuda", k) for k in range(count)]
        monkeypatch.setattr("azero.selfplay.workers.pick_devices", lambda name, gpus=gpus: gpus)
        assert count_workers(config_with(num_workers=0)) == count
