"""Settings of a run on several processes and machines."""

from pydantic import Field

from azero.config.section import Section


class ClusterConfig(Section):
    """How a run is shared out among processes and machines; all but `trainers` needs `azero train --cluster`.

    The games and the weights do not depend on it, unless `mixed` is set.
    """

    cpus_per_worker: float = Field(
        1.0,
        ge=0.1,
        le=1024,
        description="CPUs of a node that each worker takes, where nets run on CPUs; where they run on GPUs, a worker "
        "takes one GPU. With --cluster local, selfplay.num_workers decides. Paper: none.",
    )
    deadline_s: float = Field(
        3600.0,
        ge=0.1,
        le=1e7,
        description="Seconds after which a task that has begun is given to another worker. Paper: none.",
    )
    mixed: bool = Field(
        False,
        description="Accept nodes whose CPUs have other features, or whose libraries have other versions; each runs "
        "the net in the way that is fastest there. The games then depend on the nodes that play them. Paper: none.",
    )
    trainers: int = Field(
        1,
        ge=1,
        le=1024,
        description="Processes that share each training step; every one has a copy of the replay window. On a CPU, "
        "each needs a pass of its own, and a pass has at most 128 rows of a batch. The weights are the same for any "
        "number. Within one machine, threads are as fast. Paper: 64 TPUs.",
    )
