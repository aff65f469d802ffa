"""Tests of measured rates, with work of known speed: it sleeps."""

import time

import pytest

from azero.bench.rates import NUM_TURNS, median_ratio, rate, rate_of_threads, rates_in_turns


def sleeping_work():
    time.sleep(0.002)
    return 7


def test_rate_counts_units_and_leaves_out_the_first_call():
    calls = []

    def work():
        calls.append(time.sleep(0.2 if not calls else 0.002))
        return 7

    measured = rate(work, 0.05)
    assert 7 / 0.02 < measured <= 7 / 0.002
    assert len(calls) > 2


def test_rate_is_of_some_work_even_in_no_time():
    assert 0 < rate(sleeping_work, 0.0) <= 7 / 0.002


def test_threads_add_up():
    alone, together = rate_of_threads([sleeping_work], 0.1), rate_of_threads([sleeping_work] * 4, 0.1)
    assert together > 2 * alone


def test_a_thread_that_fails_is_heard():
    def failing_work():
        raise ValueError("no work")

    with pytest.raises(ValueError, match="no work"):
        rate_of_threads([sleeping_work, failing_work], 0.01)


def test_contestants_take_turns_and_share_the_time():
    asked = []

    def contestant(name, answer):
        return lambda seconds: asked.append((name, seconds)) or answer + len(asked)

    rates = rates_in_turns({"a": contestant("a", 100), "b": contestant("b", 200)}, 1.0)
    assert asked == [("a", 1.0 / NUM_TURNS), ("b", 1.0 / NUM_TURNS)] * NUM_TURNS
    assert rates == {
        "a": [101 + 2 * turn for turn in range(NUM_TURNS)],
        "b": [202 + 2 * turn for turn in range(NUM_TURNS)],
    }


def test_ratios_are_taken_within_a_turn():
    """Both contestants are slow in the second turn, as if another process ran."""
    assert median_ratio([10.0, 1.0, 12.0], [100.0, 10.0, 100.0]) == pytest.approx(0.1)
