"""Tests of worker processes that report nothing. Deaths are tested in tests/selfplay/test_workers.py."""

import os
import re
import signal

import pytest

from azero.system import local_backend
from azero.system.worker_pool import local_workers


def stop_once(mark, task, report):
    """Work whose process is stopped, as by a debugger, the first time."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGSTOP)
    return task


@pytest.mark.skipif(os.name != "posix", reason="it sends SIGSTOP")
def test_a_worker_that_hangs_is_named_and_its_task_is_done_again_when_it_is_killed(tmp_path, monkeypatch):
    told = []

    def kill_the_one_that_is_named(text):
        told.append(text)
        if named := re.search(r"has reported nothing .* kill -9 (\d+)", text):
            os.kill(int(named[1]), signal.SIGKILL)

    monkeypatch.setattr(local_backend, "QUIET_S", 3.0)
    with local_workers(1, tell=kill_the_one_that_is_named) as workers:
        assert list(workers.run(stop_once, ["task"], shared=tmp_path / "mark")) == [(0, "task")]
        assert workers.num_deaths == 1
    assert len(told) == 2 and told[1].startswith("a worker was killed by SIGKILL")
