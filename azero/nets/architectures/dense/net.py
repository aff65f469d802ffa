"""A small net of linear layers only, for games whose planes are no picture."""

from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.contract import Net, Prediction, architecture, start_at_zero


class DenseBlock(nn.Module):
    """A linear layer with a skip connection and layer normalisation before it."""

    def __init__(self, units: int):
        super().__init__()
        self.norm = nn.LayerNorm(units)
        self.linear = nn.Linear(units, units)

    def forward(self, x: Tensor) -> Tensor:  # [B, units]
        return x + F.relu(self.linear(self.norm(x)))


@architecture("dense")
class DenseNet(Net):
    """A residual net of `net.blocks` layers with `net.channels` units each. The board's shape plays no part."""

    def __init__(self, config: NetConfig, game: Game):
        super().__init__(game)
        planes, height, width = game.planes_shape
        self.features_shape = config.channels, 1, 1
        self.stem = nn.Linear(planes * height * width, config.channels)
        self.blocks = nn.Sequential(*(DenseBlock(config.channels) for _ in range(config.blocks)))
        self.norm = nn.LayerNorm(config.channels)
        self.policy = nn.Linear(config.channels, game.num_actions)
        self.value_hidden = nn.Linear(config.channels, config.value_hidden)
        self.results = nn.Linear(config.value_hidden, 3)
        start_at_zero(self.policy, self.results)

    def features(self, planes: Tensor) -> Tensor:
        """Returns [B, channels, 1, 1]."""
        return F.relu(self.norm(self.blocks(F.relu(self.stem(planes.flatten(1))))))[:, :, None, None]

    def judge(self, features: Tensor) -> Prediction:
        """Returns the output of the policy and value layers."""
        x = features.flatten(1)
        return Prediction(self.policy(x), self.results(F.relu(self.value_hidden(x))))
