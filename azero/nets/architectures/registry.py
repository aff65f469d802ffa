"""azero's nets by name, for the setting `net.architecture`."""

from collections.abc import Callable

from azero.config.schema import NetConfig
from azero.games import Game
from azero.nets.architectures.any_size import AnySizeTower
from azero.nets.architectures.contract import Net
from azero.nets.architectures.dense import DenseNet
from azero.nets.architectures.tower import ResidualTower

ARCHITECTURES: dict[str, Callable[[NetConfig, Game], Net]] = {
    "tower": ResidualTower,
    "any_size": AnySizeTower,
    "dense": DenseNet,
}

ANY_SIZE = ("any_size",)
"""The nets whose weights fit boards of all sizes."""
