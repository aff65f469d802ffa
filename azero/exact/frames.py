"""Alpha-beta's work in memory: a stack of frames, one for each ply, and what the search has learned."""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.rng import RNG_DTYPE
from azero.exact.transpositions import new_table
from azero.games import LOSS, WIN, State, new_states

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
        ("draft", np.int32),  # of `value`, as a bound that goes into the table
    ],
    align=True,
)

PROGRESS_DTYPE = np.dtype(
    [
        ("rng", RNG_DTYPE),
        ("seed", np.uint64),
        ("ply", np.int64),  # -1 when all is done
        ("num_nodes", np.int64),  # positions visited, the table's included
        ("num_leaves", np.int64),  # those of them that were judged, or where the game was over
        ("horizon", np.int64),  # the ply at which positions are judged
        ("num_rollouts", np.int64),  # by the mean of so many; 0: all are worth 0
    ],
    align=True,
)

ROOT_MOVE_DTYPE = np.dtype(
    [
        ("value", np.float64),  # as told last
        ("draft", np.int32),  # of the position that the move leads to
        ("horizon", np.int32),  # of the iteration that told it; 0: none has
        ("is_bound", np.bool_),  # whether the move may be worth less than that to the mover
        ("num_leaves", np.int64),  # below this move, in all iterations
    ],
    align=True,
)


class Work(NamedTuple):
    """A search under way in a game of D plies at most, and what it has learned."""

    progress: np.recarray  # [1] PROGRESS_DTYPE
    frames: np.recarray  # [D + 1] FRAME_DTYPE, by ply from the root
    states: np.recarray  # [D + 2] the game's state dtype; the last is for rollouts
    legal: np.ndarray  # [D + 1, A] int32
    cut_rates: np.ndarray  # [2, A] float64, by player: how often an action, when tried, left nothing to try
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
    """Returns a search that is about to begin at `state`. Pages of memory are taken as they come into use, not here.

    Args:
      by_score: whether values are final scores, and not outcomes; of use without a horizon only.
      max_table_entries: the most positions to remember; none where games are not `is_history_free`.
      horizon: plies from `state` to where positions are judged; nowhere unless given.
    """
    rules = state.game.rules
    work = Work(
        progress=np.zeros(1, PROGRESS_DTYPE).view(np.recarray),
        frames=np.zeros(rules.max_plies + 1, FRAME_DTYPE).view(np.recarray),
        states=new_states(rules, rules.max_plies + 2),
        legal=np.zeros((rules.max_plies + 1, rules.num_actions), np.int32),
        cut_rates=np.full((2, rules.num_actions), 0.5),
        table=new_table(max_table_entries if rules.is_history_free else 0),
        root_moves=np.zeros(rules.num_actions, ROOT_MOVE_DTYPE).view(np.recarray),
    )
    work.progress.seed, work.progress.num_rollouts = seed, num_rollouts
    work.states[0] = state.record
    start_iteration(work, by_score, rules.max_plies + 1 if horizon is None else horizon)
    return work


def restart(work: Work) -> None:
    """Forgets what a search has learned: it is about to begin at another position."""
    work.table.view(np.uint8)[:] = 0
    work.cut_rates[:] = 0.5
    work.progress.num_nodes = work.progress.num_leaves = 0
    work.root_moves.view(np.uint8)[:] = 0


def start_iteration(work: Work, by_score: bool, horizon: int, first_action: int = -1) -> None:
    """Puts a search back to its root, with a horizon of so many plies and a move to begin with."""
    root = work.frames[0]
    root.alpha, root.beta = (-math.inf, math.inf) if by_score else (float(LOSS), float(WIN))
    root.table_action, root.num_legal = first_action, -1
    work.progress.ply, work.progress.horizon = 0, horizon
