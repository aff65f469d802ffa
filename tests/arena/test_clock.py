"""Tests of time controls and clocks."""

import pytest

from azero.arena.agents.clock import Clock, TimeControl
from azero.errors import BadInput


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("5m", TimeControl(300.0)),
        ("1h30m", TimeControl(5400.0)),
        ("0.5s", TimeControl(0.5)),
        ("5m+3s", TimeControl(300.0, 3.0)),
        ("10m+5x30s", TimeControl(600.0, 0.0, 5, 30.0)),
        ("+1x10s", TimeControl(0.0, 0.0, 1, 10.0)),
        (" 2m+0.1s ", TimeControl(120.0, 0.1)),
    ],
)
def test_a_time_control_is_read_and_written(text, control):
    assert TimeControl.parse(text) == control
    assert TimeControl.parse(str(control)) == control


@pytest.mark.parametrize("text", ["", " ", "5", "-5m", "5m+", "+", "inf", "nan", "1e9s", "5m3", "5d", "5m+3", "٥m"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(BadInput, match="should be a time, e.g. 5m, 5m"):
        TimeControl.parse(text)


@pytest.mark.parametrize("text", ["0s", "0m+3s", "+3s", "+0x10s", "+3x0s", "5m+0x3s", "5m+3x0s"])
def test_a_clock_without_time_for_the_first_move_is_refused(text):
    with pytest.raises(BadInput, match="leaves no time for the first move"):
        TimeControl.parse(text)


@pytest.mark.parametrize("text", ["999h", "1s+999h", "1s+999x999h"])
def test_an_endless_clock_is_refused(text):
    with pytest.raises(BadInput, match="should be a week or less"):
        TimeControl.parse(text)


def test_increments_are_added_after_each_move():
    clock = Clock(TimeControl.parse("10s+2s"))
    clock.spend(4.0)
    assert clock.left_s == 8.0 and clock.used_s == 4.0
    clock.spend(8.0)
    assert clock.left_s == 2.0 and not clock.has_fallen
    clock.spend(2.001)
    assert clock.has_fallen and clock.left_s == 0.0


def test_a_move_within_a_period_keeps_it_and_longer_ones_use_periods_up():
    clock = Clock(TimeControl.parse("10s+3x5s"))
    clock.spend(12.0)
    assert (clock.main_s, clock.periods, clock.left_s) == (0.0, 3, 15.0)
    clock.spend(4.9)
    assert clock.periods == 3
    clock.spend(11.0)
    assert clock.periods == 1 and not clock.has_fallen
    clock.spend(4.9)
    assert clock.periods == 1
    clock.spend(5.0)
    assert clock.has_fallen


def test_a_period_may_be_for_several_moves():
    clock = Clock(TimeControl(1.0, periods=1, period_s=10.0, moves=4))
    clock.spend(3.0)  # two seconds of the period, and its first move
    assert (clock.main_s, clock.moves, clock.left_s) == (0.0, 3, 8.0) and clock.period_left_s == 8.0 / 3
    for seconds in (2.0, 0.5, 5.0):
        clock.spend(seconds)
    assert (clock.moves, clock.left_s) == (4, 10.0), "it begins again"
    clock.set_period(4.0, 2)
    assert clock.period_left_s == 2.0
    clock.spend(4.5)
    assert clock.has_fallen


def test_increments_and_periods_are_of_turns_with_several_actions():
    clock = Clock(TimeControl.parse("10s+2s"))
    clock.spend(1.0, is_turn_over=False)
    clock.spend(1.0, is_turn_over=False)
    clock.spend(1.0)
    assert clock.left_s == 9.0
    clock = Clock(TimeControl.parse("+2x10s"))
    clock.spend(6.0, is_turn_over=False)
    assert (clock.left_s, clock.period_left_s) == (14.0, 4.0)
    clock.spend(6.0)
    assert (clock.periods, clock.left_s, clock.period_left_s) == (1, 10.0, 10.0)
    clock.spend(6.0, is_turn_over=False)
    clock.spend(4.0, is_turn_over=False)
    assert clock.has_fallen


def test_a_clock_tells_what_is_left():
    clock = Clock(TimeControl.parse("2m+2x30s"))
    clock.spend(55.0)
    assert str(clock) == "1:05.0 and 2 x 30 s"
    assert str(Clock(TimeControl(59.97))) == "1:00.0"
