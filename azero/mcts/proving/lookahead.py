"""Looking ahead from a new node: moves that end the game, and what a short alpha-beta proves of the others.

It goes one ply deeper at a time, so that a win is proven by its shortest way and a loss by its longest. What it knows
of a position is an interval of results, [low, high], for the player to move: [-1, 1] where a line has come to the
limit. A position is left as soon as nothing in it can change what is known of the one before.

Source: Baier & Winands, Monte-Carlo tree search and minimax hybrids (2013), shallow minimax at the leaves; here it is
limited by positions, not by plies.
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
"""Plies that a line may have; the limit on positions is reached long before, but where moves are forced."""

FRAME_DTYPE = np.dtype([(name, np.int32) for name in ("num_legal", "num_tried", "low", "high", "sign")])


class Line(NamedTuple):
    """The positions of a line from a child of the new node (place 0) on, and what is known of them."""

    states: np.recarray  # [LONGEST_LINE + 1] the game's state dtype
    frames: np.recarray  # [LONGEST_LINE] FRAME_DTYPE
    legal: np.ndarray  # [LONGEST_LINE, A] int32


def new_line(rules: Rules) -> Line:
    """Returns room for a line."""
    return Line(
        states=new_states(rules, LONGEST_LINE + 1),
        frames=np.zeros(LONGEST_LINE, FRAME_DTYPE).view(np.recarray),
        legal=np.zeros((LONGEST_LINE, rules.num_actions), np.int32),
    )


@shared_subroutine
def step(rules, state, line, ply, action):
    """Makes the line's position at `ply` the one after `action` in `state`; returns its outcome."""
    line.states[ply] = state
    rules.apply_action(line.states[ply], np.int64(action))
    return rules.outcome(line.states[ply])


@subroutine
def find_ends(rules, nodes, node, state, line):
    """Proves the children of `node` at which the game is over; returns whether one of them wins."""
    has_win = False
    for child in range(node.first_child, node.first_child + node.num_children):
        outcome = step(rules, state, line, 0, nodes[child].action)
        if outcome != ONGOING:
            nodes[child].proven = outcome
            has_win = has_win or outcome == sign_of(node.player)
    return has_win


@subroutine
def open_frame(rules, line, ply, limit):
    """Begins the position at `ply`, and looks for a move that wins at once, unless all are about to be tried and lead
    no further; returns how many it has looked at.
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
    """Returns whether no more moves at `ply` need be tried: none is left, one wins, or whatever they bring can change
    neither bound of the position before, where the opponent moves.
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
    """Returns the first player's results that are possible in the line's first position by what is seen within `limit`
    plies and about `max_positions` positions, lowest and highest, and how many it has seen.
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
    """Proves what children of `node` it can by lines of `limit` plies after them; stops at one that wins.

    Returns:
      About how many positions it has seen, and whether longer lines may prove more.
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
def look_ahead(rules, nodes, index, state, line, max_positions):
    """Proves the children of node `index`, whose position is `state`, at which the game is over, and then what others
    it can by about `max_positions` positions.

    The plies of a proven draw are those within which it was proven; another way to draw may take more, or fewer.
    """
    node = nodes[index]
    if find_ends(rules, nodes, node, state, line):
        return
    limit, num_left, is_open = 0, max_positions, max_positions > 0
    while is_open and limit < LONGEST_LINE:
        limit += 1
        num_seen, is_open = prove_children(rules, nodes, node, state, line, limit, num_left)
        num_left -= num_seen
