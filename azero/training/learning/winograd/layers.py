"""Layers of a tower that are trained by Winograd convolutions, on a CPU in fp32."""

import functools
import threading
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.compiler.jit import IS_COMPILED
from azero.config.schema import Config
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.devices import device_type
from azero.nets.runtimes.winograd.kernels import GROUP, LANES, NUM_POINTS
from azero.nets.runtimes.winograd.transforms import all_matrices, kernel_matrix, split_side
from azero.system.machine import cpu_flags
from azero.training.learning.winograd import kernels
from azero.training.learning.winograd.kernels import Kind, Norm, Scratch, Shape, run_layer, run_layer_back

_BLOCK = 12
"""Positions that are computed at once."""

_NOTHING = np.zeros(0, np.float32)


class WinogradLayer(NormalizedConvolution):
    """A layer of a 3 x 3 convolution with the parameters of another one."""

    def __init__(self, layer: NormalizedConvolution):
        nn.Module.__init__(self)
        self.convolution, self.norm = layer.convolution, layer.norm

    def forward(self, x: Tensor, board: Board = WHOLE) -> Tensor:
        return self._run(x, board, None, has_relu=False)

    def rectified(self, x: Tensor, board: Board = WHOLE, added: Tensor | None = None) -> Tensor:
        return self._run(x, board, added, has_relu=True)

    def _run(self, x: Tensor, board: Board, added: Tensor | None, has_relu: bool) -> Tensor:
        weight, norm = self.convolution.weight, self.norm
        outputs = len(weight)
        x, weight = _padded(x), _padded(_padded(weight).transpose(0, 1)).transpose(0, 1)
        if self.training and board.cells is None and outputs % LANES == 0:
            return _Layer.apply(x, weight, norm.weight, norm.bias, added, norm, has_relu)
        y = _Layer.apply(x, weight, None, None, None, None, False)
        y = board.normalize(norm, y[:, :outputs])
        y = y if added is None else y + added
        return F.relu(y) if has_relu else y


def _padded(x: Tensor) -> Tensor:
    """Returns x, [N, C, ...], with channels of zeros, so that C is a multiple of LANES."""
    return F.pad(x, (0, 0, 0, 0, 0, -x.shape[1] % LANES)) if x.shape[1] % LANES else x


_WIDTH = 8  # channels are a multiple of it


def why_not_winograd(config: Config) -> str | None:
    """Returns why this machine cannot train the settings' net by Winograd convolutions: "with ..."; None if it can."""
    device = device_type(config.device.device)
    if device != "cpu":
        return f"with device {device!r}, only on a CPU"
    if not (IS_COMPILED and cpu_flags() >= {"avx2", "fma"}):
        return "with this CPU, which lacks AVX2 or FMA"
    if config.net.name not in ("tower", "any_size"):
        return f"with net.name = {config.net.name!r}, only with tower and any_size"
    if config.net.channels % _WIDTH:
        return f"with net.channels = {config.net.channels}, which is no multiple of {_WIDTH}"
    return None


def use_winograd(module: nn.Module) -> None:
    """Replaces the layers of 3 x 3 convolutions in a module. Names and parameters stay."""
    for each in module.modules():
        for name, layer in each.named_children():
            if type(layer) is NormalizedConvolution and layer.convolution.kernel_size == (3, 3):
                setattr(each, name, WinogradLayer(layer))


@functools.cache
def _boards(height: int, width: int) -> tuple[kernels.Board, kernels.Board]:
    """Returns the transforms of a board, without weights, and those of gradients, the adjoint of what transforms
    products."""
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
    slot = _groups(num_tiles * _BLOCK) * depth + LANES
    points = (num_pairs + 1) * slot + GROUP * depth

    def floats(number: int) -> np.ndarray:
        return np.zeros(number, np.float32)

    scratch = Scratch(
        block=_BLOCK,
        points=floats(points),
        gradients=floats(points),
        cells=floats(_BLOCK * height * width * depth),
        gradient=floats(num_pairs * _groups(depth) * depth),
        taps=floats(_groups(kernels.TAPS) * depth**2),
        sums=np.zeros((2, depth)),
        factors=np.zeros((3, depth), np.float32),
        lines=floats((height + NUM_POINTS) * len(board.columns) * NUM_POINTS * LANES),
        slot=slot,
        row_slots=num_columns * slot,
        depth=depth,
    )
    weights = floats(_groups(num_pairs) * depth**2 + depth)
    return _Own(board._replace(weights=weights), board_back, scratch)


def _groups(number: int) -> int:
    """Returns a number of rows, filled up to whole groups."""
    return -(-number // GROUP) * GROUP


def _cells(x: Tensor | None) -> np.ndarray:
    """Returns [B, C, H, W] as the kernels read it, [B, H, W, C], flat."""
    return _NOTHING if x is None else x.detach().permute(0, 2, 3, 1).reshape(-1).numpy()


def _numbers(x: Tensor | None) -> np.ndarray:
    return _NOTHING if x is None else x.detach().reshape(-1).numpy()


class _Layer(torch.autograd.Function):
    """A layer: see `kernels.py`. Without a norm it is the convolution alone."""

    @staticmethod
    def forward(ctx: Any, x, weight, gamma, beta, added, norm, has_relu) -> Tensor:
        x = x.contiguous(memory_format=torch.channels_last)
        batch, inputs, height, width = x.shape
        outputs = len(weight)
        ctx.own = height, width, max(inputs, outputs)
        ctx.shape = Shape(batch, height * width, inputs, outputs)
        ctx.kind = Kind(norm is not None, added is not None, has_relu)
        y = torch.empty((batch, outputs, height, width), memory_format=torch.channels_last)
        z, moments = y, torch.empty(2, outputs)
        of_norm = Norm(_NOTHING, _NOTHING, _NOTHING, _NOTHING, 0.0, 0.0)
        if norm is not None:
            z = torch.empty_like(y)
            norm.num_batches_tracked += 1
            running = _numbers(norm.running_mean), _numbers(norm.running_var)
            of_norm = Norm(_numbers(gamma), _numbers(beta), *running, norm.momentum, norm.eps)
        if added is not None:
            added = added.contiguous(memory_format=torch.channels_last)
        own = _own(*ctx.own)
        run_layer(
            _cells(x), _cells(added), _cells(y), _cells(z), _numbers(moments), _numbers(weight), of_norm,
            own.board, own.scratch, ctx.shape, ctx.kind,
        )  # fmt: skip
        ctx.save_for_backward(x, weight, gamma, *((y, z, moments) if norm is not None else (None, None, None)))
        return z

    @staticmethod
    def backward(ctx: Any, *gradients) -> tuple:
        x, weight, gamma, y, z, moments = ctx.saved_tensors
        shape, kind, has_dx = ctx.shape, ctx.kind, ctx.needs_input_grad[0]
        dz = gradients[0].contiguous(memory_format=torch.channels_last)
        dx = torch.empty_like(x) if has_dx else None
        dadded = torch.empty_like(dz) if kind.has_added else None
        dnorm, dweight = torch.empty(2, shape.outputs), torch.empty(weight.shape)
        own = _own(*ctx.own)
        run_layer_back(
            _cells(x), _cells(y), _cells(z), _cells(dz), _cells(dx), _cells(dadded), _numbers(moments), _numbers(dnorm),
            _numbers(dweight), _numbers(weight), _numbers(gamma), own.board, own.board_back, own.scratch, shape, kind,
            has_dx,
        )  # fmt: skip
        dgamma, dbeta = dnorm if kind.has_norm else (None, None)
        return dx, dweight, dgamma, dbeta, dadded, None, None
