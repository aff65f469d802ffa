"""What a game has to teach beside policy and result: targets of the auxiliary heads, which only training has."""

import math
from typing import NamedTuple

import numpy as np

from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.contract import sign_of
from azero.games.defaults import has_own
from azero.selfplay.data.endings import Endings, endings_of
from azero.selfplay.data.records import Shard
from azero.selfplay.data.returns import ends_of, write_returns

_SHARES_OF_CELLS = (0.016, 0.056, 0.176)
"""Horizons of short-term values are this many plies for each cell of the board, and one more, as in KataGo."""


class AuxiliaryHeads(NamedTuple):
    """Which heads there are, and so which targets are wanted."""

    has_reply: bool = False
    has_plies_left: bool = False
    horizons: tuple[float, ...] = ()  # of short-term values, in plies, each above 1; none where there is no such head
    has_ownership: bool = False
    has_score: bool = False

    @property
    def need_endings(self) -> bool:
        """Whether there are heads for the final position."""
        return self.has_ownership or self.has_score


NO_HEADS = AuxiliaryHeads()


def auxiliary_heads_of(config: TrainingConfig, game: Game) -> AuxiliaryHeads:
    """Returns the heads whose losses the settings give a weight; raises BadInput where the game has no such target."""
    for method, name, weight in (
        ("ownership", "ownership_loss_weight", config.ownership_loss_weight),
        ("final_score", "score_loss_weight", config.score_loss_weight),
    ):
        if weight > 0 and not has_own(game.rules, method):
            raise BadInput(f"training.{name} is {weight:g}; it should be 0, since {game} has no `{method}` of its own")
    _, height, width = game.planes_shape
    return AuxiliaryHeads(
        has_reply=config.reply_loss_weight > 0,
        has_plies_left=config.plies_left_loss_weight > 0,
        horizons=tuple(1 + share * height * width for share in _SHARES_OF_CELLS)
        if config.short_term_loss_weight > 0
        else (),
        has_ownership=config.ownership_loss_weight > 0,
        has_score=config.score_loss_weight > 0,
    )


class AuxiliaryTargets(NamedTuple):
    """Targets of B positions, float32, for the player to move; what no head is for has no columns, [B, 0]."""

    replies: np.ndarray  # [B, A], the search's policy at the next ply; zeros where the opponent has none
    plies_left: np.ndarray  # [B, 1], plies until the game ends, 1 before the last; NaN where it was resigned
    short_term: np.ndarray  # [B, K], in [-1, 1], means of the search's values over each of K horizons
    owners: np.ndarray  # [B, H * W], who holds each cell at the end: 1 the mover, -1 the other, 0 nobody, NaN unknown
    scores: np.ndarray  # [B, 1], by how much the mover wins, in units of the board's side, sqrt(H W); NaN unknown


def unknown_targets(size: int, game: Game, heads: AuxiliaryHeads) -> AuxiliaryTargets:
    """Returns targets of `size` positions of which nothing is known: none has a reply, all else is NaN."""
    _, height, width = game.planes_shape
    columns = {
        "replies": game.num_actions * heads.has_reply,
        "plies_left": int(heads.has_plies_left),
        "short_term": len(heads.horizons),
        "owners": height * width * heads.has_ownership,
        "scores": int(heads.has_score),
    }
    targets = AuxiliaryTargets(**{name: np.full((size, num), np.nan, np.float32) for name, num in columns.items()})
    return targets._replace(replies=np.zeros_like(targets.replies))


def auxiliary_targets(
    game: Game,
    shard: Shard,
    indices: np.ndarray,
    symmetries: np.ndarray,
    heads: AuxiliaryHeads,
    endings: Endings | None = None,
) -> AuxiliaryTargets:
    """Returns the targets of positions at `indices` ([B] int64) of a shard, seen through symmetries ([B] int64).

    A reply is the opponent's: there is none after the last ply, nor where the same player moves on, nor where the next
    search was a fast one.

    A short-term value of horizon h is the mean of the values to come, for the player to move, of which each ply hears
    1 / h, and the rest is heard by the ply after it; at the end it is the result z that hears all that is left:

        v(t) = q(t+1) / h + (1 - 1 / h) v(t+1),  v(last) = z

    Plies left, owners and score are unknown of a game that was given up before the rules ended it.

    Args:
      endings: those of the shard, where they are known already.

    Source:
      Wu, Accelerating self-play learning in Go, 2019, sections 3.4 (reply) and 4.1 (ownership and score). KataGo,
      cpp/dataio/trainingwrite.cpp, `fillValueTDTargets` (short-term values; there q(t) is heard, too).
    """
    size = len(indices)
    games, ends = np.searchsorted(np.cumsum(shard.lengths), indices, side="right"), ends_of(shard, indices)
    none = np.empty((size, 0), np.float32)
    replies = _replies(game, shard, indices, symmetries, ends) if heads.has_reply else none
    plies_left = none
    if heads.has_plies_left:
        plies_left = np.where(shard.resigned[games], np.nan, ends - indices)[:, None].astype(np.float32)
    short_term = np.empty((size, len(heads.horizons)), np.float32)
    for column, horizon in enumerate(heads.horizons):
        values = shard.players, shard.root_values, shard.outcomes
        write_returns(*values, indices, ends, 1 / horizon, False, short_term[:, column])
    owners = scores = none
    if heads.need_endings:
        endings = endings or endings_of(game, shard)
        signs = np.where(endings.is_over[games], sign_of(shard.players[indices]), np.nan).astype(np.float32)[:, None]
        if heads.has_ownership:
            owners = signs * endings.owners[games[:, None], game.symmetries.cells[symmetries]]
        if heads.has_score:
            scores = signs * endings.scores[games, None] / np.float32(math.sqrt(endings.owners.shape[1]))
    return AuxiliaryTargets(replies, plies_left, short_term, owners, scores)


def _replies(game: Game, shard: Shard, indices: np.ndarray, symmetries: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Returns the policies of the plies that follow, [B, A] float32; zeros where they are no replies to learn."""
    following = np.minimum(indices + 1, shard.num_positions - 1)
    is_reply = (indices + 1 < ends) & (shard.players[following] != shard.players[indices])
    is_reply &= shard.weights[following] > 0
    visits = shard.visits[following[:, None], game.symmetries.actions[symmetries]] * is_reply[:, None]
    return (visits / np.maximum(visits.sum(axis=1, keepdims=True), 1)).astype(np.float32)
