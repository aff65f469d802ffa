"""The check of a run's replay shards."""

from dataclasses import replace

from azero.errors import Damaged
from azero.selfplay.data.shard_files import load_sized_shard
from azero.training.checking.findings import Findings
from azero.training.checking.states import LOST, go_back
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, iteration_of
from azero.training.state import BEGINNING, Progress, load_state, save_state, shards_at_beginning


def check_shards(findings: Findings, run: Run, trainer: Trainer, progress: Progress) -> Progress:
    """Returns the progress, after a repair.

    If all damaged shards of the window are of the current iteration, the repair goes back to the iteration's beginning,
    and the games are played again. Otherwise the damaged shards are left out of the window.
    """
    on_disk = {path.stem for path in (run.folder / "replay").glob("*.safetensors")}
    faults = {
        name: fault
        for name in sorted(on_disk | {*progress.shards})
        if (fault := findings.fault_of(run.shard_path(name), lambda path: load_sized_shard(path, run.games)))
    }
    lost = [name for name in progress.shards if name in faults]
    kept = [name for name in progress.shards if name not in faults]
    beginning, earlier = None, shards_at_beginning(run.folder)
    if lost and all(iteration_of(name) == progress.iteration for name in lost):
        beginning = _beginning_without(run, faults)
    for name, fault in faults.items():
        path = run.shard_path(name)
        if name not in lost:
            cost = "none, while the state is whole" if name in earlier else "none: its games are played again"
            findings.note_and_put_aside(path, fault, cost)
        elif beginning:
            cost = "the time of the current iteration; the result is the same"
            then = f"; the run goes back to the beginning of iteration {beginning.iteration}"
            findings.note_and_put_aside(path, fault, cost, then)
        elif kept:
            cost = "its games; the run goes on, but not as without the damage"
            findings.note_and_put_aside(path, fault, cost, ", and the run goes on without it")
        else:
            findings.note(path, fault, f"{LOST}: no games are left; its nets can be used", "")
    if not lost or not findings.is_repairing:
        return progress
    if beginning:
        return go_back(findings, run.config, trainer)
    if kept:
        progress = replace(progress, shards=kept)
        save_state(run.folder, run.config, trainer, progress)
    return progress


def _beginning_without(run: Run, faults: dict[str, str]) -> Progress | None:
    """Returns the progress at the iteration's beginning, if that state and all of its shards are whole."""
    try:
        beginning = load_state(run.folder, Trainer(run.config, run.game), BEGINNING)
    except Damaged:
        return None
    if beginning is None or faults.keys() & {*beginning.shards}:
        return None
    return beginning if all(run.shard_path(name).is_file() for name in beginning.shards) else None
