"""Stamps of files: whether one has changed since it was read."""

import errno
import os
import stat
from pathlib import Path
from typing import NamedTuple


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
