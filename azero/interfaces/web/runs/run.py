"""A run as the page shows it: its folder while another process may be writing to it, and whether it trains."""

import functools
import os
import shlex
import time
from functools import cached_property
from pathlib import Path
from typing import Any

from azero.arena.agents.names import split_program
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import file_of, without_folder
from azero.games.sizes import games_of
from azero.interfaces.web.errors import ApiError, short
from azero.runs.folder import STATE, NetFile, RunFolder, ShardFile, nets_in, shards_in
from azero.runs.metrics import Line, read_rows
from azero.runs.settings import read_settings
from azero.system.console import printable
from azero.system.files import LOCK, Stamp, stamp_of

_LARGEST_CONFIG = 1 << 16  # bytes
_MOST_FILES = 20_000  # of a folder that are looked at


class ShownRun(RunFolder):
    """A run that the page shows. Files that are links, and files in folders that are links, are not read.

    Attributes:
      id: by which requests choose it.
      known: the games that are offered. A game of the user's own is one of these; a file that the run's folder names
        is neither run nor read.
    """

    def __init__(self, run_id: str, folder: Path, known: tuple[Game, ...] = ()):
        super().__init__(folder)
        self.id, self.known = run_id, known

    @property
    def name(self) -> str:
        """The name for people. A folder may have any bytes in its name."""
        return printable(self.folder.resolve().name)

    @cached_property
    def config(self) -> Config:
        """The run's settings; raises ApiError."""
        try:
            return _settings(self.folder, stamp_of(self.config_path, _LARGEST_CONFIG))
        except OSError as error:
            raise self._bad(f"config.toml cannot be read: {self.line_of(error)}") from None
        except BadInput as error:
            raise self._bad(error) from None

    @cached_property
    def games(self) -> tuple[Game, ...]:
        """The game, or its sizes, the smallest first; raises ApiError if it is a game that is not offered."""
        game = self.config.game
        try:
            if file_of(game.name) is None:
                return games_of(game)
        except BadInput as error:
            raise self._bad(error) from None
        name = without_folder(game.name)
        found = next((each for each in self.known if without_folder(each.name) == name), None)
        if found is None or game.sizes:
            raise self._bad(f"it plays {name}, a game of your own; offer it with azero serve --game path/to/{name}")
        return (found,)

    @cached_property
    def rows(self) -> list[Line]:
        """The lines of metrics.jsonl; raises ApiError."""
        try:
            return read_rows(self.metrics_path)
        except BadInput as error:
            raise self._bad(error) from None

    @cached_property
    def nets(self) -> list[NetFile]:
        """The promoted nets, the oldest first."""
        return nets_in(self.folder, _MOST_FILES)

    @cached_property
    def shards(self) -> list[ShardFile]:
        """The files of self-play games in the replay window and of the current iteration, the oldest first."""
        return shards_in(self.folder, _MOST_FILES)

    def player_of(self, iteration: int) -> NetFile | None:
        """Returns the net that played the games of an iteration: the last one promoted before they began.

        None if it is not there, or if another run's nets played the games: those of iteration 0.
        """
        is_ahead = iteration > 1 and self.config.plays_ahead(iteration - 1)
        earlier = [each for each in self.nets if each.iteration < iteration - is_ahead]
        return earlier[-1] if earlier else None

    def line_of(self, error: Exception) -> str:
        """Returns what is wrong with a file, in a line that names it by its place in the run's folder."""
        text = str(getattr(error, "strerror", None) or error)
        return short(text.replace(f"{self.folder}{os.sep}", ""))

    def _bad(self, error: Exception | str) -> ApiError:
        text = error if isinstance(error, str) else self.line_of(error)
        return ApiError(409, "bad_run", f"run {self.id!r}: {text}", value=self.id)


@functools.lru_cache(maxsize=64)
def _settings(folder: Path, stamp: Stamp) -> Config:
    return read_settings(folder)


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
