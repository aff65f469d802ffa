"""Tests of the tree in memory: capacity, children, proofs, and the part that is kept when a move is played."""

import numpy as np
import pytest

from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.proving.proofs import prove_from_children
from azero.mcts.tree import UNPROVEN, child_of_action, create_children, new_forest, start_tree

from .evaluators import HashEvaluator
from .trees import check_tree, child_of, children_of, snapshot

GAME = make_game("connect_four")


def start_forest(max_nodes, game=GAME, moves=""):
    forest, state = new_forest(game.rules, 1, max_nodes), game.state_from_moves(moves)
    start_tree(forest, 0, state.record, np.uint64(5))
    return forest.trees[0], forest.nodes[0], state


def test_a_new_tree_is_an_unvisited_root():
    tree, nodes, _ = start_forest(10)
    assert (tree.num_nodes, tree.rng.counter, tree.is_full) == (1, 5, 0)
    assert nodes[0].tolist() == (0.0, 0, 0.0, 0, -1, 0, 0, 0, 0, UNPROVEN, 0)


def test_children_are_the_legal_moves_side_by_side():
    tree, nodes, state = start_forest(20, moves="2222221")
    assert create_children(GAME.rules, tree, nodes, 0, state.record, np.zeros(7, np.int32))
    assert list(children_of(nodes)) == [1, 2, 3, 4, 5, 6]
    assert [nodes[child].action for child in children_of(nodes)] == [0, 2, 3, 4, 5, 6]
    assert nodes[0].player == 1 and tree.num_nodes == 7
    assert [child_of_action(nodes, action) for action in range(7)] == [1, -1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("max_nodes", "fits"), [(7, False), (8, True)])
def test_children_need_room_for_all_of_them(max_nodes, fits):
    tree, nodes, state = start_forest(max_nodes)
    assert create_children(GAME.rules, tree, nodes, 0, state.record, np.zeros(7, np.int32)) == fits
    assert (tree.num_nodes, tree.is_full, len(children_of(nodes))) == ((8, 0, 7) if fits else (1, 1, 0))


@pytest.mark.parametrize(
    ("children", "proof"),
    [
        ([None, (1, 2), (1, 4), None], (1, 3)),
        ([None, (1, 4), (1, 2), (0, 9)], (1, 3)),
        ([(0, 2), (0, 6), (-1, 9), (0, 4)], (0, 7)),
        ([(-1, 9), (0, 2)], (0, 3)),
        ([(-1, 1), (-1, 5), (-1, 3)], (-1, 6)),
        ([(-1, 1), (0, 3), None], None),
        ([(-1, 1), None], None),
        ([None], None),
        ([(1, 0)], (1, 1)),
    ],
)
@pytest.mark.parametrize("player", [0, 1])
def test_proofs_by_children(children, proof, player):
    """Results are for the player to move. One win proves a win; a draw or a loss needs proofs of all children."""
    _, nodes, _ = start_forest(10)
    sign = 1 - 2 * player
    nodes[0].first_child, nodes[0].num_children, nodes[0].player = 1, len(children), player
    for k, given in enumerate(children):
        nodes[1 + k].proven, nodes[1 + k].proven_plies = (sign * given[0], given[1]) if given else (UNPROVEN, 0)
    assert prove_from_children(nodes, 0) == (proof is not None)
    assert (nodes[0].proven, nodes[0].proven_plies) == ((sign * proof[0], proof[1]) if proof else (UNPROVEN, 0))
    assert not prove_from_children(nodes, 0), "a second call should report no new proof"


def search_from(moves, selection, evaluator, num_simulations=400):
    state = GAME.state_from_moves(moves)
    search = TreeSearch(GAME, selection, Settings(), evaluator, max_nodes=10_000)
    search.start(0, state, seed=1)
    search.run([0], num_simulations)
    return search, state


@pytest.mark.parametrize("moves", ["", "17171", "435"])
@pytest.mark.parametrize(
    ("selection", "evaluator"), [(Uct(), None), (Puct(), HashEvaluator(GAME))], ids=["rollouts", "evaluator"]
)
def test_the_subtree_of_a_move_is_kept_as_it_is(moves, selection, evaluator):
    search, state = search_from(moves, selection, evaluator)
    nodes = search.forest.nodes[0]
    for _ in range(3):
        child = max(children_of(nodes), key=lambda each: nodes[each].N)
        action, before, counter = (
            int(nodes[child].action),
            snapshot(search, index=child),
            int(search.forest.trees[0].rng.counter),
        )
        assert before[1], "there should be nodes to keep"
        search.advance(0, action)
        state.apply_action(action)
        assert snapshot(search) == before
        assert search.forest.trees[0].rng.counter == counter
        assert search.forest.root_states[0].tobytes() == state.record.tobytes()
        check_tree(search, state)


def test_a_kept_tree_grows_on():
    search, state = search_from("", Uct(), None)
    kept = int(child_of(search, 3).N)
    search.advance(0, 3)
    state.apply_action(3)
    search.run([0], 500)
    assert kept > 20
    assert search.forest.nodes[0][0].N - kept == 500
    check_tree(search, state)


def test_a_move_from_an_unsearched_root_begins_a_new_tree():
    search, state = search_from("", Uct(), None, num_simulations=0)
    search.advance(0, 3)
    state.apply_action(3)
    assert snapshot(search) == ((-1, 0, 0.0, 0.0, UNPROVEN, 0, 0, 0, 0, 0), [])
    assert search.forest.root_states[0].tobytes() == state.record.tobytes()


def test_a_move_gives_back_the_room_of_the_others():
    search = TreeSearch(GAME, Uct(), Settings(), max_nodes=300)
    search.start(0, GAME.new_initial_state(), seed=1)
    search.run([0], 1000)
    tree = search.forest.trees[0]
    assert tree.is_full and tree.num_nodes > 290
    search.advance(0, 0)
    assert not tree.is_full and tree.num_nodes < 200
    search.run([0], 1000)
    assert tree.is_full and tree.num_nodes > 290


def test_trees_do_not_touch_each_other():
    search = TreeSearch(GAME, Uct(), Settings(), num_trees=3, max_nodes=2_000)
    for b in range(3):
        search.start(b, GAME.new_initial_state(), seed=b)
    search.run([0, 1, 2], 100)
    before = snapshot(search, 0), snapshot(search, 2)
    search.advance(1, 3)
    search.run([1], 100)
    search.start(1, GAME.new_initial_state(), seed=9)
    assert (snapshot(search, 0), snapshot(search, 2)) == before
