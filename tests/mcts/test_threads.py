"""Tests of searches in which several threads evaluate the leaves of a tree."""

import os
import random
import signal
import threading
import time

import numpy as np
import pytest

import azero
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import Puct, Settings, TreeSearch
from azero.mcts.roots.ranking import BY_VISITS
from azero.nets.runtimes.session import SessionEvaluator

from .evaluators import HashEvaluator
from .trees import check_tree

pytestmark = pytest.mark.slow  # it compiles kernels of its own

CONNECT_FOUR = make_game("connect_four")
PLAIN = Settings(is_proving=False, chosen_by=BY_VISITS)


class Slow(HashEvaluator):
    """Takes a while, as a net does, and counts how many threads evaluate at the same time."""

    def __init__(self, game, seconds=1e-3):
        super().__init__(game)
        self._seconds, self._lock = seconds, threading.Lock()
        self._num_active = self.most_active = 0

    def evaluate(self, planes):
        with self._lock:
            self._num_active += 1
            self.most_active = max(self.most_active, self._num_active)
        time.sleep(self._seconds)
        with self._lock:
            self._num_active -= 1
        return super().evaluate(planes)


class Failing(Slow):
    """Raises an error at call `at`."""

    def __init__(self, game, at):
        super().__init__(game)
        self._num_left = at

    def evaluate(self, planes):
        self._num_left -= 1
        if self._num_left == 0:
            raise BadInput("the net cannot be used")
        return super().evaluate(planes)


def search_with(evaluator, num_threads, leaves=4, state=None, **settings):
    manner = PLAIN._replace(leaves_per_tree=leaves * num_threads, **settings)
    search = TreeSearch(CONNECT_FOUR, Puct(), manner, evaluator, max_nodes=100_000, threads_per_tree=num_threads)
    search.start(0, state or CONNECT_FOUR.new_initial_state(), seed=0)
    return search


def check_whole(search: TreeSearch) -> None:
    """Asserts that no leaf waits."""
    tree = search.forest.trees[0]
    assert tree.pending == 0
    assert not search.forest.nodes[0][: tree.num_nodes].in_flight.any()


@pytest.mark.parametrize("num_threads", [2, 3])
@pytest.mark.parametrize("cache_mib", [0, 1])
def test_threads_make_all_simulations_in_one_tree(num_threads, cache_mib):
    evaluator = Slow(CONNECT_FOUR)
    search = search_with(evaluator, num_threads, cache_mib=cache_mib)
    search.run([0], 500)
    assert search.forest.trees[0].simulations == search.forest.nodes[0][0].N == 500
    check_whole(search)
    check_tree(search, CONNECT_FOUR.new_initial_state())
    assert evaluator.most_active == num_threads
    assert max(evaluator.batch_sizes) <= 4


def test_the_same_seed_gives_the_same_tree_whichever_thread_is_faster():
    class Uneven(HashEvaluator):
        def evaluate(self, planes):
            time.sleep(random.random() / 500)
            return super().evaluate(planes)

    trees = []
    for _ in range(2):
        search = search_with(Uneven(CONNECT_FOUR), 3)
        search.run([0], 500)
        trees.append(search.forest.nodes[0][: search.forest.trees[0].num_nodes].tobytes())
    assert trees[0] == trees[1]


def test_a_tree_does_not_depend_on_those_beside_it():
    trees = []
    for num_trees in (1, 3):
        search = TreeSearch(
            CONNECT_FOUR, Puct(), PLAIN._replace(leaves_per_tree=16), HashEvaluator(CONNECT_FOUR), num_trees
        )
        for b in range(num_trees):
            search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
        search.run(range(num_trees), 400)
        trees.append(search.forest.nodes[0][: search.forest.trees[0].num_nodes].tobytes())
    assert trees[0] == trees[1]


def test_batches_are_full_though_few_moves_are_good():
    """A descent to a leaf that waits already makes the next ones go elsewhere."""

    class Certain(HashEvaluator):
        def evaluate(self, planes):
            logits, values = super().evaluate(planes)
            logits[:, 3] += 10
            return logits, values

    evaluator = Certain(CONNECT_FOUR)
    search = search_with(evaluator, 1, leaves=16)
    search.run([0], 1000)
    check_whole(search)
    assert np.mean(evaluator.batch_sizes[10:]) > 12


def test_threads_prove_what_one_thread_proves():
    state = CONNECT_FOUR.state_from_moves("4433")
    search = search_with(Slow(CONNECT_FOUR), 2, state=state, is_proving=True, is_looking_ahead=True)
    search.run([0], 20_000)
    assert search.forest.nodes[0][0].proven == 1
    assert search.forest.trees[0].simulations < 20_000
    check_whole(search)


def test_a_search_without_time_makes_a_simulation():
    search = search_with(Slow(CONNECT_FOUR), 2)
    search.run([0], 1000, seconds=1e-9)
    assert 1 <= search.forest.trees[0].simulations <= 8
    check_whole(search)


def test_the_clock_ends_a_search():
    search = search_with(Slow(CONNECT_FOUR), 2)
    begin = time.perf_counter()
    search.run([0], 1 << 30, seconds=0.2)
    assert time.perf_counter() - begin < 10
    check_whole(search)
    check_tree(search, CONNECT_FOUR.new_initial_state())


def test_trees_stay_whole_when_the_clock_ends_many_searches():
    """The last answers are backed up in turns, too."""
    search = search_with(HashEvaluator(CONNECT_FOUR), 3, leaves=2, cache_mib=1)
    for number in range(40):
        search.start(0, CONNECT_FOUR.new_initial_state(), seed=number)
        search.run([0], 1 << 30, seconds=0.005)
        assert search.forest.trees[0].simulations == search.forest.nodes[0][0].N > 0
        check_whole(search)
        check_tree(search, CONNECT_FOUR.new_initial_state())


def test_an_error_in_one_thread_ends_the_search_and_the_tree_stays_whole():
    search = search_with(Failing(CONNECT_FOUR, 20), 2)
    with pytest.raises(BadInput, match="the net cannot be used"):
        search.run([0], 1000)
    check_whole(search)
    search.run([0], 100)
    assert search.forest.trees[0].simulations == 100
    check_tree(search, CONNECT_FOUR.new_initial_state())


def test_ctrl_c_ends_a_search_and_the_tree_stays_whole():
    search = search_with(Slow(CONNECT_FOUR), 2)
    search.prepare()
    timer = threading.Timer(0.3, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        search.run([0], 1 << 30)
    check_whole(search)


def test_a_suggestion_on_two_threads_finds_the_same_move():
    name = "connect_four(solve_nodes=0)@2000"  # what the solver proves depends on its time
    suggestions = [azero.make_agent(name, threads=threads) for threads in (1, 2)]
    state = CONNECT_FOUR.new_initial_state()
    one, two = (agent.suggest(state) for agent in suggestions)
    assert one.moves[0].move == two.moves[0].move == "4"
    assert two.simulations == 2000
    assert abs(one.value - two.value) < 0.2


def test_short_suggestions_repeat_on_any_number_of_threads(monkeypatch):
    """So small a search has one leaf at a time, so one thread."""
    seen = set[int]()
    evaluate = SessionEvaluator.evaluate

    def noted(self, planes: np.ndarray):
        seen.add(threading.get_ident())
        return evaluate(self, planes)

    monkeypatch.setattr(SessionEvaluator, "evaluate", noted)
    state, name = CONNECT_FOUR.new_initial_state(), "connect_four@199"
    one, two = (azero.make_agent(name, threads=threads).suggest(state) for threads in (1, 2))
    assert [move.visits for move in one.moves] == [move.visits for move in two.moves]
    assert seen == {threading.get_ident()}


def test_the_leaves_that_may_wait_grow_with_the_visits_of_the_root():
    seen = []

    class Noting(HashEvaluator):
        def evaluate(self, planes):
            pending = int(search.forest.trees[0].pending)  # before the visits, which only grow meanwhile
            seen.append((int(search.forest.nodes[0][0].N), pending))
            return super().evaluate(planes)

    search = search_with(Noting(CONNECT_FOUR), 2, leaves=8, visits_per_leaf=100)
    search.run([0], 3000)
    assert all(pending <= min(16, 4 + visits // 100) for visits, pending in seen)
    assert max(pending for _, pending in seen) > 8 and max(pending for _, pending in seen[:10]) <= 4
