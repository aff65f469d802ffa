"""The fastest arithmetic on this machine, for training and for running the net: measured once, and kept in the cache.

A run also keeps it in its settings, so that it goes on with the same arithmetic if the cache is gone.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from azero.config.schema import Config
from azero.games import Game
from azero.nets.devices import has_bf16, pick_device
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import settle_runtime
from azero.nets.runtimes.rates import best_rates, kept_rates
from azero.nets.runtimes.session import ROWS
from azero.selfplay.data.samples import Sample
from azero.system.machine import count_cores
from azero.training.learning.learner import heads_of
from azero.training.learning.trainer import Trainer
from azero.training.learning.winograd.layers import why_not_winograd

_ROUNDS = 4
_SECONDS = 0.2  # per way and round
_WORTHWHILE = 1.05
"""The speed-up over fp32 that justifies the less exact bf16."""

_FEWEST_CHANNELS = 48
"""Narrower nets are trained in seconds, which is what it takes to compile azero's own kernels."""


def settle_arithmetic(config: Config, game: Game) -> Config:
    """Returns the settings with what is fastest here in place of "auto": for training, and for the net in self-play."""
    settled = settle_training(config, game)
    device = settle_runtime(make_net(config.net, game), config.device, ROWS)
    return settled.model_copy(update={"device": device})


def settle_training(config: Config, game: Game) -> Config:
    """Returns the settings with training's precision, fp32 or bf16, and convolution, torch or winograd.

    "auto" is bf16 on a GPU that has it, and what is fastest on a CPU.
    """
    ways = _ways(config)
    if len(ways) == 1:
        return ways[0].of(config)
    if pick_device(config.device.device).type != "cpu":
        return _BF16.of(config)
    rates = step_rates(config, game)
    return max(ways, key=lambda way: rates[way.name] * (_WORTHWHILE if way.precision == "fp32" else 1)).of(config)


class _Way(NamedTuple):
    """A way to train."""

    name: str
    precision: str
    convolution: str

    def of(self, config: Config) -> Config:
        values = {"precision": self.precision, "convolution": self.convolution}
        return config.model_copy(update={"training": config.training.model_copy(update=values)})


_BF16 = _Way("bf16", "bf16", "torch")
_WAYS = _Way("fp32", "fp32", "torch"), _BF16, _Way("winograd", "fp32", "winograd")


def _ways(config: Config) -> list[_Way]:
    """Returns the ways that the settings allow and the machine has. Nets of few channels do without winograd."""
    own = config.training
    allowed = [
        way
        for way in _WAYS
        if own.precision in ("auto", way.precision) and own.convolution in ("auto", way.convolution)
    ]
    if len(allowed) > 1 and not has_bf16(pick_device(config.device.device)):
        allowed = [way for way in allowed if way is not _BF16]
    if len(allowed) > 1 and (config.net.channels < _FEWEST_CHANNELS or why_not_winograd(config)):
        allowed = [way for way in allowed if way.convolution != "winograd"]
    return allowed


def is_settled_from(settled: Config, config: Config) -> bool:
    """Returns whether `settled` equals `config`; where `config` has "auto" for an arithmetic, any will do."""
    for section, names in (("training", ("precision", "convolution")), ("device", ("runtime", "precision"))):
        own, others = getattr(config, section), getattr(settled, section)
        values = {name: getattr(others, name) for name in names if getattr(own, name) == "auto"}
        config = config.model_copy(update={section: own.model_copy(update=values)})
    return settled == config


def step_rates(config: Config, game: Game) -> dict[str, float]:
    """Returns training speed on the CPU in positions per second, by the names of the ways that are possible."""
    size, heads = config.training.batch_size, [head.name for head in heads_of(config.training, game)]
    what = config.net, heads, game.planes_shape, game.num_actions, size, config.training.optimizer
    threads = config.device.threads or count_cores()
    ways = _ways(config)
    return kept_rates("training", (what, threads), [way.name for way in ways], lambda: _measure(config, game))


def _measure(config: Config, game: Game) -> dict[str, float]:
    """Returns the rate of each way."""
    sample, size = random_sample(config, game), config.training.batch_size
    trainers = {way.name: Trainer(way.of(config), game) for way in _ways(config)}
    for trainer in trainers.values():
        trainer.step(sample, 0.0)
    works = {name: partial(trainer.step, sample, 0.0) for name, trainer in trainers.items()}
    return {name: size * rate for name, rate in best_rates(works, _ROUNDS, _SECONDS).items()}


def random_sample(config: Config, game: Game) -> Sample:
    """Returns a random batch of the settings' size, with targets for every head."""
    size = config.training.batch_size
    rng = np.random.default_rng(0)
    policies = rng.dirichlet(np.ones(game.num_actions), size).astype(np.float32)
    results = rng.dirichlet(np.ones(3), size).astype(np.float32)
    planes = rng.integers(0, 2, (size, *game.planes_shape)).astype(np.float32)
    heads = heads_of(config.training, game)
    auxiliary = {head.name: np.zeros((size, head.columns(game)), np.float32) for head in heads}
    return Sample(planes, policies, results, auxiliary)
