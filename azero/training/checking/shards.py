"""The check of a run's replay shards."""

import re
from pathlib import Path

from azero.errors import Damaged
from azero.runs.folder import REPLAY, SHARD, files_in, iteration_of
from azero.runs.shards import load_sized_shard
from azero.runs.state import STAGES, Progress
from azero.training.checking.findings import Findings
from azero.training.checking.states import LOST, go_back
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, save_state
from azero.training.stages.fresh_games import task_in, task_of


def check_shards(
    findings: Findings, run: Run, trainer: Trainer, progress: Progress, beginning: Progress | None
) -> Progress:
    """Returns the progress, after a repair.

    If all damaged shards of the window are of the current iteration, the repair goes back to the iteration's beginning,
    and the games are played again. Otherwise the damaged shards are left out of the window.

    Args:
      beginning: the progress at the iteration's beginning, if it is known.
    """
    on_disk = {path.stem for path in files_in(run.folder, REPLAY)}
    digests = (beginning.digests if beginning else {}) | progress.digests
    found = {name: _fault(findings, run, progress, digests, name) for name in sorted(on_disk | {*progress.shards})}
    faults = {name: fault for name, fault in found.items() if fault}
    lost = [name for name in progress.shards if name in faults]
    kept = [name for name in progress.shards if name not in faults]
    earlier = beginning.shards if beginning else []
    are_fresh = bool(lost) and all(iteration_of(name) == progress.iteration for name in lost)
    goes_back = beginning is not None and are_fresh and all(name in found and name not in faults for name in earlier)
    for name, fault in faults.items():
        path = run.shard_path(name)
        if name not in lost:
            cost = "none, while the state is whole" if name in earlier else "none: its games are played again"
            findings.note_and_put_aside(path, fault, cost)
        elif goes_back:
            cost = "the time of the current iteration; the result is the same"
            then = f"; the run goes back to the beginning of iteration {progress.iteration}"
            findings.note_and_put_aside(path, fault, cost, then)
        elif kept:
            cost = "its games; the run goes on, but not as without the damage"
            findings.note_and_put_aside(path, fault, cost, ", and the run goes on without it")
        else:
            findings.note(path, fault, f"{LOST}: no games are left; its nets can be used", "")
    if not lost or not findings.is_repairing:
        return progress
    if goes_back:
        return go_back(findings, run.config, trainer)
    if kept:
        left = {name: each for name, each in progress.digests.items() if name.removeprefix("replay/") not in lost}
        progress = progress.changed(shards=kept, digests=left)
        save_state(run.folder, run.config, trainer, progress)
    return progress


def _fault(findings: Findings, run: Run, progress: Progress, digests: dict[str, str], name: str) -> str:
    """Returns how a shard is damaged, or that it is another one than it should be; empty if it is whole."""
    task = _task_of_unnamed(run, progress, name)

    def read(path: Path) -> None:
        load_sized_shard(path, run.games)
        if task and task_in(path) != task:
            raise Damaged(f"{str(path)!r} has other games than those of iteration {iteration_of(name)}")

    return findings.fault_of(run.shard_path(name), read, digests.get(f"replay/{name}"))


def _task_of_unnamed(run: Run, progress: Progress, name: str) -> str:
    """Returns the task of a shard that the next state will name, if the run goes on with it; otherwise nothing."""
    iteration = iteration_of(name) if re.fullmatch(SHARD, name) else None
    player = None
    if name in progress.shards:
        pass
    elif iteration == progress.iteration and progress.stage == STAGES[0]:
        player = progress.best if progress.player is None else progress.player
    elif iteration == progress.iteration + 1 and progress.stage != STAGES[0] and run.plays_ahead(progress.iteration):
        player = progress.best
    return "" if player is None else task_of(name, player, progress)
