"""Files written whole or not at all: to a temporary neighbour, flushed to the disk, then renamed; folders held."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from azero.errors import BadInput


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
    """Keeps other processes out of a folder; raises BadInput(refusal) where one is in it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise BadInput(refusal) from None
    finally:
        os.close(descriptor)
