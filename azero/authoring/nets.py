"""What the file of a user's net may import: azero's towers and their parts, to be changed or put together anew.

docs/your_own_net.md shows how. `azero check-net` checks a net.
"""

from azero.config.schema import NetConfig
from azero.nets.architectures.any_size.net import AnySizeTower
from azero.nets.architectures.blocks import NormalizedConvolution, ResidualBlock
from azero.nets.architectures.contract import Prediction
from azero.nets.architectures.dense.net import DenseNet
from azero.nets.architectures.tower.net import ResidualTower

__all__ = [
    "AnySizeTower",
    "DenseNet",
    "NetConfig",
    "NormalizedConvolution",
    "Prediction",
    "ResidualBlock",
    "ResidualTower",
]
