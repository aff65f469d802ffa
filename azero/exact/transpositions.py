"""The transposition table: bounds on the values of positions, by key.

Each bound has a draft, the number of plies that its search looked ahead. A bound is a proof if it depends only on ends
of games.

Source: Slate & Atkin, Chess 4.5 (1977); Breuker et al., Replacement schemes for transposition tables (1994). `store`
is their TwoBig.
"""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import bucket_of

PROOF = 255
"""Draft of a bound that depends on no estimate. It is valid at any search depth."""

ENTRY_DTYPE = np.dtype(
    [
        ("key", np.uint64),  # `hash_key` of the position
        ("low", np.float64),  # lower bound on its value for the first player
        ("high", np.float64),  # upper bound
        ("effort", np.uint32),  # nodes visited to find them; 0: the entry is empty
        ("action", np.int16),  # best action found
        ("low_draft", np.uint8),
        ("high_draft", np.uint8),
    ],
    align=True,
)
assert ENTRY_DTYPE.itemsize == 32, "a bucket of two is a cache line"


def new_table(max_entries: int) -> np.recarray:
    """Returns an empty table. Its size is the largest power of two up to `max_entries`, or 0 if that is less than 2.

    The system allocates its memory pages on first use.
    """
    num_entries = 1 << max_entries.bit_length() - 1 if max_entries > 1 else 0
    return np.zeros(num_entries, ENTRY_DTYPE).view(np.recarray)


@subroutine
def draft_above(draft):
    """Returns the draft of a position from the draft of the position after its move."""
    return draft if draft == PROOF else min(draft + 1, PROOF - 1)


@subroutine
def first_place(table, key):
    """Returns the first of the two places of a key's bucket."""
    return 2 * bucket_of(key, len(table) // 2)


@subroutine
def find_entry(table, key):
    """Returns the place of the entry with this key, or -1."""
    first = first_place(table, key)
    for place in range(first, first + 2):
        if table[place].key == key and table[place].effort > 0:
            return place
    return -1


@subroutine
def store(table, frame, effort):
    """Stores the value of a frame as bounds.

    A new entry takes the first place of its bucket, and the entry there moves to the second place. If the entry there
    took more effort, the new entry takes the second place. Of two bounds for one position, the one with the greater
    draft is kept; with equal drafts, the tighter one.
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
    """Returns the best action in the table for the position with this key, or -1."""
    place = find_entry(table, key) if len(table) > 0 else -1
    return np.int64(table[place].action) if place >= 0 else np.int64(-1)


@subroutine
def note_action(table, key, action):
    """Stores an action to try first in the position with this key, if it has no entry and its bucket has room."""
    first = first_place(table, key)
    entry = table[first if table[first].effort == 0 else first + 1]
    if find_entry(table, key) < 0 and entry.effort == 0:
        entry.key, entry.action, entry.effort = key, action, 1
        entry.low, entry.high = -math.inf, math.inf
        entry.low_draft, entry.high_draft = 0, 0


@subroutine
def settle(entry, alpha, beta, draft):
    """Returns whether an entry's bounds with at least this draft decide the value for the window; value and draft.

    They decide it if they are equal, or if one of them lies outside the window.
    """
    draft = min(draft, PROOF)
    has_low, has_high = entry.low_draft >= draft, entry.high_draft >= draft
    if has_low and entry.low >= beta:
        return True, entry.low, int(entry.low_draft)
    if has_high and entry.high <= alpha:
        return True, entry.high, int(entry.high_draft)
    is_exact = has_low and has_high and entry.low == entry.high
    return is_exact, entry.low, int(min(entry.low_draft, entry.high_draft))
