"""The learner: a net with its auxiliary heads. Its positions may be of several sizes, on a canvas."""

from torch import Tensor, nn

from azero.config.schema import Config, TrainingConfig
from azero.errors import BadInput
from azero.games import Game
from azero.games.defaults import has_own
from azero.heads import HEADS, Head
from azero.nets.architectures.any_size.net import AnySizeTower
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.contract import Net, Prediction
from azero.nets.architectures.heads import layers_of
from azero.nets.make import make_net
from azero.training.learning.winograd.layers import use_winograd, why_not_winograd


def heads_of(config: TrainingConfig, game: Game) -> tuple[Head, ...]:
    """Returns the heads whose loss weights are above 0; raises BadInput if the game lacks a head's target."""
    wanted = tuple(head for head in HEADS.values() if config.loss_weight(head.name) > 0)
    for head in wanted:
        if head.needs is not None and not has_own(game.rules, head.needs):
            setting, weight = f"training.{head.name}_loss_weight", config.loss_weight(head.name)
            raise BadInput(f"{setting} is {weight:g}; it should be 0, since {game} has no `{head.needs}` of its own")
    return wanted


class Learner(nn.Module):
    """A net, and the auxiliary heads whose loss weights are above 0.

    Attributes:
      wanted: the heads.
      heads: the layers, by name, of those that the net does not keep.
    """

    def __init__(self, config: Config, game: Game):
        """Makes a new net; raises BadInput if the settings ask for what the game, the net or this machine lacks."""
        super().__init__()
        self.net = make_net(config.net, game)
        self.wanted = heads_of(config.training, game)
        trained_only = (head for head in self.wanted if head.name not in self.net.kept)
        self.heads = nn.ModuleDict(
            {head.name: layers_of(head, self.net, config.net, is_kept=False) for head in trained_only}
        )
        if config.training.convolution == "winograd":
            if why := why_not_winograd(config):
                advice = "choose another with --set training.convolution=torch"
                raise BadInput(f"training.convolution = winograd is not possible {why}; {advice}")
            use_winograd(self)

    def forward(self, planes: Tensor, board: Board = WHOLE) -> tuple[Prediction, dict[str, Tensor]]:
        """Returns the net's prediction for planes [B, C, H, W], and the output of each head, [B, columns]."""
        features, prediction = judge_on(self.net, planes, board)
        layers = {**self.net.kept, **self.heads}
        return prediction, {head.name: layers[head.name](features) for head in self.wanted}


def judge_on(net: Net, planes: Tensor, board: Board) -> tuple[Tensor, Prediction]:
    """Returns a net's features and prediction for planes on a board; on a canvas, the policy is by places."""
    if board is WHOLE:
        features = net.features(planes)
        return features, net.judge(features)
    assert isinstance(net, AnySizeTower), "the settings are checked"
    features = net.features(planes, board)
    return features, net.judge(features, board)
