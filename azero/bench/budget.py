"""Training runs of equal cost, here or by workers elsewhere.

The cost of a run is measured in forward passes of the net: one per evaluation in self-play, three per position of a
training step. A run ends with the iteration that reaches its budget.
"""

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from azero.runs.folder import CONFIG, METRICS, nets_in
from azero.runs.metrics import read_metrics
from azero.system.files import write_whole
from azero.training.callbacks import Callback, RunView, StopTraining
from azero.training.train import train


class BudgetedRun(NamedTuple):
    """A task: a run of an included config with other settings."""

    config: str
    settings: tuple[str, ...]
    budget: float  # forward passes


class _Stop(Callback):
    """Ends a run that has reached its budget."""

    def __init__(self, folder: Path, budget: float):
        self._folder, self._budget = folder, budget

    def after_iteration(self, run: RunView) -> None:
        if iteration_within(self._folder, self._budget):
            raise StopTraining


def train_to_budget(folder: Path, task: BudgetedRun) -> tuple[float, int]:
    """Trains until the run's cost reaches the budget, from where it stopped; its output is in FOLDER.log.

    Returns the cost, and the iteration that reached the budget.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    reached = iteration_within(folder, task.budget)
    if not reached:
        log = folder.parent / f"{folder.name}.log"
        with log.open("a", encoding="utf-8") as file, redirect_stdout(file), redirect_stderr(file):
            train(
                task.config,
                folder,
                settings=task.settings,
                resume=folder.exists(),
                callbacks=[_Stop(folder, task.budget)],
            )
        reached = iteration_within(folder, task.budget)
    assert reached, "a run has more iterations than its budget allows"
    return reached


def train_elsewhere(shared: None, task: BudgetedRun, on_progress: Callable[[int], None]) -> dict[str, bytes]:
    """Trains on a worker, on one core or GPU; returns the run's settings, metrics, and the net that it has reached.

    Contents are by their paths in the run's folder.
    """
    with TemporaryDirectory(prefix="azero-") as temporary:
        folder = Path(temporary) / "run"
        alone = ("selfplay.num_workers=1", "device.threads=1")
        _, iteration = train_to_budget(folder, task._replace(settings=(*task.settings, *alone)))
        kept = [folder / CONFIG, folder / METRICS, net_of(folder, iteration)]
        on_progress(1)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def keep_run(folder: Path, contents: dict[str, bytes]) -> None:
    """Writes what `train_elsewhere` has returned, the metrics last: with them the run counts as finished."""
    for name, data in sorted(contents.items(), key=lambda each: each[0] == METRICS):
        write_whole(folder / name, data)


def iteration_within(run: Path, budget: float) -> tuple[float, int] | None:
    """Returns the cost at, and the number of, the first iteration that reaches the budget; None if none has."""
    cost = 0.0
    for line in read_metrics(run / METRICS):
        cost += line["selfplay/evaluations"] + 3 * line["train/steps"] * 256
        if cost >= budget:
            return cost, line["iteration"]
    return None


def net_of(run: Path, iteration: int) -> Path:
    """Returns the file of a run's best net after an iteration."""
    return [net.path for net in nets_in(run) if net.iteration <= iteration][-1]
