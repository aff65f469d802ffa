"""Alpha-beta as an agent. The limit in `alphabeta@1000` counts leaves, which random rollouts evaluate."""

import time
from collections.abc import Sequence

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import Limit
from azero.arena.agents.game_player import GamePlayer, Thought
from azero.arena.agents.names import AgentName, Options
from azero.arena.agents.suggestion import Suggestion, check_state, describe_moves
from azero.compiler.rng import derive_seed
from azero.exact.transpositions import ENTRY_DTYPE
from azero.games import Game, State
from azero.mcts import RESULT_NAMES
from azero.mcts.classical.deepening import Deepening

DEFAULT_ROLLOUTS = 16
MOST_ROLLOUTS = 1000
MOST_ENTRIES = 1 << 27
"""Entries of the largest table, 4 GiB. A search takes the memory as the table fills."""

_ENTRIES_UNLESS_GIVEN = 1 << 10, 1 << 21  # least and most; the most are 64 MiB
_ENTRIES_A_SECOND = 1 << 20


class AlphaBetaAgent(Agent):
    """Plays by iterative deepening. Each search starts from an empty table, so position and seed determine the move.

    Args:
      num_rollouts: random games that evaluate a leaf; with 0 all leaves have value 0.
      max_table_entries: most entries of the table; None: derived from the limit of the search.
    """

    judges_all_moves = False

    def __init__(
        self, name: str, game: Game, limit: Limit, num_rollouts: int, max_table_entries: int | None, seed: int = 0
    ):
        super().__init__(name, game, seed)
        self.limit = limit
        self.num_rollouts = num_rollouts
        self.max_table_entries = max_table_entries
        self.player = AlphaBetaPlayer(self)
        self._is_prepared = False

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        """Returns the moves of a position, ranked. Simulations and visits are numbers of leaves.

        The value of a refuted move is an upper bound; its `is_bound` is true.
        """
        check_state(self.game, state)
        limit = self.limit.unless(simulations, seconds)
        self.prepare()
        begin = time.perf_counter()
        search = self.search(state, limit, derive_seed(self.seed, "suggest"))
        moves = describe_moves(state, search.rank_moves())
        player, elapsed, proven = state.current_player(), time.perf_counter() - begin, RESULT_NAMES.get(search.result)
        return Suggestion(
            *(str(self.game), player, search.num_leaves, elapsed, search.value, moves[0].move, moves), proven=proven
        )

    def search(self, state: State, limit: Limit, seed: int) -> Deepening:
        """Returns a finished search of a position."""
        search = Deepening(state, self.num_rollouts, self._entries_for(limit), seed)
        search.run(limit.simulations, limit.seconds)
        return search

    def _entries_for(self, limit: Limit) -> int:
        """Returns the table's entries for a search with this limit: about as many as the positions that it visits."""
        if self.max_table_entries is not None:
            return self.max_table_entries
        wanted = 2 * limit.simulations
        if limit.seconds is not None:
            wanted = min(wanted, int(limit.seconds * _ENTRIES_A_SECOND))
        least, most = _ENTRIES_UNLESS_GIVEN
        return max(least, min(wanted, most))

    def prepare(self) -> None:
        """Compiles the search if necessary, before any time limit starts."""
        if not self._is_prepared:
            start = self.game.new_initial_state()
            describe_moves(start, self.search(start, Limit(1), 0).rank_moves())
            self._is_prepared = True


class AlphaBetaPlayer(GamePlayer):
    """Plays by alpha-beta, in each game from a seed of its own."""

    agent: AlphaBetaAgent

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        self.agent.prepare()
        super().start(num_slots, states, first_game)

    def start_clock(self) -> None:
        super().start_clock()
        self.agent.prepare()

    def _choose_in(self, slot: int) -> int:
        state = self.states[slot]
        legal = state.legal_actions()
        if len(legal) == 1:
            self._thoughts[slot] = None
            return legal[0]
        search = self.agent.search(state, self.agent.limit, self.seed_of(slot))
        return self._note(slot, search.best_action, Thought(search.value, search.num_leaves))


def make_alphabeta_agent(name: AgentName, game: Game, seed: int) -> AlphaBetaAgent:
    """Returns the alpha-beta agent of this name, with the options `rollouts` and `table`; raises BadInput."""
    options = Options(name.base)
    rollouts = options.whole("rollouts", DEFAULT_ROLLOUTS, 0, MOST_ROLLOUTS)
    entries = options.memory("table", ENTRY_DTYPE.itemsize, 2, MOST_ENTRIES)
    options.finish()
    return AlphaBetaAgent(name.text, game, name.limit, rollouts, entries, seed)
