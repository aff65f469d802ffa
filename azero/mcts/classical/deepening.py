"""Iterative deepening: alpha-beta to one ply, to two, and so on, until a limit is reached or the result is proven.

Source: Slate & Atkin, Chess 4.5 (1977).
"""

import math
import time

import numpy as np

from azero.exact.alphabeta import new_search, search_on, start_iteration
from azero.exact.transpositions import PROOF, noted_action
from azero.games import LOSS, State
from azero.games.contract import sign_of
from azero.mcts.search.analysis import RESULT_NAMES, MoveStatistics
from azero.system.pace import CALL_S, next_size

_FIRST_NODES = 4  # nodes of the first call; later calls have more, depending on the time they take


class Deepening:
    """A search of one position. `run` searches; `best_action`, `value` and `rank_moves` have its results."""

    def __init__(self, state: State, num_rollouts: int, max_table_entries: int, seed: int):
        self.state = state
        self._work = new_search(state, False, max_table_entries, num_rollouts, seed, horizon=1)
        self._sign = sign_of(state.current_player())
        self._legal = state.legal_actions()
        self.best_action = self._legal[0]
        self._at_once = _FIRST_NODES
        self._is_solved = False

    @property
    def num_leaves(self) -> int:
        """Number of positions that were evaluated or at the end of the game."""
        return int(self._work.progress[0].num_leaves)

    @property
    def value(self) -> float:
        """The value of the best move, in [-1, 1] for the player to move."""
        return self._value(self.best_action)

    @property
    def result(self) -> int | None:
        """The proven result of the position, for the player to move: 1, 0 or -1; None without a proof."""
        return int(self.value) if self._is_solved else None

    def run(self, max_leaves: int, seconds: float | None = None) -> None:
        """Searches until `max_leaves` leaves are seen, `seconds` are over, or the result is proven."""
        deadline = math.inf if seconds is None else time.perf_counter() + seconds
        call_s = CALL_S if seconds is None else min(CALL_S, seconds / 100)
        for horizon in range(1, self.state.game.max_plies + 1):
            start_iteration(self._work, False, horizon, self.best_action if horizon > 1 else -1)
            is_done = self._run_iteration(max_leaves, deadline, call_s)
            self._choose(is_done)
            self._is_solved = is_done and self._work.frames[0].draft == PROOF
            if not is_done or self._is_solved:
                return

    def _run_iteration(self, max_leaves: int, deadline: float, call_s: float) -> bool:
        """Continues the iteration in calls of about `call_s` seconds; returns whether it was completed."""
        progress, now = self._work.progress[0], time.perf_counter()
        while progress.num_leaves < max_leaves and now < deadline:
            begin = now
            if search_on(self.state, self._work, False, int(progress.num_nodes) + self._at_once, max_leaves):
                return True
            now = time.perf_counter()
            self._at_once = next_size(self._at_once, now - begin, call_s)
        return False

    def _choose(self, is_done: bool) -> None:
        """Sets `best_action` after an iteration.

        An incomplete iteration counts only if it has searched the previous best move. If the best move loses, the best
        of the moves that do not lose is taken. If all lose, the previous best move stays.
        """
        root, horizon = self._work.frames[0], self._work.progress[0].horizon
        is_of_use = is_done or horizon == 1 or self._work.root_moves[self.best_action].horizon == horizon
        if root.num_legal < 0 or not is_of_use:
            return
        if self._sign * root.value > LOSS:
            self.best_action = int(root.action)
            return
        undecided = [action for action in self._legal if self._value(action) > LOSS]
        if undecided:
            self.best_action = max(undecided, key=self._value)

    def _value(self, action: int) -> float:
        return float(self._sign * self._work.root_moves[action].value) + 0.0

    def rank_moves(self) -> list[MoveStatistics]:
        """Returns the moves, the best one first, the others by value. Each is from the last iteration that searched it.

        The value of a refuted move is an upper bound (`is_bound`). `visits` is the number of leaves below a move.
        Lengths of proofs are unknown, and priors are uniform.
        """
        order = sorted(self._legal, key=lambda action: (action != self.best_action, -self._value(action)))
        return [self._statistics(action) for action in order]

    def _statistics(self, action: int) -> MoveStatistics:
        move, value = self._work.root_moves[action], self._value(action)
        is_proven = move.draft == PROOF and not move.is_bound
        return MoveStatistics(
            actions=[action],
            visits=int(move.num_leaves),
            value=value,
            prior=1 / len(self._legal),
            proven=RESULT_NAMES[int(value)] if is_proven else None,
            proven_plies=None,
            pv=self._principal_variation(action),
            is_bound=bool(move.is_bound),
        )

    def _principal_variation(self, action: int) -> list[int]:
        """Returns a move and the best moves after it, as far as the table has them."""
        table, state, line = self._work.table, self.state.clone(), [action]
        state.apply_action(action)
        while not state.is_terminal() and len(line) < self._work.progress[0].horizon:
            best = int(noted_action(table, np.uint64(state.hash_key())))
            if best not in state.legal_actions():
                break
            line.append(best)
            state.apply_action(best)
        return line
