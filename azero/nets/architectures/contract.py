"""What every net offers: planes in, a policy and a result out. Searches, training and runtimes need nothing else."""

import copy
from abc import abstractmethod
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.drawing import ARCHITECTURES, Drawing, drawing_of


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
      architecture: the name of a net of azero's; empty for a user's net.
      features_shape: the shape of a position's features, (channels, height, width); None if the net has no features
        of its own. Auxiliary heads learn from features.
      kept: layers of the auxiliary heads that stay in the checkpoint, by name; see `heads.py`.
      identity: of the sources that define a user's net, 64 hex digits; empty for azero's own nets.
    """

    architecture: str = ""
    features_shape: tuple[int, int, int] | None
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

    def summary(self, channels: int) -> tuple[nn.Module, int]:
        """Returns a layer from [B, channels, H, W] to [B, inputs] for the linear layers of kept heads, and `inputs`."""
        assert self.features_shape is not None, "heads learn from features"
        _, height, width = self.features_shape
        return nn.Flatten(), channels * height * width

    @property
    def is_quantizable(self) -> bool:
        """Whether a runtime can compute its convolutions in int8."""
        return self.architecture in ARCHITECTURES and ARCHITECTURES[self.architecture].is_quantizable

    @property
    def torch_net(self) -> "Net":
        """This net, see `runtimes.library.Runnable`."""
        return self

    def drawing(self) -> Drawing | None:
        """Returns the drawing of a net of azero's; None for a user's net."""
        weights = {name: tensor.detach().cpu().float().numpy() for name, tensor in self.state_dict().items()}
        return drawing_of(self.architecture, weights, self.game)


AnyNet = TypeVar("AnyNet", bound=Net)

NETS: dict[str, Callable[[NetConfig, Game], Net]] = {}
"""The nets of azero, by the names of their folders."""


def architecture(name: str) -> Callable[[type[AnyNet]], type[AnyNet]]:
    """Registers a net of azero's, which is made of `NetConfig` and `Game`, as a decorator."""

    def register(kind: type[AnyNet]) -> type[AnyNet]:
        kind.architecture, NETS[name] = name, kind
        return kind

    return register


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
