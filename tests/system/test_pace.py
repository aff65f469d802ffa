"""Tests of the size of compiled calls: it follows the duration of earlier calls."""

import pytest

from azero.system.pace import CALL_S, next_size


@pytest.mark.parametrize("cost_s", [1e-7, 1e-4, 1e-2, 10.0])
def test_calls_come_to_last_as_long_as_wanted(cost_s):
    size = 128
    for _ in range(10):
        size = next_size(size, size * cost_s)
    assert size == 1 if cost_s > CALL_S else abs(size * cost_s - CALL_S) <= cost_s


def test_a_call_is_not_much_greater_than_the_last_and_never_empty():
    assert next_size(100, 0.0) == 800
    assert next_size(100, 1e9) == 1
