"""Tests of the kernels: invariants of trees, several leaves at a time, full trees, symmetries, noise, stopping."""

import numpy as np
import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts import OwnRollout, Puct, Settings, TreeSearch, Uct, UniformEvaluator
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.views import new_views
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.kernels import is_done
from azero.mcts.search.lockstep import Walker
from azero.mcts.search.settings import SearchParts
from azero.mcts.search.trees import OneSearch
from azero.mcts.tree import UNPROVEN, new_forest, start_tree

from .evaluators import FixedEvaluator, HashEvaluator, SymmetricEvaluator
from .trees import check_tree, child_of, children_of, snapshot

CONNECT_FOUR, TIC_TAC_TOE = make_game("connect_four"), make_game("tic_tac_toe")
POSITIONS = [(CONNECT_FOUR, "44332"), *thorough((CONNECT_FOUR, "")), *long((CONNECT_FOUR, "435"), (TIC_TAC_TOE, "b2"))]
GAMES = [CONNECT_FOUR, pytest.param(TIC_TAC_TOE, marks=pytest.mark.long)]
PUCT, DEFAULTS = Puct(), Settings()
NUM_SIMULATIONS = 800 if IS_COMPILED else 100


def grow(
    game, moves="", selection=PUCT, settings=DEFAULTS, evaluator=None, num=NUM_SIMULATIONS, max_nodes=20_000, seed=4
):
    """Returns a search of one tree, and the position at its root."""
    state = game.state_from_moves(moves)
    search = TreeSearch(game, selection, settings, evaluator, max_nodes=max_nodes)
    search.start(0, state, seed)
    search.run([0], num)
    return search, state


def visits_below_root(search):
    nodes = search.forest.nodes[0]
    return sum(int(nodes[child].N) for child in children_of(nodes))


@pytest.mark.parametrize(("game", "moves"), POSITIONS)
@pytest.mark.parametrize("leaves", [1, 3, 16])
@pytest.mark.parametrize(
    "settings", [Settings(), Settings(is_proving=False), Settings(is_looking_ahead=True, rollout_weight=0.5)]
)
@pytest.mark.parametrize("selection", [Uct(), Puct()])
def test_trees_of_an_evaluator_are_sound(game, moves, leaves, settings, selection):
    search, state = grow(game, moves, selection, settings._replace(leaves_per_tree=leaves), HashEvaluator(game))
    check_tree(search, state)
    root, tree = search.forest.nodes[0][0], search.forest.trees[0]
    assert root.N == tree.simulations <= NUM_SIMULATIONS
    assert root.N == NUM_SIMULATIONS or root.proven != UNPROVEN
    assert visits_below_root(search) == root.N - 1, "the first simulation only evaluates the root"
    assert sum(search.evaluator.batch_sizes) == tree.evaluations <= root.N
    assert max(search.evaluator.batch_sizes) <= leaves and (leaves == 1 or max(search.evaluator.batch_sizes) > 1)


@pytest.mark.parametrize(("game", "moves"), POSITIONS)
@pytest.mark.parametrize("is_proving", [True, False])
@pytest.mark.parametrize("selection", [Uct(), Puct()])
def test_trees_of_rollouts_are_sound(game, moves, is_proving, selection):
    search, state = grow(game, moves, selection, Settings(is_proving=is_proving))
    check_tree(search, state)
    root = search.forest.nodes[0][0]
    assert root.N == search.forest.trees[0].simulations == visits_below_root(search)
    assert root.N == NUM_SIMULATIONS or (is_proving and root.proven != UNPROVEN)


@pytest.mark.parametrize("judge", ["rollouts", "evaluator", "evaluator with a cache"])
@pytest.mark.parametrize("selection", [Uct(), Puct()])
@pytest.mark.parametrize("max_nodes", [8, 60])
def test_a_full_tree_is_searched_on(max_nodes, selection, judge):
    evaluator = None if judge == "rollouts" else HashEvaluator(CONNECT_FOUR)
    settings = Settings(cache_mib=1 if judge == "evaluator with a cache" else 0)
    search, state = grow(CONNECT_FOUR, "", selection, settings, evaluator, max_nodes=max_nodes)
    check_tree(search, state)
    tree, root = search.forest.trees[0], search.forest.nodes[0][0]
    assert tree.is_full and max_nodes - 7 < tree.num_nodes <= max_nodes
    assert root.N == tree.simulations == NUM_SIMULATIONS


def test_with_one_leaf_at_a_time_the_evaluator_sees_one_leaf_of_each_tree():
    evaluator = HashEvaluator(CONNECT_FOUR)
    search = TreeSearch(CONNECT_FOUR, Puct(), Settings(is_proving=False), evaluator, num_trees=5, max_nodes=2_000)
    for b in range(5):
        search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
    search.run([0, 1, 3], 50)
    assert evaluator.batch_sizes == [3] * 50
    assert search.forest.trees.simulations.tolist() == [50, 50, 0, 50, 0]


@pytest.mark.parametrize("evaluator", [None, HashEvaluator(CONNECT_FOUR)], ids=["rollouts", "evaluator"])
@pytest.mark.parametrize("leaves", [1, 4])
def test_a_lost_move_gets_no_more_visits(evaluator, leaves):
    """The second player must block in column 1. Any other move is proven lost as soon as the reply is found."""
    settings = Settings(is_looking_ahead=evaluator is not None, leaves_per_tree=leaves)
    search, _ = grow(CONNECT_FOUR, "17171", Puct(), settings, evaluator, num=300)
    others = [child_of(search, action) for action in range(1, 7)]
    assert {(each.proven, each.proven_plies) for each in others} == {(1, 1)}
    before = [int(each.N) for each in others]
    search.run([0], 300)
    assert [int(each.N) for each in others] == before
    assert max(before) < 30 and child_of(search, 0).N > 350


def test_a_root_s_first_visits_are_random_where_a_minimum_is_asked_for():
    """One move wins at once. UCT by itself would take it nearly always."""
    settings, minimum = Settings(is_proving=False, min_visits=700), 700
    search, state = grow(CONNECT_FOUR, "171717", Uct(), settings, num=minimum)
    visits = [child_of(search, action).N for action in range(7)]
    assert sum(visits) == minimum
    assert sum((N - minimum / 7) ** 2 / (minimum / 7) for N in visits) < 28, "chi-square with 6 degrees: 1 in 10,000"
    search.run([0], 700)
    assert child_of(search, 0).N - visits[0] > 650
    check_tree(search, state)


def test_without_proofs_lost_moves_are_visited_on():
    search, _ = grow(CONNECT_FOUR, "17171", Puct(), Settings(is_proving=False), num=300)
    before = visits_below_root(search) - child_of(search, 0).N
    search.run([0], 1000)
    assert visits_below_root(search) - child_of(search, 0).N > before
    assert search.forest.nodes[0][0].proven == UNPROVEN


def test_in_flight_spreads_the_leaves_and_is_gone_afterwards():
    """Each pending descent counts as a virtual loss on its path. No leaf is given out twice."""
    game, settings = CONNECT_FOUR, Settings(is_rollout_only=False, leaves_per_tree=7)
    parts = SearchParts(game.rules, Puct(), OwnRollout(), settings, new_views(game), new_cache(0))
    walker = Walker(parts, OneSearch(np.ones(1, np.bool_)), new_forest(parts.rules, 1, 2_000))
    forest = walker.forest
    start_tree(forest, 0, game.new_initial_state().record, np.uint64(1))
    forest.trees[0].target = 100
    nodes, evaluator = forest.nodes[0], UniformEvaluator(7)
    sizes = []
    for _ in range(4):
        walker.walk()
        sizes.append(len(walker.planes))
        grown = nodes[: forest.trees[0].num_nodes]
        leaves = grown[(grown.first_child == 0) & (grown.in_flight > 0)]
        assert len(leaves) == sizes[-1] == forest.trees[0].pending == nodes[0].in_flight
        assert (leaves.in_flight == 1).all()
        walker.apply(evaluator.evaluate(walker.planes))
        assert forest.trees[0].pending == 0 and not nodes.in_flight[: forest.trees[0].num_nodes].any()
    assert sizes == [1, 7, 7, 7] and nodes[0].N == 22


def test_in_flight_counts_as_a_loss_for_whoever_moves():
    """A virtual loss is a loss for the player who moves at the node, so two descents differ at both plies."""
    search, _ = grow(CONNECT_FOUR, "", Puct(), Settings(leaves_per_tree=2), UniformEvaluator(7), num=400)
    nodes = search.forest.nodes[0]
    for index in [0, *children_of(nodes)]:
        visits = [int(nodes[child].N) for child in children_of(nodes, index)]
        assert len(visits) == 7 and max(visits) <= 3 * min(visits) + 3


def test_priors_are_the_softmax_over_legal_moves():
    logits = [1000.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1001.0]
    search, _ = grow(CONNECT_FOUR, "1111117777771"[:12], Puct(), Settings(), FixedEvaluator(logits), num=1)
    weights = np.exp(logits[1:6])
    assert [float(child_of(search, action).P) for action in range(1, 6)] == pytest.approx(
        weights / weights.sum(), rel=1e-6
    )
    assert len(children_of(search.forest.nodes[0])) == 5, "columns 1 and 7 should be full"


def test_huge_logits_do_not_overflow():
    search, _ = grow(CONNECT_FOUR, "", Puct(), Settings(), FixedEvaluator([3e38, -3e38, 3e38, 0, 0, 0, 0]), num=1)
    assert [float(child_of(search, action).P) for action in range(3)] == [0.5, 0, 0.5]


@pytest.mark.parametrize("moves", ["", "4"])
def test_a_value_belongs_to_the_player_to_move(moves):
    """The evaluator's value is always 0.5 for the player to move. After an odd number of plies that is the second."""
    search, state = grow(CONNECT_FOUR, moves, Puct(), Settings(), FixedEvaluator([0.0] * 7, value=0.5), num=8)
    sign = 1 - 2 * state.current_player()
    root = search.forest.nodes[0][0]
    assert root.N == 8 and sign * root.W == 0.5 - 7 * 0.5
    assert {float(child_of(search, action).W) for action in range(7)} == {-sign * 0.5}


def test_rollouts_are_mixed_into_values_by_their_weight():
    """With values of 0 and rollouts of weight 0.25, a leaf's value is 0.25 times the rollout's result."""
    each_once = Puct(is_fpu_absolute=True, fpu_value=1.0)
    search, _ = grow(CONNECT_FOUR, "", each_once, Settings(rollout_weight=0.25), UniformEvaluator(7), num=8)
    worths = {float(child_of(search, action).W) for action in range(7)}
    assert worths <= {-0.25, 0.0, 0.25} and len(worths) > 1


def test_looking_ahead_finds_the_end_of_the_game_at_once():
    evaluator = HashEvaluator(CONNECT_FOUR)
    search, _ = grow(CONNECT_FOUR, "171717", Puct(), Settings(is_looking_ahead=True), evaluator)
    root = search.forest.nodes[0][0]
    assert (root.N, root.W, root.proven, root.proven_plies) == (1, 1.0, 1, 1) and evaluator.batch_sizes == [1]
    assert child_of(search, 0).proven == 1 and child_of(search, 1).proven == UNPROVEN


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("leaves", [1, 4])
@pytest.mark.parametrize("is_looking_ahead", [True, False])
def test_random_symmetries_change_nothing_where_the_evaluator_has_them(game, leaves, is_looking_ahead):
    settings = Settings(leaves_per_tree=leaves, is_looking_ahead=is_looking_ahead)
    plain, state = grow(game, "", settings=settings, evaluator=SymmetricEvaluator(game))
    turned, _ = grow(game, "", settings=settings._replace(has_random_symmetry=True), evaluator=SymmetricEvaluator(game))
    assert snapshot(turned) == snapshot(plain)
    check_tree(turned, state)


@pytest.mark.parametrize("game", GAMES)
def test_random_symmetries_are_drawn_evenly(game):
    """The evaluator gets the position's planes, transformed by each symmetry equally often."""
    state = game.state_from_moves({"connect_four": "112", "tic_tac_toe": "a1 b1 c2"}[game.name])
    views = [state.planes().reshape(3, -1)[:, cells].tobytes() for cells in game.symmetries.cells]
    assert len(set(views)) == len(views)
    seen = []

    class Noting(UniformEvaluator):
        def evaluate(self, planes):
            seen.extend(position.tobytes() for position in planes)
            return super().evaluate(planes)

    search = TreeSearch(
        game, Puct(), Settings(has_random_symmetry=True), Noting(game.num_actions), num_trees=400, max_nodes=20
    )
    for b in range(400):
        search.start(b, state, seed=b)
    search.run(range(400), 1)
    counts = np.array([seen.count(view) for view in views])
    assert counts.sum() == 400
    assert np.all(np.abs(counts - 400 / len(views)) < 4 * np.sqrt(400 / len(views)))


def test_noise_is_added_once_and_at_the_root_alone():
    settings = Settings(root=VisitsRoot(dirichlet_epsilon=0.5))
    search, _ = grow(CONNECT_FOUR, "", settings=settings, evaluator=UniformEvaluator(7), num=1)
    nodes = search.forest.nodes[0]
    at_root = nodes.P[1:8].tolist()
    assert len(set(at_root)) == 7 and sum(at_root) == pytest.approx(1, abs=1e-6)
    search.run([0], 200)
    assert nodes.P[1:8].tolist() == at_root
    below = {float(nodes[each].P) for child in children_of(nodes) for each in children_of(nodes, child)}
    assert below == {float(np.float32(1 / 7))}


@pytest.mark.slow
@pytest.mark.parametrize("leaves", [1, 8])
@pytest.mark.parametrize("selection", [Uct(), Puct()])
def test_a_search_that_stops_early_plays_the_same_move(leaves, selection):
    settings = Settings(is_proving=False, leaves_per_tree=leaves)
    saved = []
    for seed in range(30 if IS_COMPILED else 2):
        evaluator = None if leaves == 1 and isinstance(selection, Uct) else HashEvaluator(CONNECT_FOUR)
        moves = "4433122675"[: seed % 10]
        full, _ = grow(CONNECT_FOUR, moves, selection, settings, evaluator, num=500, seed=seed)
        early, _ = grow(
            CONNECT_FOUR, moves, selection, settings._replace(is_stopping_early=True), evaluator, num=500, seed=seed
        )
        assert early.choose(0) == full.choose(0)
        saved.append(500 - int(early.forest.trees[0].simulations))
    assert max(saved) > 50 or not IS_COMPILED


def test_a_search_does_not_stop_while_leaves_under_way_may_turn_it():
    """16 simulations are left and 8 are pending. The second move, 18 visits behind, may get all of them."""
    search, _ = grow(CONNECT_FOUR, "", settings=Settings(is_stopping_early=True), evaluator=UniformEvaluator(7), num=1)
    tree, nodes = search.forest.trees[0], search.forest.nodes[0]
    nodes[1].N, nodes[2].N, nodes[2].in_flight = 30, 12, 8
    tree.target, tree.simulations, tree.pending = 64, 40, 8
    assert not is_done(search.settings, tree, nodes)
    nodes[2].N, tree.simulations, nodes[2].in_flight, tree.pending = 13, 48, 0, 0
    assert is_done(search.settings, tree, nodes)
