"""Tests of moving a search from position to position, and of several trees of one position."""

import numpy as np
import pytest

from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.kept_trees import KeptTrees, Positions, TreeMemory, added_roots, node_of, search_in_shares
from azero.mcts.roots.ranking import BY_VISITS
from azero.mcts.search.analysis import tree_of
from azero.mcts.search.deadline import Deadline
from azero.mcts.tree import NODE_DTYPE, TREE_DTYPE, UNPROVEN, children_of

from .evaluators import HashEvaluator
from .trees import check_tree

GAME = make_game("connect_four")
START = GAME.new_initial_state()
PLAIN = Settings(is_proving=False, chosen_by=BY_VISITS)


def positions_of(num_trees=1, kept_bytes=1 << 24, has_net=False, **settings):
    manner, evaluator = PLAIN._replace(**settings), HashEvaluator(GAME) if has_net else None
    selection = Puct() if has_net else Uct()
    search = TreeSearch(GAME, selection, manner, evaluator, num_trees, 20_000, num_threads=num_trees)
    return Positions(search, kept_bytes, seed=0)


def visits_by_action(positions, b=0):
    tree = tree_of(positions.search.forest, b)
    children = tree.children()
    return dict(zip(tree.action[children].tolist(), tree.N[children].tolist(), strict=True))


@pytest.mark.parametrize("has_net", [False, True])
@pytest.mark.parametrize("num_trees", [1, 3])
def test_a_part_of_the_last_trees_serves_the_next_position(has_net, num_trees):
    positions, after = positions_of(num_trees, has_net=has_net), GAME.state_from_moves("41")
    positions.go_to(START, None)
    search_in_shares(positions.search, 1500, Deadline())
    nodes = positions.search.forest.nodes
    line = after.history()
    expected = [int(nodes[b][node_of(nodes[b], line)].N) for b in range(num_trees)]
    positions.go_to(after, None)
    assert positions.search.forest.nodes["N"][:, 0].tolist() == expected
    for b in range(num_trees):
        assert positions.search.histories[b] == line
    check_tree(positions.search, after)
    search_in_shares(positions.search, 300, Deadline())
    assert positions.visits == sum(expected) + 300
    check_tree(positions.search, after)


def test_a_position_gets_its_trees_back():
    positions = positions_of(2)
    positions.go_to(START, None)
    search_in_shares(positions.search, 1000, Deadline())
    before = [visits_by_action(positions, b) for b in range(2)]
    positions.go_to(GAME.state_from_moves("4"), None)
    search_in_shares(positions.search, 500, Deadline())
    positions.go_to(START, None)
    assert [visits_by_action(positions, b) for b in range(2)] == before
    check_tree(positions.search, START)


def test_a_position_that_does_not_follow_begins_afresh():
    positions = positions_of()
    positions.go_to(GAME.state_from_moves("4"), None)
    search_in_shares(positions.search, 1000, Deadline())
    positions.go_to(GAME.state_from_moves("51"), None)
    assert positions.visits == 2
    positions.go_to(GAME.state_from_text("7/7/7/7/7/4X2 O"), None)
    assert positions.visits == 2


def test_moves_that_are_left_out_are_in_no_tree_and_their_visits_neither():
    positions = positions_of(has_net=True)
    positions.go_to(START, None)
    search_in_shares(positions.search, 1000, Deadline())
    whole = visits_by_action(positions)
    positions.go_to(START, frozenset({1, 5}))
    kept = visits_by_action(positions)
    assert kept == {action: whole[action] for action in (1, 5)}
    root = positions.search.forest.nodes[0][0]
    assert 1 + sum(kept.values()) == root.N
    children = positions.search.forest.nodes[0][children_of(positions.search.forest.nodes[0])]
    assert children.P.sum() == pytest.approx(1.0, abs=1e-6)
    assert root.W - children.W.sum() == pytest.approx(0.0, abs=1.0)
    search_in_shares(positions.search, 200, Deadline())
    assert sum(visits_by_action(positions).values()) == sum(kept.values()) + 200
    positions.go_to(START, None)
    assert visits_by_action(positions) == whole


def test_a_proof_does_not_hold_where_its_move_is_left_out():
    state = GAME.state_from_moves("112233")
    positions = positions_of(is_proving=True)
    positions.go_to(state, None)
    search_in_shares(positions.search, 200, Deadline())
    assert positions.search.forest.nodes[0][0].proven == 1
    positions.go_to(state, frozenset({0, 1, 2, 4, 5, 6}))
    assert positions.search.forest.nodes[0][0].proven == UNPROVEN


def test_the_roots_of_all_trees_are_added_within_a_block():
    positions = positions_of(3)
    positions.go_to(START, None)
    search_in_shares(positions.search, 1000, Deadline())
    forest = positions.search.forest
    assert forest.nodes["N"][:, 0].tolist() == [336, 335, 335]  # with two visits that expand each root
    alone = [visits_by_action(positions, b) for b in range(3)]
    nodes = forest.nodes[0].copy()
    with added_roots(positions.search):
        added = visits_by_action(positions)
        assert added == {action: sum(each[action] for each in alone) for action in alone[0]}
        assert forest.nodes[0][0].N == 1006
    np.testing.assert_array_equal(forest.nodes[0][: forest.trees[0].num_nodes], nodes[: forest.trees[0].num_nodes])


def test_proofs_of_any_tree_count():
    positions = positions_of(2, is_proving=True)
    positions.go_to(START, None)
    nodes = positions.search.forest.nodes
    child = next(k for k in children_of(nodes[1]) if nodes[1][k].action == 3)
    nodes[1][child].proven, nodes[1][child].proven_plies = 1, 9
    with added_roots(positions.search):
        assert nodes[0][0].proven == 1 and nodes[0][0].proven_plies == 10
    assert nodes[0][0].proven == UNPROVEN


def kept_of(num_nodes):
    trees = np.zeros(1, TREE_DTYPE).view(np.recarray)
    trees.num_nodes = num_nodes
    nodes = np.zeros((1, 1), NODE_DTYPE).view(np.recarray)
    return KeptTrees(nodes, nodes[:, 0].copy(), trees, [{}], False)


def test_what_was_not_used_for_longest_is_forgotten_first():
    memory = TreeMemory(10 * NODE_DTYPE.itemsize)
    memory.keep("a", kept_of(4))
    memory.keep("b", kept_of(4))
    memory.keep("a", memory.take("a"))
    memory.keep("c", kept_of(3))
    assert ("a" in memory, "b" in memory, "c" in memory) == (True, False, True)
    memory.keep("d", kept_of(11))  # too large by itself
    assert "d" not in memory and len(memory) == 2
    assert memory.take("x") is None
    memory.keep("e", kept_of(10))
    assert len(memory) == 1 and memory.take_oldest() is not None and memory.take_oldest() is None


def test_trees_are_dropped_if_there_is_no_memory_for_nodes(monkeypatch):
    positions = positions_of()
    positions.go_to(START, None)
    search_in_shares(positions.search, 500, Deadline())
    positions.go_to(GAME.state_from_moves("4"), None)
    search_in_shares(positions.search, 500, Deadline())
    failing = iter([True, True, False])
    empty = np.empty

    def refuse(shape, dtype=float):
        if dtype == NODE_DTYPE and next(failing):
            raise MemoryError
        return empty(shape, dtype)

    monkeypatch.setattr("azero.mcts.kept_trees.np.empty", refuse)
    positions.go_to(GAME.state_from_moves("47"), None)
    monkeypatch.undo()
    positions.go_to(START, None)
    assert positions.visits == 2
