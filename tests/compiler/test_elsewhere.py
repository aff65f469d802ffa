"""Tests of the process that compiles for this one, which reads what it has compiled."""

import os

import pytest

from azero.compiler import elsewhere
from azero.compiler.cache import cache_directory
from azero.compiler.elsewhere import Abandoned, Elsewhere, compiled_by, compiling_elsewhere
from azero.compiler.jit import IS_COMPILED, kernel

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")]


@kernel
def double(number):
    return 2 * number


@kernel
def triple(number):
    return 3 * number


def use_both():
    print("never seen", double(1), triple(1))
    raise ValueError("lost")


def die():
    os.kill(os.getpid(), 9)


def end_soon():
    elsewhere._IDLE_S = 0.0


def num_read(function) -> int:
    """Returns how many of a kernel's versions this process has read from the cache."""
    return sum(function.by_numba._cache_hits.values())


@pytest.fixture
def process(monkeypatch, tmp_path):
    """A process that compiles for this one, with an empty cache. The kernels forget what they have compiled."""
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    cache_directory.cache_clear()
    for each in double, triple:
        vars(each).pop("by_numba", None)
    process = Elsewhere()
    with compiling_elsewhere(process):
        yield process
    process.end()
    cache_directory.cache_clear()


def test_a_missing_kernel_is_compiled_by_another_process(process):
    assert [double(4), double(4.5), triple(4)] == [8, 9.0, 12]
    assert [num_read(each) for each in (double, triple)] == [2, 1]


def test_a_job_compiles_what_a_block_needs(process, capfd):
    progress = []
    with compiled_by((use_both, ()), on_progress=progress.append):
        assert [double(4), triple(4), double(5)] == [8, 12, 10]
    assert [num_read(each) for each in (double, triple)] == [1, 1] and progress == [0, 1, 2]
    with compiled_by((die, ()), on_progress=progress.append):
        assert [double(4), triple(4)] == [8, 12]
    assert progress == [0, 1, 2], "nothing was missing"
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("job", [(die, ()), (lambda: 0, ())], ids=["it dies", "it cannot be sent"])
def test_what_a_job_leaves_out_is_compiled_nevertheless(process, job, monkeypatch):
    with compiled_by(job):
        assert double(4) == 8
    assert num_read(double) == 1
    monkeypatch.setattr(process, "do", lambda job: None)  # as if the other process could not compile it
    assert triple(4) == 12 and num_read(triple) == 0


def test_a_job_for_a_process_that_ends_meanwhile_goes_to_another(process, monkeypatch):
    process.do((end_soon, ()))
    ended = process._process
    assert ended.connection.poll(60)  # else this process notices that the other one has ended
    monkeypatch.setattr(ended.connection, "poll", lambda *timeout, poll=ended.connection.poll: bool(timeout and poll()))
    progress = []
    with compiled_by((use_both, ()), on_progress=progress.append):
        assert double(4) == 8
    assert num_read(double) == 1 and progress == [0, 1, 2]


def test_a_job_that_is_no_longer_wanted_is_given_up(process):
    asked = []

    def is_wanted() -> bool:
        asked.append(1)
        return len(asked) < 3

    with pytest.raises(Abandoned), compiled_by((use_both, ()), is_wanted):
        double(4)
    assert double(4) == 8 and num_read(double) == 1
