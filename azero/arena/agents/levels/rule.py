"""How a level chooses among the moves that a search has judged, and which level explains an opponent's moves.

The adaptive level plays at the level whose rule best explains the opponent's last moves.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from azero.arena.agents.levels.level import Level
from azero.games import State
from azero.mcts.proving.wins import LETS_WIN, WINS, wins_in_one


class Judged(NamedTuple):
    """The legal moves of a position after a search; the arrays have one entry per move, [k].

    Attributes:
      visits: int64.
      values: float64 in [-1, 1], for the player to move; exact where `is_proven`.
      is_proven: bool.
      priors: float64, the probabilities before the search.
      prior_losses: visits that count as lost in addition to each move's own. A value from few random rollouts is too
        uncertain to be taken at its word.
    """

    visits: np.ndarray
    values: np.ndarray
    is_proven: np.ndarray
    priors: np.ndarray
    prior_losses: float = 0.0


def scores_of(judged: Judged) -> np.ndarray:
    """Returns the scores of the moves in points, [k] float64; NaN for a move that has neither visits nor proof.

        score = 50 + 50 (N Q - l) / (N + l)

    N are the visits, Q is the value, and l are the prior losses. A proven move has its proven score.
    """
    N, lost = judged.visits.astype(float), judged.prior_losses
    with np.errstate(invalid="ignore", divide="ignore"):
        estimates = np.where(N > 0, (N * judged.values - lost) / (N + lost), np.nan)
    return 50.0 + 50.0 * np.where(judged.is_proven, judged.values, estimates)


def weights_of(judged: Judged, level: Level, allowed: np.ndarray) -> np.ndarray:
    """Returns the probabilities of the moves, [k] float64.

    The best score is that of the best allowed move. A move's loss is the best score minus its own. Moves that lose more
    than the cap have probability 0, the others are weighted with exp(-loss / temperature).

    Args:
      allowed: [k] bool, the moves to choose from; at least one.
    """
    scores = np.where(allowed, scores_of(judged), np.nan)
    if np.isnan(scores).all():  # the search has judged none of them
        priors = np.where(allowed, np.maximum(judged.priors, 1e-9), 0.0)
        return priors / priors.sum()
    losses = np.nanmax(scores) - scores
    costs = np.where(losses <= level.cap, losses, np.inf)
    weights = np.exp(-costs / level.temperature) if level.temperature > 0 else (costs == 0).astype(float)
    return weights / weights.sum()


def chances_of(judged: Judged, level: Level, kinds: np.ndarray) -> np.ndarray:
    """Returns the probabilities with which a level plays the moves, [k] float64.

    With the probability `sight`, it takes a win in one, and leaves out moves that let the opponent win in one.

    Args:
      kinds: [k] int8, what becomes of each move within a ply, see `wins_in_one`.
    """
    blind = weights_of(judged, level, np.ones(len(kinds), bool))
    if (kinds == WINS).any():
        seeing = (kinds == WINS) / (kinds == WINS).sum()
    elif (kinds != LETS_WIN).any():
        seeing = weights_of(judged, level, kinds != LETS_WIN)
    else:
        seeing = blind
    return level.sight * seeing + (1 - level.sight) * blind


def draw_move(judged: Judged, level: Level, kinds: np.ndarray, rng: np.random.Generator) -> int:
    """Returns the place of the move that a level plays."""
    return int(rng.choice(len(kinds), p=chances_of(judged, level, kinds)))


WATCHED = 16
"""Moves of the opponent that count, the last ones."""

BLUR = 4.0
"""Points by which another search's scores may differ from the opponent's own; added to temperatures, in squares."""

LEAST_CHANCE = 0.02
"""Share of the moves that a level may make without any reason."""


class Turn(NamedTuple):
    """A position and the action that was played in it."""

    state: State
    action: int


def turns_of_opponent(state: State, since: int = 0) -> list[Turn]:
    """Returns the last turns of the opponent of the player to move, oldest first.

    There are none if the position was given as a text, since its moves are not known.

    Args:
      since: the number of the game's first plies that nobody has chosen, such as a random opening.
    """
    turns, player = list[Turn](), state.current_player()
    before = state.game.new_initial_state()
    for ply, action in enumerate(state.history()):
        if before.is_terminal() or action not in before.legal_actions():
            return []
        if ply >= since and before.current_player() != player:
            turns.append(Turn(before.clone(), action))
        before.apply_action(action)
    return turns[-WATCHED:] if before == state else []


def adapted(levels: Sequence[Level], state: State, judge: Callable[[State], Judged], since: int = 0) -> Level:
    """Returns the level that is the mean of those that may explain the opponent's moves.

    At first all levels are equally probable. A level becomes the less probable, the less its rule would have chosen the
    moves that were played (Bayes).

    Args:
      levels: weakest first.
      judge: searches a position.
      since: as in `turns_of_opponent`.
    """
    logs = np.zeros(len(levels))
    for before, action in turns_of_opponent(state, since):
        legal = before.legal_actions()
        if len(legal) > 1:
            judged, kinds, place = judge(before), wins_in_one(before), legal.index(action)
            chances = np.array([chances_of(judged, _blurred(level), kinds)[place] for level in levels])
            logs += np.log((1 - LEAST_CHANCE) * chances + LEAST_CHANCE / len(legal))
    weights = np.exp(logs - logs.max())
    return levels[round(float(np.arange(len(levels)) @ weights / weights.sum()))]


def _blurred(level: Level) -> Level:
    """Returns a level as it looks to another search than its own."""
    return replace(level, temperature=float(np.hypot(level.temperature, BLUR)), cap=level.cap + 3 * BLUR)
