"""The nets and baselines of a run, as agents of a pool."""

from pathlib import Path

from azero.errors import BadInput
from azero.system.console import say
from azero.training.resumed_settings import check_is_run, load_settings


def members_of(folder: Path) -> list[str]:
    """Returns the names of a run's agents: its checkpoints, the first one first, and the evaluation's opponent.

    The nets have the evaluation's simulations, and do not solve their roots, so that games measure them alone. An
    opponent that is a program is left out, since the run's file names it, not the user.

    Raises BadInput if there is no run, or it has no checkpoints.
    """
    check_is_run(folder)
    config = load_settings(folder).evaluation
    paths = sorted((folder / "checkpoints").glob("[!.]*.safetensors"))
    if not paths:
        raise BadInput(f"run {str(folder)!r} has no checkpoints; its first one is there when its training has begun")
    nets = [f"{path.absolute()}(solve_nodes=0)@{config.num_simulations}" for path in paths]
    if config.opponent.startswith("gtp:"):
        say(f"the run's opponent is a program and is left out; name it to rate it: {config.opponent}")
        return nets
    return [*nets, config.opponent]
