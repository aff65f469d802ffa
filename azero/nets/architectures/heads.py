"""Heads beside policy and value: what their layers are built from, and the heads that a net can keep.

Auxiliary heads are trained with the net (`azero/training/heads/`). Those that the setting `net.heads` names are part of
the net, and stay in its checkpoint. `forward` does not run them.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from azero.config.schema import NetConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.defaults import has_own
from azero.nets.architectures.any_size import AnySizeTower, pooled
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.board import WHOLE
from azero.nets.architectures.contract import Net, start_at_zero
from azero.nets.graphs.any_size import side_of


class Pooling(nn.Module):
    """Pools each channel over the board, [B, C, H, W] to [B, 3 C], whatever its size."""

    def forward(self, x: Tensor) -> Tensor:
        return pooled(x, WHOLE)


def dense_layers(net: Net, channels: int, sizes: list[int]) -> nn.Sequential:
    """Returns a 1x1 convolution to `channels`, followed by linear layers with outputs of `sizes`."""
    inputs, height, width = _features_of(net)
    return _linear_layers(inputs, channels, nn.Flatten(), [channels * height * width, *sizes])


def pooled_layers(net: Net, channels: int, sizes: list[int]) -> nn.Sequential:
    """Returns the same with pooled channels, so that no layer depends on the board's size."""
    return _linear_layers(_features_of(net)[0], channels, Pooling(), [3 * channels, *sizes])


def _linear_layers(inputs: int, channels: int, summary: nn.Module, sizes: list[int]) -> nn.Sequential:
    *hidden, last = (nn.Linear(*pair) for pair in pairwise(sizes))
    start_at_zero(last)
    between = (layer for each in hidden for layer in (each, nn.ReLU()))
    return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), summary, *between, last)


def cell_layers(net: Net, channels: int) -> nn.Sequential:
    """Returns 1x1 convolutions, to `channels` and to one output per cell, [B, H * W]."""
    inputs, *board = _features_of(net)
    if board != [*net.game.planes_shape[1:]]:
        raise BadInput(
            "ownership needs a net with features for each cell, e.g. net.name = tower; for this net, leave it out of "
            "net.heads, and set training.ownership_loss_weight = 0"
        )
    last = nn.Conv2d(channels, 1, 1)
    start_at_zero(last)
    return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), last, nn.Flatten())


def _features_of(net: Net) -> tuple[int, int, int]:
    """Returns the shape of a net's features; raises BadInput if it has none."""
    if net.features_shape is None:
        raise BadInput(
            "auxiliary heads learn from a net's features, and this net has none: it needs the methods `features` and "
            "`judge`, or training.*_loss_weight = 0"
        )
    return net.features_shape


class KeptHead(NamedTuple):
    """A head that a net can keep.

    Attributes:
      needs: the optional method that the game must define for it.
      meaning: what its answers are, for users.
      is_per_cell: whether a position's answer is a number for each cell, [H, W], or one number.
      unit: returns the unit in which `azero export` checks errors of its answers.
      layers: returns new layers, from the net's features [B, C, H, W] to outputs [B, columns].
      answers: returns the answers, [B, H, W] or [B, 1], for the player to move, given the outputs of its layers.
    """

    needs: str
    meaning: str
    is_per_cell: bool
    unit: Callable[[Game], float]
    layers: Callable[[Net, NetConfig], nn.Module]
    answers: Callable[[Tensor, Game], Tensor]


def _ownership_layers(net: Net, config: NetConfig) -> nn.Module:
    return cell_layers(net, config.value_channels)


def _score_layers(net: Net, config: NetConfig) -> nn.Module:
    layers = pooled_layers if isinstance(net, AnySizeTower) else dense_layers
    return layers(net, config.value_channels, [config.value_hidden, 1])


def _owners(logits: Tensor, game: Game) -> Tensor:
    """Returns 2 P(the mover will own the cell) - 1, [B, H, W]."""
    return (2 * torch.sigmoid(logits) - 1).unflatten(1, game.planes_shape[1:])


def _points(margins: Tensor, game: Game) -> Tensor:
    """Returns points, [B, 1], of margins in units of the board's side."""
    return margins * side_of(game)


KEPT = {
    "ownership": KeptHead(
        needs="ownership",
        meaning="the expected owner of each cell at the end: 1 the player to move, -1 the opponent",
        is_per_cell=True,
        unit=lambda game: 1.0,
        layers=_ownership_layers,
        answers=_owners,
    ),
    "score": KeptHead(
        needs="final_score",
        meaning="the points by which the player to move is expected to win",
        is_per_cell=False,
        unit=side_of,
        layers=_score_layers,
        answers=_points,
    ),
}
"""All of them, by name. This is the order in which initial weights are drawn."""


def keep_heads(net: Net, config: NetConfig) -> None:
    """Gives a new net the layers of the heads that it keeps; raises BadInput if the game or the net cannot have one."""
    kept = nn.ModuleDict()
    for name, head in KEPT.items():
        if name not in config.heads:
            continue
        if not has_own(net.game.rules, head.needs):
            raise BadInput(
                f"net.heads = {[*config.heads]} should be without {name!r}, since {net.game} has no `{head.needs}` of "
                "its own"
            )
        kept[name] = head.layers(net, config)
    del net.kept
    net.kept = kept  # after the net's other layers, so that training is the same as if the heads were not kept


def run_heads(kept: nn.ModuleDict, game: Game, features: Tensor) -> dict[str, Tensor]:
    """Returns the answers of a net's kept heads for B positions, given their features, by name; see `KEPT`."""
    return {name: KEPT[name].answers(layers(features), game) for name, layers in kept.items()}


def all_outputs(net: Net, planes: Tensor) -> dict[str, Tensor]:
    """Returns a net's outputs for planes [B, C, H, W] by name: those of its prediction, and of its kept heads."""
    features = net.features(planes)
    return net.judge(features)._asdict() | run_heads(net.kept, net.game, features)
