"""Tests of the search for positions that planes do not tell apart, on chosen pairs of positions of Nim."""

import random
from types import SimpleNamespace

import pytest

from azero.compiler.plain import plain_python
from azero.games import make_game
from azero.games.laws.planes import find_lookalikes

from .user_games import NIM, write_file

pytestmark = pytest.mark.usefixtures("folder")

BLIND = ("= k < state.left", "= 0")
COUNTING_KEY = ("2 * state.left + (state.ply & 1)", "64 * state.left + state.ply")


def found(folder, lines: list[list[int]], *changes) -> str:
    """Returns what is found about positions of Nim, of which each line leads to one. Nothing is compiled."""
    write_file(folder / "nim.py", NIM, *changes)
    game = make_game("nim.py:Nim", compiles=False)
    known = SimpleNamespace(game=game, lookalikes=[tuple(range(len(lines)))], line_to=lines.__getitem__)
    with plain_python():
        return find_lookalikes(known, random.Random(0))


def test_another_player_to_move_is_no_difference_if_the_future_is_the_same_for_him(folder):
    assert found(folder, [[0, 0], [1]]) == ""


def test_positions_with_other_planes_are_no_lookalikes(folder):
    """Their digests may be equal by chance."""
    assert found(folder, [[0, 0], [2]], COUNTING_KEY) == ""


def test_a_difference_is_told_with_the_moves_to_it(folder):
    told = found(folder, [[2] * 6 + [1], [2] * 6 + [0]], BLIND)
    lines = "after 2 2 2 2 2 2 1 and after 2 2 2 2 2 2 0"
    assert told == f"the planes are the same {lines}, but 1 is legal in the second position only"
    told = found(folder, [[2] * 6, [2] * 5 + [1]], BLIND)
    assert "but the mover's result after " in told or "is legal after " in told


def test_the_plies_in_a_key_are_told_where_play_shows_no_difference(folder):
    told = found(folder, [[2], [0, 0, 0]], COUNTING_KEY)
    assert told == "the planes are the same after 2 and after 0 0 0, but hash_key differs, and state.ply is 1 and 3"
    assert found(folder, [[0, 0], [1]], COUNTING_KEY) == "", "another player is to move"
