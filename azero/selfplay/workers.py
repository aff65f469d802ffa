"""A run's workers: this process, several others, or a cluster's."""

from collections.abc import Callable

from azero.config.schema import Config
from azero.games.reasons import failures_named
from azero.nets.devices import pick_devices, take_gpu
from azero.system.machine import count_cores
from azero.system.worker_pool import Pool, local_workers

MakePool = Callable[[Config, Callable[[str], None]], Pool]
"""Makes the pool of a run's settings. Its second argument is called with a line when something happens."""

_ADVICE = "try fewer selfplay.num_workers or selfplay.parallel_games; --resume continues the run"


def local_pool(config: Config, tell: Callable[[str], None]) -> Pool:
    """Returns the workers of this machine. A single worker is this process itself."""
    num_workers = count_workers(config)
    return local_workers(num_workers, take_gpu, tell, _ADVICE, failures_named) if num_workers > 1 else Pool()


def count_workers(config: Config) -> int:
    """Returns the number of workers: the setting's, or by default one per core, or one per GPU if there are GPUs."""
    if config.selfplay.num_workers:
        return config.selfplay.num_workers
    devices = pick_devices(config.device.device)
    return count_cores() if devices[0].type == "cpu" else len(devices)


def share_of_cores(config: Config) -> int:
    """Returns the number of cores for each worker, at least 1."""
    return max(1, count_cores() // count_workers(config))


def settings_of_workers(pool: Pool, config: Config) -> Config:
    """Returns the settings with which each worker plays games of a run. On a cluster all cores that it sees are its."""
    if not pool.is_cluster:
        return config
    device = config.device.for_any_machine() if pool.is_mixed else config.device
    play = config.selfplay.model_copy(update={"num_workers": 1})
    return config.model_copy(update={"device": device, "selfplay": play})
