"""Names and places of a run's files, and the lock of its folder."""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from azero.errors import BadInput
from azero.system.files import LOCK, held

CONFIG, METRICS = "config.toml", "metrics.jsonl"
STATE, BEGINNING = "state.safetensors", "state_beginning.safetensors"
BEST = "best.safetensors"
ROLLOUT = "rollout.safetensors"

CHECKPOINTS, REPLAY, TENSORBOARD = FOLDERS = "checkpoints", "replay", "tensorboard"
"""Names of the folders in a run's folder."""

MEAN, CANDIDATE = "mean", "candidate"
"""Names of the final's nets that have no iteration."""

FIRST_NET = 0
"""The iteration by which the first net is named. Games that come from another run are of iteration 0, too."""

MOST_ITERATIONS = 10**9
"""The names of nets and shards have room for fewer iterations."""

NET = r"[0-9]{5,9}"
"""The names of nets that have an iteration, as a pattern."""

SHARD = r"([0-9]{5,9})-([0-9]{4,9})"
"""The names of shards, as a pattern."""


class NetFile(NamedTuple):
    """A promoted net, by the iteration in which it was promoted; the first net is `FIRST_NET`."""

    iteration: int
    path: Path


class ShardFile(NamedTuple):
    """A file of self-play games."""

    iteration: int
    number: int
    path: Path

    @property
    def name(self) -> str:
        """Its name in the run's state."""
        return self.path.stem


class RunFolder:
    """The places of a run's files."""

    def __init__(self, folder: Path):
        self.folder = folder

    @property
    def config_path(self) -> Path:
        return self.folder / CONFIG

    @property
    def metrics_path(self) -> Path:
        return self.folder / METRICS

    @property
    def best_path(self) -> Path:
        return self.folder / BEST

    @property
    def candidate_path(self) -> Path:
        return self.folder / f"{CANDIDATE}.safetensors"

    @property
    def first_path(self) -> Path:
        """Path of the first net."""
        return self.checkpoint_path(FIRST_NET)

    def checkpoint_path(self, iteration: int) -> Path:
        """Returns the path of the net promoted in an iteration; FIRST_NET is the run's first one."""
        return self.checkpoint_file(f"{iteration:05d}")

    def checkpoint_file(self, name: str) -> Path:
        """Returns the path of the net with that name."""
        return self.folder / CHECKPOINTS / f"{name}.safetensors"

    def shard_path(self, name: str) -> Path:
        return self.folder / REPLAY / f"{name}.safetensors"


def files_in(folder: Path, part: str, most: int | None = None) -> list[Path]:
    """Returns the regular `.safetensors` files in a run's `checkpoints` or `replay`, by name; no links, or behind one.

    There are none if the folder is not there.

    Args:
      most: how many entries of the folder are looked at; None: all.
    """
    place = folder / part
    if place.is_symlink():
        return []
    try:
        with os.scandir(place) as entries:
            names = [each.name for each in islice(entries, most) if each.is_file(follow_symlinks=False)]
    except OSError:
        return []
    return [place / name for name in sorted(names) if name.endswith(".safetensors") and name[0] != "."]


def nets_in(folder: Path, most: int | None = None) -> list[NetFile]:
    """Returns the first net and the promoted ones, the oldest first."""
    paths = [path for path in files_in(folder, CHECKPOINTS, most) if re.fullmatch(NET, path.stem)]
    return sorted(NetFile(int(path.stem), path) for path in paths)


def shards_in(folder: Path, most: int | None = None) -> list[ShardFile]:
    """Returns the shards of the replay window and of iterations under way, the oldest first."""
    found = [(re.fullmatch(SHARD, path.stem), path) for path in files_in(folder, REPLAY, most)]
    return sorted(ShardFile(int(match[1]), int(match[2]), path) for match, path in found if match)


def shards_from_elsewhere(folder: Path) -> list[str]:
    """Returns the names of the shards that a run took from another when it began, oldest first."""
    return [shard.name for shard in shards_in(folder) if shard.iteration == FIRST_NET]


def shard_name(iteration: int, number: int) -> str:
    """Returns the name of an iteration's shard."""
    return f"{iteration:05d}-{number:04d}"


def iteration_of(name: str) -> int:
    """Returns the iteration in which the games of a shard were played; 0 if they are from another run."""
    return int(name.split("-")[0])


def check_no_links(folder: Path) -> None:
    """Raises BadInput if a folder in a run's folder is a link, through which files elsewhere could be changed."""
    for path in (folder / name for name in FOLDERS):
        if path.is_symlink():
            what = f"{path.name} is a link, and azero changes no files elsewhere"
            raise BadInput(f"run {str(folder)!r} cannot be used: {what}")


def hold(folder: Path) -> AbstractContextManager[None]:
    """Locks a run's folder within the block. Nothing in the folder is changed without the lock.

    Raises BadInput if another process trains the run, or if a part of the run is a link, through which files elsewhere
    could be changed.
    """
    check_no_links(folder)
    return held(folder, f"run {str(folder)!r} is being trained by another process", may_nest=True)


@contextmanager
def hold_to_read(folder: Path, may_write: bool) -> Iterator[None]:
    """Locks a run's folder within the block, as `hold`. Without `may_write`, a folder on a read-only disk will do.

    Raises BadInput if there is no run, or if another process trains it.
    """
    if not (folder / CONFIG).exists() and not has_state(folder):
        raise BadInput(f"there is no run in {str(folder)!r}: it has neither {CONFIG} nor {STATE}")
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(folder))
        except OSError:
            if may_write and not (folder / LOCK).is_dir():
                raise
        yield


def is_run(folder: Path) -> bool:
    """Returns whether a folder is that of a run."""
    return (folder / CONFIG).is_file()


def check_is_run(folder: Path) -> None:
    """Raises BadInput if there is no run in `folder`, or none with a config.toml."""
    if not is_run(folder):
        if has_state(folder):
            raise BadInput(f"run {str(folder)!r} has no {CONFIG}; {repair_of(folder)} may mend it")
        reason = (
            f"it has no {CONFIG}" if folder.is_dir() else "it is a file" if folder.exists() else "it does not exist"
        )
        raise BadInput(f"there is no run in {str(folder)!r}: {reason}")


def check_is_new(folder: Path) -> None:
    """Raises BadInput if no run can begin in `folder`.

    A process that was killed before a run began leaves a lock, half a config.toml, and copies of what the run was to
    begin with. Such a folder counts as new.
    """
    is_new = not folder.exists() or (folder.is_dir() and all(_is_before_a_run(path) for path in folder.iterdir()))
    if not is_new:
        raise BadInput(_why_not_new(folder))


def _why_not_new(folder: Path) -> str:
    """Returns an error message: why no run can begin in `folder`, and what to do."""
    if not folder.is_dir():
        return f"--run {str(folder)!r} is a file; a run is a folder that azero makes"
    if has_state(folder) and not is_run(folder):
        return f"run {str(folder)!r} exists already, and has no {CONFIG}; {repair_of(folder)} may mend it"
    if not is_run(folder):
        return f"folder {str(folder)!r} exists already, and holds no run; name a new one with --run"
    return f"run {str(folder)!r} exists already; continue it with --resume, or name another with --run"


def _is_before_a_run(path: Path) -> bool:
    """Returns whether a file or folder in a run's place is only what is written before config.toml."""
    if path.name in (CHECKPOINTS, REPLAY) and path.is_dir() and not path.is_symlink():
        first = rf"{FIRST_NET:05d}" + (r"-\d{4,9}" if path.name == REPLAY else "")
        names = rf"{first}\.safetensors|\.{first}\.safetensors\.\w+\.tmp"
        return all(re.fullmatch(names, each.name, re.ASCII) for each in path.iterdir())
    return path.name == LOCK or (path.name.startswith(f".{CONFIG}.") and path.name.endswith(".tmp"))


def has_state(folder: Path) -> bool:
    """Returns whether a folder has a run's state."""
    return any((folder / name).exists() for name in (STATE, BEGINNING))


def repair_of(folder: Path) -> str:
    """Returns the command that mends a run."""
    return f"azero check-run {shlex.quote(str(folder))} --repair"
