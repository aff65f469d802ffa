"""azero's nets by name, for the setting `net.name`."""

from collections.abc import Callable

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.any_size import AnySizeTower
from azero.nets.architectures.contract import Net
from azero.nets.architectures.dense import DenseNet
from azero.nets.architectures.tower import ResidualTower
from azero.nets.graphs.registry import Drawing, drawing_of

ARCHITECTURES: dict[str, Callable[[NetConfig, Game], Net]] = {
    "tower": ResidualTower,
    "any_size": AnySizeTower,
    "dense": DenseNet,
}


def drawing_of_net(net: Net) -> Drawing | None:
    """Returns the drawing of a net of azero's; None for a user's net."""
    weights = {name: tensor.detach().cpu().float().numpy() for name, tensor in net.state_dict().items()}
    for name, kind in ARCHITECTURES.items():
        if type(net) is kind:
            return drawing_of(name, weights, net.game)
    return None
