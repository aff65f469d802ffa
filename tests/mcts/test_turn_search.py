"""Tests of searches over whole turns: equal to the plain search if turns are single actions, valid otherwise."""

import math

import numpy as np
import pytest
from cases import long

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.mcts import (
    DepthBias,
    FlatSearch,
    FlatTurnSearch,
    Settings,
    TableSearch,
    TableTurnSearch,
    TreeSearch,
    TurnSearch,
    Uct,
    rank_moves,
    root_value,
)
from azero.mcts.classical import turn_search
from azero.mcts.classical.table import find_entry
from azero.mcts.classical.turn_search import new_turns

from .minimax import Minimax, RandomPlay
from .trees import children_of, snapshot
from .turn_games import TurnsPGame, turns_of

pytestmark = pytest.mark.slow  # it compiles kernels of its own

AMAZONS, CONNECT_FOUR = make_game("amazons(size=4)"), make_game("connect_four")
PLAIN = Settings(is_proving=False)
ENTRIES = 10_000
NUM_SIMULATIONS = 3000 if IS_COMPILED else 300


def search_for(kind, state, num_simulations=NUM_SIMULATIONS, settings=PLAIN, seed=0, selection=None):
    """Returns a search of this kind after its run."""
    search = new_search(kind, state.game, settings, selection)
    search.start(0, state, seed)
    search.run([0], num_simulations)
    return search


def new_search(kind, game, settings=PLAIN, selection=None, num_trees=1, num_threads=1):
    if issubclass(kind, TableSearch):
        return kind(game, selection or Uct(), settings, ENTRIES, num_trees, num_threads)
    return kind(game, selection or Uct(), settings, None, num_trees, 50_000, num_threads)


def statistics(search):
    """Returns the statistics of the root's moves, by action."""
    nodes = search.forest.nodes[0]
    found = [nodes[child] for child in children_of(nodes)]
    return {tuple(search.actions_of(0, int(node.action))): (int(node.N), float(node.W)) for node in found}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kind", "plain", "selection"),
    [
        (TurnSearch, TreeSearch, Uct()),
        (FlatTurnSearch, FlatSearch, Uct()),
        (TableTurnSearch, TableSearch, Uct()),
        *long((TurnSearch, TreeSearch, DepthBias()), (TableTurnSearch, TableSearch, DepthBias())),
    ],
)
def test_where_every_turn_is_an_action_it_is_the_same_search_visit_for_visit(kind, plain, selection):
    state = CONNECT_FOUR.state_from_moves("4453")
    ours, theirs = (search_for(each, state, settings=Settings(), selection=selection) for each in (kind, plain))
    assert statistics(ours) == statistics(theirs)
    assert ours.forest.trees[0].rng.counter == theirs.forest.trees[0].rng.counter
    assert ours.choose(0) == theirs.choose(0) and rank_moves(ours) == rank_moves(theirs)


@pytest.mark.parametrize("kind", [TurnSearch, FlatTurnSearch, TableTurnSearch])
@pytest.mark.parametrize("moves", ["", "a2", "a2-a1/a2"])
def test_the_root_s_moves_are_all_whole_turns(kind, moves):
    state = AMAZONS.state_from_moves(moves)
    search = search_for(kind, state)
    found, turns = statistics(search), {tuple(turn): after for turn, after in turns_of(state)}
    assert found.keys() == turns.keys()
    assert sum(N for N, _ in found.values()) == search.forest.nodes[0][0].N == NUM_SIMULATIONS
    assert min(N for N, _ in found.values()) > 0 or kind is FlatTurnSearch or not IS_COMPILED
    assert abs(root_value(search)) <= 1
    for move in rank_moves(search)[:5]:
        after = state.clone()
        for action in move.pv:
            after.apply_action(action)
        assert move.pv[: len(move.actions)] == move.actions and move.action == move.actions[0]


def test_plain_monte_carlo_tries_turns_evenly_and_values_are_those_of_random_play():
    state = Game(TurnsPGame(branching=3, depth=6, seed=4)).new_initial_state()
    num, exact = 20 * NUM_SIMULATIONS, RandomPlay()
    found = statistics(search_for(FlatTurnSearch, state, num))
    share = 1 / len(found)
    for turn, after in turns_of(state):
        N, W = found[tuple(turn)]
        wins, draws, _ = exact.expect(after)
        mean = float(2 * wins + draws - 1)
        assert abs(N / num - share) < 4.5 * math.sqrt(share * (1 - share) / num)
        assert abs(W / N - mean) <= 4.5 * math.sqrt((float(1 - draws) - mean**2) / N)


@pytest.mark.parametrize("kind", [TurnSearch, TableTurnSearch])
@pytest.mark.parametrize("seed", range(2 if IS_COMPILED else 1))
def test_proofs_are_those_of_minimax_and_count_every_action(kind, seed):
    state, minimax, num_proofs = Game(TurnsPGame(branching=3, depth=7, seed=seed)).new_initial_state(), Minimax(), 0
    search = search_for(kind, state, 30_000, Settings())
    sign = 1 - 2 * state.current_player()
    ends = {tuple(turn): after for turn, after in turns_of(state)}
    for move in rank_moves(search):
        if move.proven is not None:
            result, plies = minimax.solve(ends[tuple(move.actions)])
            assert {"win": 1, "draw": 0, "loss": -1}[move.proven] == sign * result
            assert move.proven_plies >= len(move.actions) + plies
            num_proofs += 1
    root = search.forest.nodes[0][0]
    assert num_proofs > 0 and root.proven == minimax.solve(state)[0] and search.forest.trees[0].simulations < 30_000
    assert search.choose(0) in minimax.best_actions(state)


@pytest.mark.parametrize("kind", [TurnSearch, FlatTurnSearch, TableTurnSearch])
def test_one_search_chooses_all_actions_of_a_turn(kind):
    state = AMAZONS.new_initial_state()
    search = search_for(kind, state)
    turn, played = rank_moves(search)[0].actions, []
    for place in range(3):
        assert search.is_within_turn(0) == (place > 0)
        if place > 0:
            search.run([0], NUM_SIMULATIONS)
            assert search.forest.trees[0].simulations == 0
        played.append(search.choose(0))
        assert search.choose(0) == played[-1]
        search.advance(0, played[-1])
        state.apply_action(played[-1])
    assert played == turn and not search.is_within_turn(0)
    search.run([0], 200)
    assert search.forest.trees[0].simulations == 200
    assert statistics(search).keys() == {tuple(turn) for turn, _ in turns_of(state)}


def test_where_another_action_is_played_the_rest_of_the_turn_is_searched():
    state = AMAZONS.new_initial_state()
    search = search_for(TurnSearch, state)
    chosen = search.choose(0)
    other = next(action for action in state.legal_actions() if action != chosen)
    search.advance(0, other)
    state.apply_action(other)
    assert not search.is_within_turn(0)
    search.run([0], 300)
    assert statistics(search).keys() == {tuple(turn) for turn, _ in turns_of(state)}


def test_a_new_game_forgets_a_turn_under_way():
    search = search_for(TurnSearch, AMAZONS.new_initial_state())
    search.advance(0, search.choose(0))
    search.start(0, AMAZONS.new_initial_state(), 1)
    assert not search.is_within_turn(0)
    search.run([0], 300)
    assert search.forest.trees[0].simulations == 300


def test_a_table_s_positions_are_taken_over_by_the_next_turns():
    state = AMAZONS.new_initial_state()
    search = search_for(TableTurnSearch, state, 5 * NUM_SIMULATIONS if IS_COMPILED else 50)
    for _ in range(3):
        state.apply_action(search.choose(0))
        search.advance(0, state.history()[-1])
    entries, known = search.tables.entries[0], {}
    for turn, after in turns_of(state):
        place = find_entry(entries, np.uint64(after.hash_key()))
        known[tuple(turn)] = (0, 0.0) if place < 0 else (int(entries[place].N), float(entries[place].W))
    assert sum(N for N, _ in known.values()) > 0 or not IS_COMPILED
    search.run([0], 1)
    found = statistics(search)
    changed = [turn for turn in known if found[turn] != known[turn]]
    assert len(changed) == 1 and found[changed[0]][0] == known[changed[0]][0] + 1


def test_threads_make_no_difference():
    searches = [new_search(TurnSearch, AMAZONS, Settings(), num_trees=4, num_threads=threads) for threads in (1, 3)]
    for search in searches:
        for b in range(4):
            search.start(b, AMAZONS.new_initial_state(), b)
        search.run(range(4), NUM_SIMULATIONS // 10)
    one, other = ([snapshot(search, b) for b in range(4)] for search in searches)
    assert one == other and one[0] != one[1]


def test_preparing_leaves_a_search_as_it_was():
    searches = [new_search(kind, AMAZONS) for kind in (TurnSearch, TurnSearch)]
    for search, times in zip(searches, (1, 2), strict=True):
        for _ in range(times):
            search.prepare()
        search.start(0, AMAZONS.state_from_moves("a2"), 5)
        search.run([0], 200)
        if times == 2:
            search.prepare()
        search.run([0], 100)
    assert snapshot(searches[0]) == snapshot(searches[1])


def test_too_many_turns_are_bad_input_that_names_them(monkeypatch):
    def few(rules, num_trees):
        turns = new_turns(rules, num_trees)
        return turns._replace(starts=turns.starts[:, :41])

    monkeypatch.setattr(turn_search, "new_turns", few)
    search = new_search(TurnSearch, AMAZONS)
    search.start(0, AMAZONS.state_from_moves("a2"), 0)
    search.run([0], 10)
    search.start(0, AMAZONS.new_initial_state(), 0)
    with pytest.raises(
        BadInput, match=r"^root=turns: amazons\(rows=4,columns=4\) has more than 40 turns[^\n]*actions$"
    ):
        search.run([0], 10)
