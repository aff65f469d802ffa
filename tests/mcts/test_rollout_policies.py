"""Tests of rollout policies: probabilities of moves, compiled and in plain Python, alone and mixed with values."""

import hashlib
import math

import numpy as np
import pytest
from cases import long

from azero.compiler.jit import IS_COMPILED, kernel
from azero.compiler.rng import new_rng
from azero.games import State, make_game
from azero.mcts import FlatSearch, LinearSoftmax, OwnRollout, Puct, Settings, TreeSearch, Uct, UniformRollout
from azero.mcts.reference.search import Reference
from azero.mcts.rollouts.features import NO_PATTERN, NUM_PATTERNS
from azero.mcts.rollouts.weights import MOST, policy_of_weights
from azero.mcts.scratch import new_scratch

from .evaluators import FixedEvaluator, HashEvaluator
from .minimax import RandomPlay
from .test_reference import assert_same
from .test_rollout_features import features_of
from .trees import child_of, children_of, snapshot

pytestmark = pytest.mark.slow  # it compiles kernels of its own

NUM_DRAWS = 40_000 if IS_COMPILED else 2_000


def softmax_of(game, seed=0, size=1.0) -> LinearSoftmax:
    """Returns a policy with random weights."""
    rng = np.random.default_rng(seed)
    return policy_of_weights(rng.normal(size=NUM_PATTERNS) * size, rng.normal(size=game.num_actions) * size)


POLICIES = {"own": lambda game: OwnRollout(), "uniform": lambda game: UniformRollout(), "softmax": softmax_of}


DIGESTS = [
    ("connect_four", "own", "cb23ff1451c0"),
    ("connect_four", "uniform", "cb23ff1451c0"),
    ("connect_four", "softmax", "0304d8cc664a"),
    ("othello(size=4)", "own", "78ff503ed03f"),
    ("othello(size=4)", "uniform", "9f51cabe7074"),
    ("othello(size=4)", "softmax", "c01a89a806c5"),
    ("go(size=3)", "own", "f4ad5152d5d4"),
    ("go(size=3)", "uniform", "c13601449037"),
    ("go(size=3)", "softmax", "c7b47a489208"),
]


@kernel
def _count_draws(policy, rules, state, scratch, rng, counts, num):
    for _ in range(num):
        counts[policy.draw_action(rules, state, scratch, rng)] += 1


def shares_of(policy, state: State) -> np.ndarray:
    """Returns the share of draws of each action."""
    rules, counts = state.game.rules, np.zeros(state.game.num_actions, np.int64)
    rng = new_rng(0)
    _count_draws(policy, rules, state.clone().record, new_scratch(rules), rng, counts, NUM_DRAWS)
    return counts / NUM_DRAWS


def assert_drawn(shares: np.ndarray, probabilities: np.ndarray) -> None:
    deviations = np.sqrt(probabilities * (1 - probabilities) / NUM_DRAWS)
    assert (np.abs(shares - probabilities) <= 4.5 * deviations).all()


POSITIONS = [
    ("connect_four", "4 4 3"),
    ("tic_tac_toe", "b2 a1 c2"),
    ("go(size=5)", "c3 pass b2"),
    ("clobber(rows=3,columns=4)", ""),
    ("breakthrough(rows=3,columns=3)", "a1-a2"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "moves"), POSITIONS)
def test_a_softmax_is_drawn_from(name, moves):
    state = make_game(name).state_from_moves(moves)
    policy, probabilities = softmax_of(state.game), np.zeros(state.game.num_actions)
    for action, pattern in features_of(state).items():
        w = math.log(policy.actions[action]) + (math.log(policy.patterns[pattern]) if pattern != NO_PATTERN else 0)
        probabilities[action] = math.exp(w)
    assert_drawn(shares_of(policy, state), probabilities / probabilities.sum())


@pytest.mark.parametrize(("name", "moves"), POSITIONS)
def test_uniform_draws_every_legal_action_alike(name, moves):
    state, probabilities = make_game(name).state_from_moves(moves), np.zeros(make_game(name).num_actions)
    probabilities[state.legal_actions()] = 1 / len(state.legal_actions())
    assert_drawn(shares_of(UniformRollout(), state), probabilities)
    even = policy_of_weights(np.zeros(NUM_PATTERNS), np.zeros(state.game.num_actions))
    assert_drawn(shares_of(even, state), probabilities)


def test_weights_of_any_size_leave_probabilities():
    state = make_game("connect_four").new_initial_state()
    policy = policy_of_weights(np.full(NUM_PATTERNS, -1e9), np.array([0, 0, 0, 1e9, 0, 0, 0]))
    assert policy.actions[3] == np.float32(math.exp(MOST)) and (policy.patterns > 0).all()
    assert shares_of(policy, state)[3] > 0.999


@kernel
def _play_out(policy, rules, state, scratch, rng):
    return policy.play_out(rules, state, scratch, rng)


def digest_of_rollouts(policy, game) -> str:
    """Returns a digest of the results of twenty rollouts, and of their random numbers."""
    scratch, digest = new_scratch(game.rules), hashlib.sha256()
    for seed in range(20):
        state, rng = game.new_initial_state().record, new_rng(0)
        rng.counter = seed
        outcome = _play_out(policy, game.rules, state, scratch, rng)
        digest.update(f"{int(outcome)} {int(rng.counter)} ".encode() + state.tobytes())
    return digest.hexdigest()[:12]


@pytest.mark.parametrize(("name", "policy", "digest"), DIGESTS)
def test_compiled_and_in_plain_python_rollouts_are_the_same(name, policy, digest):
    """The digests are constants, equal with and without compilation."""
    game = make_game(name)
    assert digest_of_rollouts(POLICIES[policy](game), game) == digest


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("policy", "is_mixed"),
    [
        ("own", False),
        ("softmax", False),
        ("softmax", True),
        *long(("own", True), ("uniform", False), ("uniform", True)),
    ],
)
def test_kernels_equal_the_reference_with_any_policy(policy, is_mixed):
    game = make_game("connect_four")
    policy, state = POLICIES[policy](game), game.new_initial_state()
    selection, settings = (Puct(), Settings(rollout_weight=0.4)) if is_mixed else (Uct(), Settings())
    evaluator = HashEvaluator(game) if is_mixed else None
    search = TreeSearch(game, selection, settings, evaluator, max_nodes=20_000, rollout=policy)
    reference = Reference(state, selection, settings, evaluator, seed=3, rollout=policy)
    search.start(0, state, seed=3)
    num = 100 if IS_COMPILED else 30
    search.run([0], num)
    for _ in range(num):
        reference.simulate()
    assert_same(search.forest.nodes[0], 0, reference.root)
    assert int(search.forest.trees[0].rng.counter) == reference.random.counter


@pytest.mark.parametrize("policy", POLICIES)
def test_at_weight_one_leaves_are_worth_their_rollouts_alone(policy):
    """The tree does not depend on the net's values, and the values of leaves are wins, draws and losses."""
    game = make_game("connect_four")
    trees = []
    for value in (-0.9, 0.3):
        settings, evaluator = Settings(rollout_weight=1.0), FixedEvaluator([0.0] * 7, value)
        search = TreeSearch(game, Puct(), settings, evaluator, max_nodes=20_000, rollout=POLICIES[policy](game))
        search.start(0, game.new_initial_state(), 5)
        search.run([0], 200)
        trees.append(snapshot(search))
        nodes = search.forest.nodes[0]
        assert all(float(nodes[child].W).is_integer() for child in children_of(nodes))
    assert trees[0] == trees[1]


def test_a_search_plays_on_by_the_policy_it_is_given():
    """The policy nearly always plays the leftmost legal column. Results after each first move are by hand."""
    game = make_game("connect_four")
    leftmost = policy_of_weights(np.zeros(NUM_PATTERNS), np.array([20.0, 13, 6, -1, -8, -14, -20]))
    search = FlatSearch(game, Uct(), Settings(is_proving=False), rollout=leftmost)
    search.start(0, game.new_initial_state(), 0)
    search.run([0], 700)
    for action in range(7):
        state, node = game.new_initial_state(), child_of(search, action)
        state.apply_action(action)
        while not state.is_terminal():
            state.apply_action(state.legal_actions()[0])
        assert abs(node.W / node.N - state.returns()[0]) < 0.3


@pytest.mark.parametrize("moves", ["b2", "b2 a1 a2 c2"])
def test_a_uniform_rollout_s_mean_is_that_of_random_play(moves):
    state, rng = make_game("tic_tac_toe").state_from_moves(moves), new_rng(0)
    wins, draws, _ = RandomPlay().expect(state)
    mean, count, scratch, total = float(2 * wins + draws - 1), NUM_DRAWS // 10, new_scratch(state.game.rules), 0
    for _ in range(count):
        total += _play_out(UniformRollout(), state.game.rules, state.clone().record, scratch, rng)
    assert abs(total / count - mean) <= 4 * math.sqrt((float(1 - draws) - mean**2) / count)
