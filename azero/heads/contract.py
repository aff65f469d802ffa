"""The interface of an auxiliary head, in two parts: `Head` without torch, `LayersOfHead` with it.

The settings are made of the first parts, so these import nothing of azero but this module, except for types. The second
part is imported when it is needed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from azero.config.schema import NetConfig
    from azero.games import Game
    from azero.nets.architectures.heads import HeadBuilder
    from azero.nets.graphs.graph import Graph, Node
    from azero.nets.graphs.weights import Weights
    from azero.selfplay.data.positions import Positions


class Head(ABC):
    """An auxiliary head, without its layers.

    Its answers are for the player to move: a number for each cell, or one number.

    Attributes:
      name: part of its setting `training.NAME_loss_weight`, of its metric `train/NAME_loss`, and of its tensors in a
        run's state: `heads.NAME...`, or `net.kept.NAME...` if the net keeps it. Also the name of its answers.
      setting: what the loss weight is for, as its description continues "..., for", with the paper's value.
      needs: the optional method that the game must define for this head; without it, the head is an error.
      meaning: what the answers are, for users.
      legend: explains the marks `+`, `-` and `.` of a map of the answers; empty if the answer is one number.
      decimals: of the answers in JSON.
    """

    name: str
    setting: str
    needs: str | None = None
    meaning: str
    legend: str = ""
    decimals: int = 2

    @property
    def is_per_cell(self) -> bool:
        """Whether a position's answer is a number for each cell, [H, W], or one number."""
        return bool(self.legend)

    def columns(self, game: Game) -> int:
        """Returns the number of targets per position."""
        _, height, width = game.planes_shape
        return height * width if self.is_per_cell else 1

    @abstractmethod
    def targets(self, positions: Positions) -> np.ndarray:
        """Returns the targets of B positions, [B, columns] float32, for the player to move. NaN if unknown."""

    def lesson_targets(self, game: Game, results: np.ndarray) -> np.ndarray:
        """Returns the targets of B lessons, [B, columns] float32, by their results ([B] int8, for the mover).

        By default they are unknown: NaN.
        """
        import numpy as np  # here, because the settings need none

        return np.full((len(results), self.columns(game)), np.nan, np.float32)

    @abstractmethod
    def draw(self, graph: Graph, x: Node, weights: Weights, game: Game, summary: Callable[[Node], Node]) -> Node:
        """Draws the answers, [B, H, W] or [B, 1], in the graph of a net that keeps the head.

        Args:
          x: the net's features, [B, C, H, W].
          weights: of the head's layers, folded.
          summary: turns [B, C, H, W] into the inputs of linear layers, as `HeadBuilder.number` does.
        """

    def unit(self, game: Game) -> float:
        """Returns the unit in which `azero export` checks errors of the answers."""
        return 1.0

    def to_json(self, answer: Any) -> list[list[float]] | float | None:
        """Returns an answer, [H, W] or a number, as rounded numbers; None if there is none."""
        if answer is None or not self.is_per_cell:
            return None if answer is None else round(float(answer), self.decimals)
        return [[round(each, self.decimals) for each in row] for row in answer.tolist()]

    @property
    def with_torch(self) -> LayersOfHead:
        """The part of the head with torch, `layers.py` beside this class."""
        return cast(LayersOfHead, import_module(f"{type(self).__module__.rpartition('.')[0]}.layers"))


class LayersOfHead(Protocol):
    """The part of a head with torch: a module with these functions."""

    def layers(self, build: HeadBuilder, config: NetConfig, is_kept: bool) -> nn.Module:
        """Returns new layers from the net's features [B, C, H, W] to outputs [B, columns], which begin as zeros.

        A head that the net keeps is used with it, so on all sizes that the net plays; else it is only trained.
        """

    def answers(self, outputs: Tensor, game: Game) -> Tensor:
        """Returns the answers, [B, H, W] or [B, 1], given the outputs of the layers, [B, columns]."""

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Returns the mean loss, without its weight, of outputs [B, columns] float32.

        Rows of unknown targets, which are NaN, do not count. A head without unknown targets may ignore this.
        """


HEADS: dict[str, Head] = {}
"""All heads by name. This is the order in which initial weights are drawn and losses are added."""

AnyHead = TypeVar("AnyHead", bound=type[Any])


def head(kind: AnyHead) -> AnyHead:
    """Registers a class of heads, as a decorator."""
    HEADS[kind.name] = kind()
    return kind
