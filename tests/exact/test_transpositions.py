"""Tests of the table: lookups, replacement by draft, and the values that its bounds decide."""

import math

import numpy as np
import pytest

from azero.exact.alphabeta import FRAME_DTYPE
from azero.exact.transpositions import ENTRY_DTYPE, PROOF, draft_above, find_entry, new_table, settle, store


def frame_of(value, draft, key=7, first_alpha=-1.0, first_beta=1.0):
    frame = np.zeros(1, FRAME_DTYPE).view(np.recarray)[0]
    frame.key, frame.value, frame.draft, frame.action = key, value, draft, 3
    frame.first_alpha, frame.first_beta = first_alpha, first_beta
    return frame


def bounds_after(*frames):
    """Returns the table's bounds on a position after these frames were stored, each with an effort of one node."""
    table = new_table(8)
    for frame in frames:
        store(table, frame, 1)
    assert (table.effort > 0).sum() == 1
    entry = table[find_entry(table, np.uint64(7))]
    return entry.low, entry.low_draft, entry.high, entry.high_draft


def test_a_table_finds_only_what_is_in_it():
    table = np.zeros(8, ENTRY_DTYPE).view(np.recarray)
    assert find_entry(table, np.uint64(0)) == -1
    table.effort[:] = 1
    assert find_entry(table, np.uint64(0)) >= 0 and find_entry(table, np.uint64(5)) == -1


@pytest.mark.parametrize(("wanted", "entries"), [(0, 0), (1, 0), (2, 2), (3, 2), (1500, 1024)])
def test_a_table_has_a_power_of_two_of_entries_or_none(wanted, entries):
    assert len(new_table(wanted)) == entries


def test_a_value_within_the_window_is_both_bounds_and_beyond_it_one():
    assert bounds_after(frame_of(0.25, 4)) == (0.25, 4, 0.25, 4)
    assert bounds_after(frame_of(0.25, 4, first_alpha=0.25)) == (-math.inf, 0, 0.25, 4)
    assert bounds_after(frame_of(0.25, 4, first_beta=0.25)) == (0.25, 4, math.inf, 0)


def test_the_deeper_bound_is_kept_and_of_the_same_draft_the_tighter():
    old = frame_of(0.25, 4)
    assert bounds_after(old, frame_of(0.5, 3)) == (0.25, 4, 0.25, 4)
    assert bounds_after(old, frame_of(0.0, 5)) == (0.0, 5, 0.0, 5)
    assert bounds_after(old, frame_of(0.5, 4, first_beta=0.5)) == (0.5, 4, 0.25, 4)
    assert bounds_after(frame_of(0.0, PROOF, first_beta=0.0), frame_of(0.5, 9)) == (0.0, PROOF, 0.5, 9)


def test_of_two_positions_in_a_bucket_the_dearer_and_the_latest_stay():
    table = new_table(2)
    for key, effort in ((1, 10), (2, 5), (3, 7)):
        store(table, frame_of(0.0, 1, key=key), effort)
    assert [find_entry(table, np.uint64(key)) >= 0 for key in (1, 2, 3)] == [True, False, True]
    store(table, frame_of(0.0, 1, key=4), 20)
    assert [find_entry(table, np.uint64(key)) >= 0 for key in (1, 3, 4)] == [True, False, True]


def test_a_draft_grows_by_the_ply_and_a_proof_stays_one():
    assert [draft_above(draft) for draft in (0, 7, PROOF - 2, PROOF - 1, PROOF)] == [1, 8, 254, 254, 255]


@pytest.mark.parametrize(
    ("alpha", "beta", "draft", "known"),
    [
        (-1.0, 1.0, 3, None),
        (-1.0, 0.25, 3, (0.25, 6)),  # a lower bound of 0.25 is enough for a cutoff
        (-1.0, 0.25, 7, None),  # not at this draft
        (0.5, 1.0, 3, (0.5, 3)),
        (0.5, 1.0, 4, None),
    ],
)
def test_bounds_settle_what_lies_outside_the_window(alpha, beta, draft, known):
    table = new_table(2)
    store(table, frame_of(0.25, 6, first_beta=0.25), 1)
    store(table, frame_of(0.5, 3, first_alpha=0.5), 1)
    is_known, *rest = settle(table[find_entry(table, np.uint64(7))], alpha, beta, draft)
    assert tuple(rest) == known if known else not is_known


def test_bounds_that_meet_settle_all_and_are_as_good_as_the_worse():
    table = new_table(2)
    store(table, frame_of(0.25, 6, first_beta=0.25), 1)
    store(table, frame_of(0.25, 3, first_alpha=0.25), 1)
    entry = table[find_entry(table, np.uint64(7))]
    assert tuple(settle(entry, -1.0, 1.0, 3)) == (True, 0.25, 3)
    assert not settle(entry, -1.0, 1.0, 4)[0]
