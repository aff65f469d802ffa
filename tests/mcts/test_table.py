"""Tests of the transposition table: replacement, by cases and against a model on random sequences."""

import random
from dataclasses import dataclass

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts.classical.table import ENTRY_DTYPE, can_store, find_entry, first_place, new_tables, store, touch
from azero.mcts.tree import UNPROVEN


def one_bucket(*entries: tuple[int, int, int]) -> np.recarray:
    """Returns a table of one bucket after positions are stored in order. Entries: key, ply, parent's visits."""
    table = np.zeros(2, ENTRY_DTYPE).view(np.recarray)
    for key, ply, parent_visits in entries:
        put(table, key, ply, parent_visits)
    return table


def put(table, key, ply, parent_visits, root_ply=0) -> bool:
    """Stores a position if the table allows it; returns whether it does."""
    if not can_store(table, np.uint64(key), ply, parent_visits, root_ply):
        return False
    place = store(table, np.uint64(key), ply, parent_visits, root_ply)
    assert table[place].key == key and find_entry(table, np.uint64(key)) == place
    return True


def keys_of(table) -> list[int]:
    return [int(entry.key) if entry.ply else 0 for entry in table]


def test_the_nearer_to_the_root_takes_the_first_place():
    table = one_bucket((7, 5, 10), (8, 6, 20))
    assert put(table, 9, 4, 1)
    assert keys_of(table) == [9, 8], "8 should keep the second place, because its parent has more visits than 7's"


def test_who_is_displaced_takes_the_second_place_with_the_better_claim():
    table = one_bucket((7, 5, 21), (8, 6, 20))
    table[0].N, table[0].W, table[0].proven = 4, -3.0, -1
    assert put(table, 9, 4, 1)
    assert keys_of(table) == [9, 7]
    assert (table[1].N, table[1].W, table[1].proven, table[1].ply, table[1].parent_visits) == (4, -3.0, -1, 5, 21)


def test_what_the_game_has_left_behind_gives_way():
    table = one_bucket((7, 5, 100), (8, 6, 200))
    assert not put(table, 9, 8, 1, root_ply=4)
    assert put(table, 9, 8, 1, root_ply=5)
    assert keys_of(table) == [9, 8]
    assert put(table, 10, 9, 1, root_ply=6)
    assert keys_of(table) == [9, 10]


def test_what_is_met_again_is_no_longer_left_behind():
    table = one_bucket((7, 5, 100))
    touch(table[0], 9, 3, 6)
    assert (table[0].ply, table[0].parent_visits) == (9, 100)
    touch(table[0], 8, 130, 6)
    assert (table[0].ply, table[0].parent_visits) == (8, 130)
    touch(table[0], 9, 120, 6)
    assert (table[0].ply, table[0].parent_visits) == (8, 130)


def test_a_new_entry_knows_nothing_of_the_one_before():
    table = one_bucket((7, 5, 10))
    table[0].N, table[0].W, table[0].proven, table[0].proven_plies = 4, -3.0, -1, 6
    put(table, 9, 4, 1)
    entry = table[0]
    assert (entry.N, entry.W, entry.proven, entry.proven_plies) == (0, 0.0, UNPROVEN, 0)


def test_a_key_of_zero_is_a_key_like_any_other():
    table = np.zeros(2, ENTRY_DTYPE).view(np.recarray)
    assert find_entry(table, np.uint64(0)) == -1
    assert put(table, 0, 3, 1) and find_entry(table, np.uint64(0)) == 0


@dataclass
class Position:
    """An entry in the model."""

    key: int
    ply: int
    parent_visits: int


class Model:
    """The two-level scheme in Python: the first place goes by depth, the second by the parent's visits.

    Ties keep the old entry. A position that does not get the first place competes for the second.
    """

    def __init__(self, num_buckets: int):
        self.buckets: list[list[Position | None]] = [[None, None] for _ in range(num_buckets)]

    def contest(self, bucket: int, new: Position, root_ply: int) -> list[Position | None]:
        """Returns the entries of both places after `new` competes for them."""
        near, often = (held if held and held.ply > root_ply else None for held in self.buckets[bucket])
        first, loser = (near, new) if near and near.ply <= new.ply else (new, near)
        if loser and (not often or loser.parent_visits > often.parent_visits):
            return [first, loser]
        return [first, self.buckets[bucket][1]]

    def find(self, key: int) -> Position | None:
        return next((held for bucket in self.buckets for held in bucket if held and held.key == key), None)


@pytest.mark.parametrize("seed", range(6))
def test_every_sequence_ends_as_in_the_model(seed):
    source = random.Random(seed)
    num_buckets, root_ply, num_refused = 1 + seed, 0, 0
    table = np.zeros(2 * num_buckets, ENTRY_DTYPE).view(np.recarray)
    model = Model(num_buckets)
    keys = [source.getrandbits(64) for _ in range(8 * num_buckets)]
    for _ in range(3000 if IS_COMPILED else 600):
        key, ply, parent_visits = source.choice(keys), root_ply + source.randint(1, 6), source.randint(0, 9)
        place, held = find_entry(table, np.uint64(key)), model.find(key)
        assert (place >= 0) == (held is not None)
        if held:
            touch(table[place], ply, parent_visits, root_ply)
            held.ply = ply if held.ply <= root_ply else min(ply, held.ply)
            held.parent_visits = max(held.parent_visits, parent_visits)
        else:
            bucket, new = int(first_place(table, np.uint64(key))) // 2, Position(key, ply, parent_visits)
            after = model.contest(bucket, new, root_ply)
            is_placed = any(each is new for each in after)
            assert put(table, key, ply, parent_visits, root_ply) == is_placed
            if is_placed:
                model.buckets[bucket] = after
            num_refused += not is_placed
        root_ply += source.random() < 0.02
        check_equal(table, model)
    assert num_refused > 20


def check_equal(table, model):
    """Asserts that both hold the same entries in the same places."""
    told = [(int(entry.key), int(entry.ply), int(entry.parent_visits)) if entry.ply else None for entry in table]
    held = [held and (held.key, held.ply, held.parent_visits) for bucket in model.buckets for held in bucket]
    assert told == held


def test_buckets_are_all_used_and_about_evenly():
    table = np.zeros(2 * 50, ENTRY_DTYPE).view(np.recarray)
    places = [int(first_place(table, np.uint64(key))) for key in range(5000)]
    counts = [places.count(place) for place in range(0, 100, 2)]
    assert sum(counts) == 5000, "a bucket should begin at an even place"
    assert sum((count - 100) ** 2 / 100 for count in counts) < 95, "chi-square, 49 degrees of freedom: 1 in 10,000"


@pytest.mark.parametrize(("asked", "given"), [(2, 2), (3, 2), (1001, 1000), (1024, 1024)])
def test_a_table_has_no_more_entries_than_asked_for(asked, given):
    assert new_tables(make_game("tic_tac_toe").rules, 3, asked).entries.shape == (3, given)


def test_windows_has_tables_too(monkeypatch):
    monkeypatch.setattr("sys.platform", "win32")
    monkeypatch.delattr("mmap.MAP_PRIVATE", raising=False)
    monkeypatch.delattr("mmap.MAP_ANONYMOUS", raising=False)
    entries = new_tables(make_game("tic_tac_toe").rules, 2, 10).entries
    assert entries.shape == (2, 10) and not entries.ply.any()
