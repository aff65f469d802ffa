"""Layers of a tower that are trained by Winograd convolutions, on a CPU in fp32."""

import functools
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import Config
from azero.nets.architectures.blocks import NormalizedConvolution, ResidualBlock
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.tower.net import Tower
from azero.nets.devices import device_type
from azero.nets.runtimes.winograd.kernels import GROUP, LANES, NUM_POINTS, whole_groups
from azero.nets.runtimes.winograd.library import NEEDED, has_vectors
from azero.nets.runtimes.winograd.transforms import all_matrices, kernel_matrix, split_side
from azero.training.learning.winograd import kernels
from azero.training.learning.winograd.kernels import Norms, Scratch, run_layers, run_layers_back

_BLOCK = 12
"""Positions that are computed at once."""

_NOTHING = np.zeros(0, np.float32)


class WinogradLayer(NormalizedConvolution):
    """A layer of a 3 x 3 convolution with the parameters of another one."""

    def __init__(self, layer: NormalizedConvolution):
        nn.Module.__init__(self)
        self.convolution, self.norm = layer.convolution, layer.norm
        assert self.convolution.bias is None, "the norm has it"

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:
        return self._run(x, board, None, has_relu=False)

    def rectified(self, x: Tensor, board: Board = WHOLE, added: Tensor | None = None) -> Tensor:
        return self._run(x, board, added, has_relu=True)

    def _run(self, x: Tensor, board: Board, added: Tensor | None, has_relu: bool) -> Tensor:
        weight, norm = self.convolution.weight, self.norm
        outputs = len(weight)
        x, weight = _padded(x), _padded(_padded(weight).transpose(0, 1)).transpose(0, 1)
        if self.training and board.cells is None and outputs % LANES == 0:
            return _Layers.apply(x, added, has_relu, [norm], weight, norm.weight, norm.bias)
        y = _Layers.apply(x, None, False, [], weight)
        y = board.normalize(norm, y[:, :outputs])
        y = y if added is None else y + added
        return F.relu(y) if has_relu else y


def _run_tower(tower: Tower, planes: Tensor) -> Tensor:
    """Returns the features of a tower whose blocks have no global context, for whole boards."""
    layers = [tower.stem, *(layer for block in _blocks_of(tower) for layer in (block.first, block.second))]
    weights = [_padded(layers[0].convolution.weight), *(each.convolution.weight for each in layers[1:])]
    of_norms = [parameter for each in layers for parameter in (each.norm.weight, each.norm.bias)]
    return _Layers.apply(_padded(planes), None, True, [each.norm for each in layers], *weights, *of_norms)


def _blocks_of(tower: Tower) -> list[ResidualBlock]:
    return [each for each in tower.blocks if isinstance(each, ResidualBlock)]


def _padded(x: Tensor) -> Tensor:
    """Returns x, [N, C, ...], with channels of zeros, so that C is a multiple of LANES."""
    return F.pad(x, (0, 0, 0, 0, 0, -x.shape[1] % LANES)) if x.shape[1] % LANES else x


def why_not_winograd(config: Config) -> str | None:
    """Returns why this machine cannot train the settings' net by Winograd convolutions; None if it can."""
    device = device_type(config.device.device)
    if device != "cpu":
        return f"with device {device!r}, only on a CPU"
    if not has_vectors():
        return f"here: it needs {NEEDED}"
    if config.net.name not in ("tower", "any_size"):
        return f"with net.name = {config.net.name!r}, only with tower and any_size"
    return None


def use_winograd(module: nn.Module) -> None:
    """Makes the towers in a module train by Winograd convolutions. Names and parameters stay."""
    for each in list(module.modules()):
        for name, layer in each.named_children():
            if type(layer) is NormalizedConvolution and layer.convolution.kernel_size == (3, 3):
                setattr(each, name, WinogradLayer(layer))
        if isinstance(each, Tower) and each.features_shape and each.features_shape[0] % LANES == 0:
            has_context = any(block.pooling or block.excitation for block in _blocks_of(each))
            each.trained_by = None if has_context else _run_tower


@functools.cache
def _boards(height: int, width: int) -> tuple[kernels.Board, kernels.Board]:
    """Returns the transforms of a board, without weights, and those of gradients.

    The latter are the adjoint of what transforms products.
    """
    rows, columns = split_side(height), split_side(width)
    matrices = all_matrices()
    back = matrices.copy()
    back[:, 0] = matrices[:, 1].swapaxes(1, 2)
    kernel = kernel_matrix((len(rows.sharing), len(columns.sharing))).astype(np.float32)
    board = kernels.Board(
        matrices=matrices.reshape(-1),
        rows=rows.runs,
        columns=columns.runs,
        sharing_rows=rows.sharing,
        sharing_columns=columns.sharing,
        weights=_NOTHING,
        kernel=_whole_rows(kernel),
        kernel_back=_whole_rows(kernel.T),
    )
    of_gradients = {"rows": _of_outputs(rows.runs), "columns": _of_outputs(columns.runs)}
    return board, board._replace(matrices=back.reshape(-1), **of_gradients)


def _whole_rows(matrix: np.ndarray) -> np.ndarray:
    """Returns a matrix, flat, with rows of zeros up to whole groups."""
    return np.pad(matrix, ((0, -len(matrix) % GROUP), (0, 0))).reshape(-1)


def _of_outputs(runs: np.ndarray) -> np.ndarray:
    """Returns runs that read their outputs in place of their inputs."""
    runs = runs.copy()
    runs["reads"], runs["num_reads"], runs["skipped"] = runs["first"], runs["outputs"], 0
    return runs


class _Own(NamedTuple):
    """What a thread has of its own, for boards of one shape and layers of up to so many channels."""

    board: kernels.Board
    board_back: kernels.Board
    scratch: Scratch


_OWN = threading.local()


def _own(height: int, width: int, depth: int) -> _Own:
    """Returns what this thread has; it is kept."""
    kept: dict[tuple[int, int, int], _Own] = vars(_OWN).setdefault("kept", {})
    key = height, width, depth
    if key not in kept:
        kept[key] = _new(*key)
    return kept[key]


def _new(height: int, width: int, depth: int) -> _Own:
    board, board_back = _boards(height, width)
    num_columns, num_tiles = len(board.sharing_columns), len(board.rows) * len(board.columns)
    num_pairs = len(board.sharing_rows) * num_columns
    slot = whole_groups(num_tiles * _BLOCK) * depth + LANES
    points = (num_pairs + 1) * slot + GROUP * depth

    def floats(number: int) -> np.ndarray:
        return np.zeros(number, np.float32)

    scratch = Scratch(
        block=_BLOCK,
        points=floats(points),
        gradients=floats(points),
        cells=floats(_BLOCK * height * width * depth),
        gradient=floats(num_pairs * whole_groups(depth) * depth),
        taps=floats(whole_groups(kernels.TAPS) * depth**2),
        sums=np.zeros((2, depth)),
        factors=np.zeros((3, depth), np.float32),
        lines=floats((height + NUM_POINTS) * len(board.columns) * NUM_POINTS * LANES),
        slot=slot,
        row_slots=num_columns * slot,
        depth=depth,
    )
    weights = floats(whole_groups(num_pairs) * depth**2 + depth)
    return _Own(board._replace(weights=weights), board_back, scratch)


def _put(x: Tensor, cells: np.ndarray) -> None:
    """Writes x, [B, C, H, W], as the kernels read it: [B, H, W, C], flat."""
    batch, channels, height, width = x.shape
    torch.from_numpy(cells).view(batch, height, width, channels).copy_(x.permute(0, 2, 3, 1))


def _copy(cells: np.ndarray, channels: int, like: Sequence[int]) -> Tensor:
    """Returns a copy of cells as a tensor [B, C, H, W] in the channels-last order, with the sides of a shape `like`."""
    batch, _, height, width = like
    return torch.from_numpy(cells.copy()).view(batch, height, width, channels).permute(0, 3, 1, 2)


def _flat(tensors: Sequence[Tensor]) -> np.ndarray:
    """Returns the numbers of tensors side by side."""
    parts = [each.detach().reshape(-1) for each in tensors]
    return parts[0].numpy() if len(parts) == 1 else torch.cat(parts).numpy() if parts else _NOTHING


def _like(flat: np.ndarray, tensors: Sequence[Tensor]) -> list[Tensor]:
    """Returns numbers side by side as tensors of the shapes of `tensors`."""
    parts = torch.from_numpy(flat).split([each.numel() for each in tensors])
    return [part.view(each.shape) for part, each in zip(parts, tensors, strict=True)]


class _Cells(threading.local):
    """Memory for the cells of a pass, which its gradients give back."""

    def __init__(self) -> None:
        self.free: list[np.ndarray] = []

    def take(self, size: int) -> np.ndarray:
        for number, each in enumerate(self.free):
            if len(each) == size:
                return self.free.pop(number)
        return np.empty(size, np.float32)

    def give(self, cells: np.ndarray) -> None:
        self.free = [*self.free, cells][-_MOST_FREE:]


_CELLS = _Cells()
_MOST_FREE = 4


class _Layers(torch.autograd.Function):
    """A layer, or the layers of a tower: see `kernels.py`. Without norms it is a convolution alone.

    Every second layer of a tower, after the first one, adds the input of the layer before it.
    """

    @staticmethod
    def forward(ctx: Any, x, added, has_relu, norms, *parameters) -> Tensor:
        batch, inputs, height, width = x.shape
        weights = parameters[: max(1, len(norms))]
        outputs = len(weights[0])
        own = _own(height, width, max(inputs, outputs))
        size_in, size = (batch * height * width * each for each in (inputs, outputs))
        records = _records(len(weights), bool(norms), added is not None, has_relu, inputs, outputs, size_in, size)
        cells = _CELLS.take(size_in + size * (2 * len(weights) + (added is not None)))
        _put(x, cells[:size_in])
        if added is not None:
            _put(added, cells[-size:])
        flat, own_norms = _flat(weights), _norms_of(norms, parameters[len(weights) :])
        shape = kernels.Shape(batch, height * width)
        run_layers(records, cells, flat, own_norms, own.board, own.scratch, shape)
        if norms:
            mean, _, variance = torch.from_numpy(own_norms.moments).view(3, len(norms), outputs).unbind()
            for running, new in (("running_mean", mean), ("running_var", variance)):
                torch._foreach_lerp_([getattr(each, running) for each in norms], list(new), norms[0].momentum)
            torch._foreach_add_([each.num_batches_tracked for each in norms], 1)
        ctx.of_pass = records, cells, flat, own_norms, shape, x.shape, added is not None
        ctx.save_for_backward(*parameters)
        last = int(records[-1]["z" if norms else "y"])
        return _copy(cells[last : last + size], outputs, x.shape)

    @staticmethod
    def backward(ctx: Any, *gradients) -> tuple:
        parameters = ctx.saved_tensors
        records, cells, flat, norms, shape, shape_in, has_added = ctx.of_pass
        del ctx.of_pass  # once only: the memory goes to others
        _, inputs, height, width = shape_in
        outputs, num_cells = int(records[-1]["outputs"]), shape.batch * shape.cells
        size_in, size = num_cells * inputs, num_cells * outputs
        own = _own(height, width, max(inputs, outputs))
        if not ctx.needs_input_grad[0]:
            records[0]["dx"] = -1
        changes, dflat = _CELLS.take(2 * size + size_in), np.empty_like(flat)
        _put(gradients[0], changes[:size])
        run_layers_back(records, cells, changes, flat, dflat, norms, own.board, own.board_back, own.scratch, shape)
        dx = _copy(changes[2 * size :], inputs, shape_in) if ctx.needs_input_grad[0] else None
        dadded = _copy(changes[:size], outputs, shape_in) if has_added else None
        num = len(records)
        of_norms = torch.from_numpy(norms.gradients).view(2, num, outputs).unbind() if len(norms.gradients) else ()
        dnorms = [part for pair in zip(*of_norms, strict=True) for part in pair]
        _CELLS.give(changes)
        _CELLS.give(cells)
        return dx, dadded, None, None, *_like(dflat, parameters[:num]), *dnorms


def _norms_of(norms: Sequence[nn.BatchNorm2d], parameters: Sequence[Tensor]) -> Norms:
    channels = sum(len(each) for each in parameters[::2])
    moments, gradients = np.empty(3 * channels, np.float32), np.empty(2 * channels, np.float32)
    epsilon = norms[0].eps if norms else 0.0
    return Norms(_flat(parameters[::2]), _flat(parameters[1::2]), moments, gradients, epsilon)


def _records(
    num: int, has_norm: bool, has_added: bool, has_relu: bool, inputs: int, outputs: int, size_in: int, size: int
) -> np.ndarray:
    """Returns layers. Their cells lie side by side: the input, y and z of each layer, and what a single one adds.

    Gradients need three places: of the output, of the input of a block, and of what is between them.

    Args:
      size_in, size: numbers of the input's cells, and of an output's.
    """
    records = np.zeros(num, kernels.LAYER_DTYPE)
    for number, record in enumerate(records):
        record["inputs"], record["outputs"] = outputs if number else inputs, outputs
        record["weight"] = (outputs * (inputs + (number - 1) * outputs) * kernels.TAPS) if number else 0
        record["channel"], record["has_norm"], record["has_relu"] = number * outputs, has_norm, has_relu
        record["y"] = size_in + 2 * number * size
        record["z"] = record["y"] + size
        record["x"] = record["y"] - size if number else 0
        is_second = number > 0 and number % 2 == 0
        record["added"] = record["x"] - 2 * size if is_second else -1
        record["dz"], record["dx"] = (0, size) if is_second or not number else (size, 0)
        record["dadded"] = 0 if is_second else -1
        record["more"] = 0 if number % 2 else -1
    records[0]["dx"] = 2 * size
    if has_added:
        records[0]["added"], records[0]["dadded"] = size_in + 2 * size, 0
    return records
