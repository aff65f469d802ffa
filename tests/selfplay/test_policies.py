"""Tests of policy targets: rows of all actions and their counts are the same, whatever rows are empty."""

import numpy as np
import pytest

from azero.compiler.jit import kernel
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch
from azero.selfplay.data.policies import join_rows, pack_target

from .games import TIC_TAC_TOE, pack_rows

GAME = make_game("connect_four(rows=4,columns=5)")
ROWS = np.array([[0, 0, 0, 0, 0], [3, 0, 0, 1, 0], [0, 0, 0, 0, 0], [0, 65535, 0, 0, 2], [0, 0, 0, 0, 0]], np.uint16)


def test_counts_are_those_of_the_rows():
    packed = pack_rows(ROWS)
    assert packed.starts.tolist() == [0, 0, 2, 2, 4, 4]
    assert packed.actions.tolist() == [0, 3, 1, 4] and packed.counts.tolist() == [3, 1, 65535, 2]
    assert (packed.actions.dtype, packed.counts.dtype) == (np.int16, np.uint16)
    assert packed.positions().tolist() == [1, 1, 3, 3]
    assert [packed.row(k)[1].tolist() for k in range(5)] == [[], [3, 1], [], [65535, 2], []]
    joined = join_rows([packed.row(k) for k in range(5)])
    assert all(np.array_equal(one, other) for one, other in zip(joined, packed, strict=True))


@pytest.mark.parametrize("symmetry", [0, 1])
def test_probabilities_are_those_of_the_rows_in_any_order_and_symmetry(symmetry):
    """Each row is asked for twice, so that what one leaves behind would show in the next."""
    indices = np.array([3, 0, 1, 4, 1, 3, 2])
    found = pack_rows(ROWS).probabilities(GAME, indices, np.full_like(indices, symmetry))
    wanted = ROWS[indices].astype(float)[:, GAME.symmetries.actions[symmetry]]
    assert found.dtype == np.float32
    assert np.array_equal(found, (wanted / np.maximum(wanted.sum(axis=1, keepdims=True), 1)).astype(np.float32))


@kernel
def _pack(nodes, target, actions, counts, begin):
    return pack_target(nodes, target, actions, counts, begin)


def test_a_target_is_packed_after_others_and_only_its_moves_count():
    """Counts of actions that are no moves of the root are ignored."""
    search = TreeSearch(TIC_TAC_TOE, Puct(), Settings(), max_nodes=100)
    search.start(0, TIC_TAC_TOE.state_from_moves("a1 b2"), seed=0)
    search.run([0], 1)
    target = np.full(9, 5, np.uint16)
    target[3] = 0
    legal = [action for action in TIC_TAC_TOE.state_from_moves("a1 b2").legal_actions() if action != 3]
    actions, counts = np.full(20, -1, np.int16), np.zeros(20, np.uint16)
    assert _pack(search.forest.nodes[0], target, actions, counts, 4) == 4 + len(legal) == 10
    assert actions[4:10].tolist() == legal and (counts[4:10] == 5).all()
    assert (actions[:4] == -1).all() and (actions[10:] == -1).all()
