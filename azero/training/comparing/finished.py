"""The finished iterations of a run, as far as a comparison needs them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as short
from typing import Any

from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games.names import without_folder
from azero.runs.folder import METRICS, check_is_run
from azero.runs.metrics import read_metrics
from azero.runs.settings import played_game, read_settings
from azero.system.formats import is_number

AXES = ("iteration", "positions", "time_s")
"""What curves can be over. `time_s` is the sum of the run's self-play, training and gates so far, in seconds."""

STAGES = ("time/play_s", "time/train_s", "time/gate_s")
"""The times that count. An evaluation decides nothing, so its time does not."""

_IRRELEVANT = (
    *("seed", "selfplay.num_workers", "selfplay.parallel_games", "training.save_every_steps"),
    *("cluster.cpus_per_worker", "cluster.deadline_s", "cluster.trainers"),
)
_ARITHMETIC = ("device.", "training.precision")
"""Settings in which runs of a group may differ: the seed, and where and how the run is computed."""


@dataclass(frozen=True)
class FinishedRun:
    """A run's settings, and the metrics of its finished iterations. The run may still be in training."""

    folder: Path
    game: str
    seed: int
    opponent: str  # of its evaluations
    settings: dict[str, Any]  # by `section.key`, without those in which the runs of a group may differ
    axes: dict[str, list[float]]  # by axis, a number for each iteration
    lines: Sequence[dict]  # of metrics.jsonl

    def values(self, key: str) -> list[float | None]:
        """Returns a metric at each iteration. It is None where the metric is missing or not a number."""
        found = (line.get(key) for line in self.lines)
        return [float(value) if is_number(value) else None for value in found]  # type: ignore[arg-type]

    def points(self, key: str, axis: str) -> tuple[list[float], list[float]]:
        """Returns the places on an axis where a metric has a value, and these values."""
        pairs = [
            (x, value) for x, value in zip(self.axes[axis], self.values(key), strict=True) if _is_measured(key, value)
        ]
        return [x for x, _ in pairs], [value for _, value in pairs if value is not None]

    def to_json(self) -> dict[str, Any]:
        """Returns an object with the series of all metrics; null where one has no value."""
        keys = dict.fromkeys(key for line in self.lines for key in line if key not in AXES)
        series = {**self.axes, **{key: self.values(key) for key in keys}}
        return {"run": str(self.folder), "seed": self.seed, "series": series}


def read_run(folder: Path) -> FinishedRun:
    """Returns the finished iterations of a run. Reads config.toml and metrics.jsonl, and changes nothing.

    Raises:
      BadInput: the folder is no run, or it has not finished an iteration.
      Damaged: a line of metrics.jsonl is broken.
    """
    check_is_run(folder)
    config, path = read_settings(folder), folder / METRICS
    lines = read_metrics(path)
    if not lines:
        raise BadInput(f"run {str(folder)!r} has no metrics yet; wait until its first iteration has finished")
    return FinishedRun(
        folder=folder,
        game=played_game(config.game),
        seed=config.seed,
        opponent=config.evaluation.opponent,
        settings=_settings_of(config),
        axes=_axes_of(path, lines),
        lines=lines,
    )


def _settings_of(config: Config) -> dict[str, Any]:
    """Returns the settings that distinguish groups. The folder of a user's file does not count."""
    sections = config.model_dump(mode="json", exclude={"seed"})
    flat = {f"{name}.{key}": value for name, section in sections.items() for key, value in section.items()}
    kept = {key: value for key, value in flat.items() if key not in _IRRELEVANT and not key.startswith(_ARITHMETIC)}
    named = {"game.name": played_game(config.game), "net.name": without_folder(config.net.name)}
    return kept | named


def _axes_of(path: Path, lines: Sequence[dict]) -> dict[str, list[float]]:
    """Returns the places of a run's iterations on each axis; raises Damaged."""
    axes: dict[str, list[float]] = {axis: [] for axis in AXES}
    before = dict.fromkeys(AXES, 0.0)
    for number, line in enumerate(lines, start=1):
        for key in ("iteration", "positions", *(stage for stage in STAGES if stage in line)):
            value, least = line.get(key), before.get(key, 0.0)
            if not is_number(value) or value < least or (key == "iteration" and value == least):  # type: ignore[operator]
                wanted = f"a number above {least:g}" if key == "iteration" else f"a number of at least {least:g}"
                raise Damaged(f"line {number} of {str(path)!r} has {key} = {short(value)}; it should be {wanted}")
        seconds = before["time_s"] + sum(line.get(stage, 0.0) for stage in STAGES)
        before = {"iteration": line["iteration"], "positions": line["positions"], "time_s": seconds}
        for axis, value in before.items():
            axes[axis].append(value)
    return axes


def _is_measured(key: str, value: float | None) -> bool:
    """Returns whether a value was measured. A speed of 0 means that nothing was left to play, or to train."""
    return value is not None and not (key.endswith("_per_s") and value == 0)
