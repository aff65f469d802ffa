"""Look-ahead from a new node: finds moves that end the game, and proves others by a short alpha-beta search.

It deepens by one ply at a time, so that the shortest win and the longest loss are proven. A position has bounds
[low, high] on its result, for the player to move; they are [-1, 1] at the end of a line that reaches the limit. A
position is left as soon as nothing in it can change the bounds of the position one ply earlier.

Source: Baier & Winands, Monte-Carlo tree search and minimax hybrids (2013), shallow minimax at the leaves. Here the
limit is on positions instead of plies.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.jit import shared_subroutine, subroutine
from azero.errors import NO_ACTION, BrokenRules
from azero.games import LOSS, ONGOING, WIN
from azero.games.contract import Rules, sign_of
from azero.games.state import new_states
from azero.mcts.tree import UNPROVEN

LONGEST_LINE = 32
"""Limit on the plies of a line. The limit on positions comes first, unless moves are forced."""

NEAR_END_POSITIONS = 1000
"""The least number of positions for a look-ahead from a position that is near the end of the game, by the rules."""

HAS_NO_REFUTATION = -1
"""Value of `proven_plies` of a root move that is not proven: no reply of the opponent ends the game with his win."""

FRAME_DTYPE = np.dtype([(name, np.int32) for name in ("num_legal", "num_tried", "low", "high", "sign")])


class Line(NamedTuple):
    """The positions of a line, beginning with a child of the new node (place 0), and their bounds."""

    states: np.recarray  # [LONGEST_LINE + 1] the game's state dtype
    frames: np.recarray  # [LONGEST_LINE] FRAME_DTYPE
    legal: np.ndarray  # [LONGEST_LINE, A] int32


def new_line(rules: Rules) -> Line:
    """Returns an empty line."""
    return Line(
        states=new_states(rules, LONGEST_LINE + 1),
        frames=np.zeros(LONGEST_LINE, FRAME_DTYPE).view(np.recarray),
        legal=np.zeros((LONGEST_LINE, rules.num_actions), np.int32),
    )


@shared_subroutine
def step(rules, state, line, ply, action):
    """Sets the line's position at `ply` to the one after `action` in `state`; returns its outcome."""
    line.states[ply] = state
    rules.apply_action(line.states[ply], np.int64(action))
    return rules.outcome(line.states[ply])


@subroutine
def find_ends(rules, nodes, node, state, line):
    """Proves the children of `node` that end the game; returns whether one of them wins."""
    has_win = False
    for child in range(node.first_child, node.first_child + node.num_children):
        outcome = step(rules, state, line, 0, nodes[child].action)
        if outcome != ONGOING:
            nodes[child].proven = outcome
            has_win = has_win or outcome == sign_of(node.player)
    return has_win


@subroutine
def open_frame(rules, line, ply, limit):
    """Begins the position at `ply`; returns the number of positions seen.

    It looks for a move that wins at once. At the last ply of a line it does not, since all moves are tried there.
    Raises BrokenRules if there is no legal action.
    """
    frame, legal = line.frames[ply], line.legal[ply]
    frame.sign = sign_of(rules.current_player(line.states[ply]))
    frame.num_legal = rules.legal_actions(line.states[ply], legal)
    if frame.num_legal == 0:
        raise BrokenRules(NO_ACTION)
    frame.num_tried = 0
    frame.low, frame.high = LOSS, LOSS
    if ply + 1 == limit:
        return 0
    for place in range(frame.num_legal):
        if step(rules, line.states[ply], line, ply + 1, legal[place]) == frame.sign:
            frame.low, frame.high = WIN, WIN
            return place + 1
    return frame.num_legal


@subroutine
def is_settled(line, ply):
    """Returns whether the position at `ply` needs no more moves.

    Either no move is left, or one wins, or the rest cannot change the bounds of the position one ply earlier, in which
    the opponent moves.
    """
    frame = line.frames[ply]
    if frame.low == WIN or frame.num_tried == frame.num_legal:
        return True
    if ply == 0:
        return False
    before = line.frames[ply - 1]
    return before.sign != frame.sign and -frame.high <= before.low and -frame.low <= before.high


@subroutine
def prove_within(rules, line, limit, max_positions):
    """Searches the line's first position within `limit` plies and about `max_positions` positions.

    Returns the bounds of its result for the first player, low and high, and the number of positions seen.
    """
    num_seen = open_frame(rules, line, 0, limit)
    ply = 0
    while True:
        frame = line.frames[ply]
        if is_settled(line, ply):
            low = frame.low
            high = frame.high if frame.num_tried == frame.num_legal else WIN
            if frame.sign < 0:
                low, high = -high, -low
            if ply == 0:
                return low, high, num_seen
            ply -= 1
        elif num_seen >= max_positions:
            return LOSS, WIN, num_seen
        else:
            outcome = step(rules, line.states[ply], line, ply + 1, line.legal[ply, frame.num_tried])
            frame.num_tried += 1
            num_seen += 1
            if outcome == ONGOING and ply + 1 < limit:
                ply += 1
                num_seen += open_frame(rules, line, ply, limit)
                continue
            low, high = (LOSS, WIN) if outcome == ONGOING else (outcome, outcome)
        before = line.frames[ply]
        if before.sign < 0:
            low, high = -high, -low
        before.low, before.high = max(before.low, low), max(before.high, high)


@subroutine
def prove_children(rules, nodes, node, state, line, limit, max_positions):
    """Proves children of `node` by lines of `limit` plies after them; stops at one that wins.

    Returns:
      The approximate number of positions seen, and whether longer lines may prove more.
    """
    num_seen, num_open = 0, 0
    for child in range(node.first_child, node.first_child + node.num_children):
        if nodes[child].proven != UNPROVEN:
            continue
        step(rules, state, line, 0, nodes[child].action)
        low, high, num_more = prove_within(rules, line, limit, max_positions - num_seen)
        num_seen += num_more
        if low == high:
            nodes[child].proven, nodes[child].proven_plies = low, limit
            if low == sign_of(node.player):
                return num_seen, False
        else:
            num_open += 1
        if num_seen >= max_positions:
            return num_seen, False
    return num_seen, num_open > 0


@subroutine
def needs_replies(settings, child):
    """Returns whether the replies to `child`, a move of the root, are not known yet."""
    is_looked_ahead = settings.is_looking_ahead and child.first_child > 0
    is_known = child.proven != UNPROVEN or child.proven_plies == HAS_NO_REFUTATION
    return settings.is_proving and not is_known and not is_looked_ahead


@shared_subroutine
def prove_by_replies(rules, nodes, child, state, line):
    """Proves `child`, a move of the root, if it ends the game or if one reply wins. `state` is the position after it.

    It is done once for a move. So no search plays a move that the opponent can answer by ending the game with his win,
    such as a pass in Go, unless all moves are proven lost. A search that looks ahead finds these replies as soon as it
    expands the move.
    """
    outcome = rules.outcome(state)
    if outcome != ONGOING:
        child.proven, child.proven_plies = outcome, 0
        return
    if child.first_child > 0:
        find_ends(rules, nodes, child, state, line)  # the replies in the tree, for principal variations
    line.states[0] = state
    low, high, _ = prove_within(rules, line, 1, 1 << 30)
    child.proven_plies = HAS_NO_REFUTATION
    if low == high:
        child.proven, child.proven_plies = low, 1


@subroutine
def look_ahead_positions(rules, settings, state):
    """Returns the number of positions that a look-ahead from `state` may visit, beside those that end the game."""
    if settings.is_proving and rules.is_near_end(state):
        return max(settings.proof_nodes, NEAR_END_POSITIONS)
    return settings.proof_nodes


@shared_subroutine  # inlined, it took 1.6 times as long as soon as the kernels around it grew a little
def look_ahead(rules, nodes, index, state, line, max_positions):
    """Proves children of node `index`, whose position is `state`: those that end the game, then others if possible.

    The others are proven within about `max_positions` positions. The plies of a proven draw are those of the proof;
    other ways to draw may be longer or shorter.
    """
    node = nodes[index]
    if find_ends(rules, nodes, node, state, line):
        return
    limit, num_left, is_open = 0, max_positions, max_positions > 0
    while is_open and limit < LONGEST_LINE:
        limit += 1
        num_seen, is_open = prove_children(rules, nodes, node, state, line, limit, num_left)
        num_left -= num_seen
