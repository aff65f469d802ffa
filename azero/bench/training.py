"""Speed of training."""

from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from azero.bench.nets import count_operations
from azero.bench.peaks import peak_measures
from azero.bench.rates import median_ratio, rate, rates_in_turns
from azero.config.schema import Config
from azero.games import Game
from azero.system.machine import count_cores
from azero.training.learning.precision import random_sample, settle_training
from azero.training.learning.trainer import Trainer

_PASSES = 3
"""Cost of a step in forward passes: the forward pass, the gradients of inputs, and the gradients of weights."""


class TrainingRow(NamedTuple):
    """Speed of training."""

    precision: str  # of convolutions and linear layers
    convolution: str  # torch or winograd
    threads: int
    batch_size: int
    positions_per_s: float
    share_of_peak: float | None  # operations on the board / the CPU's peak in this precision


def measure_training(config: Config, game: Game, seconds: float) -> list[TrainingRow]:
    """Returns one row, with the batch size and threads of the settings."""
    config = settle_training(config, game)
    trainer, size = Trainer(config, game), config.training.batch_size
    sample = random_sample(config, game)

    def work() -> int:
        trainer.step(sample, 0.0)
        return size

    threads = config.device.threads or count_cores()
    peaks = peak_measures([threads]) if trainer.device.type == "cpu" else {}
    rates = rates_in_turns({"training": partial(rate, work)} | peaks, seconds)
    precision = {torch.float32: "fp32", torch.bfloat16: "bf16"}[trainer.passes.dtype]
    own, peak = rates["training"], rates.get((precision, threads))
    operations = _PASSES * count_operations(trainer.average, game.planes_shape).on_board
    share = operations * median_ratio(own, peak) if peak else None
    return [TrainingRow(precision, config.training.convolution, threads, size, float(np.median(own)), share)]
