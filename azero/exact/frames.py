"""The memory of an alpha-beta search: a stack of frames, one per ply, a table, and statistics of moves."""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.rng import RNG_DTYPE
from azero.exact.transpositions import new_table
from azero.games import LOSS, WIN, State, new_states

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
