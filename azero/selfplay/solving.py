"""Exact results of the positions of finished games, found by alpha-beta from the last position backwards.

The positions near the end of a game are cheap to solve, and each earlier one costs more. All positions of a game share
a table, so at an earlier position only the moves that were not played are new.
"""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from azero.exact.alphabeta import Work, answer_of, new_search, restart, search_on, start_test
from azero.games import WIN, Game, State
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.shard import Shard

_MOST_ENTRIES = 1 << 17  # of the table, 32 bytes each; all are cleared for each game
_NO_LIMIT = 1 << 62


def solve_endings(game: Game, shard: Shard, max_positions: int, num_threads: int = 1) -> Shard:
    """Returns the shard with the results of the last positions of each game as their values and as proofs.

    A game depends on no other game. Raises BrokenRules if the game's rules are broken.

    Args:
      max_positions: positions that alpha-beta may visit per game. A position that needs more ends the game's solving.
        The earlier positions keep the values of their searches. With 0 nothing is solved.
      num_threads: threads that share the games. The result does not depend on it.
    """
    if max_positions == 0:
        return shard
    solved = shard._replace(proven=shard.proven.copy(), root_values=shard.root_values.copy())
    ends = np.cumsum(shard.lengths)
    games = list(zip(ends - shard.lengths, ends, strict=True))
    is_stopped = threading.Event()

    def solve(own: list[tuple[int, int]]) -> None:
        work = new_search(game.new_initial_state(), False, min(max_positions, _MOST_ENTRIES))
        for begin, end in own:
            if is_stopped.is_set():
                return
            _solve_game(game, solved, work, begin, end, max_positions)

    if num_threads == 1:
        solve(games)
        return solved
    with ThreadPoolExecutor(num_threads) as pool:
        try:
            list(pool.map(solve, (games[first::num_threads] for first in range(num_threads))))
        except BaseException:
            is_stopped.set()  # the other threads end after their games
            raise
    return solved


def _solve_game(game: Game, shard: Shard, work: Work, begin: int, end: int, max_positions: int) -> None:
    """Solves the last positions of a game, whose positions are from `begin` to `end`, and changes the shard."""
    restart(work)
    least = int(shard.outcomes[begin])  # what the next position is worth, for the first player
    for index in range(end - 1, begin - 1, -1):
        sign, result = int(sign_of(shard.players[index])), int(shard.proven[index])
        if result == UNPROVEN:
            state = State.from_record(game, shard.states[index], [])
            found = _solve(work, state, sign, sign * least, max_positions)
            if found is None:
                return
            result = found
        shard.proven[index] = shard.root_values[index] = result
        least = sign * result


def _solve(work: Work, state: State, sign: int, least: int, max_positions: int) -> int | None:
    """Returns the result for the player of `sign`, who can reach `least`; None beyond the limit on positions."""
    for better in range(least + 1, WIN + 1):
        start_test(work, state, sign, better)
        if not search_on(state, work, False, max_positions, _NO_LIMIT):
            return None
        if not answer_of(work, sign, better):
            return better - 1
    return WIN
