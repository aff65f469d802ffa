"""Exact values, by alpha-beta to the end of the game."""

import time
from typing import NamedTuple

from azero.compiler.pace import next_size
from azero.exact.alphabeta import search_on
from azero.exact.frames import new_search
from azero.games import State

_FIRST_NODES = 1 << 10  # of a search; how many follow at once depends on how long they take
_NO_LIMIT = 1 << 62


class Solution(NamedTuple):
    """What a position is worth under best play."""

    value: float | None  # for the first player: WIN, DRAW or LOSS, or the final score; None where the limit came first
    action: int | None  # one that leads there; None where the game is over or the limit came first
    num_nodes: int  # positions visited, the table's included
    num_leaves: int  # those of them where the game was over


def solve(
    state: State, by_score: bool = False, max_table_entries: int = 1 << 20, node_limit: int = _NO_LIMIT
) -> Solution:
    """Returns what a position is worth under best play, and a move that leads there.

    Raises BrokenRules where the rules cannot go on.

    Args:
      by_score: whether the value is the final score, e.g. the stones in Othello, and not the outcome.
      max_table_entries: the most positions to remember, 32 bytes each; none where games are not `is_history_free`.
      node_limit: gives up after so many nodes; the solution has no value then.
    """
    if state.is_terminal():
        return Solution(state.final_score() if by_score else state.returns()[0], None, 1, 1)
    work = new_search(state, by_score, max_table_entries)
    progress, root = work.progress[0], work.frames[0]
    at_once = _FIRST_NODES
    while progress.ply >= 0 and progress.num_nodes < node_limit:
        begin = time.perf_counter()
        search_on(state, work, by_score, min(int(progress.num_nodes) + at_once, node_limit), _NO_LIMIT)
        at_once = next_size(at_once, time.perf_counter() - begin)
    value, action = (float(root.value), int(root.action)) if progress.ply < 0 else (None, None)
    return Solution(value, action, int(progress.num_nodes), int(progress.num_leaves))
