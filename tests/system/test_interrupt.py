"""Tests of work in the background: its errors come out, and it stops where it lets itself be interrupted."""

import threading

import pytest

from azero.system.interrupt import Background, interruption_waits


def test_its_end_is_waited_for():
    may_end = threading.Event()
    work = Background(may_end.wait)
    assert not work.wait(0)
    may_end.set()
    assert work.wait(10)


def test_what_it_raises_comes_out():
    def fail():
        raise ValueError("wrong")

    work = Background(fail)
    with pytest.raises(ValueError, match="wrong"):
        work.wait(10)
    with pytest.raises(ValueError, match="wrong"):
        work.check()


def test_it_stops_where_it_may_be_interrupted():
    seen = []

    def play():
        with interruption_waits() as interrupted:
            begun.set()
            while not interrupted():
                pass
        seen.append("stopped")

    begun = threading.Event()
    work = Background(play)
    begun.wait()
    with interruption_waits() as interrupted:
        assert not interrupted()  # of this thread
    work.stop()
    assert seen == ["stopped"]
