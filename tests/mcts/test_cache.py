"""Tests of the evaluation cache: lookups and replacement, and that a search does not depend on its size."""

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED, kernel
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch
from azero.mcts.evaluation.cache import WAYS, find_answer, keep_answer, new_cache, read_logits, value_at
from azero.mcts.roots.visits import VisitsRoot

from .evaluators import HashEvaluator
from .trees import check_tree, snapshot

NUM_SIMULATIONS = 600 if IS_COMPILED else 60
CACHED = Settings(is_looking_ahead=True, cache_mib=1)
GAMES = [
    "connect_four",
    "tic_tac_toe",
    *(pytest.param(each, marks=pytest.mark.long) for each in ("othello(size=6)", "go(size=5)")),
]


ACTION_OF = np.array([1, 0], np.int32)  # the two actions change places in the canonical view
BOTH = np.array([0, 1], np.int32)


@kernel
def _find(cache, key, legal, num_legal, action_of, logits):
    place = find_answer(cache, key)
    return place >= 0 and read_logits(cache, place, legal, num_legal, action_of, logits), value_at(cache, max(place, 0))


@kernel
def _keep(cache, key, legal, num_legal, action_of, logits, value):
    keep_answer(cache, key, legal, num_legal, action_of, logits, value)


def answer_to(cache, key: int, legal=BOTH) -> tuple[list[float], float] | None:
    """Returns the logits of legal actions and the value that are stored for a view; None if it is unknown."""
    logits = np.zeros(2, np.float32)
    is_known, value = _find(cache, np.uint64(key), legal, len(legal), ACTION_OF, logits)
    return (logits[ACTION_OF[legal]].tolist(), float(value)) if is_known else None


def keep(cache, *keys: int, legal=BOTH) -> None:
    """Stores answers that encode their keys."""
    for key in keys:
        logits = np.array([-key, key], np.float32)
        _keep(cache, np.uint64(key), legal, len(legal), ACTION_OF, logits, np.float32(key / 128))


def small_cache(num_buckets: int, num_logits: int = 1000):
    """Returns a cache with room for little."""
    cache = new_cache(1)
    few = slice(num_logits)
    return cache._replace(buckets=cache.buckets[:num_buckets], logits=cache.logits[few], actions=cache.actions[few])


def test_what_goes_in_comes_out():
    cache = new_cache(1)
    assert answer_to(cache, 5) is None
    keep(cache, *range(1, 101))
    for key in range(1, 101):
        assert answer_to(cache, key) == ([key, -key], key / 128)
    assert answer_to(cache, 101) is None


def test_the_size_is_what_was_asked_for():
    for mib in (1, 3, 64):
        cache = new_cache(mib)
        size = sum(array.nbytes for array in cache)
        assert mib - 0.01 < size / 2**20 <= mib + 0.01
    assert len(new_cache(0).buckets) == 0


def test_the_oldest_of_a_bucket_makes_way():
    cache = small_cache(num_buckets=1)
    keep(cache, 1, 2, 3, 4, 5, 6)
    assert [key for key in range(1, 7) if answer_to(cache, key)] == [3, 4, 5, 6]


def test_the_oldest_of_the_ring_makes_way():
    """A ring of 7 logits has room for 3 answers of 2 logits. The seventh logit stays empty."""
    cache = small_cache(num_buckets=100, num_logits=7)
    for key in range(1, 50):
        keep(cache, key)
        found = [other for other in range(1, key + 1) if answer_to(cache, other)]
        assert all(answer_to(cache, other) == ([other, -other], other / 128) for other in found)
        assert (found[-1] == key and 2 <= len(found) <= 3) or key < 3


def test_only_legal_actions_are_stored():
    cache, first = new_cache(1), BOTH[:1]
    keep(cache, 1, 2, 3, legal=first)
    assert cache.written[0] == 1 + 3
    assert answer_to(cache, 2, first) == ([2], 2 / 128)
    assert answer_to(cache, 2) is None, "the other action has no logit"
    keep(cache, 2)
    assert answer_to(cache, 2) == ([2, -2], 2 / 128) and answer_to(cache, 2, first) == ([2], 2 / 128)


def test_a_key_has_one_place():
    cache = small_cache(num_buckets=1)
    keep(cache, 1, 2, 2, 2, 2)
    assert answer_to(cache, 1) is not None and np.count_nonzero(cache.buckets[0].key) == 2


def test_what_is_found_is_right_however_much_is_put_in():
    cache, num = small_cache(num_buckets=16), 500
    keep(cache, *range(1, num + 1))
    found = [key for key in range(1, num + 1) if answer_to(cache, key)]
    assert all(answer_to(cache, key) == ([key, -key], key / 128) for key in found)
    assert len(found) == WAYS * 16 and num in found


def search_of(game, settings, moves="", num_trees=1, evaluator=None, num=NUM_SIMULATIONS):
    """Returns a search of trees from one position with different seeds, and that position."""
    state = game.state_from_moves(moves)
    search = TreeSearch(game, Puct(), settings, evaluator or HashEvaluator(game), num_trees, max_nodes=20_000)
    for b in range(num_trees):
        search.start(b, state, seed=b)
    search.run(range(num_trees), num)
    return search, state


@pytest.mark.thorough
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(("num_buckets", "num_logits"), [(1, None), (None, 101)], ids=["few buckets", "short ring"])
def test_a_tree_is_the_same_whatever_the_cache_can_hold(name, num_buckets, num_logits):
    """In a small cache nearly every lookup fails. The tree is the same; only the number of evaluations grows."""
    game = make_game(name)
    large, state = search_of(game, CACHED)
    small = TreeSearch(game, Puct(), CACHED, HashEvaluator(game), max_nodes=20_000)
    walker = small._trees.walker
    cache = walker.parts.cache
    cache = cache._replace(buckets=cache.buckets[:num_buckets], logits=cache.logits[:num_logits])
    walker.parts = walker.parts._replace(cache=cache._replace(actions=cache.actions[:num_logits]))
    small.start(0, state, seed=0)
    small.run([0], NUM_SIMULATIONS)
    check_tree(large, state)
    assert snapshot(small) == snapshot(large)
    one, other = small.forest.trees[0], large.forest.trees[0]
    assert one.evaluations + one.cache_hits == other.evaluations + other.cache_hits
    assert other.cache_hits > one.cache_hits


@pytest.mark.parametrize("name", GAMES)
def test_a_symmetric_position_has_its_symmetric_answer(name):
    """Roots that are symmetric to each other share one answer. Each move has the prior of its image."""
    game = make_game(name)
    start = game.new_initial_state()
    for action in (1, 0, 5)[: 2 if name == "othello(size=6)" else 3]:
        start.apply_action(start.legal_actions()[action % len(start.legal_actions())])
    evaluator = HashEvaluator(game)
    search = TreeSearch(
        game, Puct(), Settings(cache_mib=1), evaluator, num_trees=len(game.symmetries.cells), max_nodes=200
    )
    for b, actions in enumerate(game.symmetries.actions):
        state = game.new_initial_state()
        for action in start.history():
            state.apply_action(int(np.flatnonzero(actions == action)[0]))
        search.start(b, state, seed=0)
    search.run(range(len(game.symmetries.actions)), 1)
    assert evaluator.batch_sizes == [1], "the roots should share a row"
    nodes = search.forest.nodes
    first = {int(node.action): float(node.P) for node in nodes[0, 1 : 1 + nodes[0, 0].num_children]}
    assert len(set(first.values())) == len(first)
    for b, actions in enumerate(game.symmetries.actions):
        own = {int(node.action): float(node.P) for node in nodes[b, 1 : 1 + nodes[b, 0].num_children]}
        assert own == {int(np.flatnonzero(actions == action)[0]): prior for action, prior in first.items()}
        assert nodes[b, 0].W == nodes[0, 0].W


HIDDEN = """
from typing import NamedTuple
import numpy as np
from azero.authoring import DRAW, ONGOING

class Hidden(NamedTuple):
    plies: int = 8

    def reset(game, state):
        state.ply = 0

    def legal_actions(game, state, out):
        for k in range(3):
            out[k] = state.ply % 3 + k
        return 3

    def apply_action(game, state, action):
        state.ply += 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        return ONGOING if state.ply < game.plies else DRAW

    def encode(game, state, planes):
        planes[0, 0, 0] = 1.0

    def hash_key(game, state):
        return np.uint64(state.ply)

    @property
    def state_dtype(game):
        return np.dtype([("ply", np.int32), ("unused", np.int32)])

    @property
    def num_actions(game):
        return 5

    @property
    def max_plies(game):
        return game.plies

    @property
    def planes_shape(game):
        return 1, 1, 1
"""
"""A game whose planes do not show which actions are legal."""


@pytest.mark.slow  # it compiles kernels of its own
def test_positions_with_the_same_planes_may_have_other_legal_actions(tmp_path):
    (tmp_path / "hidden.py").write_text(HIDDEN)
    game = make_game(f"{tmp_path}/hidden.py:Hidden")
    evaluator = HashEvaluator(game)
    cached, state = search_of(game, CACHED, evaluator=evaluator, num=200)
    alone, _ = search_of(game, CACHED._replace(cache_mib=0), num=200)
    check_tree(cached, state)
    assert snapshot(cached) == snapshot(alone)
    assert 1 < sum(evaluator.batch_sizes) < alone.forest.trees[0].evaluations


def test_trees_learn_from_each_other_and_grow_the_same():
    evaluator = HashEvaluator(make_game("connect_four"))
    search, _ = search_of(make_game("connect_four"), CACHED, num_trees=3, evaluator=evaluator)
    alone, _ = search_of(make_game("connect_four"), CACHED)
    trees = search.forest.trees
    assert snapshot(search, 0) == snapshot(search, 2) == snapshot(alone)
    assert sum(evaluator.batch_sizes) == trees.evaluations.sum() == alone.forest.trees[0].evaluations
    assert max(evaluator.batch_sizes) == 1, "the trees should share a row"


def test_a_search_is_never_told_what_another_evaluator_said():
    game = make_game("connect_four")
    evaluators = [HashEvaluator(game), HashEvaluator(game)]
    first, second = (search_of(game, CACHED, evaluator=each)[0] for each in evaluators)
    assert sum(evaluators[0].batch_sizes) == sum(evaluators[1].batch_sizes) == first.forest.trees[0].evaluations
    assert snapshot(first) == snapshot(second)


@pytest.mark.thorough
@pytest.mark.parametrize("leaves", [2, 8])
@pytest.mark.parametrize("moves", ["443", pytest.param("", marks=pytest.mark.long)])
def test_several_leaves_of_a_tree_at_a_time(leaves, moves):
    """The tree is valid. A second search of it is equal, because a new tree begins with an empty cache."""
    game = make_game("connect_four")
    settings = CACHED._replace(leaves_per_tree=leaves)
    search, state = search_of(game, settings, moves)
    check_tree(search, state)
    tree = search.forest.trees[0]
    assert tree.simulations == search.forest.nodes[0][0].N == NUM_SIMULATIONS and tree.cache_hits > 0
    before = snapshot(search)
    search.start(0, state, seed=0)
    search.run([0], NUM_SIMULATIONS)
    assert snapshot(search) == before


def test_rollouts_and_noise_are_drawn_alike_from_what_is_known_and_what_is_not():
    game = make_game("connect_four")
    settings = CACHED._replace(rollout_weight=0.5, root=VisitsRoot(dirichlet_epsilon=0.25))
    search, state = search_of(game, settings, num=100)
    before = snapshot(search)
    search.start(0, state, seed=0)
    search.run([0], 100)
    assert snapshot(search) == before and search.forest.trees[0].evaluations == 0


def test_more_memory_than_there_is_is_bad_input():
    with pytest.raises(BadInput, match=r"^search.cache_mib = 1048576000 is more memory than this machine has"):
        new_cache(1_048_576_000)
