"""The check of what a run is to begin with, before it has a state."""

from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import shards_from_elsewhere
from azero.runs.shards import load_sized_shard
from azero.training.checking.findings import Findings
from azero.training.checking.states import LOST
from azero.training.run import Run


def check_beginning(findings: Findings, run: Run) -> None:
    """Checks the first net and games that come from elsewhere. A run cannot make them again.

    A first net of random weights is not needed: it is made when the run goes on.
    """
    net = [run.first_path] if run.config.training.first_net != "none" else []
    faults = {path: findings.fault_of(path, lambda path: load_checkpoint(path, run.game)) for path in net}
    if run.config.replay.first_games != "none":
        games = [run.shard_path(name) for name in shards_from_elsewhere(run.folder)]
        faults |= {path: findings.fault_of(path, lambda path: load_sized_shard(path, run.games)) for path in games}
    for path, fault in faults.items():
        if fault:
            findings.note(path, fault, f"{LOST}: it was copied when the run began; begin another", "")
