"""`TableSearch`: UCT on a transposition table, with `table.py` in place of the tree below the root.

The kernels are like those of `search/kernels.py`.
"""

import math

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import random_below
from azero.errors import TOO_LONG, BadInput, BrokenRules
from azero.games import ONGOING, Game, State
from azero.games.contract import sign_of
from azero.mcts.classical.table import (
    FEWEST_ENTRIES,
    MOST_ENTRIES,
    StoredMoves,
    can_store,
    clear_entries,
    find_entry,
    new_tables,
    store,
    touch,
)
from azero.mcts.proving.lookahead import needs_replies, prove_by_replies
from azero.mcts.proving.proofs import conclude, prove_from_children, weigh_child
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.roots.ranking import value_for
from azero.mcts.scratch import Scratch
from azero.mcts.search.analysis import preference
from azero.mcts.search.kernels import VISITS_BEFORE_REPLIES, is_done
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.selection import Selection, select_child, visit
from azero.mcts.tree import UNPROVEN, Forest, clear_tree, create_children


@subroutine
def key_after(rules, state, action, work):
    """Returns the key of the position that an action leads to."""
    work[0] = state
    rules.apply_action(work[0], np.int64(action))
    return rules.hash_key(work[0])


@subroutine
def place_children(rules, tables, b, state, work, legal, ply):
    """Writes the table places of the children of `state`, which are at `ply`, into `tables.places`; -1 if absent.

    All children found are touched with the parent's visits, so that a child never replaces its sibling.

    Returns the number of children, the sum of their visits, and the number of new ones, or -1 if one cannot be stored.
    """
    entries, places, root_ply = tables.entries[b], tables.places[b], tables.plies[b]
    num_children = rules.legal_actions(state, legal)
    visits = 0
    num_new = 0
    for i in range(num_children):
        places[i] = find_entry(entries, key_after(rules, state, legal[i], work))
        if places[i] >= 0:
            visits += entries[places[i]].N
        else:
            num_new += 1
    for i in range(num_children):
        if places[i] >= 0:
            touch(entries[places[i]], ply, visits, root_ply)
    for i in range(num_children):
        if places[i] < 0:
            key = key_after(rules, state, legal[i], work)
            if not can_store(entries, key, ply, visits, root_ply):
                return num_children, visits, -1
    return num_children, visits, num_new


@subroutine
def random_stored_child(rules, settings, tree, tables, b, state, num_children):
    """Returns a random one of the stored children that pass both thresholds, by its index in `legal`, or -1.

    A child that is proven lost for the mover does not pass.

    Source: Kocsis & Szepesvari (2006), section 2.2, the second solution, with a threshold on values.
    """
    entries, places = tables.entries[b], tables.places[b]
    sign = sign_of(rules.current_player(state))
    chosen = -1
    num_passing = 0
    for i in range(num_children):
        if places[i] < 0:
            continue
        entry = entries[places[i]]
        is_lost = settings.is_proving and entry.proven == -sign
        is_passing = tables.stored.visits < entry.N and tables.stored.value < value_for(entry, sign)
        if is_passing and not is_lost:
            num_passing += 1
            if random_below(tree.rng, num_passing) == 0:
                chosen = i
    return chosen


@subroutine
def select_in_table(rules, selection, settings, tree, tables, b, state, work, legal, depth):
    """Returns the action that a simulation takes at `state`, `depth` plies below the root, and the visits of `state`.

    New children go first, in random order. If a child is neither in the table nor can be stored, the move is random, or
    a stored one if these `are_preferred`.
    """
    entries, places = tables.entries[b], tables.places[b]
    ply = tables.plies[b] + depth + 1
    num_children, visits, num_new = place_children(rules, tables, b, state, work, legal, ply)
    if tables.stored.are_preferred and num_new < 0 and visits + 1 >= settings.min_visits:
        stored = random_stored_child(rules, settings, tree, tables, b, state, num_children)
        if stored >= 0:
            return legal[stored], visits
    if num_new < 0 or visits + 1 < settings.min_visits:
        return legal[random_below(tree.rng, num_children)], visits
    if num_new > 0:
        rank = random_below(tree.rng, num_new)
        for i in range(num_children):
            if places[i] < 0:
                if rank == 0:
                    return legal[i], visits
                rank -= 1
    sign = sign_of(rules.current_player(state))
    exploration = selection.exploration(visits, depth, tree.length)
    best = 0
    best_score = -math.inf
    for i in range(num_children):
        entry = entries[places[i]]
        if settings.is_proving and entry.proven == -sign:
            continue
        value = float(sign * entry.proven) if entry.proven != UNPROVEN else sign * entry.W / entry.N
        score = selection.score(exploration, entry.N, value, 0.0)
        if score > best_score:
            best, best_score = i, score
    return legal[best], visits


@subroutine
def descend_in_table(parts, tree, nodes, tables, b, scratch):
    """Goes from the root to a position that is new or proven, and stores the path. Returns its depth and result.

    `scratch.states[0]` is the root's position and becomes the leaf's. A new position gets an entry if there is a place.
    Raises BrokenRules if a game is longer than the rules' `max_plies`.
    """
    rules, selection, settings = parts.rules, parts.selection, parts.settings
    state, work = scratch.states[0], scratch.states[1:]
    entries, root_ply = tables.entries[b], tables.plies[b]
    keys, actions = tables.keys[b], tables.actions[b]
    child = select_child(selection, settings, tree, nodes, 0, 0)
    scratch.path[1] = child
    actions[1] = nodes[child].action
    rules.apply_action(state, np.int64(actions[1]))
    if nodes[child].N == 0:
        nodes[child].proven = rules.outcome(state)
        return 1, nodes[child].proven
    if nodes[child].N >= VISITS_BEFORE_REPLIES and needs_replies(settings, nodes[child]):
        prove_by_replies(rules, nodes, nodes[child], state, scratch.line)
    if nodes[child].proven != UNPROVEN:
        return 1, nodes[child].proven
    for depth in range(2, len(keys)):
        action, visits = select_in_table(
            rules, selection, settings, tree, tables, b, state, work, scratch.legal, depth - 1
        )
        rules.apply_action(state, np.int64(action))
        keys[depth], actions[depth] = rules.hash_key(state), action
        place = find_entry(entries, keys[depth])
        if place < 0:
            outcome = rules.outcome(state)
            if can_store(entries, keys[depth], root_ply + depth, visits, root_ply):
                place = store(entries, keys[depth], root_ply + depth, visits, root_ply)
                entries[place].proven = outcome
            return depth, outcome
        if entries[place].proven != UNPROVEN:
            return depth, entries[place].proven
    raise BrokenRules(TOO_LONG)


@subroutine
def back_up_in_table(nodes, entries, child, keys, depth, value):
    """Adds one visit of `value`, for the first player, to the root, its child, and the path's entries in the table."""
    for node in (nodes[0], nodes[child]):
        node.N += 1
        node.W += value
    for at in range(2, depth + 1):
        place = find_entry(entries, keys[at])
        if place >= 0:
            entries[place].N += 1
            entries[place].W += value


@subroutine
def proof_of(rules, entries, state, work, legal):
    """Returns the result of a position, or UNPROVEN, and its plies, by its children in the table."""
    win = sign_of(rules.current_player(state))
    found = -win, -1, True
    for i in range(rules.legal_actions(state, legal)):
        place = find_entry(entries, key_after(rules, state, legal[i], work))
        if place < 0:
            found = weigh_child(win, found, UNPROVEN, 0)
        else:
            found = weigh_child(win, found, entries[place].proven, entries[place].proven_plies)
    return conclude(win, found)


@subroutine
def carry_proof_up_table(rules, nodes, tables, b, root_state, scratch, depth):
    """Backs up proofs from the position at `depth` of the path, until a position gets no new proof."""
    state, entries = scratch.states[0], tables.entries[b]
    for at in range(depth - 1, 0, -1):
        scratch.states[0] = root_state
        for ply in range(1, at + 1):
            rules.apply_action(state, np.int64(tables.actions[b, ply]))
        proven, plies = proof_of(rules, entries, state, scratch.states[1:], scratch.legal)
        if proven == UNPROVEN:
            return
        if at == 1:
            nodes[scratch.path[1]].proven = proven
            nodes[scratch.path[1]].proven_plies = plies
        else:
            place = find_entry(entries, tables.keys[b, at])
            if place < 0 or (entries[place].proven == proven and entries[place].proven_plies == plies):
                return
            entries[place].proven = proven
            entries[place].proven_plies = plies
    prove_from_children(nodes, 0)


@kernel
def simulate_in_table(parts, forest, tables, scratch, b, num_simulations):
    """Runs up to `num_simulations` simulations with rollouts in search b; returns whether it is done."""
    rules, settings = parts.rules, parts.settings
    tree, nodes = forest.trees[b], forest.nodes[b]
    for _ in range(num_simulations):
        if is_done(settings, tree, nodes):
            return True
        if nodes[0].first_child == 0:
            create_children(rules, tree, nodes, 0, forest.root_states[b], scratch.legal)
        scratch.states[0] = forest.root_states[b]
        depth, proven = descend_in_table(parts, tree, nodes, tables, b, scratch)
        if proven == UNPROVEN:
            value = float(parts.rollout_policy.play_out(rules, scratch.states[0], scratch, tree.rng))
        else:
            value = float(proven)
        back_up_in_table(nodes, tables.entries[b], scratch.path[1], tables.keys[b], depth, value)
        if settings.is_proving and proven != UNPROVEN:
            carry_proof_up_table(rules, nodes, tables, b, forest.root_states[b], scratch, depth)
        tree.simulations += 1
    return is_done(settings, tree, nodes)


@kernel
def advance_in_table(rules, settings, forest, tables, scratch, b, action):
    """Plays `action` at the root of search b; the new root's children get their statistics from the table."""
    tree, nodes, state = forest.trees[b], forest.nodes[b], forest.root_states[b]
    rules.apply_action(state, np.int64(action))
    tables.plies[b] += 1
    clear_tree(tree, nodes)
    if rules.outcome(state) == ONGOING:
        create_children(rules, tree, nodes, 0, state, scratch.legal)
        take_over(rules, settings, nodes, tables.entries[b], state, scratch.states)


@kernel
def take_over_turns(rules, settings, forest, tables, scratch, b):
    """Gives the whole turns at the root of search b the table's statistics of the positions after them."""
    take_over(rules, settings, forest.nodes[b], tables.entries[b], forest.root_states[b], scratch.states)


@subroutine
def take_over(rules, settings, nodes, entries, state, work):
    """Gives the root's children, all unvisited, their statistics from the table; `state` is the root's position."""
    root = nodes[0]
    for child in range(root.first_child, root.first_child + root.num_children):
        place = find_entry(entries, key_after(rules, state, nodes[child].action, work))
        if place >= 0:
            node = nodes[visit(nodes, root, child)]
            node.N, node.W = entries[place].N, entries[place].W
            node.proven, node.proven_plies = entries[place].proven, entries[place].proven_plies
            root.N += node.N
            root.W += node.W
    if settings.is_proving:
        prove_from_children(nodes, 0)


@kernel
def follow_table(rules, forest, tables, scratch, b, line, length):
    """Continues `line` ([L] int32), which has `length` actions from the root, by the best children in the table.

    Returns the new length. A repeated position ends the line.
    """
    state, work, entries, keys = scratch.states[0], scratch.states[1:], tables.entries[b], tables.keys[b]
    scratch.states[0] = forest.root_states[b]
    for place in range(length):
        rules.apply_action(state, np.int64(line[place]))
    first = length
    while length < len(line) and rules.outcome(state) == ONGOING:
        keys[length] = rules.hash_key(state)
        for place in range(first, length):
            if keys[place] == keys[length]:
                return length
        sign = sign_of(rules.current_player(state))
        best, best_place = np.int64(-1), np.int64(-1)
        for i in range(rules.legal_actions(state, scratch.legal)):
            place = find_entry(entries, key_after(rules, state, scratch.legal[i], work))
            if place >= 0 and (best < 0 or preference(entries[place], sign) > preference(entries[best_place], sign)):
                best, best_place = np.int64(scratch.legal[i]), place
        if best < 0:
            return length
        line[length] = best
        rules.apply_action(state, best)
        length += 1
    return length


class TableSearch(TreeSearch):
    """UCT with rollouts, on a transposition table of `num_entries` positions per search.

    If the future of a position depends on its history, as in Go with superko, only ends of games are proven: a proof
    on one path may be wrong on another.

    Raises BadInput if `num_entries` is out of range or the tables do not fit into memory.
    """

    def __init__(
        self,
        game: Game,
        selection: Selection,
        settings: Settings,
        num_entries: int,
        num_trees: int = 1,
        num_threads: int = 1,
        rollout: RolloutPolicy = OwnRollout(),
        stored: StoredMoves = StoredMoves(),
    ):
        if not FEWEST_ENTRIES <= num_entries <= MOST_ENTRIES:
            raise BadInput(f"table = {num_entries} should be from {FEWEST_ENTRIES} to {MOST_ENTRIES:,} entries")
        if num_trees * num_entries > MOST_ENTRIES:
            most = MOST_ENTRIES // num_trees
            raise BadInput(
                f"table = {num_entries} should be {most:,} entries or fewer, since {num_trees} games share memory"
            )
        assert selection.is_sweeping(), "a table stores no priors"
        settings = settings._replace(is_proving=settings.is_proving and game.rules.is_history_free)
        super().__init__(game, selection, settings, None, num_trees, game.num_actions + 1, num_threads, rollout)
        self._is_used = [False] * num_trees
        try:
            self.tables = new_tables(game.rules, num_trees, num_entries, stored)
        except OSError:
            raise BadInput(f"{num_trees} tables of {num_entries:,} entries do not fit into memory") from None

    def start(self, b: int, state: State, seed: int, is_repeatable: bool = True) -> None:
        super().start(b, state, seed, is_repeatable)
        if self._is_used[b]:
            clear_entries(self.tables.entries[b])
        self.tables.plies[b] = 0

    def advance(self, b: int, action: int) -> None:
        self.histories[b].append(action)
        rules, settings, scratch = self.game.rules, self.settings, self._trees.scratch
        advance_in_table(rules, settings, self.forest, self.tables, scratch, b, action)

    def line_below(self, b: int, line: list[int]) -> list[int]:
        whole = np.empty(self.game.max_plies, np.int32)
        whole[: len(line)] = line
        scratch = self._trees.scratch
        end = follow_table(self.game.rules, self.forest, self.tables, scratch, b, whole, len(line))
        return whole[len(line) : end].tolist()

    def simulate(self, parts: SearchParts, forest: Forest, scratch: Scratch, b: int, num_simulations: int) -> bool:
        self._is_used[b] = self._is_used[b] or num_simulations > 0
        return simulate_in_table(parts, forest, self.tables, scratch, b, num_simulations)
