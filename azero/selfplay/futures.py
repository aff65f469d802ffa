"""What the game after a position has to teach, beside its result: targets of the heads that only training has."""

from typing import NamedTuple

import numpy as np

from azero.config_training import TrainingConfig
from azero.games import Game, Symmetries
from azero.jit import kernel
from azero.selfplay.records import Shard

_SHARES_OF_CELLS = (0.016, 0.056, 0.176)
"""Horizons of short-term values are this many plies for each cell of the board, and one more, as in KataGo."""


class Foresight(NamedTuple):
    """Which of these targets are wanted."""

    has_reply: bool
    has_plies_left: bool
    horizons: tuple[float, ...]  # of short-term values, in plies, each above 1; none where they are not wanted


BLIND = Foresight(has_reply=False, has_plies_left=False, horizons=())


def foresight_of(config: TrainingConfig, game: Game) -> Foresight:
    """Returns what is wanted where the settings give a loss a weight."""
    _, height, width = game.planes_shape
    return Foresight(
        has_reply=config.reply_loss_weight > 0,
        has_plies_left=config.plies_left_loss_weight > 0,
        horizons=tuple(1 + share * height * width for share in _SHARES_OF_CELLS)
        if config.short_term_loss_weight > 0
        else (),
    )


class Futures(NamedTuple):
    """Targets of B positions, float32, for the player to move; what is not wanted has no columns, [B, 0]."""

    replies: np.ndarray  # [B, A], the search's policy at the next ply; zeros where the opponent has none
    plies_left: np.ndarray  # [B, 1], plies until the game ends or is resigned, 1 before the last
    short_term: np.ndarray  # [B, K], in [-1, 1], means of the search's values over each of K horizons


def look_ahead(
    shard: Shard, symmetries: Symmetries, indices: np.ndarray, chosen: np.ndarray, foresight: Foresight
) -> Futures:
    """Returns what follows the positions at `indices` ([B] int64) of a shard, seen through symmetries ([B] int64).

    A reply is the opponent's: there is none after the last ply, nor where the same player moves on, nor where the next
    search was a fast one.

    A short-term value of horizon h is the mean of the values to come, for the player to move, of which each ply hears
    1 / h, and the rest is heard by the ply after it; at the end it is the result z that hears all that is left:

        v(t) = q(t+1) / h + (1 - 1 / h) v(t+1),  v(last) = z

    Source:
      Wu, Accelerating self-play learning in Go, 2019, section 3.4 (reply). KataGo, cpp/dataio/trainingwrite.cpp,
      `fillValueTDTargets` (short-term values; there q(t) is heard, too).
    """
    size, following = len(indices), indices + 1
    ends = np.cumsum(shard.lengths)
    ends = ends[np.searchsorted(ends, indices, side="right")]  # of each position's own game
    replies = np.empty((size, 0), np.float32)
    if foresight.has_reply:
        following = np.minimum(following, shard.num_positions - 1)
        is_reply = (indices + 1 < ends) & (shard.players[following] != shard.players[indices])
        is_reply &= shard.weights[following] > 0
        visits = shard.visits[following[:, None], symmetries.actions[chosen]] * is_reply[:, None]
        replies = (visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)).astype(np.float32)
    plies_left = (ends - indices)[:, None] if foresight.has_plies_left else np.empty((size, 0))
    short_term = np.empty((size, len(foresight.horizons)), np.float32)
    for column, horizon in enumerate(foresight.horizons):
        _average(shard.players, shard.root_values, shard.outcomes, indices, ends, 1 / horizon, short_term[:, column])
    return Futures(replies, plies_left.astype(np.float32), short_term)


@kernel
def _average(players, root_values, outcomes, indices, ends, share, averages):
    """Writes the short-term values in which each ply hears `share`, from the end of the game backwards."""
    for row in range(len(indices)):
        index = indices[row]
        value = outcomes[index] * (1.0 - 2.0 * players[index])
        for ply in range(ends[row] - 1, index, -1):
            sign = 1.0 if players[ply] == players[index] else -1.0
            value += share * (sign * root_values[ply] - value)
        averages[row] = value
