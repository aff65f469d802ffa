"""A transposition table in place of the tree: transpositions share statistics, and memory is limited.

The root and its children stay in the forest, so that the root's moves are always there. All positions below are entries
of the table, in buckets of two with the paper's replacement scheme, TWOBIGP: the first place of a bucket goes to the
position nearest to the root, the second to the one with the most visited parent.

Source: Kocsis & Szepesvari, Bandit based Monte-Carlo planning (2006), section 2.2.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import bucket_of
from azero.games.contract import Rules
from azero.mcts.tree import UNPROVEN
from azero.system.machine import sparse_zeros

ENTRY_DTYPE = np.dtype(
    [
        ("key", np.uint64),  # `hash_key` of the position
        ("W", np.float64),  # total value of all visits, for the first player
        ("N", np.int32),  # visits
        ("parent_visits", np.int32),  # visits of the most visited parent on any simulation's path
        ("ply", np.int32),  # least distance from the first root at which it was seen; 0: empty
        ("proven_plies", np.int16),
        ("proven", np.int8),  # for the first player
    ],
    align=True,
)
assert ENTRY_DTYPE.itemsize == 32, "a bucket is a cache line"

FEWEST_ENTRIES, MOST_ENTRIES = 2, 1 << 28
"""Limits on entries: the minimum of one table, and the maximum of all tables of a search together (8 GiB)."""


class StoredMoves(NamedTuple):
    """Where a position's children cannot all be stored: which stored ones a simulation may go to, in place of all."""

    are_preferred: bool = False  # no: it goes to any child, at random
    visits: int = 0  # a stored child needs more visits than this,
    value: float = -2.0  # and a greater value for the mover than this


class Tables(NamedTuple):
    """A table of T entries for each of B searches, and scratch memory for a simulation's path."""

    entries: np.recarray  # [B, T] ENTRY_DTYPE, T even
    plies: np.ndarray  # [B] int64, moves played since the first root
    keys: np.ndarray  # [B, max_plies + 1] uint64, keys of the positions on the path
    actions: np.ndarray  # [B, max_plies + 1] int32, the actions that lead to them
    places: np.ndarray  # [B, A] int64, places of a position's children in the table, or -1
    stored: StoredMoves


def new_tables(rules: Rules, num_searches: int, num_entries: int, stored: StoredMoves = StoredMoves()) -> Tables:
    """Returns empty tables. Memory is allocated when entries come into use. Raises OSError if there is too little.

    NumPy's zeros would use pages of 2 MiB, and each page is cleared at its first use. With them, 2,000 simulations on a
    table of 1 GiB took 3 s.
    """
    shape = num_searches, num_entries - num_entries % 2
    return Tables(
        entries=sparse_zeros(shape, ENTRY_DTYPE).view(np.recarray),
        plies=np.zeros(num_searches, np.int64),
        keys=np.zeros((num_searches, rules.max_plies + 1), np.uint64),
        actions=np.zeros((num_searches, rules.max_plies + 1), np.int32),
        places=np.zeros((num_searches, rules.num_actions), np.int64),
        stored=stored,
    )


@subroutine
def first_place(entries, key):
    """Returns the first place of the bucket that a key belongs to."""
    return 2 * bucket_of(key, len(entries) // 2)


@subroutine
def find_entry(entries, key):
    """Returns the place of a key in the table, or -1."""
    first = first_place(entries, key)
    for place in range(first, first + 2):
        if entries[place].key == key and entries[place].ply > 0:
            return place
    return -1


@subroutine
def can_store(entries, key, ply, parent_visits, root_ply):
    """Returns whether a new position gets a place: a free one, or one whose entry it may replace."""
    first = first_place(entries, key)
    near, often = entries[first], entries[first + 1]
    has_room = _is_free(near, root_ply) or _is_free(often, root_ply)
    return has_room or ply < near.ply or parent_visits > often.parent_visits


@subroutine
def store(entries, key, ply, parent_visits, root_ply):
    """Makes an unvisited entry for a position for which `can_store` is true; returns its place.

    If it replaces the entry in the first place, the old entry moves to the second place if it may replace that one.
    """
    first = first_place(entries, key)
    near, often = entries[first], entries[first + 1]
    place = first
    if not _is_free(near, root_ply):
        if ply >= near.ply:
            place = first + 1
        elif _is_free(often, root_ply) or near.parent_visits > often.parent_visits:
            entries[first + 1] = entries[first]
    entry = entries[place]
    entry.key = key
    entry.W = 0.0
    entry.N = 0
    entry.parent_visits = parent_visits
    entry.ply = ply
    entry.proven_plies = 0
    entry.proven = UNPROVEN
    return place


@subroutine
def _is_free(entry, root_ply):
    """Returns whether a place is empty, or its position lies before the present root."""
    return entry.ply <= root_ply


@subroutine
def touch(entry, ply, parent_visits, root_ply):
    """Updates an entry that was seen at `ply`, below a parent with `parent_visits` visits."""
    if ply < entry.ply or _is_free(entry, root_ply):
        entry.ply = ply
    entry.parent_visits = max(entry.parent_visits, parent_visits)


@kernel
def clear_entries(entries):
    """Empties a table. It only reads unused memory, so that none is allocated."""
    for place in range(len(entries)):
        if entries[place].ply > 0:
            entries[place].ply = 0
