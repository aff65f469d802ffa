"""Principal variations in a transposition table, below the nodes of the tree."""

import numpy as np

from azero.compiler.jit import kernel
from azero.games import ONGOING
from azero.games.contract import sign_of
from azero.mcts.classical.table import find_entry
from azero.mcts.classical.table_kernels import key_after
from azero.mcts.search.variation import preference


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
