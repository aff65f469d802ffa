"""`TableSearch`: the Python interface to B searches, each with its own transposition table."""

import numpy as np

from azero.errors import BadInput
from azero.games import Game, State
from azero.mcts.classical.table import FEWEST_ENTRIES, MOST_ENTRIES, StoredMoves, clear_entries, new_tables
from azero.mcts.classical.table_kernels import advance_in_table, simulate_in_table
from azero.mcts.classical.table_variation import follow_table
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.scratch import Scratch
from azero.mcts.search.search import Search
from azero.mcts.search.settings import SearchParts, Settings
from azero.mcts.selection.strategies import Selection
from azero.mcts.tree import Forest


class TableSearch(Search):
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
