"""What every net offers: planes in, a policy and a result out. Searches, training and runtimes need nothing else."""

import copy
from abc import abstractmethod
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution


class Prediction(NamedTuple):
    """The net's output for B positions, each for the player to move."""

    policy_logits: Tensor  # [B, A]
    result_logits: Tensor  # [B, 3], of win, draw and loss

    def value(self) -> Tensor:
        """Returns P(win) - P(loss), [B] in [-1, 1]."""
        win, _, loss = F.softmax(self.result_logits, dim=1).unbind(1)
        return win - loss


class Net(nn.Module):
    """A net for one game. A new net should have a uniform policy and the value 0.

    Attributes:
      game: the game.
      features_shape: the shape of a position's features, (channels, height, width); None if the net has no features
        of its own. Auxiliary heads learn from features.
      is_quantizable: whether a runtime can compute its convolutions in int8.
      kept: layers of the auxiliary heads that stay in the checkpoint, by name; see `heads.py`.
      identity: of the sources that define a user's net, 64 hex digits; empty for azero's own nets.
    """

    features_shape: tuple[int, int, int] | None
    is_quantizable: bool = False
    identity: str = ""

    def __init__(self, game: Game):
        super().__init__()
        self.game = game
        self.kept = nn.ModuleDict()

    @abstractmethod
    def features(self, planes: Tensor) -> Tensor:
        """Returns what `judge` needs of planes [B, C, H, W] float32: [B, *features_shape]."""

    @abstractmethod
    def judge(self, features: Tensor) -> Prediction:
        """Returns the prediction for these features."""

    def forward(self, planes: Tensor) -> Prediction:  # [B, C, H, W] float32
        return self.judge(self.features(planes))


AnyNet = TypeVar("AnyNet", bound=Net)


def start_at_zero(*layers: nn.Linear | nn.Conv2d) -> None:
    """Makes the output of layers zero."""
    for layer in layers:
        nn.init.zeros_(layer.weight)
        assert layer.bias is not None
        nn.init.zeros_(layer.bias)


def with_noise(net: AnyNet) -> AnyNet:
    """Returns a copy with other weights, for trials: a new net's outputs are zero, whatever its other layers do."""
    trial = copy.deepcopy(net)
    with torch.no_grad():
        for each in trial.parameters():
            each.add_(0.1 * torch.randn_like(each))
    return trial


def fold(net: Net) -> Net:
    """Returns a copy for inference, with the normalisations folded into the convolutions before them."""
    folded = copy.deepcopy(net).eval()
    for module in folded.modules():
        if isinstance(module, NormalizedConvolution):
            module.fold()
    return folded.requires_grad_(False)
