"""The learner: a net with its auxiliary heads."""

from torch import Tensor, nn

from azero.config.schema import Config
from azero.games import Game
from azero.nets.architectures.contract import Prediction
from azero.nets.make import make_net
from azero.training.heads.registry import heads_of


class Learner(nn.Module):
    """A net, and the auxiliary heads whose loss weights are above 0.

    Attributes:
      wanted: the heads.
      heads: the heads' layers, by name.
    """

    def __init__(self, config: Config, game: Game):
        super().__init__()
        self.net = make_net(config.net, game)
        self.wanted = heads_of(config.training, game)
        self.heads = nn.ModuleDict({head.name: head.layers(config.net, self.net) for head in self.wanted})

    def forward(self, planes: Tensor) -> tuple[Prediction, dict[str, Tensor]]:
        """Returns the net's prediction for planes [B, C, H, W], and the output of each head, [B, columns]."""
        features = self.net.features(planes)
        return self.net.judge(features), {name: layers(features) for name, layers in self.heads.items()}
