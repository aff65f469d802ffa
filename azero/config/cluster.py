"""Settings of a run on several processes and machines."""

from pydantic import Field

from azero.config.section import Section


class ClusterConfig(Section):
    """How a run is shared out among processes and machines. The games and the weights do not depend on it."""

    trainers: int = Field(
        1,
        ge=1,
        le=1024,
        description="Processes that share each training step; every one has a copy of the replay window. On a CPU, "
        "each needs a pass of 128 rows of a batch, and the weights are the same for any number. Within one machine, "
        "threads do as well. Paper: 64 TPUs.",
    )
