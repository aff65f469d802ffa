"""Files written whole or not at all: to a temporary neighbour, flushed to the disk, then renamed; folders held."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from azero.errors import BadInput

PACKAGE = Path(__file__).parents[1]
"""The folder of azero itself."""

LOCK = ".lock"
"""The file that a held folder has, for as long as it is held. One that a killed process leaves holds nothing."""


def write_whole(path: Path, data: bytes) -> None:
    """Makes `path` hold `data`. Whenever it is interrupted, the file is the old one or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(path.parent)


def _flush_directory(directory: Path) -> None:
    """Makes a rename last through a loss of power; systems that cannot open directories do without."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_temporaries(directory: Path) -> None:
    """Removes what a killed process left half written in `directory` and below."""
    for path in directory.rglob(".*.tmp"):
        path.unlink(missing_ok=True)


@contextmanager
def held(folder: Path, refusal: str) -> Iterator[None]:
    """Keeps other processes out of a folder; raises BadInput(refusal) where one is in it.

    The system ends the hold with the process, however that ends. Raises OSError where the disk has no such locks.
    """
    lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False)
    try:
        lock.acquire()
    except Timeout:
        raise BadInput(refusal) from None
    try:
        yield
    finally:
        with suppress(PermissionError):  # on Windows an open file stays; `release` removes it there
            (folder / LOCK).unlink(missing_ok=True)  # before the release: afterwards it may be another process's
        lock.release()
