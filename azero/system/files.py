"""Atomic writes of files, careful reads, locks on folders, and the place of azero's own files.

A file is written to a temporary file in the same folder, flushed to the disk, and then renamed. Each step goes through
`Disk`, so that tests can put a disk that fails in its place.
"""

import errno
import itertools
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, NamedTuple

from filelock import FileLock, Timeout

from azero.errors import BadInput

PACKAGE = Path(__file__).parents[1]
"""The folder of azero itself."""

LOCK = ".lock"
"""The file that a folder has while it is locked. A file that a killed process left behind locks nothing."""


class Disk:
    """The steps in which files are written and removed. A step raises OSError if it fails."""

    def write(self, file: BinaryIO, data: bytes) -> None:
        """Writes `data` to the end of a file. It may still be in the system's memory."""
        left = memoryview(data)
        while left:  # a file without a buffer may take a part
            left = left[file.write(left) :]
        file.flush()

    def sync(self, descriptor: int, path: Path) -> None:
        """Waits until a file, or the names in a folder, are on the disk."""
        os.fsync(descriptor)

    def replace(self, source: Path, target: Path) -> None:
        """Renames a file. It may replace another."""
        os.replace(source, target)

    def remove(self, path: Path) -> None:
        """Removes a file if it is there."""
        path.unlink(missing_ok=True)


DISK = Disk()


def write_whole(path: Path, data: bytes) -> None:
    """Writes `data` to `path`, and creates its folder. If interrupted, the file is the old one or the new one."""
    make_folder(path.parent)
    # A name that nobody can foresee, and "x": a link that somebody put there would lead elsewhere.
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    try:
        with open(temporary, "xb") as file:
            DISK.write(file, data)
            DISK.sync(file.fileno(), temporary)
        DISK.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_directory(path.parent)


def append(path: Path, data: bytes) -> None:
    """Adds `data` to the end of a file, or creates it and its folder. If that fails, the file is as it was before.

    Other processes may add to the file at the same time. If one does so while this fails, the file is left as it is.
    """
    make_folder(path.parent)
    with open(path, "ab", buffering=0) as file:
        before = file.tell()
        try:
            DISK.write(file, data)
            DISK.sync(file.fileno(), path)
        except BaseException:
            _take_back(path, before, data)
            raise


def _take_back(path: Path, before: int, data: bytes) -> None:
    """Removes what was written after byte `before` if it is a part of `data`, and not another process's."""
    with open(path, "r+b") as file:
        file.seek(before)
        if data.startswith(file.read(len(data) + 1)):
            file.truncate(before)


def make_folder(folder: Path) -> None:
    """Creates a folder and those above it, so that they survive a loss of power."""
    if folder.is_dir():
        return
    if folder.parent != folder:
        make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    _flush_directory(folder.parent)


def put_aside(path: Path) -> Path:
    """Gives a file the name `NAME.damaged`, with a number if that name is taken; returns its new path."""
    names = (path.with_name(f"{path.name}.damaged{number or ''}") for number in itertools.count())
    aside = next(each for each in names if not each.exists())
    DISK.replace(path, aside)
    _flush_directory(path.parent)
    return aside


def _flush_directory(directory: Path) -> None:
    """Makes a rename survive a loss of power; does nothing on systems that cannot open directories."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            DISK.sync(descriptor, directory)
        finally:
            os.close(descriptor)


def remove(path: Path) -> None:
    """Removes a file if it is there."""
    DISK.remove(path)


def check_regular(path: Path) -> None:
    """Raises OSError unless `path` is a regular file. To open a pipe or a device might wait for ever."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def read_regular(path: Path, largest: int) -> bytes:
    """Returns the contents of a regular file of at most `largest` bytes; raises OSError."""
    check_regular(path)
    with open(path, "rb") as file:
        data = file.read(largest + 1)
    if len(data) > largest:
        raise OSError(errno.EFBIG, f"it has more than {largest:,} bytes", str(path))
    return data


class Stamp(NamedTuple):
    """Equal stamps of a path mean the same contents."""

    changed_ns: int
    size: int
    inode: int


def stamp_of(path: Path, largest: int) -> Stamp:
    """Returns the stamp of a regular file of at most `largest` bytes; raises OSError, for a link, too."""
    found = os.stat(path, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if found.st_size > largest:
        raise OSError(errno.EFBIG, f"it has more than {largest:,} bytes", str(path))
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def others_can_write(folder: Path) -> bool:
    """Returns whether other users can put files into a folder. Windows gives each user a folder of his own."""
    if not hasattr(os, "getuid"):
        return False
    found = folder.stat()
    return found.st_uid != os.getuid() or bool(found.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def remove_temporaries(directory: Path) -> None:
    """Removes temporary files that a killed process left in `directory` and below."""
    for path in directory.rglob(".*.tmp"):
        if not path.is_dir():
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
