"""Tests of the search: puzzles, proofs against minimax, and equal results for any distribution of the work."""

import os
import random
import signal
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cases import long
from games.user_games import NIM, forget_files, write_file

from azero.compiler.jit import IS_COMPILED
from azero.config.schema import SearchConfig
from azero.errors import BrokenRules
from azero.games import make_game
from azero.mcts import MAX_NODES, FlatSearch, Puct, Settings, TreeSearch, Uct, nodes_needed, rank_moves, trees_that_fit
from azero.mcts.roots.ranking import BY_BOUND, BY_VALUE
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import UNPROVEN

from .evaluators import HashEvaluator
from .minimax import Minimax
from .trees import child_of, snapshot, walk

CONNECT_FOUR, TIC_TAC_TOE = make_game("connect_four"), make_game("tic_tac_toe")
FOUR_BY_FOUR = make_game("connect_four(rows=4,columns=4)")
PONS = Path(__file__).parents[1] / "data" / "connect4_pons"


def in_flightes(search: TreeSearch) -> np.ndarray:
    """Returns the virtual losses of the first tree's nodes."""
    return search.forest.nodes[0][: search.forest.trees[0].num_nodes].in_flight


def judges(game):
    """Returns the searches under test: selection rule, settings and evaluator, by name."""
    return {
        "rollouts": (Uct(), Settings(), None),
        "evaluator": (Puct(), Settings(), HashEvaluator(game)),
        "looking ahead": (Puct(), Settings(is_looking_ahead=True, leaves_per_tree=4), HashEvaluator(game)),
        "uct with an evaluator": (Uct(), Settings(is_looking_ahead=True, rollout_weight=0.5), HashEvaluator(game)),
    }


def search_with(judge, state, num_simulations, seed=0):
    selection, settings, evaluator = judges(state.game)[judge]
    search = TreeSearch(state.game, selection, settings, evaluator, max_nodes=100_000)
    search.start(0, state, seed)
    search.run([0], num_simulations)
    return search


PUZZLES = {
    "win in 1": ("171717", {0}, 1, 1),
    "second player's win in 1": ("1717172", {6}, 1, 1),
    "forced win in 3": ("4433", {1, 4}, 1, 3),
    "second player's forced win in 3": ("74137", {4}, 1, 3),
    "lost in 2": ("44332", {0, 1, 2, 3, 4, 5, 6}, -1, 2),
}


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
@pytest.mark.parametrize(("moves", "best", "result", "plies"), PUZZLES.values(), ids=PUZZLES)
def test_puzzles_are_proven_and_played(moves, best, result, plies, judge):
    state = CONNECT_FOUR.state_from_moves(moves)
    search = search_with(judge, state, 3000)
    root = search.forest.nodes[0][0]
    sign = 1 - 2 * state.current_player()
    assert (sign * root.proven, root.proven_plies) == (result, plies)
    assert search.choose(0) in best
    assert search.forest.trees[0].simulations < 3000, "a proven root should end the search"


@pytest.mark.parametrize("judge", ["rollouts", "looking ahead", "uct with an evaluator"])
def test_the_only_block_is_played_and_all_else_is_proven_lost(judge):
    state = CONNECT_FOUR.state_from_moves("17171")
    search = search_with(judge, state, 1000)
    block, *others = (child_of(search, action) for action in range(7))
    assert search.choose(0) == 0 and block.proven == UNPROVEN
    assert all((other.proven, other.proven_plies) == (1, 1) for other in others)
    assert search.choose(0, temperature=100.0) == 0


@pytest.mark.parametrize("judge", ["rollouts", "uct with an evaluator"])
@pytest.mark.parametrize("own_player", [0, 1])
def test_tic_tac_toe_is_not_lost_to_perfect_play(own_player, judge):
    minimax, chooser = Minimax(), random.Random(5)
    for seed in range(5 if IS_COMPILED else 1):
        state = TIC_TAC_TOE.new_initial_state()
        while not state.is_terminal():
            if state.current_player() == own_player:
                action = search_with(judge, state, 4000 if IS_COMPILED else 2000, seed).choose(0)
            else:
                action = chooser.choice(minimax.best_actions(state))
            assert action in minimax.best_actions(state)
            state.apply_action(action)
        assert state.returns() == [0, 0]


def random_positions(game, count, num_empty, seed):
    """Returns positions of random games with `num_empty` empty cells."""
    chooser, positions = random.Random(seed), []
    while len(positions) < count:
        state = game.new_initial_state()
        while not state.is_terminal() and game.max_plies - len(state.history()) > num_empty:
            state.apply_action(chooser.choice(state.legal_actions()))
        if not state.is_terminal():
            positions.append(state)
    return positions


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
@pytest.mark.parametrize(("game", "num_empty"), [(TIC_TAC_TOE, 5), (TIC_TAC_TOE, 6), (FOUR_BY_FOUR, 6)])
def test_proofs_are_those_of_minimax(game, num_empty, judge):
    """Checks every proof in the tree. A proven win may be longer than the shortest one, but not shorter."""
    minimax, proofs = Minimax(), []
    for seed, state in enumerate(random_positions(game, 20 if IS_COMPILED else 6, num_empty, seed=num_empty)):
        search = search_with(judge, state, 3000, seed)
        nodes = search.forest.nodes[0]
        for index, position in walk(search, state):
            if nodes[index].proven != UNPROVEN:
                result, plies = minimax.solve(position)
                is_exact = result == 0 or (judge == "looking ahead" and plies <= 2)
                assert nodes[index].proven == result
                assert nodes[index].proven_plies == plies if is_exact else nodes[index].proven_plies >= plies
                proofs.append(result)
        assert nodes[0].proven != UNPROVEN or minimax.solve(state)[0] == 0
        assert nodes[0].proven == UNPROVEN or search.choose(0) in minimax.best_actions(state)
    assert not IS_COMPILED or set(proofs) == {-1, 0, 1}


@pytest.mark.skipif(not IS_COMPILED, reason="hundreds of searches")
def test_proofs_agree_with_solved_connect_four_positions():
    """Pons' score is 22 minus the winner's stones at the end, negative if the player to move loses."""
    search = TreeSearch(CONNECT_FOUR, Uct(), Settings(), max_nodes=20_000)
    num_proven = 0
    for line in (PONS / "Test_L3_R1").read_text().splitlines()[:300]:
        moves, score = line.split()
        state = CONNECT_FOUR.state_from_moves(moves)
        search.start(0, state, seed=len(moves))
        search.run([0], 1000)
        root = search.forest.nodes[0][0]
        if root.proven != UNPROVEN:
            result = (1 - 2 * state.current_player()) * root.proven
            assert result == np.sign(int(score))
            winner_stones = (len(moves) + root.proven_plies + 1) // 2
            assert result == 0 or 22 - winner_stones <= abs(int(score))
            num_proven += 1
    assert num_proven > 150


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
def test_a_search_goes_on_where_it_was(judge):
    """With one leaf at a time, two runs of half the simulations equal one run."""
    selection, settings, evaluator = judges(CONNECT_FOUR)[judge]
    trees = []
    for parts in ([300], [150, 150]):
        search = TreeSearch(CONNECT_FOUR, selection, settings._replace(leaves_per_tree=1), evaluator, max_nodes=10_000)
        search.start(0, CONNECT_FOUR.state_from_moves("435"), 1)
        for part in parts:
            search.run([0], part)
        trees.append(snapshot(search))
    assert trees[0] == trees[1] and trees[0][0][1] == 300


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
def test_a_seed_gives_one_tree_whatever_is_searched_beside_it(judge):
    selection, settings, evaluator = judges(CONNECT_FOUR)[judge]
    if evaluator:
        settings = settings._replace(root=VisitsRoot(dirichlet_epsilon=0.25), has_random_symmetry=True)
    states = [CONNECT_FOUR.state_from_moves(moves) for moves in ("", "4", "435", "171717", "4433")]

    def grow(places, num_trees, num_threads):
        search = TreeSearch(CONNECT_FOUR, selection, settings, evaluator, num_trees, 10_000, num_threads)
        for b, k in enumerate(places):
            search.start(b, states[k], seed=100 + k)
        search.run(range(len(places)), 200)
        return {k: (snapshot(search, b), search.choose(b, temperature=1.0)) for b, k in enumerate(places)}

    alone = {k: found for k in range(5) for k, found in grow([k], 1, 1).items()}
    assert grow([0, 1, 2, 3, 4], 5, 1) == alone
    assert grow([4, 3, 2, 1, 0], 7, 2) == alone
    assert grow([2, 0], 2, 3) == {k: alone[k] for k in (0, 2)}


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
def test_other_seeds_give_other_trees_where_anything_is_random(judge):
    trees = [snapshot(search_with(judge, CONNECT_FOUR.new_initial_state(), 100, seed)) for seed in (1, 2, 1)]
    assert trees[0] == trees[2]
    assert (trees[0] == trees[1]) == (judge in ("evaluator", "looking ahead"))


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
@pytest.mark.parametrize("num_threads", [1, 2])
def test_time_ends_a_search(judge, num_threads):
    selection, settings, evaluator = judges(CONNECT_FOUR)[judge]
    search = TreeSearch(CONNECT_FOUR, selection, settings, evaluator, num_trees=2, num_threads=num_threads)
    for b in (0, 1):
        search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
    search.run([0, 1], 1)  # compiles everything
    start = time.perf_counter()
    search.run([0, 1], 1 << 30, seconds=0.05)
    assert time.perf_counter() - start < 10
    assert np.all(search.forest.trees.simulations > 0) and np.all(search.forest.trees.simulations < 1 << 30)
    assert not in_flightes(search).any()


def test_simulations_end_a_search_before_its_time():
    search = TreeSearch(CONNECT_FOUR, Uct(), Settings(), max_nodes=10_000)
    search.start(0, CONNECT_FOUR.new_initial_state(), seed=0)
    search.run([0], 300, seconds=1000)
    assert search.forest.trees[0].simulations == 300


@pytest.mark.parametrize("judge", ["rollouts", "evaluator"])
def test_the_shortest_time_is_enough_for_a_legal_move(judge):
    selection, settings, evaluator = judges(CONNECT_FOUR)[judge]
    search = TreeSearch(CONNECT_FOUR, selection, settings, evaluator, max_nodes=1_000)
    search.start(0, CONNECT_FOUR.new_initial_state(), seed=0)
    search.run([0], 100, seconds=1e-9)
    assert len(rank_moves(search)) == 7 and 0 <= search.choose(0) < 7


def test_trees_that_are_not_searched_stay_as_they_are():
    search = TreeSearch(CONNECT_FOUR, Uct(), Settings(), num_trees=3, max_nodes=5_000)
    for b in range(3):
        search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
    search.run([0, 2], 100)
    assert search.forest.nodes[:, 0].N.tolist() == [100, 0, 100]
    search.run([1], 50)
    assert search.forest.trees.simulations.tolist() == [0, 50, 0] and search.forest.nodes[:, 0].N.tolist() == [
        100,
        50,
        100,
    ]


def test_a_decided_tree_gets_no_simulations():
    state = CONNECT_FOUR.state_from_moves("4433")
    search = search_with("rollouts", state, 3000)
    search.run([0], 100)
    assert search.forest.trees[0].simulations == 0 and search.choose(0) in (1, 4)


@pytest.mark.parametrize("judge", judges(CONNECT_FOUR))
def test_preparing_changes_nothing(judge):
    selection, settings, evaluator = judges(CONNECT_FOUR)[judge]
    prepared, other = (TreeSearch(CONNECT_FOUR, selection, settings, evaluator, max_nodes=10_000) for _ in range(2))
    prepared.prepare()
    for search in (prepared, other):
        search.start(0, CONNECT_FOUR.new_initial_state(), seed=1)
    prepared.prepare()
    for _ in range(2):
        for search in (prepared, other):
            search.run([0], 100)
        assert snapshot(prepared) == snapshot(other)
        assert prepared.forest.trees[0].rng.counter == other.forest.trees[0].rng.counter
        assert prepared.forest.trees[0].simulations == other.forest.trees[0].simulations
        prepared.prepare()


def test_room_for_nodes():
    """Room for a few searches, and only for so many trees as the memory holds."""
    assert nodes_needed(CONNECT_FOUR, 100) == 8 * 100 * 7 + 8
    assert nodes_needed(CONNECT_FOUR, 1 << 30) == MAX_NODES
    assert trees_that_fit(CONNECT_FOUR, 1 << 30) == 16
    assert 1 << 30 < trees_that_fit(CONNECT_FOUR, 10_000) * nodes_needed(CONNECT_FOUR, 10_000) * 32 <= 1 << 31


def test_settings_from_a_run_s():
    config = SearchConfig(prove=False, look_ahead=False, rollout_weight=0.25, choose_by="value", cache_mib=0)
    found = Settings.from_config(config)
    assert found == Settings(
        is_proving=False, is_looking_ahead=False, is_rollout_only=False, rollout_weight=0.25, chosen_by=BY_VALUE
    )
    assert found.root == VisitsRoot() and not found.has_random_symmetry
    assert Settings.from_config(SearchConfig(look_ahead=False, proof_nodes=9)) == Settings(
        is_looking_ahead=True, proof_nodes=9, is_rollout_only=False, cache_mib=64
    )
    assert Settings.from_config(SearchConfig(solve_nodes=8)).solve_nodes == 8
    by_bound = Settings.from_config(SearchConfig(choose_by="bound", stop_early=True))
    assert (by_bound.chosen_by, by_bound.is_stopping_early) == (BY_BOUND, False)
    unproven = Settings.from_config(SearchConfig(prove=False, proof_nodes=9, solve_nodes=8))
    assert (unproven.proof_nodes, unproven.solve_nodes) == (0, 0)
    assert Settings.from_config(SearchConfig()) == Settings(is_looking_ahead=True, is_rollout_only=False, cache_mib=64)


@pytest.mark.parametrize("kind", [TreeSearch, FlatSearch])
def test_results_do_not_depend_on_the_size_of_calls(kind, monkeypatch):
    found = []
    for first, times in [(1, 1), (7, 3), (10_000, 1)]:
        monkeypatch.setattr("azero.mcts.search.trees._FIRST_ROLLOUTS", first)
        monkeypatch.setattr("azero.mcts.search.trees.next_size", lambda size, *_, times=times: size * times)
        search = kind(CONNECT_FOUR, Uct(), Settings(), num_trees=2, max_nodes=5_000)
        for b in range(2):
            search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
        search.run([0, 1], 500)
        found.append([snapshot(search, b) for b in range(2)])
    assert found[0] == found[1] == found[2]


@pytest.mark.skipif(not IS_COMPILED, reason="in plain Python it is seen anyway")
@pytest.mark.parametrize("kind", [TreeSearch, FlatSearch])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_ctrl_c_ends_a_search(kind, num_threads):
    search = kind(CONNECT_FOUR, Uct(), Settings(is_proving=False), None, 4, 5_000, num_threads)
    search.prepare()
    for b in range(4):
        search.start(b, CONNECT_FOUR.new_initial_state(), seed=b)
    timer = threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    begin = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        search.run(range(4), 1 << 30)
    assert time.perf_counter() - begin < 20


NO_MOVE = ("return count\n", "return count if state.left != 1 or state.ply < 24 else 0\n")


@pytest.mark.slow
@pytest.mark.skipif(not IS_COMPILED, reason="rare positions take many games")
@pytest.mark.parametrize("judge", ["uct", "evaluator", "solver", *long("flat", "look ahead")])
def test_a_position_without_moves_that_is_not_over_is_told(judge, tmp_path, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    write_file(tmp_path / "nim.py", NIM, NO_MOVE)
    game = make_game("nim.py:Nim(heap=36)")
    state = game.new_initial_state()
    for _ in range(22):
        state.apply_action(0)
    kind, evaluator = FlatSearch if judge == "flat" else TreeSearch, None
    if judge in ("evaluator", "look ahead", "solver"):
        evaluator = HashEvaluator(game)
    ahead, solved = Settings(is_looking_ahead=True, proof_nodes=100_000), Settings(solve_nodes=100_000)
    settings = {"look ahead": ahead, "solver": solved}.get(judge, Settings())
    search = kind(game, Puct() if evaluator else Uct(), settings, evaluator, max_nodes=50_000)
    search.prepare()
    search.start(0, state, seed=0)
    with pytest.raises(BrokenRules) as error:
        search.run([0], 2 if judge == "solver" else 20_000)
    line = {"uct": " 0" * 22, "flat": " 0" * 22, "solver": " 0" * 22 + " 1"}.get(judge)
    where = f"; actions so far:{line}" if line else ""
    assert str(error.value) == (
        f"nim.py:Nim(heap=36).legal_actions finds 0 actions while the game goes on, in a search{where}"
    )
    if evaluator:
        assert not search.forest.trees.pending.any() and not in_flightes(search).any()


class Interrupted(HashEvaluator):
    """Raises KeyboardInterrupt once, at batch `num_batches`."""

    def __init__(self, game, num_batches):
        super().__init__(game)
        self._num_left = num_batches

    def evaluate(self, planes):
        self._num_left -= 1
        if self._num_left == 0:
            raise KeyboardInterrupt
        return super().evaluate(planes)


@pytest.mark.parametrize("leaves", [1, 4])
def test_a_search_that_was_interrupted_goes_on_as_if_it_had_stopped_there(leaves):
    settings = Settings(leaves_per_tree=leaves, is_looking_ahead=True)
    broken, whole = (
        TreeSearch(CONNECT_FOUR, Puct(), settings, evaluator, num_trees=2)
        for evaluator in (Interrupted(CONNECT_FOUR, 20), HashEvaluator(CONNECT_FOUR))
    )
    for b in range(2):
        for search in (broken, whole):
            search.start(b, CONNECT_FOUR.new_initial_state(), b)
    with pytest.raises(KeyboardInterrupt):
        broken.run([0, 1], 300)
    num_done = broken.forest.trees.simulations.tolist()
    assert min(num_done) > 0 and max(num_done) < 300
    assert not broken.forest.trees.pending.any() and not in_flightes(broken).any()
    for b in range(2):
        whole.run([b], num_done[b])
    for search in (broken, whole):
        search.run([0, 1], 200)
    assert broken.forest.trees.simulations.tolist() == [200, 200]
    assert [snapshot(broken, b) for b in range(2)] == [snapshot(whole, b) for b in range(2)]
