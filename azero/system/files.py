"""Atomic writes of files, locks on folders, and the place of azero's own files.

A file is written to a temporary file in the same folder, flushed to the disk, and then renamed.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from azero.errors import BadInput

PACKAGE = Path(__file__).parents[1]
"""The folder of azero itself."""

LOCK = ".lock"
"""The file that a folder has while it is locked. A file that a killed process left behind locks nothing."""


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` to `path`, and creates its folder. If interrupted, the file is the old one or the new one."""
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
    """Makes a rename survive a loss of power; does nothing on systems that cannot open directories."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_temporaries(directory: Path) -> None:
    """Removes temporary files that a killed process left in `directory` and below."""
    for path in directory.rglob(".*.tmp"):
        path.unlink(missing_ok=True)


@contextmanager
def held(folder: Path, refusal: str, may_nest: bool = False) -> Iterator[None]:
    """Locks a folder within the block. The system releases the lock when the process ends, even if it is killed.

    Args:
      may_nest: the thread that has locked the folder may do so again.

    Raises:
      BadInput: the folder is locked; the message is `refusal`.
      OSError: the disk does not support locks.
    """
    lock = FileLock(folder / LOCK, blocking=False, fallback_to_soft=False, is_singleton=may_nest)
    try:
        lock.acquire()
    except Timeout:
        raise BadInput(refusal) from None
    try:
        yield
    finally:
        if lock.lock_counter == 1:
            with suppress(PermissionError):  # Windows cannot remove an open file; there `release` removes it
                (folder / LOCK).unlink(missing_ok=True)  # before the release: later it may belong to another process
        lock.release()
