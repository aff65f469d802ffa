"""The layers of auxiliary heads in a net: what they are built of, and the heads that the net keeps.

Those that the setting `net.heads` names are part of the net, and stay in its checkpoint. `forward` does not run them.
"""

from typing import NamedTuple

from torch import Tensor, nn

from azero.config.schema import NetConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.defaults import has_own
from azero.heads import HEADS, Head
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.contract import Net, start_at_zero


class HeadBuilder(NamedTuple):
    """Builds the layers of a head from a net's features [B, C, H, W]. Their outputs begin as zeros."""

    net: Net
    head: Head

    def cells(self, channels: int) -> nn.Sequential:
        """Returns 1x1 convolutions, to `channels` and to one output per cell, [B, H * W]."""
        inputs, *board = self._features_shape()
        if board != [*self.net.game.planes_shape[1:]]:
            name = self.head.name
            raise BadInput(
                f"{name} needs a net with features for each cell, e.g. net.name = tower; for this net, leave it out of "
                f"net.heads, and set training.{name}_loss_weight = 0"
            )
        last = nn.Conv2d(channels, 1, 1)
        start_at_zero(last)
        return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), last, nn.Flatten())

    def number(self, channels: int, units: int, fits_all_sizes: bool = True) -> nn.Sequential:
        """Returns a 1x1 convolution to `channels`, a hidden layer of `units`, and one output, [B, 1].

        Args:
          fits_all_sizes: whether the layers fit all sizes that the net plays, else one size only.
        """
        inputs, height, width = self._features_shape()
        for_one = nn.Flatten(), channels * height * width
        summary, summed = self.net.summary(channels) if fits_all_sizes else for_one
        hidden, last = nn.Linear(summed, units), nn.Linear(units, 1)
        start_at_zero(last)
        return nn.Sequential(NormalizedConvolution(inputs, channels, 1), nn.ReLU(), summary, hidden, nn.ReLU(), last)

    def _features_shape(self) -> tuple[int, int, int]:
        """Returns the shape of the net's features; raises BadInput if it has none."""
        if self.net.features_shape is None:
            raise BadInput(
                "auxiliary heads learn from a net's features, and this net has none: it needs the methods `features` "
                "and `judge`, or training.*_loss_weight = 0"
            )
        return self.net.features_shape


def layers_of(head: Head, net: Net, config: NetConfig, is_kept: bool) -> nn.Module:
    """Returns new layers of a head; raises BadInput if the net cannot have it."""
    return head.with_torch.layers(HeadBuilder(net, head), config, is_kept)


def keep_heads(net: Net, config: NetConfig) -> None:
    """Gives a new net the layers of the heads that it keeps; raises BadInput if the game or the net cannot have one."""
    kept = nn.ModuleDict()
    for name, head in HEADS.items():
        if name not in config.heads:
            continue
        if head.needs is not None and not has_own(net.game.rules, head.needs):
            raise BadInput(
                f"net.heads = {[*config.heads]} should be without {name!r}, since {net.game} has no `{head.needs}` of "
                "its own"
            )
        kept[name] = layers_of(head, net, config, is_kept=True)
    del net.kept
    net.kept = kept  # after the net's other layers, so that training is the same as if the heads were not kept


def run_heads(kept: nn.ModuleDict, game: Game, features: Tensor) -> dict[str, Tensor]:
    """Returns the answers of a net's kept heads for B positions, given their features, by name; see `Head.meaning`."""
    return {name: HEADS[name].with_torch.answers(layers(features), game) for name, layers in kept.items()}


def all_outputs(net: Net, planes: Tensor) -> dict[str, Tensor]:
    """Returns a net's outputs for planes [B, C, H, W] by name: those of its prediction, and of its kept heads."""
    features = net.features(planes)
    return net.judge(features)._asdict() | run_heads(net.kept, net.game, features)
