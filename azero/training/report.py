"""What one sees of a run: a line for the stage under way, a table of iterations, TensorBoard."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType

from tqdm import tqdm

from azero.training.curves import Curves
from azero.training.health import REPEATED_AFTER
from azero.training.run import Progress, Run


def _play_s(notes: dict) -> float:
    """Returns the seconds of self-play, and of the old positions that were searched anew."""
    return notes["time/play_s"] + notes.get("time/reanalysis_s", 0.0)


_COLUMNS: tuple[tuple[str, Callable[[dict], str]], ...] = (
    ("positions", lambda n: f"{n['positions']:,}"),
    ("plies", lambda n: f"{n['selfplay/mean_plies']:.1f}"),
    ("first", lambda n: f"{n['selfplay/first_player_score']:.0%}"),
    ("draws", lambda n: f"{n['selfplay/draws']:.0%}"),
    ("policy loss", lambda n: f"{n['train/policy_loss']:.3f}" if "train/policy_loss" in n else "-"),
    ("value loss", lambda n: f"{n['train/value_loss']:.3f}" if "train/value_loss" in n else "-"),
    ("agree", lambda n: f"{n['fresh/policy_agreement']:.0%}"),
    ("gate", lambda n: f"{n['gate/score']:.0%}" + (" promoted" if n["gate/is_promoted"] else "")),
    ("Elo", lambda n: f"{n['gate/rating']:+z.0f}"),
    ("opponent", lambda n: f"{n['evaluation/score']:.0%}" if "evaluation/score" in n else ""),
    ("play+train+gate", lambda n: f"{_play_s(n):.0f}+{n['time/train_s']:.0f}+{n['time/gate_s']:.0f} s"),
    ("time", lambda n: f"{n['elapsed_s'] // 60:.0f}:{n['elapsed_s'] % 60:02.0f}"),
)
_WIDTHS = (11, 6, 6, 6, 12, 11, 6, 14, 7, 9, 17, 7)


class Report:
    """Reports to the terminal (progress on stderr, results on stdout) and to TensorBoard."""

    def __init__(self, run: Run, progress: Progress):
        self._last = run.config.training.iterations
        self._iteration = progress.iteration
        self._begin = time.perf_counter()
        self._curves = Curves(run.folder / "tensorboard", progress.iteration)
        self._has_header = False
        self._told: dict[str, int] = {}  # the iteration in which each symptom was told last

    def __enter__(self) -> "Report":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._curves.close()

    @contextmanager
    def stage(self, name: str, total: int, unit: str, done: int = 0) -> Iterator[tqdm]:
        """Shows one line for a stage, with what is left of it."""
        label = f"iteration {self._iteration}/{self._last}, {name}"
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
        values = notes | {"positions": progress.positions, "elapsed_s": time.perf_counter() - self._begin}
        if not self._has_header:
            names = zip(_COLUMNS, _WIDTHS, strict=True)
            print("iteration" + "".join(f"{name:>{width}}" for (name, _), width in names))
            self._has_header = True
        cells = zip(_COLUMNS, _WIDTHS, strict=True)
        print(f"{iteration:>9}" + "".join(f"{show(values):>{width}}" for (_, show), width in cells), flush=True)
        self._curves.add({key: float(value) for key, value in notes.items()}, iteration)

    def tell(self, *texts: str) -> None:
        """Says something on stderr, a line each."""
        for text in texts:
            print(f"azero: {text}", file=sys.stderr, flush=True)

    def health(self, iteration: int, symptoms: dict[str, str]) -> None:
        """Warns of symptoms, by name, on stderr; of one that was told already, again only after REPEATED_AFTER."""
        for name, text in symptoms.items():
            if iteration - self._told.get(name, -REPEATED_AFTER) >= REPEATED_AFTER:
                self._told[name] = iteration
                self.tell(f"iteration {iteration}: {text}")
