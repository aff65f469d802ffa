"""A run's folder, read from outside while another process may be writing to it."""

import json
import math
import re
import shlex
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from azero.config.reading import load_config
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.sizes import games_of
from azero.interfaces.web.errors import ApiError
from azero.system.files import LOCK, read_regular

_LARGEST_METRICS = 64 << 20  # bytes
_FRESH_ITERATIONS = 20  # a lock counts while the files are younger than so many iterations: a crash leaves it behind
_LEAST_FRESH_S = 300.0
_NET = re.compile(r"(\d{5,7})\.safetensors")
_SHARD = re.compile(r"(\d{5,7})-\d{4}\.safetensors")


@dataclass(frozen=True)
class RunFolder:
    """A run's folder. Files that are links out of it are not read."""

    run_id: str
    folder: Path

    @cached_property
    def config(self) -> Config:
        """The run's settings; raises ApiError."""
        try:
            return load_config(self._inside("config.toml"), is_of_run=True)
        except BadInput as error:
            raise ApiError(409, "bad_run", str(error), value=self.run_id) from None

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """The game, or its sizes, the smallest first; raises ApiError, also for a file of a user's that is unknown."""
        try:
            return games_of(self.config.game)
        except BadInput as error:
            raise ApiError(409, "bad_run", str(error), value=self.run_id) from None

    def rows(self) -> list[dict[str, Any]]:
        """Returns the lines of metrics.jsonl. Broken lines are left out: the last one may not be whole yet."""
        try:
            data = read_regular(self._inside("metrics.jsonl"), _LARGEST_METRICS)
        except (OSError, BadInput):
            return []
        rows = [_row_of(line) for line in data.splitlines()]
        return [row for row in rows if row is not None]

    def nets(self) -> list[tuple[int, Path]]:
        """Returns the promoted nets with their iterations, the first net being 0."""
        return self._numbered("checkpoints", _NET)

    def shards(self) -> list[tuple[int, Path]]:
        """Returns the files of self-play games with their iterations, the oldest first."""
        return self._numbered("replay", _SHARD)

    def net_of(self, iteration: int) -> tuple[int, Path] | None:
        """Returns the net that played the games of an iteration: the last one promoted before; None without nets."""
        nets = self.nets()
        earlier = [each for each in nets if each[0] < iteration]
        return earlier[-1] if earlier else (nets[0] if nets else None)

    def updated_s(self) -> float:
        """Returns when the newest file was written, in seconds since 1970."""
        files = [self.folder / "metrics.jsonl", self.folder / "config.toml", *(path for _, path in self.shards()[-1:])]
        return max((path.stat().st_mtime for path in files if path.is_file()), default=0.0)

    def state(self, rows: list[dict[str, Any]]) -> str:
        """Returns finished, training or stopped. A run that trains has a lock, and writes files."""
        if rows and rows[-1]["iteration"] >= self.config.training.iterations:
            return "finished"
        if not (self.folder / LOCK).is_file():
            return "stopped"
        lasting = [sum(_number(row.get(f"time/{part}_s")) for part in ("play", "train", "gate")) for row in rows[-3:]]
        fresh_s = max(_LEAST_FRESH_S, _FRESH_ITERATIONS * sum(lasting) / max(1, len(lasting)))
        return "training" if time.time() - self.updated_s() < fresh_s else "stopped"

    def resume_command(self) -> str:
        """Returns the command line that resumes the run."""
        return f"azero train --run {shlex.quote(str(self.folder))} --resume"

    def _inside(self, name: str) -> Path:
        path = self.folder / name
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise ApiError(409, "bad_run", f"{name} is a link out of the run's folder", value=self.run_id)
        return path

    def _numbered(self, folder: str, pattern: re.Pattern[str]) -> list[tuple[int, Path]]:
        try:
            paths = sorted(self._inside(folder).iterdir())
        except (OSError, ApiError):
            return []
        found = [(match, path) for path in paths if (match := pattern.fullmatch(path.name))]
        return [(int(match[1]), path) for match, path in found if not path.is_symlink()]


def _row_of(line: bytes) -> dict[str, Any] | None:
    """Returns a line's numbers, strings and truths by name; None if it is broken. Numbers that JSON lacks are null."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or type(row.get("iteration")) is not int:
        return None
    values = {str(key): value for key, value in row.items() if isinstance(value, int | float | str | bool)}
    return {key: None if isinstance(each, float) and not math.isfinite(each) else each for key, each in values.items()}


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
