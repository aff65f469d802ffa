"""Tests of `azero.Search`: it equals the search of agents, and refuses answers that a search could not use."""

from typing import NamedTuple

import numpy as np
import pytest
import torch

import azero
from azero.compiler.jit import IS_COMPILED
from azero.config.schema import SearchConfig
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch, selection_from_config
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.ranking import LEFT_TO_SELECTION
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import children_of

from .evaluators import HashEvaluator

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("tic_tac_toe")
START = GAME.new_initial_state()
STATES = [START, GAME.state_from_moves("b2"), GAME.state_from_moves("a1 b2 c3")]
PLAIN = {"prove": False, "look_ahead": False}


def hashed(game=GAME):
    return HashEvaluator(game).evaluate


def uniform(planes):
    return np.zeros((len(planes), 9)), np.zeros(len(planes))


def same(one, other):
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in vars(one))


@pytest.mark.parametrize("settings", [{}, PLAIN, {"c_puct": 3.0, "proof_nodes": 20}, {"cache_mib": 1}])
def test_it_equals_the_search_of_agents(settings):
    result = azero.Search(GAME, hashed(), 60, settings=settings).run(STATES)
    config = SearchConfig(**{"cache_mib": 0, **settings})
    rule, manner = selection_from_config(config), Settings.from_config(config)
    search = TreeSearch(GAME, rule, manner, HashEvaluator(GAME), len(STATES), 5000)
    for b, state in enumerate(STATES):
        search.start(b, state, seed=b)
    search.run(range(len(STATES)), 60)
    for b in range(len(STATES)):
        nodes = search.forest.nodes[b]
        for child in children_of(nodes):
            action = nodes[child].action
            assert result.N[b, action] == nodes[child].N and result.P[b, action] == nodes[child].P
        assert result.actions[b] == search.choose(b)


def test_stepping_is_running():
    whole = azero.Search(GAME, hashed(), 40).run(STATES)
    search, sizes = azero.Search(GAME, num_simulations=40), []
    search.begin(STATES)
    while len(planes := search.leaves()):
        assert planes.dtype == np.float32 and planes.shape[1:] == GAME.planes_shape
        assert np.array_equal(planes, search.leaves()), "leaves wait until backup"
        sizes.append(len(planes))
        logits, values = hashed()(planes)
        search.backup(torch.tensor(logits, requires_grad=True), values.tolist())
    assert same(whole, search.result()) and max(sizes) == len(STATES)


def test_results_add_up():
    search = azero.Search(GAME, hashed(), 50, settings=PLAIN)
    result = search.run(STATES)
    for b, state in enumerate(STATES):
        legal = state.legal_actions()
        illegal = [action for action in range(9) if action not in legal]
        assert result.N[b].sum() == 49, "the first simulation evaluates the root"
        assert not result.N[b, illegal].any() and not result.P[b, illegal].any() and not result.Q[b, illegal].any()
        np.testing.assert_allclose([result.P[b].sum(), result.policies[b].sum()], 1, rtol=1e-6)
        np.testing.assert_allclose(result.policies[b], result.N[b] / 49, rtol=1e-6)
        assert result.actions[b] == result.N[b].argmax() and np.abs(result.Q[b]).max() <= 1
    assert not result.is_full.any()


def test_values_are_for_the_player_to_move():
    """X wins at once in the first position, and O in the second."""
    win = GAME.state_from_moves("a1 b1 a2 b2")
    result = azero.Search(GAME, uniform, 100).run([win, GAME.state_from_moves("a1 b1 a2 b2 c3")])
    assert result.values.tolist() == [1.0, 1.0]
    plain = azero.Search(GAME, uniform, 100, settings=PLAIN).run([win])
    assert plain.Q[0, GAME.text_to_action(win, "a3")] == 1.0 and plain.values[0] > 0.5


def test_the_tree_holds_together():
    search = azero.Search(GAME, hashed(), 80, settings=PLAIN)
    result = search.run(STATES)
    tree = search.tree(1)
    assert tree.parent[0] == tree.action[0] == -1 and tree.depth[0] == 0 and tree.N[0] == 80 and tree.P[0] == 0
    assert (tree.parent[1:] < np.arange(1, len(tree))).all()
    assert (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all() and tree.depth.max() >= 3
    children = tree.children()
    assert sorted(tree.action[children]) == STATES[1].legal_actions()
    for name in ("N", "P", "Q"):
        assert np.array_equal(getattr(tree, name)[children], getattr(result, name)[1, tree.action[children]])
    for node in np.flatnonzero(tree.N > 1)[:20]:
        below = tree.children(node)
        if len(below):
            assert tree.N[below].sum() == tree.N[node] - 1
            np.testing.assert_allclose(tree.P[below].sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(tree.Q[0], result.values[1], atol=1e-6)
    tree.N[:] = 0
    assert search.tree(1).N[0] == 80, "it is a copy"


def test_proofs_in_a_tree_are_for_the_player_who_moves_there():
    search = azero.Search(GAME, uniform, 50)
    state = GAME.state_from_moves("a1 b1 a2 b2")
    search.run([state])
    tree = search.tree()
    won = [node for node in tree.children() if tree.proven[node] == 1]
    assert tree.proven[0] == 1 and [GAME.action_to_text(state, int(tree.action[node])) for node in won] == ["a3"]


def test_a_seed_gives_one_result_and_another_seed_another():
    root = VisitsRoot(dirichlet_alpha=0.5, dirichlet_epsilon=0.25)
    search = azero.Search(GAME, hashed(), 30, root=root)
    one, again, other = (search.run([START, START], seed=seed, temperature=1.0) for seed in (1, 1, 2))
    assert same(one, again) and not np.array_equal(one.P, other.P) and not np.array_equal(one.P[0], one.P[1])
    assert same(search.result(), search.result())


def test_minus_infinity_masks_a_move():
    def masked(planes):
        logits = np.zeros((len(planes), 9))
        logits[:, 1:] = -np.inf
        return logits, np.zeros(len(planes))

    result = azero.Search(GAME, masked, 30, settings=PLAIN).run([START])
    assert result.P[0].tolist() == [1.0] + 8 * [0.0]
    nothing = azero.Search(GAME, lambda planes: (np.full((len(planes), 9), -np.inf), np.zeros(len(planes))), 5)
    np.testing.assert_allclose(nothing.run([START]).P[0], 1 / 9, rtol=1e-6)


def one_nan(planes):
    logits, values = uniform(planes)
    logits[0, 3] = np.nan
    return logits, values


@pytest.mark.parametrize(
    ("evaluate", "message"),
    [
        (lambda p: (np.zeros((len(p), 8)), np.zeros(len(p))), r"logits have the shape \[1, 8\]; expected \[1, 9\]"),
        (lambda p: (np.zeros((len(p), 9)), np.zeros((len(p), 1))), r"values have the shape \[1, 1\]; expected \[1\]"),
        (one_nan, r"logits\[0, 3\] is nan; it should be a finite number or -inf"),
        (lambda p: (np.full((1, 9), 1e39), [0]), r"logits\[0, 0\] is inf"),
        (lambda p: (np.zeros((len(p), 9)), np.full(len(p), 1.5)), r"values\[0\] is 1.5; it should be from -1 to 1"),
        (lambda p: (np.zeros((len(p), 9)), np.full(len(p), np.nan)), r"values\[0\] is nan; it should be from -1 to 1"),
        (lambda p: (np.zeros((len(p), 9)), ["a"]), "values are not an array of numbers"),
        (lambda p: ([[0] * 9, [0]], [0]), "logits are not an array of numbers"),
        (lambda p: np.zeros((len(p), 9)), "the evaluator returned a ndarray; it should be a pair"),
    ],
)
def test_answers_that_a_search_could_not_use_are_refused(evaluate, message):
    with pytest.raises(azero.BadInput, match=rf"^[^\n]*{message}[^\n]*$"):
        azero.Search(GAME, evaluate, 10).run([START])


def test_after_a_refused_answer_the_leaves_still_wait():
    search = azero.Search(GAME, hashed(), 20)
    search.begin([START])
    planes = search.leaves()
    with pytest.raises(azero.BadInput):
        search.backup(np.zeros((2, 9)), [0, 0])
    assert np.array_equal(planes, search.leaves())
    while len(planes := search.leaves()):
        search.backup(*hashed()(planes))
    assert same(search.result(), azero.Search(GAME, hashed(), 20).run([START]))


OVER = GAME.state_from_moves("a1 b1 a2 b2 a3")


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda: azero.Search(GAME).run([START]), "run needs an evaluator"),
        (lambda: azero.Search(GAME, uniform).run([]), "positions are needed"),
        (lambda: azero.Search(GAME, uniform).run([START, OVER]), "position 1 is the end of a game"),
        (lambda: azero.Search(GAME, uniform).run(["a1"]), "position 0 is a str; it should be one of tic_tac_toe"),
        (lambda: azero.Search(GAME, uniform).run(START), "positions are needed: a list of states"),
        (
            lambda: azero.Search(GAME, uniform).run([make_game("hex(size=3)").new_initial_state()]),
            "position 0 is one of hex.*; it should be one of tic_tac_toe",
        ),
        (lambda: azero.Search(GAME, uniform).run([START], temperature=-1), "temperature = -1 should be"),
        (lambda: azero.Search(GAME, uniform).result(), "no search yet: call begin or run"),
        (lambda: azero.Search(GAME, uniform).leaves(), "no search yet"),
        (lambda: azero.Search("hex"), "game = 'hex' should be a game"),
        (lambda: azero.Search(GAME, 3), "evaluate = 3 should be a function"),
        (lambda: azero.Search(GAME, uniform, settings=["c_puct=1"]), "settings = .* should be a dict"),
        (lambda: azero.Search(GAME, uniform, 0), "num_simulations = 0 should be a whole number from 1"),
        (lambda: azero.Search(GAME, uniform, settings={"cpuct": 1}), "unknown setting 'cpuct'"),
        (lambda: azero.Search(GAME, uniform, settings={"c_puct": -1}), "c_puct = -1"),
        (lambda: azero.Search(GAME, uniform, settings={"solve_nodes": 9}), "solve_nodes = 9 should be 0"),
        (lambda: azero.Search(GAME, uniform, selection=Puct), "is not a strategy: it should be an instance"),
    ],
)
def test_bad_input_is_one_line(act, message):
    with pytest.raises(azero.BadInput, match=rf"^[^\n]*{message}[^\n]*$"):
        act()


def test_there_is_no_result_before_the_first_answer():
    search = azero.Search(GAME, uniform)
    search.begin([START])
    with pytest.raises(azero.BadInput, match="no result yet"):
        search.result()
    search.run([START])
    with pytest.raises(azero.BadInput, match="there is no position 1: the search has 1"):
        search.tree(1)


class Greedy(NamedTuple):
    """Follows the prior alone."""

    weight: float = 2.0

    def is_sweeping(rule):
        return False

    def exploration(rule, parent_visits, depth, length):
        return rule.weight

    def first_play_value(rule, parent_value, visited_prior):
        return 0.0

    def score(rule, exploration, visits, value, prior):
        return exploration * prior


class Bare(NamedTuple):
    """No selection rule."""

    weight: float = 1.0


class Empty(NamedTuple):
    """No fields."""


class Least(VisitsRoot):
    """Gives each move three visits first."""

    def root_child(root, tree, nodes):
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if nodes[child].N < 3:
                return np.int64(child)
        return LEFT_TO_SELECTION


def test_a_rule_of_ones_own_selects():
    logits = np.arange(9.0)
    search = azero.Search(GAME, lambda planes: (np.tile(logits, (len(planes), 1)), np.zeros(len(planes))), 20,
                          settings=PLAIN, selection=Greedy())  # fmt: skip
    assert search.run([START]).N[0].tolist() == 8 * [0] + [19]
    with pytest.raises(azero.BadInput, match="^Bare needs a method 'is_sweeping': kernels call it$"):
        azero.Search(GAME, uniform, selection=Bare())
    with pytest.raises(azero.BadInput, match="^Empty needs a field"):
        azero.Search(GAME, uniform, selection=Empty())


class Slip(Greedy):
    def score(rule, exploration, visits, value, prior):
        return nonsense * prior  # noqa: F821


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python raises a NameError")
def test_a_rule_that_cannot_be_compiled_is_named():
    with pytest.raises(azero.BadInput, match=r"^Slip.score cannot be compiled: NameError: name 'nonsense' is not def"):
        azero.Search(GAME, uniform, selection=Slip()).run([START])


def test_a_root_of_ones_own_explores():
    result = azero.Search(GAME, hashed(), 40, settings=PLAIN, root=Least()).run([START])
    assert result.N.min() == 3 and result.N.sum() == 39


def test_the_tree_has_room_for_all_simulations():
    """Each position of this game has all moves, so that each simulation takes as many nodes."""
    search = azero.Search(
        make_game("p_game(branching=4,depth=12)"),
        lambda planes: (np.zeros((len(planes), 4)), np.zeros(len(planes))),
        8,
        settings={"look_ahead": False, "proof_nodes": 0},
        root=GumbelRoot(),
    )
    assert not search.run([search.game.new_initial_state()]).is_full.any()


def test_a_full_tree_says_so():
    result = azero.Search(GAME, hashed(), 40, max_nodes=10, settings=PLAIN).run([START])
    assert result.is_full.tolist() == [True] and result.N.sum() == 39


@pytest.mark.parametrize("name", ["uct@50", "uct(table=1000)@50", "mc@50", "tic_tac_toe@50"])
def test_the_tree_behind_a_suggestion(name):
    agent = azero.make_agent(name, GAME)
    with pytest.raises(azero.BadInput, match="no search tree yet"):
        agent.tree()
    moves = {move.action: move for move in agent.suggest(START).moves}
    tree = agent.tree()
    assert {int(tree.action[child]) for child in tree.children()} == moves.keys()
    for child in tree.children():
        move = moves[int(tree.action[child])]
        assert tree.N[child] == move.visits
        if move.proven is None:
            assert tree.Q[child] == pytest.approx(move.value)


def test_agents_without_a_tree_say_so():
    for name in ("random", "alphabeta@10"):
        agent = azero.make_agent(name, GAME)
        agent.suggest(START)
        with pytest.raises(azero.BadInput, match=f"^agent '{name}' has no search tree"):
            agent.tree()
    game = make_game("amazons(size=4)")
    agent = azero.make_agent("uct(root=turns)@20", game)
    agent.suggest(game.new_initial_state())
    with pytest.raises(azero.BadInput, match="whole turns"):
        agent.tree()
