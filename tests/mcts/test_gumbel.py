"""Tests of Gumbel roots: schedule, improved policy and move played, by hand and against the reference."""

import math

import numpy as np
import pytest
from cases import long
from pytest import approx

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.reference.gumbel import GumbelReference, halving_schedule
from azero.mcts.roots.gumbel import GumbelRoot, scheduled_visits, weigh_root
from azero.mcts.roots.visits import TARGET_TOTAL, write_policy_target
from azero.mcts.tree import UNPROVEN

from .evaluators import HashEvaluator
from .test_reference import assert_same
from .trees import check_tree, make_tree

GUMBEL = GumbelRoot(num_considered=16)
SETTINGS = Settings(root=GUMBEL)
NUM_DRAWS = 20_000 if IS_COMPILED else 1_000


def halve(*children: dict, num: int, root: GumbelRoot = GUMBEL, player: int = 0, lost: tuple = ()) -> list[int]:
    """Runs `num` simulations, in which each visit of a child has the value "q"; returns the children's visits.

    Args:
      lost: pairs (simulation, child): after this simulation the child is proven lost.
    """
    forest = make_tree(*children, player=player)
    tree, nodes = forest.trees[0], forest.nodes[0]
    sign = 1 - 2 * player
    tree.target = num
    for simulation in range(num):
        child = int(root.root_child(tree, nodes))
        assert nodes[child].proven != -sign, "a lost move should get no visit"
        for node, value in ((nodes[child], children[child - 1]["q"]), (nodes[0], children[child - 1]["q"])):
            node.N += 1
            node.W += sign * value
        tree.simulations += 1
        for k in [k for at, k in lost if at == simulation]:
            nodes[1 + k].proven = -sign
    return nodes.N[1 : 1 + len(children)].tolist()


def improve(*children: dict, value: float = 0.0, player: int = 0, root: GumbelRoot = GUMBEL) -> tuple:
    """Returns pi' by place of the child, its expected value, and v_mix."""
    forest, visits = make_tree(*children, player=player, value=value), np.full(7, 9, np.uint16)
    nodes = forest.nodes[0]
    worth = root.write_target(Puct(), forest.trees[0], nodes, visits)
    assert not visits[: 7 - len(children)].any(), "an action without a child should have no share"
    return visits[::-1][: len(children)] / TARGET_TOTAL, worth, weigh_root(root, nodes)[0]


@pytest.mark.parametrize(
    ("num", "considered", "visits"),
    [
        (32, 16, [4] * 4 + [2] * 4 + [1] * 8),  # rounds of 1, 1 and 2 visits per move
        (200, 16, [49] * 2 + [21] * 2 + [9] * 4 + [3] * 8),  # rounds of 3, 6, 12 and 25, and 6 left over
        (16, 4, [6, 6, 2, 2]),
        (16, 16, [1] * 16),
        (5, 16, [1] * 5 + [0] * 11),
        (7, 3, [3, 3, 1]),
        (9, 2, [5, 4]),
        (50, 1, [50]),
    ],
)
def test_halving_spends_the_simulations_as_the_paper_has_it(num, considered, visits):
    """The earlier a move, the better it is."""
    counts = [0] * considered
    for t in range(num):
        counts[counts.index(scheduled_visits(num, considered, t))] += 1
    assert counts == visits


def test_the_schedule_is_the_reference_s():
    for num in (1, 2, 15, 64, 401):
        for considered in range(1, 40):
            schedule = [scheduled_visits(num, considered, t) for t in range(num)]
            assert schedule == halving_schedule(num, considered)


@pytest.mark.parametrize("player", [0, 1])
def test_moves_of_higher_value_survive(player):
    """Seven moves get one visit each, the best three get three more, and the best two share the last sixteen."""
    children = [{"q": q} for q in (0.1, -0.5, 0.7, 0.2, -0.9, 0.6, 0.5)]
    assert halve(*children, num=32, player=player) == [1, 1, 12, 1, 1, 12, 4]


def test_without_values_the_prior_says_which_moves_are_considered():
    children = [{"P": P, "q": 0.0} for P in (0.1, 0.3, 0.05, 0.2, 0.15, 0.12, 0.08)]
    assert halve(*children, num=4, root=GumbelRoot(4)) == [0, 1, 0, 1, 1, 1, 0]
    assert halve(*children, num=1, root=GumbelRoot(1)) == [0, 1, 0, 0, 0, 0, 0]


def test_a_move_proven_lost_makes_way_for_the_next_best():
    children = [{"q": q, "P": 0.2 - k / 100} for k, q in enumerate((0.9, 0.8, 0.7, 0.6, 0.5, 0.4))]
    assert halve(*children, num=16, root=GumbelRoot(4)) == [6, 6, 2, 2, 0, 0]
    lost = (0, 0), (9, 1)
    assert halve(*children, num=16, root=GumbelRoot(4), lost=lost) == [1, 4, 5, 5, 1, 0]


def test_all_simulations_go_to_the_one_move_that_is_not_lost():
    children = [{"q": 0.0}, {"q": 0.0}, {"q": -0.9}]
    assert halve(*children, num=12, lost=((0, 0), (1, 1))) == [1, 1, 10]


def test_the_move_played_is_the_best_of_those_with_most_visits():
    forest = make_tree({"N": 4, "Q": 0.1}, {"N": 4, "Q": 0.2}, {"N": 2, "Q": 0.9}, {"N": 5, "Q": 1.0, "proven": -1})
    assert GUMBEL.best_child(SETTINGS, forest.trees[0], forest.nodes[0]) == 2


def test_proofs_decide_the_move_and_the_policy():
    for children, player in [
        (({"N": 9, "Q": 0.9}, {"N": 1, "proven": 1, "plies": 3}, {"N": 0, "proven": 1, "plies": 1}), 0),
        (({"N": 3, "proven": -1, "plies": 2}, {"N": 2, "proven": -1, "plies": 8}), 1),
    ]:
        forest = make_tree(*children, player=player)
        targets = np.zeros((2, 7), np.uint16)
        worth = GUMBEL.write_target(Puct(), forest.trees[0], forest.nodes[0], targets[0])
        write_policy_target(forest.nodes[0], targets[1])
        assert targets[0].tolist() == targets[1].tolist() and worth == children[-1]["proven"]
        child = int(GUMBEL.best_child(SETTINGS, forest.trees[0], forest.nodes[0]))
        assert child == len(children) and targets[0].argmax() == forest.nodes[0][child].action


@pytest.mark.parametrize("player", [0, 1])
def test_values_are_completed_with_the_mixed_value(player):
    """By hand: v = 0.3; values 0.5 (4 visits, P = 0.2) and -0.1 (1 visit, P = 0.3) have the mean 0.14 by priors."""
    children = {"N": 4, "Q": 0.5, "P": 0.2}, {"N": 1, "Q": -0.1, "P": 0.3}, {"N": 0, "P": 0.5}
    root = GumbelRoot(16, c_visit=6.0, c_scale=0.4)  # a factor of (6 + 4) 0.4 = 4
    policy, worth, mixed = improve(*children, value=0.3, player=player, root=root)
    assert mixed == approx((0.3 + 5 * 0.14) / 6)
    weights = np.array([0.2, 0.3, 0.5]) * np.exp(4 * (1 + np.array([0.5, -0.1, mixed])) / 2)
    assert policy == approx(weights / weights.sum(), abs=1 / TARGET_TOTAL)
    assert worth == approx(weights @ [0.5, -0.1, mixed] / weights.sum())


def test_without_visits_the_policy_is_the_prior():
    policy, worth, mixed = improve({"P": 0.5}, {"P": 0.3}, {"P": 0.2}, value=-0.4)
    assert policy == approx([0.5, 0.3, 0.2], abs=1 / TARGET_TOTAL) and worth == approx(-0.4) and mixed == approx(-0.4)


def test_lost_moves_have_no_share_and_drawn_ones_are_worth_a_draw():
    drawn = {"N": 3, "Q": 0.9, "P": 0.5, "proven": 0}
    policy, worth, _ = improve(drawn, {"N": 3, "P": 0.3, "proven": -1}, {"N": 2, "Q": 0.0, "P": 0.2})
    assert policy == approx([5 / 7, 0, 2 / 7], abs=1 / TARGET_TOTAL) and worth == 0


def test_a_prior_of_zero_is_no_hindrance():
    policy, worth, _ = improve({"N": 3, "Q": 0.5, "P": 0.0}, {"N": 3, "Q": -0.5, "P": 0.0})
    assert policy.sum() == approx(1, abs=1e-3) and worth > 0.4


@pytest.mark.parametrize("seed", range(100))
def test_the_policy_is_improved(seed):
    """On random bandits pi' has at least the prior's expected value, with all values known or with completed ones."""
    rng = np.random.default_rng(seed)
    priors, values, visits = rng.dirichlet(np.full(7, 0.5)), rng.uniform(-1, 1, 7), rng.integers(0, 4, 7)
    root = GumbelRoot(16, c_visit=rng.uniform(0, 60), c_scale=rng.uniform(0.01, 2))
    children = [{"N": N, "Q": Q, "P": P} for N, Q, P in zip(visits, values, priors, strict=True)]
    policy, worth, mixed = improve(*children, value=rng.uniform(-1, 1), root=root)
    completed = np.where(visits > 0, values, mixed)
    assert worth >= priors @ completed - 1e-6 and policy @ completed == approx(worth, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_noise_draws_from_the_priors_at_a_temperature(temperature):
    priors = np.array([0.5, 0.3, 0.15, 0.05])
    forest = make_tree(*({"P": P} for P in priors))
    tree, nodes, counts = forest.trees[0], forest.nodes[0], np.zeros(4)
    tree.temperature = temperature
    seeds = np.random.default_rng(5).integers(1 << 63, size=NUM_DRAWS, dtype=np.uint64)
    for tree.search_seed in seeds:
        counts[GUMBEL.best_child(SETTINGS, tree, nodes) - 1] += 1
    expected = priors ** (1 / temperature) / np.sum(priors ** (1 / temperature))
    assert np.all(np.abs(counts / NUM_DRAWS - expected) < 4 * np.sqrt(expected * (1 - expected) / NUM_DRAWS))


POSITIONS = {
    "connect_four": "",
    "connect_four(rows=4,columns=5)": "343441134321",
    "tic_tac_toe": "b2 a1 b1",
    "hex(size=5)": "",
}


@pytest.mark.thorough
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize(
    ("num", "settings"),
    [
        (40, SETTINGS._replace(is_looking_ahead=True)),
        (90, SETTINGS._replace(root=GumbelRoot(4, c_scale=0.1))),
        (25, SETTINGS._replace(root=GumbelRoot(6), is_proving=False, rollout_weight=0.3)),
        (1, SETTINGS),
    ],
)
@pytest.mark.parametrize(
    ("name", "selection"),
    [
        ("connect_four", Puct()),
        ("tic_tac_toe", Puct()),
        ("connect_four(rows=4,columns=5)", Puct()),
        *long(*((name, Uct()) for name in list(POSITIONS)), ("hex(size=5)", Puct())),
    ],
)
def test_kernels_equal_the_reference(name, selection, num, settings, temperature):
    game, seed = make_game(name), 11
    evaluator, state = HashEvaluator(game), game.state_from_moves(POSITIONS[name])
    search = TreeSearch(game, selection, settings, evaluator, max_nodes=20_000)
    reference = GumbelReference(state.clone(), selection, settings, evaluator, seed)
    search.start(0, state, seed)
    tree, nodes = search.forest.trees[0], search.forest.nodes[0]
    for _ in range(2):
        search.run([0], num, temperature=temperature)
        reference.search(num, temperature)
        assert_same(nodes, 0, reference.root)
        assert int(tree.rng.counter) == reference.random.counter
        check_tree(search, reference.state)
        if any(child.proven == reference.root.sign for child in reference.root.children) or not reference.open_moves:
            return
        action = search.choose(0)
        assert action == reference.choose()
        visits = np.zeros(game.num_actions, np.uint16)
        worth, values = settings.root.write_target(selection, tree, nodes, visits), reference.values()
        assert worth == approx(math.fsum(share * values[a] for a, share in reference.policy().items()))
        for a in range(game.num_actions):
            assert visits[a] == approx(TARGET_TOTAL * reference.policy().get(a, 0.0), abs=0.51)
        search.advance(0, action)
        reference.advance(action)
        if reference.state.is_terminal() or nodes[0].proven != UNPROVEN:
            return
