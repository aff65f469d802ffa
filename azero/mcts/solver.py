"""Exact values: alpha-beta to the end of the game, with a table of the positions that it has seen.

It keeps a stack of its own, a frame for each ply, so that it can be halted after any node and go on. Values and windows
are the first player's, as in the tree, and whose turn follows whose does not matter.

Source: Knuth & Moore, An analysis of alpha-beta pruning (1975); Fishburn (1983), fail-soft; Plaat et al. (1996),
enhanced transposition cutoffs; Winands et al., The relative history heuristic (2006).
"""

import math
import time
from typing import NamedTuple

import numpy as np

from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.games import LOSS, ONGOING, WIN, State, new_states
from azero.games.face import broken_rules
from azero.jit import kernel, subroutine
from azero.mcts.pace import next_size
from azero.rng import mix

ENTRY_DTYPE = np.dtype(
    [
        ("key", np.uint64),  # `hash_key` of the position
        ("low", np.float64),  # its value is this at least
        ("high", np.float64),  # and this at most
        ("action", np.int32),  # the best found
        ("effort", np.uint32),  # nodes that it took; 0: there is no entry
    ],
    align=True,
)
assert ENTRY_DTYPE.itemsize == 32, "a bucket of two is a cache line"

FRAME_DTYPE = np.dtype(
    [
        ("key", np.uint64),
        ("alpha", np.float64),  # what the first player is sure of; below the value does not matter
        ("beta", np.float64),  # what the second player is sure of
        ("first_alpha", np.float64),  # both as they were before the first move was tried
        ("first_beta", np.float64),
        ("value", np.float64),  # the best up to now
        ("first_node", np.int64),  # the number of this node in the search
        ("action", np.int32),  # the one that led to `value`
        ("tried", np.int32),  # the action tried last
        ("table_action", np.int32),  # the one that the table holds for best, or -1
        ("num_legal", np.int32),  # -1 before the first visit
        ("num_looked", np.int32),  # moves looked at for values that are known
        ("num_tried", np.int32),  # moves that have told their values; they lie in front
        ("sign", np.int32),  # 1 where the first player moves, else -1
    ],
    align=True,
)

PROGRESS_DTYPE = np.dtype([("ply", np.int64), ("num_nodes", np.int64), ("num_leaves", np.int64)])

_FIRST_NODES = 1 << 10  # of a search; how many follow at once depends on how long they take
_LEARNING_RATE = 1 / 256


class Work(NamedTuple):
    """A search under way in a game of D plies at most, and what it has learned."""

    progress: np.recarray  # [1] PROGRESS_DTYPE; ply is -1 when all is done
    frames: np.recarray  # [D + 1] FRAME_DTYPE, by ply from the root
    states: np.recarray  # [D + 1] the game's state dtype
    legal: np.ndarray  # [D + 1, A] int32
    cut_rates: np.ndarray  # [2, A] float64, by player: how often an action, when tried, left nothing to try
    table: np.recarray  # [T] ENTRY_DTYPE, T a power of two, or 0


class Solution(NamedTuple):
    """What a position is worth under best play."""

    value: float | None  # for the first player: WIN, DRAW or LOSS, or the final score; None where the limit came first
    action: int | None  # one that leads there; None where the game is over or the limit came first
    num_nodes: int  # positions visited, the table's included
    num_leaves: int  # those of them where the game was over


@subroutine
def find_entry(table, key):
    """Returns the place of a key in the table, or -1."""
    first = np.int64(mix(key) & np.uint64(len(table) - 2))
    for place in range(first, first + 2):
        if table[place].key == key and table[place].effort > 0:
            return place
    return -1


@subroutine
def store(table, frame, effort):
    """Writes what a frame has found, into the first place of a bucket or, where that took more effort, the second."""
    place = find_entry(table, frame.key)
    if place < 0:
        place = np.int64(mix(frame.key) & np.uint64(len(table) - 2))
        if table[place].effort > effort:
            place += 1
        else:
            table[place + 1] = table[place]
        table[place].key, table[place].low, table[place].high = frame.key, -math.inf, math.inf
    entry = table[place]
    entry.action, entry.effort = frame.action, effort
    if frame.value > frame.first_alpha:
        entry.low = max(entry.low, frame.value)
    if frame.value < frame.first_beta:
        entry.high = min(entry.high, frame.value)


@subroutine
def open_frame(game, work, ply):
    """Writes what there is to say before any move is tried; the key, window and table action are there already."""
    frame = work.frames[ply]
    frame.first_alpha, frame.first_beta = frame.alpha, frame.beta
    frame.sign = 1 - 2 * game.current_player(work.states[ply])
    frame.value = -frame.sign * math.inf
    frame.first_node = work.progress[0].num_nodes
    frame.action = -1
    frame.num_legal = game.legal_actions(work.states[ply], work.legal[ply])
    if frame.num_legal == 0:
        raise BrokenRules(NO_ACTION)
    frame.num_looked, frame.num_tried = 0, 0
    work.progress[0].num_nodes += 1


@subroutine
def most_promising(frame, legal, cut_rates):
    """Returns the place of the move to try next: the table's, or the one of the highest rate."""
    best, best_rate = int(frame.num_tried), -1.0
    for place in range(frame.num_tried, frame.num_legal):
        if legal[place] == frame.table_action:
            return place
        if cut_rates[legal[place]] > best_rate:
            best, best_rate = place, cut_rates[legal[place]]
    return best


@subroutine
def look_up(game, work, ply, is_by_score):
    """Returns whether the position after a frame's move has a value that is known, and the value; begins its frame."""
    frame, child, state = work.frames[ply], work.frames[ply + 1], work.states[ply + 1]
    outcome = game.outcome(state)
    if outcome != ONGOING:
        work.progress[0].num_leaves += 1
        return True, float(game.final_score(state)) if is_by_score else float(outcome)
    child.alpha, child.beta, child.table_action, child.num_legal = frame.alpha, frame.beta, -1, -1
    if len(work.table) == 0:
        return False, 0.0
    child.key = game.hash_key(state)
    place = find_entry(work.table, child.key)
    if place < 0:
        return False, 0.0
    entry = work.table[place]
    child.alpha, child.beta = max(frame.alpha, entry.low), min(frame.beta, entry.high)
    child.table_action = entry.action
    return child.alpha >= child.beta, entry.low if entry.low >= frame.beta else entry.high


@subroutine
def take_value(work, ply, value):
    """Tells a frame what the move tried last is worth."""
    frame = work.frames[ply]
    if frame.sign * value > frame.sign * frame.value:
        frame.value, frame.action = value, frame.tried
        if frame.sign > 0:
            frame.alpha = max(frame.alpha, value)
        else:
            frame.beta = min(frame.beta, value)
    if frame.alpha >= frame.beta:
        rates, tried = work.cut_rates[(1 - frame.sign) // 2], work.legal[ply]
        for k in range(frame.num_tried):
            rates[tried[k]] -= _LEARNING_RATE * rates[tried[k]]
        rates[frame.tried] += _LEARNING_RATE


@kernel
def search_on(game, work, is_by_score, node_limit):
    """Goes on with a search until `node_limit` nodes have been visited in all; returns whether it is done.

    At each position it looks at all moves first, whether one ends the game or the table has a value that will do, and
    only then goes into them.
    """
    progress = work.progress[0]
    ply = progress.ply
    while ply >= 0 and progress.num_nodes < node_limit:
        frame, legal = work.frames[ply], work.legal[ply]
        if frame.num_legal < 0:
            open_frame(game, work, ply)
        if frame.alpha >= frame.beta or frame.num_tried == frame.num_legal:
            if len(work.table) > 0 and ply > 0:
                store(work.table, frame, min(progress.num_nodes - frame.first_node, 0xFFFFFFFF))
            ply -= 1
            if ply >= 0:
                take_value(work, ply, frame.value)
            continue
        is_looking = frame.num_looked < frame.num_legal
        rates = work.cut_rates[(1 - frame.sign) // 2]
        place = int(frame.num_looked) if is_looking else most_promising(frame, legal, rates)
        if ply + 1 == len(work.frames):
            raise BrokenRules(TOO_LONG)
        frame.tried = legal[place]
        work.states[ply + 1] = work.states[ply]
        game.apply_action(work.states[ply + 1], int(frame.tried))
        is_known, value = look_up(game, work, ply, is_by_score)
        frame.num_looked += is_looking
        if is_known or not is_looking:
            legal[place], legal[frame.num_tried] = legal[frame.num_tried], frame.tried
            frame.num_tried += 1
        if is_known:
            progress.num_nodes += 1
            take_value(work, ply, value)
        elif not is_looking:
            ply += 1
    progress.ply = ply
    return ply < 0


def start_search(state: State, by_score: bool, max_table_entries: int) -> Work:
    """Returns a search that is about to begin at `state`. Pages of memory are taken as they come into use, not here."""
    rules = state.game.rules
    num_entries = 1 << max_table_entries.bit_length() - 1 if max_table_entries > 1 and rules.is_history_free else 0
    work = Work(
        progress=np.zeros(1, PROGRESS_DTYPE).view(np.recarray),
        frames=np.zeros(rules.max_plies + 1, FRAME_DTYPE).view(np.recarray),
        states=new_states(rules, rules.max_plies + 1),
        legal=np.zeros((rules.max_plies + 1, rules.num_actions), np.int32),
        cut_rates=np.full((2, rules.num_actions), 0.5),
        table=np.zeros(num_entries, ENTRY_DTYPE).view(np.recarray),
    )
    root = work.frames[0]
    root.alpha, root.beta = (-math.inf, math.inf) if by_score else (float(LOSS), float(WIN))
    root.table_action = root.num_legal = -1
    work.states[0] = state.record
    return work


def solve(
    state: State, by_score: bool = False, max_table_entries: int = 1 << 20, node_limit: int = 1 << 62
) -> Solution:
    """Returns what a position is worth under best play, and a move that leads there.

    Args:
      by_score: whether the value is the final score, e.g. the stones in Othello, and not the outcome.
      max_table_entries: the most positions to remember, 32 bytes each; none where games are not `is_history_free`.
      node_limit: gives up after so many nodes; the solution has no value then.
    """
    if state.is_terminal():
        return Solution(state.final_score() if by_score else state.returns()[0], None, 1, 1)
    work = start_search(state, by_score, max_table_entries)
    progress, root = work.progress[0], work.frames[0]
    at_once = _FIRST_NODES
    while progress.ply >= 0 and progress.num_nodes < node_limit:
        begin = time.perf_counter()
        try:
            search_on(state.game.rules, work, by_score, min(int(progress.num_nodes) + at_once, node_limit))
        except BrokenRules as error:
            raise broken_rules(state.game.name, f"{error} in a search", state.history()) from None
        at_once = next_size(at_once, time.perf_counter() - begin)
    value, action = (float(root.value), int(root.action)) if progress.ply < 0 else (None, None)
    return Solution(value, action, int(progress.num_nodes), int(progress.num_leaves))
