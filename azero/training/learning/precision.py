"""The fastest arithmetic on this machine, for training and for running the net: measured once, and kept in the cache.

A run also keeps it in its settings, so that it goes on with the same arithmetic if the cache is gone.
"""

from functools import partial

import numpy as np

from azero.config.schema import Config
from azero.games import Game
from azero.nets.devices import has_bf16, pick_device
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import settle_runtime
from azero.nets.runtimes.rates import best_rates, kept_rates
from azero.selfplay.data.samples import Sample
from azero.system.machine import count_cores
from azero.training.learning.learner import heads_of
from azero.training.learning.trainer import Trainer

_ROUNDS = 4
_SECONDS = 0.2  # per precision and round
_WORTHWHILE = 1.05
"""The speed-up over fp32 that justifies the less exact bf16."""


def settle_arithmetic(config: Config, game: Game) -> Config:
    """Returns the settings with what is fastest here in place of "auto": training's precision, the net's runtime."""
    settled = settle_precision(config, game)
    device = settle_runtime(make_net(config.net, game), config.device)
    return settled.model_copy(update={"device": device})


def settle_precision(config: Config, game: Game) -> Config:
    """Returns the settings with `training.precision` fp32 or bf16. "auto" is bf16 on a GPU, the faster one on a CPU."""
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
    """Returns whether `settled` equals `config`; where `config` has "auto" for an arithmetic, any will do."""
    wanted = config
    if config.training.precision == "auto":
        wanted = _with_precision(wanted, settled.training.precision)
    for name in ("runtime", "precision"):
        if getattr(config.device, name) == "auto":
            device = wanted.device.model_copy(update={name: getattr(settled.device, name)})
            wanted = wanted.model_copy(update={"device": device})
    return settled == wanted


def step_rates(config: Config, game: Game) -> dict[str, float]:
    """Returns training speed on the CPU in positions per second, by precision."""
    size, heads = config.training.batch_size, [head.name for head in heads_of(config.training, game)]
    what = config.net, heads, game.planes_shape, game.num_actions, size, config.training.optimizer
    threads = config.device.threads or count_cores()
    return kept_rates("training", (what, threads), ["fp32", "bf16"], lambda: _measure(config, game))


def _measure(config: Config, game: Game) -> dict[str, float]:
    """Returns the rate of each precision."""
    sample, size = random_sample(config, game), config.training.batch_size
    trainers = {name: Trainer(_with_precision(config, name), game) for name in ("fp32", "bf16")}
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


def _with_precision(config: Config, precision: str) -> Config:
    return config.model_copy(update={"training": config.training.model_copy(update={"precision": precision})})
