"""The display of a run: a progress bar for the current stage, a table of iterations, and curves for TensorBoard."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.record_writer import RecordWriter
from tqdm import tqdm

from azero.runs.folder import TENSORBOARD
from azero.runs.state import Progress
from azero.system.console import printable, say
from azero.training.health import Finding
from azero.training.run import Run

_REPEATED_AFTER = 20
"""Iterations until a warning is repeated: enough to see whether a change of settings has helped."""


class Curves:
    """An event file in `folder`. From `first_step` on it replaces the points of earlier files."""

    def __init__(self, folder: Path, first_step: int):
        folder.mkdir(parents=True, exist_ok=True)
        self._file = open(folder / f"events.out.tfevents.{time.time():.0f}.azero.{os.getpid()}", "wb")  # noqa: SIM115
        self._records = RecordWriter(self._file)
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        self._write(Event(wall_time=time.time(), step=first_step, session_log=SessionLog(status=SessionLog.START)))

    def add(self, values: dict[str, float], step: int) -> None:
        """Adds a point to each of the named curves."""
        points = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
        self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=points)))

    def close(self) -> None:
        self._file.close()

    def _write(self, event: Event) -> None:
        self._records.write(event.SerializeToString())
        self._file.flush()


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _loss(loss: float | None) -> str:
    return "-" if loss is None else f"{loss:.3f}"


def _gate(notes: dict) -> str:
    return _share(notes["gate/score"]) + (" pass" if notes["gate/is_promoted"] else "")


def _stages(notes: dict) -> str:
    """Returns the seconds of self-play, of training, and of the gate."""
    return "+".join(f"{notes[f'time/{stage}_s']:.0f}" for stage in ("play", "train", "gate"))


def _clock(seconds: float) -> str:
    """Returns minutes and seconds, e.g. 2:00 for 119.7. It rounds first, so that seconds are never 60."""
    return "{}:{:02}".format(*divmod(round(seconds), 60))


def _hours(notes: dict, iterations: int) -> str:
    """Returns when the next gate will be, and the end after some iterations, if all take as long as the last one."""
    gate_s = notes["time/play_s"] + notes["time/train_s"]
    at, end = (
        time.strftime("%H:%M", time.localtime(time.time() + seconds))
        for seconds in (gate_s, iterations * notes["time/iteration_s"])
    )
    return f" (gate at {at}, end about {end})" if iterations > 0 else ""


_COLUMNS: tuple[tuple[int, str, str, Callable[[dict], str]], ...] = (
    (4, "", "iter", lambda n: str(n["iteration"])),
    (11, "", "positions", lambda n: f"{n['positions']:,}"),
    (5, "", "plies", lambda n: f"{n['selfplay/mean_plies']:.1f}"),
    (5, "", "first", lambda n: _share(n["selfplay/first_player_score"])),
    (5, "", "draws", lambda n: _share(n["selfplay/draws"])),
    (6, "policy", "loss", lambda n: _loss(n.get("train/policy_loss"))),
    (5, "value", "loss", lambda n: _loss(n.get("train/value_loss"))),
    (5, "", "agree", lambda n: _share(n["fresh/policy_agreement"])),
    (9, "", "gate", _gate),
    (5, "", "Elo", lambda n: f"{n['gate/rating']:+z.0f}"),
    (8, "", "opponent", lambda n: _share(n.get("evaluation/score"))),
    (12, "play+train", "+gate s", _stages),
    (6, "", "time", lambda n: _clock(n["elapsed_s"])),
)
"""For each column: its width, the two lines of its heading, and the function that formats an iteration's metrics."""


def _remark(notes: dict) -> str:
    """Returns what a row ends in: a cluster's workers, and what was done again; empty if there is nothing to say."""
    counts = (
        (notes.get("cluster/workers", 0), "worker{}"),
        (notes.get("cluster/tasks_again", 0), "task{} again"),
        (notes.get("selfplay/worker_deaths", 0), "worker{} died"),
    )
    parts = [f"{num} {what.format('s' if num > 1 else '')}" for num, what in counts if num]
    return f"  {', '.join(parts)}" if parts else ""


def _line(cells: Iterable[str]) -> str:
    """Returns a line of the table. It has at most 100 characters unless a cell is wider than its column."""
    return " ".join(f"{cell:>{column[0]}}" for cell, column in zip(cells, _COLUMNS, strict=True)).rstrip()


class Report:
    """Reports to the terminal (progress on stderr, results on stdout) and to TensorBoard."""

    def __init__(self, run: Run, progress: Progress):
        self._last = run.config.training.iterations
        self._iteration = progress.iteration
        self._begin = time.perf_counter()
        self._curves = Curves(run.folder / TENSORBOARD, progress.iteration)
        evaluation = run.config.evaluation
        self._opponent = evaluation.every and (
            f"{evaluation.games} games against {printable(evaluation.opponent)}, "
            f"with {evaluation.num_simulations} simulations per move"
        )
        self._has_header = False
        self._hours = ""  # of the next gate and of the end, as the last iteration makes us expect
        self._told: dict[str, int] = {}  # the iteration of the last warning of each cause

    def __enter__(self) -> "Report":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._curves.close()

    @contextmanager
    def stage(self, name: str, total: int, unit: str, done: int = 0) -> Iterator[tqdm]:
        """Shows a progress bar for a stage, from the second iteration on with the hour of the gate and of the end."""
        label = printable(f"iteration {self._iteration}/{self._last}{self._hours}, {name}")
        with tqdm(
            total=total,
            initial=done,
            unit=f" {unit}",
            desc=label,
            leave=False,
            disable=None,
            file=sys.stderr,
            delay=0.2,
        ) as bar:
            yield bar

    def iteration(self, iteration: int, progress: Progress, notes: dict) -> None:
        """Adds a row to the table and points to the curves."""
        self._iteration = iteration + 1
        elapsed_s = time.perf_counter() - self._begin
        values = notes | {"iteration": iteration, "positions": progress.positions, "elapsed_s": elapsed_s}
        if not self._has_header:
            if self._opponent:
                print(f"opponent: {self._opponent}")
            print(_line(above for _, above, _, _ in _COLUMNS))
            print(_line(name for _, _, name, _ in _COLUMNS))
            self._has_header = True
        print(_line(show(values) for *_, show in _COLUMNS) + _remark(notes), flush=True)
        self._curves.add({key: float(value) for key, value in notes.items()}, iteration)
        self._hours = _hours(notes, self._last - iteration)

    def tell(self, *texts: str) -> None:
        """Prints texts on stderr, one line each."""
        for text in texts:
            say(text)

    def health(self, iteration: int, findings: Sequence[Finding]) -> None:
        """Prints warnings on stderr. Repeats that of a cause only after _REPEATED_AFTER iterations."""
        for finding in findings:
            if iteration - self._told.get(finding.cause, -_REPEATED_AFTER) >= _REPEATED_AFTER:
                self._told[finding.cause] = iteration
                self.tell(f"iteration {iteration}: {finding}")
