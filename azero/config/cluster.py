"""Settings of a run on a cluster."""

from pydantic import Field

from azero.config.section import Section


class ClusterConfig(Section):
    """Work on several machines, with `azero train --cluster`. Without that option these settings do nothing."""

    cpus_per_worker: float = Field(
        1.0,
        ge=0.1,
        le=1024,
        description="CPUs of a node that each worker takes, where nets run on CPUs; where they run on GPUs, a worker "
        "takes one GPU. Paper: none.",
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
