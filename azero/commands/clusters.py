"""The workers of --cluster, for commands that have no run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from azero.errors import BadInput
from azero.system.console import say

if TYPE_CHECKING:
    from azero.config.schema import DeviceConfig
    from azero.system.worker_pool import Pool


@contextmanager
def workers_of(cluster: str | None, device: "DeviceConfig | None" = None) -> "Iterator[Pool | None]":
    """Yields the workers of --cluster; None if it is not given. Raises BadInput if there is no such cluster.

    Args:
      device: where nets run; None: without nets.
    """
    if cluster is None:
        yield None
        return
    from azero.cluster.connection import connected
    from azero.config.schema import ClusterConfig, DeviceConfig

    with connected(cluster) as connection:
        patient = ClusterConfig(deadline_s=1e7)  # only a run's settings can tell how long a task may take
        yield connection.workers(device or DeviceConfig(device="cpu"), patient, 0, say)


def check_cluster(names: list[str], threads: int | None, clock: str | None = None) -> None:
    """Raises BadInput if --cluster contradicts an agent or another option."""
    from azero.arena.agents.names import split_program

    for name in names:
        if split_program(name):
            raise BadInput(f"agent {name!r} is a program of this machine, and not on a cluster; leave out --cluster")
    if clock is not None:
        raise BadInput("--clock measures the time of this machine; leave out --cluster")
    if threads is not None:
        raise BadInput("--threads is for this machine: a cluster's worker has a core or a GPU; leave out one of them")
