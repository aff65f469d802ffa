"""Whether a run trains at present, and what it does, by the age of its files."""

import shlex
import time
from typing import Any

from azero.arena.agents.names import split_program
from azero.interfaces.web.runs.folder import ShownRun
from azero.runs.folder import STATE
from azero.runs.metrics import Line
from azero.system.console import printable
from azero.system.files import LOCK

FRESH_ITERATIONS = 3
"""A run trains while its files are younger than this number of iterations."""

_LEAST_FRESH_S = 60.0
_FIRST_FRESH_S = 1800.0  # before an iteration has been measured
_STAGES = "play", "train", "gate", "evaluation"


def state_of(run: ShownRun) -> str:
    """Returns `finished`, `training` or `stopped`. A run without a lock does not train, however young its files are."""
    if is_finished(run):
        return "finished"
    is_locked = (run.folder / LOCK).is_file()
    return "training" if is_locked and age_s(run) < _fresh_s(run.rows) else "stopped"


def is_finished(run: ShownRun) -> bool:
    """Returns whether a run has done all its iterations."""
    return bool(run.rows) and run.rows[-1]["iteration"] >= run.config.training.iterations


def age_s(run: ShownRun) -> float:
    """Returns the seconds since the newest of the run's files was written."""
    files = [run.metrics_path, run.config_path, run.folder / STATE, run.candidate_path]
    files += [shard.path for shard in run.shards[-4:]]
    newest = 0.0
    for path in files:
        try:
            newest = max(newest, path.lstat().st_mtime)
        except OSError:  # it is not there, or has just gone
            continue
    return max(0.0, time.time() - newest)


def activity_of(run: ShownRun) -> dict[str, Any] | None:
    """Returns the current iteration, its stage, and how many of its games are played; None of a run that is finished.

    A shard counts as whole games. The stage is `train` from the last shard, and the end of the iteration before, to the
    candidate; then it is `gate`.
    """
    if is_finished(run):
        return None
    iteration = run.rows[-1]["iteration"] + 1 if run.rows else 1
    selfplay = run.config.selfplay
    own = [shard.path for shard in run.shards if shard.iteration == iteration]
    played = min(selfplay.games_per_iteration, len(own) * selfplay.games_per_shard)
    stage = "play" if played < selfplay.games_per_iteration else "train"
    if stage == "train":
        candidate, last, before = run.candidate_path, max(own), run.metrics_path
        try:
            begin_s = max(each.lstat().st_mtime for each in (last, before) if each == last or each.exists())
            stage = "gate" if candidate.lstat().st_mtime > begin_s else "train"
        except OSError:  # there is no candidate yet
            stage = "train"
    return {"iteration": iteration, "stage": stage, "games": played, "games_wanted": selfplay.games_per_iteration}


def resume_command(run: ShownRun) -> str:
    """Returns the command that goes on with the run. It has no control characters: people paste it."""
    evaluation = run.config.evaluation
    has_program = bool(evaluation.every and split_program(evaluation.opponent))
    allows = " --allow-commands" if has_program else ""
    return f"azero train --run {shlex.quote(printable(str(run.folder)))} --resume{allows}"


def _fresh_s(rows: list[Line]) -> float:
    """Returns the age from which files are old, in seconds: FRESH_ITERATIONS times the longest of the last ones."""
    if not rows:
        return _FIRST_FRESH_S
    lasted = [sum(_number(row.get(f"time/{stage}_s")) for stage in _STAGES) for row in rows[-FRESH_ITERATIONS:]]
    return max(_LEAST_FRESH_S, FRESH_ITERATIONS * max(lasted))


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
