"""Tests of UCT in a table: equal to the tree's search if no entry is lost or shared, and valid otherwise."""

import random

import numpy as np
import pytest
from cases import long

from azero.compiler.jit import IS_COMPILED, kernel
from azero.errors import BadInput
from azero.games import Game, State, make_game
from azero.mcts import DepthBias, Settings, TableSearch, TreeSearch, Uct, rank_moves, root_value
from azero.mcts.classical.table import MOST_ENTRIES, StoredMoves, find_entry
from azero.mcts.classical.table_search import random_stored_child
from azero.mcts.tree import UNPROVEN

from .measured import MeasuredPGame, OwnVisits
from .minimax import Minimax, RandomPlay, moves_of
from .trees import child_of, children_of, snapshot, walk

pytestmark = pytest.mark.slow  # it compiles kernels of its own

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")
PLAIN = Settings(is_proving=False)
NUM_SIMULATIONS = 4000 if IS_COMPILED else 400
REACHABLE = 5478  # positions of tic-tac-toe


def search_in_table(state, num_entries, num_simulations, settings=PLAIN, seed=0, selection=None, stored=StoredMoves()):
    search = TableSearch(state.game, selection or Uct(), settings, num_entries, stored=stored)
    search.start(0, state, seed)
    search.run([0], num_simulations)
    return search


def entry_of(search: TableSearch, state: State, b: int = 0) -> np.record | None:
    """Returns table b's entry of a position, or None."""
    place = find_entry(search.tables.entries[b], np.uint64(state.hash_key()))
    return search.tables.entries[b][place] if place >= 0 else None


def entries_of(search: TableSearch, b: int = 0) -> np.recarray:
    """Returns the entries in use of table b."""
    entries = search.tables.entries[b]
    return entries[entries.ply > 0]


def child_visits(search: TableSearch, b: int = 0) -> list[int]:
    """Returns the visits of the root's moves, in order of actions."""
    nodes = search.forest.nodes[b]
    return [int(N) for _, N in sorted((nodes[child].action, nodes[child].N) for child in children_of(nodes))]


def positions_of(game: Game, count: int, min_plies: int, seed: int = 0) -> list[State]:
    """Returns positions of random games after at least `min_plies` plies."""
    chooser, positions = random.Random(seed), []
    while len(positions) < count:
        state, line = game.new_initial_state(), []
        while not state.is_terminal():
            line.append(state.clone())
            state.apply_action(chooser.choice(state.legal_actions()))
        positions += [chooser.choice(line[min_plies:])] if len(line) > min_plies else []
    return positions


@pytest.mark.parametrize("is_proving", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_a_table_that_holds_all_is_the_tree_visit_for_visit(seed, is_proving):
    """A P-game has no transpositions. With two moves, random numbers are drawn in the same order too."""
    game = Game(MeasuredPGame(branching=2, depth=12, seed=seed))
    selection, settings = OwnVisits(), Settings(is_proving=is_proving)
    on_tree, on_table = (
        TreeSearch(game, selection, settings, max_nodes=20_000),
        TableSearch(game, selection, settings, 1 << 18),
    )
    state = game.new_initial_state()
    for search in (on_tree, on_table):
        search.start(0, state, seed)
    for _ in range(4):
        for search in (on_tree, on_table):
            search.run([0], NUM_SIMULATIONS // 4)
        assert_same_statistics(on_tree, on_table, state)
        action = on_tree.choose(0)
        assert on_table.choose(0) == action
        state.apply_action(action)
        for search in (on_tree, on_table):
            search.advance(0, action)


def assert_same_statistics(on_tree, on_table, root):
    """Asserts equal statistics of table and tree, except at ends of games, whose visits may be in any order."""
    nodes, num_compared = on_tree.forest.nodes[0], 0
    assert on_tree.forest.trees[0].rng.counter == on_table.forest.trees[0].rng.counter
    assert on_tree.forest.trees[0].simulations == on_table.forest.trees[0].simulations
    assert nodes[0].proven == on_table.forest.nodes[0][0].proven
    for index, state in walk(on_tree, root):
        node = nodes[index]
        if state.is_terminal() or index == 0 or node.N == 0:
            continue
        is_move = index in children_of(nodes)
        entry = child_of(on_table, node.action) if is_move else entry_of(on_table, state)
        assert (node.N, node.W) == (entry.N, entry.W)
        assert (node.proven, node.proven_plies) == (entry.proven, entry.proven_plies)
        num_compared += 1
    assert num_compared > 50 or nodes[0].proven != UNPROVEN


def test_positions_are_shared_whatever_moves_led_there():
    search = search_in_table(TIC_TAC_TOE.new_initial_state(), 100_000, 10 * NUM_SIMULATIONS, selection=Uct(2.0))
    entries = entries_of(search)
    assert len(set(entries.key)) == len(entries) <= REACHABLE
    visits = [int(entries[entries.ply == ply].N.sum()) for ply in (2, 3)]
    assert visits[0] == 10 * NUM_SIMULATIONS - 9, "each simulation passes one, except the first of each move"
    assert visits[1] == visits[0] - 72, "and another, except the first of each of those"
    assert (entries.ply == 3).sum() == 9 * 8 * 7 / 2, "two move orders should lead to each position"


def test_two_move_orders_lead_to_one_entry():
    search = search_in_table(TIC_TAC_TOE.new_initial_state(), 100_000, NUM_SIMULATIONS)
    one, other = (TIC_TAC_TOE.state_from_moves(moves) for moves in ("b2 a1 c3", "c3 a1 b2"))
    assert entry_of(search, one) == entry_of(search, other)
    assert entry_of(search, one) != entry_of(search, TIC_TAC_TOE.state_from_moves("b2 a1 b1"))


PROVEN_GAMES = [
    ("tic_tac_toe", 3),
    ("connect_four(rows=4,columns=4)", 9),
    ("clobber(rows=3,columns=3)", 0),
    *long(("clobber(rows=3,columns=4)", 2), ("amazons(rows=4,columns=4)", 17)),
]


@pytest.mark.thorough
@pytest.mark.parametrize("num_entries", [4, 64, 100_000])
@pytest.mark.parametrize(("name", "min_plies"), PROVEN_GAMES)
def test_proofs_are_those_of_minimax(name, min_plies, num_entries):
    """Checks proofs in the table and of root moves. A proven win may be longer than the shortest, but not shorter."""
    minimax, num_proofs = Minimax(), 0
    for seed, root in enumerate(positions_of(make_game(name), 8 if IS_COMPILED else 2, min_plies)):
        search = search_in_table(root, num_entries, NUM_SIMULATIONS, Settings(), seed)
        for state in positions_below(root):
            found = entry_of(search, state)
            if found is not None and found.proven != UNPROVEN:
                check_proof(found, *minimax.solve(state))
                num_proofs += 1
                if num_entries == 100_000:
                    check_line(search, found, state)
        for action, after in moves_of(root):
            if child_of(search, action).proven != UNPROVEN:
                check_proof(child_of(search, action), *minimax.solve(after))
                num_proofs += 1
        if search.forest.nodes[0][0].proven != UNPROVEN:
            check_proof(search.forest.nodes[0][0], *minimax.solve(root))
            assert search.choose(0) in minimax.best_actions(root)
    assert num_proofs > 0


def check_proof(found, result, plies):
    assert found.proven == result
    assert found.proven_plies == plies if result == 0 else found.proven_plies >= plies


def check_line(search, found, state):
    """Asserts that a proof's length follows from a child with the same result. A large table still has all children."""
    if not state.is_terminal():
        children = [entry_of(search, after) for _, after in moves_of(state)]
        same = [child.proven_plies for child in children if child is not None and child.proven == found.proven]
        assert found.proven_plies - 1 in same
        is_won = found.proven == 1 - 2 * state.current_player()
        assert is_won or found.proven_plies - 1 == max(same)


def positions_below(root: State) -> list[State]:
    """Returns every later position once."""
    known, waiting = {}, [root]
    while waiting:
        for _, after in moves_of(waiting.pop()):
            if after.hash_key() not in known:
                known[after.hash_key()] = after
                waiting.append(after)
    return list(known.values())


def test_lines_go_on_in_the_table_without_a_proof():
    search = search_in_table(make_game("connect_four").new_initial_state(), 10_000, 2000, Settings())
    best = rank_moves(search)[0]
    assert best.proven is None and len(best.pv) > 2


def test_a_small_game_is_proven_to_the_root():
    state = TIC_TAC_TOE.state_from_moves("b2 a1 b1 b3")
    search = search_in_table(state, 10_000, 3000, Settings())
    root, ranked = search.forest.nodes[0][0], rank_moves(search)
    assert (root.proven, root.proven_plies) == (0, 5) and search.forest.trees[0].simulations < 3000
    assert (ranked[0].proven, ranked[0].proven_plies, len(ranked[0].pv)) == ("draw", 5, 5)
    for action in ranked[0].pv:
        state.apply_action(action)
    assert state.is_terminal() and state.returns() == [0, 0]


@pytest.mark.long
@pytest.mark.parametrize("superko", [True, False])
@pytest.mark.parametrize("size", [2, 3])
def test_where_the_past_counts_nothing_is_proven_but_ends(size, superko):
    game = make_game(f"go(size={size},superko={superko})")
    search = search_in_table(game.new_initial_state(), 20_000, NUM_SIMULATIONS, Settings())
    entries, nodes = entries_of(search), search.forest.nodes[0]
    proven = entries[entries.proven != UNPROVEN]
    assert len(proven) > 0 and not proven.proven_plies.any()
    assert nodes[0].proven == UNPROVEN and search.forest.trees[0].simulations == NUM_SIMULATIONS
    num_met = 0
    for state in positions_of(game, 200 if IS_COMPILED else 20, 2) + two_passes(game):
        found = entry_of(search, state)
        if found is not None:
            assert (found.proven != UNPROVEN) == state.is_terminal()
            num_met += 1
    assert num_met > 2


def two_passes(game) -> list[State]:
    return [game.state_from_moves("pass pass"), game.state_from_moves("a1 pass pass")]


@pytest.mark.parametrize("name", ["go(size=2,superko=False)", *long("go(size=3,superko=False,suicide=True)")])
def test_games_in_circles_end_at_their_limit(name):
    game = make_game(name)
    search = search_in_table(game.new_initial_state(), 20_000, NUM_SIMULATIONS)
    assert search.forest.nodes[0][0].N == sum(child_visits(search)) == NUM_SIMULATIONS
    assert abs(root_value(search)) <= 1
    for move in rank_moves(search):
        assert len(move.pv) <= game.max_plies
        state = game.new_initial_state()
        for action in move.pv:
            state.apply_action(action)


@pytest.mark.parametrize("num_entries", [2, 3, 17, 64])
@pytest.mark.parametrize("name", ["connect_four", *long("amazons(rows=4,columns=4)", "go(size=3)")])
def test_memory_is_what_was_asked_for(name, num_entries):
    state = make_game(name).new_initial_state()
    search = search_in_table(state, num_entries, NUM_SIMULATIONS)
    assert len(entries_of(search)) <= search.tables.entries.shape[1] == num_entries - num_entries % 2
    assert len(search.forest.nodes[0]) == state.game.num_actions + 1
    assert search.forest.nodes[0][0].N == sum(child_visits(search)) == NUM_SIMULATIONS


def test_in_too_small_a_table_moves_below_the_root_s_are_random():
    """Three moves never all have an entry, so the values of root moves are those of random play."""
    root = make_game("p_game(branching=3,depth=6,seed=2)").new_initial_state()
    search, exact = search_in_table(root, 2, 5 * NUM_SIMULATIONS), RandomPlay()
    for action, after in moves_of(root):
        wins, draws, _ = exact.expect(after)
        mean, node = float(2 * wins + draws - 1), child_of(search, action)
        assert abs(node.W / node.N - mean) <= 4 * ((float(1 - draws) - mean**2) / node.N) ** 0.5


def test_in_too_small_a_table_the_root_s_move_is_chosen_by_uct():
    state = CONNECT_FOUR.state_from_moves("171717")
    search = search_in_table(state, 2, NUM_SIMULATIONS)
    assert child_visits(search)[0] > 0.6 * NUM_SIMULATIONS and search.choose(0) == 0


def test_siblings_do_not_take_each_other_s_place():
    """With two places for three siblings, the two stored ones are visited evenly. The lost one gets no advantage."""
    state = make_game("p_game(branching=3,depth=12,seed=1)").new_initial_state()
    search = search_in_table(state, 2, NUM_SIMULATIONS)
    favourite = max(child_visits(search))
    assert min(search.tables.entries[0].N) > favourite / 6


@kernel
def pick_stored(rules, settings, tree, tables, b, state, num_children):
    return random_stored_child(rules, settings, tree, tables, b, state, num_children)


STORED = [(50, 0.2), (5, 0.9), None, (20, -0.4), (80, -1.0)]
"""Visits and values, for the player to move, of five moves. The third is not stored; the last is proven lost."""


@pytest.mark.parametrize("moves", ["", "0"])
@pytest.mark.parametrize(
    ("thresholds", "passing"),
    [
        ({"visits": 0}, {0, 1, 3}),
        ({"visits": 19}, {0, 3}),
        ({"visits": 20}, {0}),
        ({"visits": 50}, set()),
        ({"value": 0.0}, {0, 1}),
        ({"value": 0.2}, {1}),
        ({"value": 0.9}, set()),
        ({"value": -1.0}, {0, 1, 3}),
        ({"visits": 10, "value": 0.0}, {0}),
    ],
)
def test_of_stored_moves_those_above_the_thresholds_are_taken(moves, thresholds, passing):
    state = make_game("p_game(branching=5,depth=4)").state_from_moves(moves)
    search = TableSearch(state.game, Uct(), Settings(), 8, stored=StoredMoves(True, **thresholds))
    sign = 1 - 2 * state.current_player()
    for place, stored in enumerate(STORED):
        search.tables.places[0][place] = -1 if stored is None else place
        if stored is not None:
            entry = search.tables.entries[0][place]
            entry.N, entry.W = stored[0], sign * stored[0] * stored[1]
            entry.proven = -sign if stored[1] == -1.0 else UNPROVEN
    rules, tree = state.game.rules, search.forest.trees[0]
    picked = [pick_stored(rules, search.settings, tree, search.tables, 0, state.record, 5) for _ in range(100)]
    assert set(picked) == (passing or {-1})
    assert all(abs(picked.count(place) - 100 / len(passing)) < 30 for place in passing)


@pytest.mark.parametrize("thresholds", [{"visits": 5}, {"value": 0.0}])
def test_stored_moves_are_taken_only_where_not_all_can_be_stored(thresholds):
    state, both = CONNECT_FOUR.state_from_moves("4433"), (StoredMoves(), StoredMoves(True, **thresholds))
    large, small = (
        [snapshot(search_in_table(state, entries, NUM_SIMULATIONS, Settings(), stored=each)) for each in both]
        for entries in (100_000, 50)
    )
    assert large[0] == large[1] and small[0] != small[1]


@pytest.mark.parametrize("settings", [PLAIN, Settings(), Settings(min_visits=10)])
@pytest.mark.parametrize("selection", [Uct(), DepthBias()])
def test_threads_make_no_difference(settings, selection):
    alone = TableSearch(CONNECT_FOUR, selection, settings, 1000, num_trees=5)
    together = TableSearch(CONNECT_FOUR, selection, settings, 1000, num_trees=5, num_threads=3)
    for search in (alone, together):
        for b, moves in enumerate(("", "4", "44", "4433", "171")):
            search.start(b, CONNECT_FOUR.state_from_moves(moves), 7 + b)
        search.run(range(5), NUM_SIMULATIONS // 4)
    assert [snapshot(alone, b) for b in range(5)] == [snapshot(together, b) for b in range(5)]
    assert (alone.tables.entries == together.tables.entries).all()
    assert alone.tables.entries[0].tobytes() != alone.tables.entries[1].tobytes()


@pytest.mark.parametrize("is_proving", [False, True])
def test_a_move_played_keeps_what_is_known_below_it(is_proving):
    state = CONNECT_FOUR.state_from_moves("4433")
    search = search_in_table(state, 100_000, NUM_SIMULATIONS, Settings(is_proving=is_proving))
    before = entries_of(search).copy()
    for action in (search.choose(0), 2):
        search.advance(0, action)
        state.apply_action(action)
        root, total = search.forest.nodes[0][0], 0
        for action, after in moves_of(state):
            node, entry = child_of(search, action), entry_of(search, after)
            known = (0, 0.0, UNPROVEN) if entry is None else (entry.N, entry.W, entry.proven)
            assert (node.N, node.W, node.proven) == known
            total += node.N
        assert root.N == total > 0
    assert (entries_of(search) == before).all()
    search.run([0], 100)
    assert root.proven != UNPROVEN or root.N - total == 100


def test_without_proofs_a_move_played_proves_nothing():
    search = search_in_table(CONNECT_FOUR.state_from_moves("44332"), 10_000, NUM_SIMULATIONS)
    search.advance(0, 6)
    assert search.forest.nodes[0][0].proven == UNPROVEN


def test_a_new_game_begins_with_an_empty_table():
    search = search_in_table(CONNECT_FOUR.new_initial_state(), 1000, NUM_SIMULATIONS)
    first = snapshot(search)
    search.advance(0, 3)
    search.start(0, CONNECT_FOUR.new_initial_state(), 0)
    assert len(entries_of(search)) == 0 and search.tables.plies[0] == 0
    search.run([0], NUM_SIMULATIONS)
    assert snapshot(search) == first


@pytest.mark.parametrize("min_visits", [0, 500])
def test_a_root_s_first_visits_are_random(min_visits):
    state, settings = CONNECT_FOUR.state_from_moves("171717"), Settings(is_proving=False, min_visits=min_visits)
    search = search_in_table(state, 10_000, 500, settings)
    chi_square = sum((N - 500 / 7) ** 2 / (500 / 7) for N in child_visits(search))
    assert chi_square < 28 if min_visits else chi_square > 500, "6 degrees of freedom: 28 is 1 in 10,000"


def test_sizes_are_bounded():
    for num_entries in (1, MOST_ENTRIES + 1):
        with pytest.raises(BadInput, match=rf"^table = {num_entries} should be from 2 to 268,435,456 entries$"):
            TableSearch(TIC_TAC_TOE, Uct(), PLAIN, num_entries)
    with pytest.raises(BadInput, match=r"^table = 100000000 should be 2,097,152 entries or fewer, since 128 games"):
        TableSearch(TIC_TAC_TOE, Uct(), PLAIN, 100_000_000, num_trees=128)
