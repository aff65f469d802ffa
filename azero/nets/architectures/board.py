"""Where the cells of a board are in a batch. Boards of several sizes are padded to the largest one, the canvas."""

import torch
from torch import Tensor, nn


class Board:
    """The cells of B boards on a canvas of H x W cells, for layers that look at whole boards.

    Cells beside a board are zero after each layer of a tower. So a board on a larger canvas has the same output as
    alone.

    Attributes:
      cells: [B, 1, H, W] float32, 1 for cells on the board. None if all cells are on the boards.
      places: [B, P * H * W + K] bool, the places of actions on the canvas (`Places`). None if all boards are whole.
    """

    def __init__(self, cells: Tensor | None = None, places: Tensor | None = None):
        self.cells, self.places = cells, places
        if cells is not None:
            self._areas = cells.sum((2, 3))  # [B, 1]
            self._indices = cells.flatten().nonzero()[:, 0]

    def cut(self, x: Tensor) -> Tensor:
        """Returns x, [B, C, H, W], with zeros beside the boards."""
        return x if self.cells is None else x * self.cells

    def mean(self, x: Tensor) -> Tensor:
        """Returns each channel's mean over the board, [B, C]. x, [B, C, H, W], is zero beside the boards."""
        return x.mean((2, 3)) if self.cells is None else x.sum((2, 3)) / self._areas

    def side(self, x: Tensor) -> Tensor | float:
        """Returns the square root of the number of cells: [B, 1], or one number if all boards are whole."""
        return (x.shape[2] * x.shape[3]) ** 0.5 if self.cells is None else self._areas.sqrt()

    def normalize(self, norm: nn.Module, x: Tensor) -> Tensor:
        """Returns x, [B, C, H, W], normalised with statistics of the boards' cells; zero beside the boards."""
        if self.cells is None:
            return norm(x)
        flat = x.permute(0, 2, 3, 1).flatten(0, 2)  # [B * H * W, C]
        on_board = norm(flat[self._indices][:, :, None, None])[:, :, 0, 0]
        full = torch.zeros_like(flat, dtype=on_board.dtype).index_copy(0, self._indices, on_board)
        return full.unflatten(0, (x.shape[0], *x.shape[2:])).permute(0, 3, 1, 2)


WHOLE = Board()
"""Boards that fill their planes."""
