"""The residual tower, with a policy head and a win/draw/loss head whose linear layers see the whole board."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.blocks import NormalizedConvolution, ResidualBlock
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.contract import Net, Prediction, architecture, start_at_zero


class Tower(Net):
    """The blocks of AlphaGo Zero's net, without heads.

    Attributes:
      trained_by: what computes the features of whole boards in training, in place of the modules; None by default.
    """

    trained_by: "Callable[[Tower, Tensor], Tensor] | None" = None

    def __init__(self, config: NetConfig, game: Game):
        super().__init__(game)
        planes, height, width = game.planes_shape
        self.features_shape = config.channels, height, width
        self.stem = NormalizedConvolution(planes, config.channels, 3)
        self.blocks = nn.Sequential(
            *(ResidualBlock(config.channels, config.global_context) for _ in range(config.blocks))
        )

    def features(self, planes: Tensor, board: Board = WHOLE) -> Tensor:
        """Returns the tower's output for planes, [B, channels, H, W], which is the input of all heads."""
        if self.training and self.trained_by and board.cells is None:
            return self.trained_by(self, planes)
        x = self.stem.rectified(planes, board)
        for block in self.blocks:
            x = block(x, board)
        return x


@architecture("tower")
class ResidualTower(Tower):
    """The net of AlphaGo Zero [1], with heads of configurable width, and win, draw and loss instead of one value [2].

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods, "Neural network
          architecture".
      [2] As in Leela Chess Zero.
    """

    def __init__(self, config: NetConfig, game: Game):
        super().__init__(config, game)
        _, height, width = game.planes_shape
        self.policy_features = NormalizedConvolution(config.channels, config.policy_channels, 1)
        self.policy = nn.Linear(config.policy_channels * height * width, game.num_actions)
        self.value_features = NormalizedConvolution(config.channels, config.value_channels, 1)
        self.value_hidden = nn.Linear(config.value_channels * height * width, config.value_hidden)
        self.results = nn.Linear(config.value_hidden, 3)
        start_at_zero(self.policy, self.results)

    def judge(self, features: Tensor) -> Prediction:
        """Returns the output of the policy and value heads for the tower's features."""
        policy = F.relu(self.policy_features(features)).flatten(1)  # [B, policy_channels * H * W]
        value = F.relu(self.value_features(features)).flatten(1)  # [B, value_channels * H * W]
        return Prediction(self.policy(policy), self.results(F.relu(self.value_hidden(value))))
