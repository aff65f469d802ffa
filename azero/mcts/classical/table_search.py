"""`TableSearch`: the Python interface to B searches, each with its own transposition table."""

import numpy as np

from azero.compiler.jit import kernel
from azero.errors import BadInput
from azero.games import ONGOING, Game, State
from azero.games.contract import sign_of
from azero.mcts.classical.table import FEWEST_ENTRIES, MOST_ENTRIES, StoredMoves, clear_entries, find_entry, new_tables
from azero.mcts.classical.table_kernels import advance_in_table, key_after, simulate_in_table
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.scratch import Scratch
from azero.mcts.search.search import TreeSearch
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.search.variation import preference
from azero.mcts.selection.strategies import Selection
from azero.mcts.tree import Forest


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
