"""What a search has learned of the positions that it has seen: bounds of their values, by key.

Each bound has a draft: the plies that it looked ahead. One that rests on nothing but the ends of games is a proof.

Source: Slate & Atkin, Chess 4.5 (1977); Breuker et al., Replacement schemes for transposition tables (1994), of which
`store` is TwoBig.
"""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import bucket_of

PROOF = 255
"""The draft of what no estimate has entered: it holds however far a search is to look."""

ENTRY_DTYPE = np.dtype(
    [
        ("key", np.uint64),  # `hash_key` of the position
        ("low", np.float64),  # its value is this at least
        ("high", np.float64),  # and this at most
        ("effort", np.uint32),  # nodes that it took; 0: there is no entry
        ("action", np.int16),  # the best found
        ("low_draft", np.uint8),
        ("high_draft", np.uint8),
    ],
    align=True,
)
assert ENTRY_DTYPE.itemsize == 32, "a bucket of two is a cache line"


def new_table(max_entries: int) -> np.recarray:
    """Returns an empty table: a power of two of entries, or none. Memory is taken as entries come into use."""
    num_entries = 1 << max_entries.bit_length() - 1 if max_entries > 1 else 0
    return np.zeros(num_entries, ENTRY_DTYPE).view(np.recarray)


@subroutine
def draft_above(draft):
    """Returns the draft of a position with a move to one whose draft is given."""
    return draft if draft == PROOF else min(draft + 1, PROOF - 1)


@subroutine
def first_place(table, key):
    """Returns the first place of the bucket that a key belongs to."""
    return 2 * bucket_of(key, len(table) // 2)


@subroutine
def find_entry(table, key):
    """Returns the place of a key in the table, or -1."""
    first = first_place(table, key)
    for place in range(first, first + 2):
        if table[place].key == key and table[place].effort > 0:
            return place
    return -1


@subroutine
def store(table, frame, effort):
    """Writes what a frame has found, into the first place of a bucket or, where that took more effort, the second.

    Of two bounds the one of greater draft is kept, of the same draft the tighter one.
    """
    place = find_entry(table, frame.key)
    if place < 0:
        place = first_place(table, frame.key)
        if table[place].effort > effort:
            place += 1
        else:
            table[place + 1] = table[place]
        table[place].key, table[place].low, table[place].high = frame.key, -math.inf, math.inf
        table[place].low_draft, table[place].high_draft = 0, 0
    entry = table[place]
    entry.action, entry.effort = frame.action, effort
    value, draft = frame.value, frame.draft
    if value > frame.first_alpha and (draft > entry.low_draft or (draft == entry.low_draft and value > entry.low)):
        entry.low, entry.low_draft = value, draft
    if value < frame.first_beta and (draft > entry.high_draft or (draft == entry.high_draft and value < entry.high)):
        entry.high, entry.high_draft = value, draft


@kernel
def noted_action(table, key):
    """Returns the action that the table holds for best in the position of this key, or -1."""
    place = find_entry(table, key) if len(table) > 0 else -1
    return np.int64(table[place].action) if place >= 0 else np.int64(-1)


@subroutine
def note_action(table, key, action):
    """Notes an action to try first in the position of this key, of which nothing is known, where there is room."""
    first = first_place(table, key)
    entry = table[first if table[first].effort == 0 else first + 1]
    if find_entry(table, key) < 0 and entry.effort == 0:
        entry.key, entry.action, entry.effort = key, action, 1
        entry.low, entry.high = -math.inf, math.inf
        entry.low_draft, entry.high_draft = 0, 0


@subroutine
def settle(entry, alpha, beta, draft):
    """Returns whether bounds of at least this draft tell all about a value that matters; the value, and its draft."""
    draft = min(draft, PROOF)
    has_low, has_high = entry.low_draft >= draft, entry.high_draft >= draft
    if has_low and entry.low >= beta:
        return True, entry.low, int(entry.low_draft)
    if has_high and entry.high <= alpha:
        return True, entry.high, int(entry.high_draft)
    is_exact = has_low and has_high and entry.low == entry.high
    return is_exact, entry.low, int(min(entry.low_draft, entry.high_draft))
