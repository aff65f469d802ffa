"""All auxiliary heads, and those that a run uses."""

from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.defaults import has_own
from azero.training.heads.contract import Head
from azero.training.heads.ownership import Ownership
from azero.training.heads.score import Score

HEADS: tuple[Head, ...] = (Ownership(), Score())
"""All heads. This is the order in which initial weights are drawn and losses are added."""


def heads_of(config: TrainingConfig, game: Game) -> tuple[Head, ...]:
    """Returns the heads whose loss weights are above 0; raises BadInput if the game lacks a head's target."""
    wanted = tuple(head for head in HEADS if config.loss_weight(head.name) > 0)
    for head in wanted:
        if head.needs is not None and not has_own(game.rules, head.needs):
            setting, weight = f"training.{head.name}_loss_weight", config.loss_weight(head.name)
            raise BadInput(f"{setting} is {weight:g}; it should be 0, since {game} has no `{head.needs}` of its own")
    return wanted
