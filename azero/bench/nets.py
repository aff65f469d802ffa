"""Speed of the net alone: every path of the machine, at several batch sizes, on one core and on all of them.

A path is a library with a precision. Each is compared with the machine's peak and with the net in plain torch.
Operations are the multiply-adds of convolutions and linear layers, 2 each, as if all were computed directly. So the
runtime `winograd` may exceed its peak. Biases, normalization and activations do not count.
"""

import copy
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from azero.bench.peaks import peak_measures
from azero.bench.rates import Measure, Work, median_ratio, rate, rate_of_threads, rates_in_turns
from azero.config.schema import Config, DeviceConfig
from azero.games import Game
from azero.mcts import Evaluator
from azero.nets.architectures.contract import Net
from azero.nets.devices import device_type, pick_device
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import available_runtimes
from azero.nets.runtimes.session import ROWS
from azero.system.machine import count_cores

BATCH_SIZES = (1, 8, 64, 256)
EAGER = "torch eager fp32"
_EAGER_THREADS = torch.get_num_threads()
"""Torch's default. It is read here, before evaluators change it."""


class NetRow(NamedTuple):
    """A path at a batch size. Each thread has a separate evaluator; plain torch splits one batch among its threads."""

    path: str
    batch_size: int
    threads: int
    evaluations_per_s: float  # of all threads together
    share_of_peak: float | None  # operations on the board / the CPU's peak for the path's type on as many threads
    ratio_to_eager: float  # to plain torch with its default threads or with one, whichever is faster in a turn


def describe_net(config: Config, game: Game) -> dict[str, int]:
    """Returns the net's sizes, and the operations per evaluation: with all taps, and with those on the board."""
    net = make_net(config.net, game).eval()
    work = count_operations(net, game.planes_shape)
    return {
        "blocks": config.net.blocks,
        "channels": config.net.channels,
        "parameters": sum(parameter.numel() for parameter in net.parameters()),
        "operations": work.all_taps,
        "operations_on_board": work.on_board,
    }


def list_paths(config: DeviceConfig, net: Net) -> dict[str, DeviceConfig]:
    """Returns the paths by which this machine can run the net: the settings of each, by name."""
    return {
        each.name: config.model_copy(update={"runtime": each.library, "precision": each.precision})
        for each in available_runtimes(device_type(config.device), net=net)
    }


def runtime_of(config: Config, game: Game) -> str:
    """Returns the name of the path that runs a new net of these settings in self-play."""
    return NetEvaluator(make_net(config.net, game), config.device).runtime.name


def evaluator_work(evaluator: Evaluator, planes: np.ndarray) -> Work:
    """Returns the work of an evaluator on this batch."""

    def work() -> int:
        evaluator.evaluate(planes)
        return len(planes)

    return work


def eager_work(net: Net, device: torch.device, planes: np.ndarray, threads: int) -> Work:
    """Returns the work of the net in plain torch on this batch."""
    eager = copy.deepcopy(net).eval().to(device)

    @torch.inference_mode()
    def work() -> int:
        if torch.get_num_threads() != threads:  # an evaluator may have changed it
            torch.set_num_threads(threads)
        prediction = eager(torch.from_numpy(planes).to(device))
        prediction.policy_logits.cpu().numpy(), prediction.value().cpu().numpy()
        return len(planes)

    return work


def random_planes(batch_size: int, planes_shape: tuple[int, int, int]) -> np.ndarray:
    """Returns random planes [B, C, H, W] float32."""
    return np.random.default_rng(0).random((batch_size, *planes_shape), np.float32)


def measure_nets(config: Config, game: Game, seconds: float, batch_sizes: Sequence[int] = BATCH_SIZES) -> list[NetRow]:
    """Returns the rows of plain torch and of each path, on one thread and on one per core."""
    net = make_net(config.net, game).eval()
    operations = count_operations(net, game.planes_shape).on_board
    is_cpu = device_type(config.device.device) == "cpu"
    rows = []
    for batch_size in batch_sizes:
        contestants = _contestants(net, config.device, random_planes(batch_size, game.planes_shape), is_cpu)
        peaks = peak_measures({threads for _, threads in contestants}) if is_cpu else {}
        rates = rates_in_turns(contestants | peaks, seconds)
        eager = np.max([own for (path, _), own in rates.items() if path == EAGER], axis=0)
        for path, threads in contestants:
            own, peak = rates[path, threads], rates.get((path.split()[-1], threads))
            share = operations * median_ratio(own, peak) if peak else None
            rows.append(NetRow(path, batch_size, threads, float(np.median(own)), share, median_ratio(own, eager)))
    return rows


def _contestants(net: Net, config: DeviceConfig, planes: np.ndarray, is_cpu: bool) -> dict[tuple[str, int], Measure]:
    """Returns the measures by path and threads. Plain torch runs with its default number of threads and with one."""
    contestants: dict[tuple[str, int], Measure] = {}
    for threads in dict.fromkeys([_EAGER_THREADS, 1]) if is_cpu else [1]:
        contestants[EAGER, threads] = partial(rate, eager_work(net, pick_device(config.device), planes, threads))
    for path, own in list_paths(config, net).items():
        for threads in dict.fromkeys([1, count_cores()]) if is_cpu else [1]:
            evaluators = [NetEvaluator(net, own, min(len(planes), ROWS)) for _ in range(threads)]
            contestants[path, threads] = partial(rate_of_threads, [evaluator_work(each, planes) for each in evaluators])
    return contestants


class Operations(NamedTuple):
    """Operations per position."""

    all_taps: int  # including multiplications with the zeros of the padding around the board
    on_board: int  # without these


def count_operations(net: nn.Module, planes_shape: tuple[int, int, int]) -> Operations:
    """Returns the operations of a net in eval mode that takes planes [B, C, H, W]. The net is not changed."""
    counts: list[Operations] = []

    def count(layer: nn.Module, inputs: tuple[torch.Tensor, ...], output: torch.Tensor) -> None:
        if isinstance(layer, nn.Conv2d):
            counts.append(_of_convolution(layer, inputs[0], output))
        elif isinstance(layer, nn.Linear):
            counts.append(Operations(*[2 * output.numel() * layer.in_features] * 2))

    hooks = [layer.register_forward_hook(count) for layer in net.modules()]
    try:
        with torch.inference_mode():
            net(torch.zeros(1, *planes_shape))
    finally:
        for hook in hooks:
            hook.remove()
    return Operations(sum(each.all_taps for each in counts), sum(each.on_board for each in counts))


def _of_convolution(layer: nn.Conv2d, planes: torch.Tensor, output: torch.Tensor) -> Operations:
    """Returns a convolution's operations. A filter of ones on a board of ones counts the taps on the board."""
    ones, taps = torch.ones(1, 1, *planes.shape[2:]), torch.ones(1, 1, *layer.kernel_size)
    on_board = F.conv2d(ones, taps, None, layer.stride, layer.padding, layer.dilation).sum()
    all_taps = output[0, 0].numel() * taps.numel()
    multiply_adds = layer.in_channels // layer.groups * layer.out_channels
    return Operations(2 * multiply_adds * all_taps, 2 * multiply_adds * int(on_board))
