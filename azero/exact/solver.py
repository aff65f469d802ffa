"""Exact values, by alpha-beta to the end of the game."""

import time
from typing import NamedTuple

from azero.exact.alphabeta import new_search, search_on
from azero.games import State
from azero.system.pace import next_size
from azero.system.threads import Slices, finish

_FIRST_NODES = 1 << 10  # nodes of the first call; the sizes of later calls depend on their times
_NO_LIMIT = 1 << 62


class Solution(NamedTuple):
    """The value of a position under best play."""

    value: float | None  # for the first player: WIN, DRAW or LOSS, or the final score; None if the limit came first
    action: int | None  # an action with that value; None if the game is over or the limit came first
    num_nodes: int  # positions visited, including those found in the table
    num_leaves: int  # ends of games among them


def solve(
    state: State, by_score: bool = False, max_table_entries: int = 1 << 20, node_limit: int = _NO_LIMIT
) -> Solution:
    """Returns the value of a position under best play, and an action with that value.

    Args:
      by_score: whether the value is the final score, e.g. the difference of stones in Othello, instead of the outcome.
      max_table_entries: most positions in the table, 32 bytes each; a game that is not `is_history_free` gets no table.
      node_limit: most nodes to visit; a solution that reaches it has no value.

    Raises:
      BrokenRules: the game's rules fail, e.g. a position that is not terminal has no legal action.
    """
    return finish(solving(state, by_score, max_table_entries, node_limit))


def solving(
    state: State, by_score: bool = False, max_table_entries: int = 1 << 20, node_limit: int = _NO_LIMIT
) -> Slices[Solution]:
    """As `solve`, in slices."""
    if state.is_terminal():
        return Solution(state.final_score() if by_score else state.returns()[0], None, 1, 1)
    work = new_search(state, by_score, max_table_entries)
    progress, root = work.progress[0], work.frames[0]
    at_once = _FIRST_NODES
    while progress.ply >= 0 and progress.num_nodes < node_limit:
        begin = time.perf_counter()
        search_on(state, work, by_score, min(int(progress.num_nodes) + at_once, node_limit), _NO_LIMIT)
        at_once = next_size(at_once, time.perf_counter() - begin)
        yield
    value, action = (float(root.value), int(root.action)) if progress.ply < 0 else (None, None)
    return Solution(value, action, int(progress.num_nodes), int(progress.num_leaves))
