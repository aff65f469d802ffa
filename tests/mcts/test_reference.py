"""Tests that kernels grow the same trees as the plain-Python reference: all statistics, also in kept trees."""

import random
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from cases import long, thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.mcts import DepthBias, Puct, Settings, TreeSearch, Uct
from azero.mcts.reference.search import Node, Reference
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import UNPROVEN

from .evaluators import HashEvaluator
from .trees import children_of

NUM_SIMULATIONS = 120 if IS_COMPILED else 40
NUM_MOVES = 3

POSITIONS = {
    "connect_four": ("connect_four", ""),
    "connect_four, before a win": ("connect_four", "44332"),
    "connect_four 4x5, nearly full": ("connect_four(rows=4,columns=5)", "343441134321"),
    "tic_tac_toe": ("tic_tac_toe", ""),
    "tic_tac_toe, a line of two": ("tic_tac_toe", "b2 a1 b1"),
    "go 4x4, a pass that loses": ("go(size=4,komi=2.5)", "b2 c3 b3"),
}
RULES = {
    "uct": Uct(),
    "uct of small c": Uct(0.5),
    "uct with a bias by depth": DepthBias(),
    "puct": Puct(),
    "puct of fast growth": Puct(c_puct=0.5, c_puct_base=20.0, c_puct_factor=2.0, fpu_reduction=0.5),
    "puct with constants": Puct(c_puct=2.0, c_puct_factor=0.0, is_fpu_absolute=True, fpu_value=-0.3),
}
WITH_ROLLOUTS = {
    "rollouts": Settings(),
    "rollouts, no proofs": Settings(is_proving=False),
    "rollouts, at random at first": Settings(min_visits=12),
}
WITH_EVALUATOR = {
    "values": Settings(),
    "values, no proofs": Settings(is_proving=False),
    "look ahead": Settings(is_looking_ahead=True),
    "look ahead, no proofs": Settings(is_looking_ahead=True, is_proving=False),
    "look ahead further": Settings(is_looking_ahead=True, proof_nodes=60),
    "look ahead further, no proofs": Settings(is_looking_ahead=True, proof_nodes=60, is_proving=False),
    "rollouts mixed in": Settings(rollout_weight=0.3),
    "noise": Settings(root=VisitsRoot(0.7, 0.25)),
    "all": Settings(is_looking_ahead=True, rollout_weight=0.5, root=VisitsRoot(2.0, 0.5)),
}


QUICK_POSITION = "connect_four, before a win"
QUICK_CASES = {("uct", "rollouts"), ("puct", "values")}
"""What CI tries in the other positions too. In Go it tries all settings of one rule."""


def cases():
    """Yields every position with every rule and every setting."""
    for case in product(POSITIONS, RULES, [*WITH_ROLLOUTS, *WITH_EVALUATOR]):
        position, selection, settings = case
        is_go = position.startswith("go")
        compiles = settings in WITH_EVALUATOR and (selection == "uct with a bias by depth" or is_go)
        if position == QUICK_POSITION or (selection, settings) in QUICK_CASES:
            yield from thorough(case) if compiles else [case]
        else:
            yield from thorough(case) if is_go and selection == "puct" else long(case)


@pytest.mark.parametrize(("position", "selection", "settings"), list(cases()))
def test_kernels_equal_the_reference(position, selection, settings):
    name, moves = POSITIONS[position]
    check_equal(name, moves, RULES[selection], settings, seed=len(position) + 100 * len(selection))


class Polynomial(NamedTuple):
    """A user's own rule: no sweep, a bonus of another form, and unvisited children at the parent's value."""

    weight: float = 0.6

    def is_sweeping(rule):
        return False

    def exploration(rule, parent_visits, depth, length):
        return rule.weight * (1 + parent_visits) ** 0.25

    def first_play_value(rule, parent_value, visited_prior):
        return parent_value - visited_prior

    def score(rule, exploration, visits, value, prior):
        return value + exploration * (0.1 + prior) / (1 + visits) ** 0.5


def test_a_rule_of_ones_own_equals_the_reference():
    check_equal("connect_four", "44332", Polynomial(), "values", seed=3)


def check_equal(name, moves, selection, settings, seed):
    """Searches with both and compares the whole trees, while playing the best move and a random move in turn."""
    game, choice = make_game(name), random.Random(seed)
    evaluator = HashEvaluator(game) if settings in WITH_EVALUATOR else None
    settings = (WITH_ROLLOUTS | WITH_EVALUATOR)[settings]
    state = game.state_from_moves(moves)
    search, reference = (
        TreeSearch(game, selection, settings, evaluator, max_nodes=20_000),
        Reference(state.clone(), selection, settings, evaluator, seed),
    )
    search.start(0, state, seed)
    for move in range(NUM_MOVES):
        search.run([0], NUM_SIMULATIONS)
        reference.length = float(search.forest.trees[0].length)
        for _ in range(NUM_SIMULATIONS):
            reference.simulate()
        assert_same(search.forest.nodes[0], 0, reference.root)
        assert int(search.forest.trees[0].rng.counter) == reference.random.counter
        action = choice.choice(reference.state.legal_actions()) if move % 2 else search.choose(0)
        search.advance(0, action)
        reference.advance(action)
        if reference.state.is_terminal():
            break


def assert_same(nodes: np.recarray, index: int, node: Node) -> None:
    own = nodes[index]
    assert (own.action, own.N, own.W, own.P, own.num_visited) == (
        node.action,
        node.N,
        node.W,
        np.float32(node.P),
        node.num_visited,
    )
    assert own.proven == (UNPROVEN if node.proven is None else node.proven)
    assert own.proven == UNPROVEN or own.proven_plies == node.proven_plies
    children = children_of(nodes, index)
    assert len(children) == len(node.children)
    assert not children or own.player == node.player
    for child, expected in zip(children, node.children, strict=True):
        assert_same(nodes, child, expected)
