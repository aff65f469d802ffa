"""Tests of the model of a cluster, by cases that can be computed by hand, and of the page that is made by it."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

from scale import (  # noqa: E402
    MOST_AHEAD,
    Driver,
    broadcast_s,
    iteration_s,
    page_with_tables,
    play,
    play_here,
    shard_times,
)

FREE = Driver(0.0, 0.0, 0.0)


def test_workers_share_the_shards():
    found = play(np.full(8, 3.0), 4, FREE, 0, 0.0)
    assert found.elapsed_s == 6 and found.worker_share == 1
    assert play(np.array([5.0, 1, 1, 1]), 2, FREE, 0, 0.0, begin_s=2).elapsed_s == 7
    assert play(np.full(3, 1.0), 1, FREE, 0, 0.5).elapsed_s == 4.5


def test_the_driver_is_a_server():
    """Four shards are played at the same time, and taken in one after another."""
    found = play(np.full(4, 10.0), 4, Driver(1.0, 0.5, 0.25), 2, 0.0)
    assert found.elapsed_s == 1 + 10 + 4 * 1 and found.driver_s == 4 * 2
    many = play(np.full(20_000, 1e-3), 1000, Driver(0.0, 0.01, 0.0), 0, 0.0)
    assert many.elapsed_s == pytest.approx(200, rel=1e-3), "the driver is the limit"


def test_only_so_many_tasks_are_given_out_ahead():
    """The last task is given out after the first answer, which is there at 100 s."""
    times = np.full(1 + MOST_AHEAD + 1, 100.0)
    slow = play(times, 1, Driver(1.0, 0.0, 0.0), 0, 0.0)
    assert slow.elapsed_s == 1 + len(times) * 100


def test_one_worker_here_is_the_driver():
    assert play_here(np.full(4, 2.0), 0.5).elapsed_s == 10


def test_times_have_the_mean_and_the_variation_that_were_asked_for():
    times = shard_times(7.0, 0.2, 100_000)
    assert times.mean() == pytest.approx(7, rel=0.01) and times.std() / times.mean() == pytest.approx(0.2, rel=0.02)


def test_the_net_is_handed_on_and_play_ahead_hides_the_shorter_side():
    assert broadcast_s(100, 1, 10) == 10 and broadcast_s(100, 7, 10) == 30
    assert iteration_s(5, 3, 1, is_ahead=False) == 9 and iteration_s(5, 3, 1, is_ahead=True) == 5


def test_the_page_has_the_tables_of_its_figures_and_keeps_its_text():
    page, figures = (ROOT / "docs" / "scale.md").read_text(), json.loads((ROOT / "docs" / "scale.json").read_text())
    assert page_with_tables(page, figures) == page, "python benchmarks/scale.py writes the tables"
    without = re.sub(r"(?m)^\|.*\n", "", page)
    assert len(without) < len(page) and page_with_tables(without, figures) == page
