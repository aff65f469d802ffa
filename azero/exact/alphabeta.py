"""Alpha-beta with a transposition table, to the end of the game or to a horizon.

The search keeps its own stack, one frame per ply. So it can stop after any node and continue later. Values and windows
are the first player's, as in the tree. Players need not alternate.

Random rollouts evaluate positions at the horizon. An estimate is greater than LOSS and less than WIN, so WIN and LOSS
are always proofs. Any other value is a proof if its draft is PROOF, that is, if it depends on no estimate.

Source: Knuth & Moore, An analysis of alpha-beta pruning (1975); Fishburn (1983), fail-soft; Plaat et al. (1996),
enhanced transposition cutoffs; Winands et al., The relative history heuristic (2006). Moves with few replies first:
the fastest-first heuristic of Othello programs (Andersson, Writing an Othello program, 2007).
"""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import RNG_DTYPE, mix
from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.exact.transpositions import PROOF, draft_above, find_entry, new_table, settle, store
from azero.games import LOSS, ONGOING, WIN, State, new_states
from azero.games.contract import sign_of
from azero.games.reasons import broken_rules

FRAME_DTYPE = np.dtype(
    [
        ("key", np.uint64),
        ("alpha", np.float64),  # lower end of the window
        ("beta", np.float64),  # upper end of the window
        ("first_alpha", np.float64),  # the window before the first move was tried
        ("first_beta", np.float64),
        ("value", np.float64),  # best value so far, for the first player
        ("first_node", np.int64),  # number of nodes visited before this one
        ("action", np.int32),  # action with that value
        ("tried", np.int32),  # action tried last
        ("table_action", np.int32),  # best action in the table, or -1
        ("num_legal", np.int32),  # number of legal actions; -1 before the first visit
        ("num_looked", np.int32),  # moves seen in the first pass
        ("num_tried", np.int32),  # moves with known values or under search; they are first in `legal`
        ("sign", np.int32),  # 1 if the first player moves, else -1
        ("draft", np.int32),  # of `value`, for the bounds in the table
    ],
    align=True,
)

PROGRESS_DTYPE = np.dtype(
    [
        ("rng", RNG_DTYPE),
        ("seed", np.uint64),
        ("ply", np.int64),  # of the current frame; -1: the search is complete
        ("num_nodes", np.int64),  # positions visited, including those found in the table
        ("num_leaves", np.int64),  # ends of games and positions evaluated at the horizon
        ("horizon", np.int64),  # ply at which positions are evaluated
        ("num_rollouts", np.int64),  # per evaluation; 0: every estimate is 0
    ],
    align=True,
)

ROOT_MOVE_DTYPE = np.dtype(
    [
        ("value", np.float64),  # latest value, for the first player
        ("draft", np.int32),  # of the position after the move
        ("horizon", np.int32),  # of the latest iteration that tried the move; 0: none has
        ("is_bound", np.bool_),  # whether the value is only an upper bound for the player to move
        ("num_leaves", np.int64),  # leaves below this move, in all iterations
    ],
    align=True,
)


class Work(NamedTuple):
    """The memory of a search in a game of at most D plies."""

    progress: np.recarray  # [1] PROGRESS_DTYPE
    frames: np.recarray  # [D + 1] FRAME_DTYPE, by ply from the root
    states: np.recarray  # [D + 2] the game's state dtype, by ply; the last one is for rollouts
    legal: np.ndarray  # [D + 1, A] int32, by ply
    replies: np.ndarray  # [D + 1, A] int32, by ply and place in `legal`; [D + 1, 0] unless the game is about mobility
    cut_rates: np.ndarray  # [2, A] float64, by player: moving average of how often a tried action caused a cutoff
    table: np.recarray  # [T] ENTRY_DTYPE, T a power of two, or 0
    root_moves: np.recarray  # [A] ROOT_MOVE_DTYPE, by action


def new_search(
    state: State,
    by_score: bool,
    max_table_entries: int,
    num_rollouts: int = 0,
    seed: int = 0,
    horizon: int | None = None,
) -> Work:
    """Returns a search that is about to begin at `state`. The system allocates its memory pages on first use.

    Args:
      by_score: whether values are final scores instead of outcomes; only for searches without a horizon.
      max_table_entries: most positions in the table; a game that is not `is_history_free` gets no table.
      num_rollouts: random games per evaluation; 0: every estimate is 0.
      seed: seed of the rollouts.
      horizon: plies from `state` to positions that are evaluated; None: no horizon.
    """
    rules = state.game.rules
    work = Work(
        progress=np.zeros(1, PROGRESS_DTYPE).view(np.recarray),
        frames=np.zeros(rules.max_plies + 1, FRAME_DTYPE).view(np.recarray),
        states=new_states(rules, rules.max_plies + 2),
        legal=np.zeros((rules.max_plies + 1, rules.num_actions), np.int32),
        replies=np.zeros((rules.max_plies + 1, rules.num_actions if rules.is_about_mobility else 0), np.int32),
        cut_rates=np.full((2, rules.num_actions), 0.5),
        table=new_table(max_table_entries if rules.is_history_free else 0),
        root_moves=np.zeros(rules.num_actions, ROOT_MOVE_DTYPE).view(np.recarray),
    )
    work.progress.seed, work.progress.num_rollouts = seed, num_rollouts
    work.states[0] = state.record
    start_iteration(work, by_score, rules.max_plies + 1 if horizon is None else horizon)
    return work


def restart(work: Work) -> None:
    """Clears the table and the statistics before a search of another position."""
    work.table.view(np.uint8)[:] = 0
    work.cut_rates[:] = 0.5
    work.progress.num_nodes = work.progress.num_leaves = 0
    work.root_moves.view(np.uint8)[:] = 0


def start_iteration(work: Work, by_score: bool, horizon: int, first_action: int = -1) -> None:
    """Puts a search back at its root, with a horizon in plies and a move to try first; -1: none."""
    root = work.frames[0]
    root.alpha, root.beta = (-math.inf, math.inf) if by_score else (float(LOSS), float(WIN))
    root.table_action, root.num_legal = first_action, -1
    work.progress.ply, work.progress.horizon = 0, horizon


def start_test(work: Work, state: State, sign: int, least: int, first_action: int = -1) -> None:
    """Puts a search at `state`, with the null window that tells whether the player of `sign` gets at least `least`.

    Args:
      sign: 1 for the first player, -1 for the second.
      least: WIN or DRAW.
    """
    work.states[0] = state.record
    start_iteration(work, False, len(work.frames), first_action)
    work.frames[0].alpha, work.frames[0].beta = sorted((float(sign * least), float(sign * (least - 1))))


def answer_of(work: Work, sign: int, least: int) -> bool:
    """Returns the answer of a complete search that `start_test` began."""
    return bool(sign * work.frames[0].value >= least)


_LEARNING_RATE = 1 / 256


@subroutine
def open_frame(rules, work, ply):
    """Initialises the frame at `ply` before its first move. Its key, window and table action are already set.

    Raises BrokenRules if there is no legal action.
    """
    frame = work.frames[ply]
    frame.first_alpha, frame.first_beta = frame.alpha, frame.beta
    frame.sign = sign_of(rules.current_player(work.states[ply]))
    frame.value, frame.draft = -frame.sign * math.inf, PROOF
    frame.first_node = work.progress[0].num_nodes
    frame.action = -1
    frame.num_legal = rules.legal_actions(work.states[ply], work.legal[ply])
    if frame.num_legal == 0:
        raise BrokenRules(NO_ACTION)
    frame.num_looked, frame.num_tried = 0, 0
    work.progress[0].num_nodes += 1


@subroutine
def most_promising(frame, legal, replies, cut_rates):
    """Returns the place in `legal` of the move to try next: the table's, else the one with the highest cut rate.

    In a game about mobility, the number of the opponent's replies comes before the cut rate.
    """
    best, best_rate = int(frame.num_tried), -math.inf
    for place in range(frame.num_tried, frame.num_legal):
        if legal[place] == frame.table_action:
            return place
        rate = cut_rates[legal[place]] - (replies[place] if len(replies) else 0)
        if rate > best_rate:
            best, best_rate = place, rate
    return best


@subroutine
def note_replies(rules, work, ply, place):
    """Stores the number of replies to the move at this place, whose position is at `ply + 1`.

    If the same player moves again, they count as negative: many are good then.
    """
    state = work.states[ply + 1]
    num = rules.legal_actions(state, work.legal[ply + 1])
    is_other = sign_of(rules.current_player(state)) != work.frames[ply].sign
    work.replies[ply, place] = num if is_other else -num


@subroutine
def count_leaf(work):
    """Counts a leaf, the end of a game or a position at the horizon, in the search and in the root move above it."""
    work.progress[0].num_leaves += 1
    work.root_moves[work.frames[0].tried].num_leaves += 1


@subroutine
def estimate(rules, work, ply):
    """Returns the estimated value of the position at `ply`, in (-1, 1): the mean of the rollouts and one added draw.

    The rollouts depend only on the position and the search's seed, so a position always has the same estimate.
    """
    progress, legal = work.progress[0], work.legal[ply]
    if progress.num_rollouts == 0:
        return 0.0
    progress.rng.counter = mix(progress.seed ^ mix(rules.hash_key(work.states[ply])))
    spare = len(work.states) - 1
    total = 0.0
    for _ in range(progress.num_rollouts):
        work.states[spare] = work.states[ply]
        total += rules.rollout(work.states[spare], legal, progress.rng, len(work.frames))
    return total / (progress.num_rollouts + 1)


@subroutine
def look_up(rules, work, ply, is_by_score, is_looking):
    """Returns whether the value of the position after a frame's move is known, the value, and its draft.

    If it is not known, the key, window and table action of the position's frame are set. A position at the horizon is
    evaluated, except in the first pass over the moves (`is_looking`). The table's bounds narrow the window only if they
    are proofs. Otherwise a result within the window would not be a proof.
    """
    frame, child, state = work.frames[ply], work.frames[ply + 1], work.states[ply + 1]
    outcome = rules.outcome(state)
    if outcome != ONGOING:
        count_leaf(work)
        return True, float(rules.final_score(state)) if is_by_score else float(outcome), PROOF
    plies_left = work.progress[0].horizon - ply - 1
    child.alpha, child.beta, child.table_action, child.num_legal = frame.alpha, frame.beta, -1, -1
    if len(work.table) > 0:
        child.key = rules.hash_key(state)
        place = find_entry(work.table, child.key)
        if place >= 0:
            entry = work.table[place]
            is_known, value, draft = settle(entry, frame.alpha, frame.beta, plies_left)
            if is_known:
                return True, value, draft
            child.table_action = entry.action
            if entry.low_draft == PROOF:
                child.alpha = max(frame.alpha, entry.low)
            if entry.high_draft == PROOF:
                child.beta = min(frame.beta, entry.high)
    if is_looking or plies_left > 0:
        return False, 0.0, 0
    count_leaf(work)
    return True, estimate(rules, work, ply + 1), 0


@subroutine
def note_root_move(work, value, draft):
    """Records the value of the root's last tried move, unless its exact value is already proven."""
    root, move = work.frames[0], work.root_moves[work.frames[0].tried]
    move.horizon = work.progress[0].horizon
    if move.draft == PROOF and not move.is_bound:
        return
    sure_of = root.alpha if root.sign > 0 else -root.beta
    move.value, move.draft, move.is_bound = value, draft, LOSS < root.sign * value <= sure_of


@subroutine
def take_value(work, ply, value, draft):
    """Updates a frame, and the cut rates, with the value of the move tried last.

    After a cutoff, the frame's value depends on that move alone. Otherwise it depends on all moves tried so far.
    """
    frame = work.frames[ply]
    if ply == 0:
        note_root_move(work, value, draft)
    if frame.sign * value > frame.sign * frame.value:
        frame.value, frame.action = value, frame.tried
        if frame.sign > 0:
            frame.alpha = max(frame.alpha, value)
        else:
            frame.beta = min(frame.beta, value)
    frame.draft = min(frame.draft, draft_above(draft))
    if frame.alpha >= frame.beta:
        frame.draft = draft_above(draft)
        rates, tried = work.cut_rates[(1 - frame.sign) // 2], work.legal[ply]
        for k in range(frame.num_tried):
            rates[tried[k]] -= _LEARNING_RATE * rates[tried[k]]
        rates[frame.tried] += _LEARNING_RATE


@kernel
def search_rules_on(rules, work, is_by_score, node_limit, leaf_limit):
    """Searches until the total of nodes or leaves reaches its limit; returns whether the search is complete.

    A first pass over the moves of a position finds values that are already known: ends of games and values in the
    table. A second pass searches the other moves.
    """
    progress = work.progress[0]
    ply = progress.ply
    while ply >= 0 and progress.num_nodes < node_limit and progress.num_leaves < leaf_limit:
        frame, legal = work.frames[ply], work.legal[ply]
        if frame.num_legal < 0:
            open_frame(rules, work, ply)
            continue  # a node was counted, so the limit is checked
        if frame.alpha >= frame.beta or frame.num_tried == frame.num_legal:
            if len(work.table) > 0 and ply > 0:
                store(work.table, frame, min(progress.num_nodes - frame.first_node, 0xFFFFFFFF))
            ply -= 1
            if ply >= 0:
                take_value(work, ply, frame.value, frame.draft)
            continue
        is_looking = frame.num_looked < frame.num_legal
        rates = work.cut_rates[(1 - frame.sign) // 2]
        place = int(frame.num_looked) if is_looking else most_promising(frame, legal, work.replies[ply], rates)
        if ply + 1 == len(work.frames):
            raise BrokenRules(TOO_LONG)
        frame.tried = legal[place]
        work.states[ply + 1] = work.states[ply]
        rules.apply_action(work.states[ply + 1], int(frame.tried))
        is_known, value, draft = look_up(rules, work, ply, is_by_score, is_looking)
        frame.num_looked += is_looking
        if is_looking and not is_known and len(work.replies[ply]):
            note_replies(rules, work, ply, place)
        if is_known or not is_looking:
            legal[place], legal[frame.num_tried] = legal[frame.num_tried], frame.tried
            if len(work.replies[ply]):
                work.replies[ply, place] = work.replies[ply, frame.num_tried]
            frame.num_tried += 1
        if is_known:
            progress.num_nodes += 1
            take_value(work, ply, value, draft)
        elif not is_looking:
            ply += 1
    progress.ply = ply
    return ply < 0


def search_on(state: State, work: Work, is_by_score: bool, node_limit: int, leaf_limit: int) -> bool:
    """Runs `search_rules_on` with `state` at the root; raises BrokenRules, with the game's moves, if the rules fail."""
    try:
        return search_rules_on(state.game.rules, work, is_by_score, node_limit, leaf_limit)
    except BrokenRules as error:
        raise broken_rules(state.game.name, f"{error}, in a search", state.history()) from None
