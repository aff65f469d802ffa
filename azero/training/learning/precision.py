"""Which arithmetic a training step is faster in on this machine: measured once, and kept in the cache folder."""

import time

import numpy as np

from azero.config.schema import Config
from azero.games import Game
from azero.nets.runtimes.choice import has_bf16, pick_device
from azero.nets.runtimes.rates import kept_rates
from azero.selfplay.data.auxiliary import auxiliary_heads_of, unknown_targets
from azero.selfplay.data.replay import Sample
from azero.system.machine import count_cores
from azero.training.learning.trainer import Trainer

_ROUNDS = 4
_SECONDS = 0.2  # of a precision in a round
_WORTHWHILE = 1.05
"""How many times as fast as fp32 the less exact bf16 has to be."""


def settle_precision(config: Config, game: Game) -> Config:
    """Returns the settings with `training.precision` fp32 or bf16; "auto" is the faster one on a CPU, bf16 on a GPU."""
    if config.training.precision != "auto":
        return config
    device = pick_device(config.device.device)
    if not has_bf16(device):
        return _with_precision(config, "fp32")
    if device.type == "cpu":
        rates = step_rates(config, game)
        return _with_precision(config, "bf16" if rates["bf16"] > _WORTHWHILE * rates["fp32"] else "fp32")
    return _with_precision(config, "bf16")


def is_settled_from(settled: Config, config: Config) -> bool:
    """Returns whether `settled` are the settings of `config`, with any precision in place of "auto"."""
    is_auto = config.training.precision == "auto"
    return settled == (_with_precision(config, settled.training.precision) if is_auto else config)


def step_rates(config: Config, game: Game) -> dict[str, float]:
    """Returns positions a second of a training step on the CPU, by precision."""
    size = config.training.batch_size
    what = config.net, auxiliary_heads_of(config.training, game), game.planes_shape, game.num_actions, size
    threads = config.device.threads or count_cores()
    return kept_rates("training", (what, threads), ["fp32", "bf16"], lambda: _measure(config, game))


def _measure(config: Config, game: Game) -> dict[str, float]:
    """Measures in turns, so that what else the machine does falls on all alike; the best of each counts."""
    sample, size = random_sample(config, game), config.training.batch_size
    trainers = {name: Trainer(_with_precision(config, name), game) for name in ("fp32", "bf16")}
    for trainer in trainers.values():
        trainer.step(sample, 0.0)
    rates = dict.fromkeys(trainers, 0.0)
    for _ in range(_ROUNDS):
        for name, trainer in trainers.items():
            done, begin = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - begin) < _SECONDS:
                trainer.step(sample, 0.0)
                done += size
            rates[name] = max(rates[name], done / elapsed)
    return rates


def random_sample(config: Config, game: Game) -> Sample:
    """Returns a batch of the settings' size with targets for every head."""
    size, heads = config.training.batch_size, auxiliary_heads_of(config.training, game)
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.ones(game.num_actions), size).astype(np.float32)
    results = rng.dirichlet(np.ones(3), size).astype(np.float32)
    planes = rng.integers(0, 2, (size, *game.planes_shape)).astype(np.float32)
    auxiliary = map(np.nan_to_num, unknown_targets(size, game, heads))
    return Sample(planes, policies, results, *auxiliary)


def _with_precision(config: Config, precision: str) -> Config:
    return config.model_copy(update={"training": config.training.model_copy(update={"precision": precision})})
