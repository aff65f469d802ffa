"""Tests of views: symmetric positions have one canonical view, and symmetries transform planes."""

import random
from typing import NamedTuple

import numpy as np
import pytest

from azero.compiler.jit import kernel
from azero.games import make_game
from azero.mcts.evaluation.views import find_canonical, new_views, turn

GAMES = ["connect_four", "tic_tac_toe", "othello(size=6)", "go(size=5)", "breakthrough(rows=5,columns=4)"]


class Room(NamedTuple):
    """The fields of `Scratch` that views need."""

    entries: np.ndarray
    factors: np.ndarray
    bits: np.ndarray


@kernel
def _find(views, bits, scratch):
    return find_canonical(views, bits, scratch)


@kernel
def _turn(views, symmetry, bits, scratch):
    turn(views, symmetry, bits, scratch)


def bits_of(planes: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(planes).view(np.uint32).reshape(-1).copy()


def canonical(views, planes: np.ndarray) -> tuple[int, int, bytes]:
    """Returns the symmetry, the key and the canonical view of planes."""
    bits = bits_of(planes)
    room = Room(np.zeros(len(bits), np.int32), np.zeros(len(bits), np.uint64), np.zeros_like(bits))
    symmetry, key = _find(views, bits, room)
    _turn(views, symmetry, bits, room)
    return int(symmetry), int(key), bits.tobytes()


def seen(game, planes: np.ndarray, symmetry: int) -> np.ndarray:
    """Returns planes transformed by a symmetry, as `Symmetries` defines it."""
    return planes.reshape(len(planes), -1)[:, game.symmetries.cells[symmetry]].reshape(planes.shape)


def positions(game, num_games: int):
    """Yields positions of random games."""
    choice = random.Random(str(game))
    for _ in range(num_games):
        state = game.new_initial_state()
        while not state.is_terminal():
            yield state.planes()
            state.apply_action(choice.choice(state.legal_actions()))


@pytest.mark.parametrize("name", GAMES)
def test_positions_symmetric_to_each_other_have_one_canonical_view(name):
    game = make_game(name)
    views = new_views(game)
    for planes in positions(game, 2):
        _, key, view = canonical(views, planes)
        for symmetry in range(len(game.symmetries.cells)):
            assert canonical(views, seen(game, planes, symmetry))[1:] == (key, view)


@pytest.mark.parametrize("name", GAMES)
def test_the_canonical_view_is_the_position_through_the_symmetry_named(name):
    game = make_game(name)
    views, symmetries = new_views(game), set()
    for planes in positions(game, 3):
        symmetry, _, view = canonical(views, planes)
        symmetries.add(symmetry)
        assert view == seen(game, planes, symmetry).tobytes()
    assert len(symmetries) > min(2, len(game.symmetries.cells) - 1) > 0


@pytest.mark.parametrize("name", GAMES)
def test_keys_are_those_of_views(name):
    """Different views have different keys. The keys are constants, equal in each process."""
    game = make_game(name)
    found = [canonical(new_views(game), planes)[1:] for planes in positions(game, 4)]
    assert len({key for key, _ in found}) == len({view for _, view in found}) > 20
    assert 0 not in {key for key, _ in found}


def test_entries_count_by_their_value_and_place():
    game = make_game("tic_tac_toe")
    views, keys = new_views(game), []
    for value in (0.0, -0.0, 1.0, -1.0, 0.5, np.nextafter(np.float32(1), np.float32(2))):
        for place in range(27):
            planes = np.zeros(27, np.float32)
            planes[place] = value
            keys.append(canonical(views, planes.reshape(3, 3, 3))[1])
    assert len(set(keys)) == 1 + 5 * 3 * 3, "cells differ by corner, edge or centre, and plane"


def test_of_several_symmetries_that_lead_there_the_first_is_taken():
    game = make_game("tic_tac_toe")
    views = new_views(game)
    assert canonical(views, game.new_initial_state().planes())[0] == 0
    assert canonical(views, game.state_from_moves("b2").planes())[0] == 0


def test_numbers_whose_bits_differ_by_a_power_of_two_are_told_apart():
    """1 and -1 differ in one bit. A hash that is linear in it would have as few values as a sum of them."""
    game = make_game("tic_tac_toe")
    views, rng = new_views(game), np.random.default_rng(0)
    boards = np.unique(rng.choice([-1.0, 1.0], (3000, np.prod(game.planes_shape))).astype(np.float32), axis=0)
    found = [canonical(views, board.reshape(game.planes_shape)) for board in boards]
    keys = {view: key for _, key, view in found}
    low, high = ({key & 0xFFFFFFFF for key in keys.values()}, {key >> 32 for key in keys.values()})
    assert len(keys) > 2900 and min(len(low), len(high)) > len(keys) - 5
