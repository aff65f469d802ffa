"""The canvas: the planes of the largest of several sizes of a game, on which boards of all sizes are painted."""

from collections.abc import Sequence

import numpy as np

from azero.games import Game


class Canvas:
    """A canvas of H x W cells, the largest board. Smaller boards are at its top left, with zeros beside them.

    All sizes have the same kinds of planes, and the same planes and slots of actions (`games/sizes.py`).

    Attributes:
      cells: [S, 1, H, W] float32, 1 for the cells of each size's board.
      places: [S, L] bool, the places of each size's actions; L = P * H * W + K as in `Places`.
    """

    def __init__(self, games: Sequence[Game]):
        """Makes the canvas of S sizes, the smallest first."""
        _, height, width = games[-1].planes_shape
        places = games[-1].places
        self._numbers = [_numbers_on(each, height, width) for each in games]
        self._shape = height, width
        self.cells = np.zeros((len(games), 1, height, width), np.float32)
        self.places = np.zeros((len(games), places.planes * height * width + places.slots), np.bool_)
        for size, game in enumerate(games):
            self.cells[size, :, : game.planes_shape[1], : game.planes_shape[2]] = 1.0
            self.places[size, self._numbers[size]] = True

    def paint(self, size: int, planes: np.ndarray, policies: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns planes [B, C, h, w] of a size on the canvas, [B, C, H, W], and policies [B, A] by places, [B, L]."""
        count, channels, height, width = planes.shape
        painted = np.zeros((count, channels, *self._shape), np.float32)
        painted[:, :, :height, :width] = planes
        by_place = np.zeros((count, self.places.shape[1]), np.float32)
        by_place[:, self._numbers[size]] = policies
        return painted, by_place


def _numbers_on(game: Game, height: int, width: int) -> np.ndarray:
    """Returns the places of a game's actions on a canvas of `height` x `width` cells, [A] int64."""
    _, own_height, own_width = game.planes_shape
    own = game.places.numbers.astype(np.int64)
    plane, cell = np.divmod(own, own_height * own_width)
    row, column = np.divmod(cell, own_width)
    in_planes = (plane * height + row) * width + column
    slot = own - game.places.planes * own_height * own_width
    return np.where(slot < 0, in_planes, game.places.planes * height * width + slot)
