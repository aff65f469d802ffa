"""The disk cache of compiled kernels: a folder named by a digest of all sources that can be compiled.

Numba's own disk cache checks only the file that defines the kernel. A kernel that inlines `games/hex/rules.py` would
run the old rules after that file is edited. Here an edit of any source changes the folder. Numba itself tells the
entries of other CPUs apart. See docs/decisions/0001-compile-cache.md.
"""

import atexit
import contextlib
import errno
import functools
import hashlib
import os
import shutil
import stat
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

from azero.errors import BadInput
from azero.system.console import warn_once
from azero.system.files import PACKAGE, others_can_write

_COMPILED_SOURCES = (
    "errors.py",
    "authoring/__init__.py",
    "authoring/searches.py",
    "compiler/*.py",
    "games/**/*.py",
    "exact/*.py",
    "mcts/**/*.py",
    "nets/runtimes/winograd/kernels.py",
    "publishing/entries.py",
    "publishing/net.py",
    "selfplay/**/*.py",
    "training/learning/winograd/kernels.py",
)

_NUM_CACHES_KEPT = 8
_CACHE_LIFETIME_S = 7 * 24 * 3600


def cache_root() -> Path:
    """Returns the folder of the caches of all digests: `$AZERO_CACHE_DIR`, else `azero` in the user's cache folder.

    Raises BadInput if there is no home folder.
    """
    if chosen := os.environ.get("AZERO_CACHE_DIR"):
        return Path(chosen)
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "azero"
    except RuntimeError:
        raise BadInput("there is no home folder; set AZERO_CACHE_DIR to a folder that can be written") from None


def compiled_sources(package: Path = PACKAGE) -> list[Path]:
    """Returns the source files that kernels can be compiled from, sorted."""
    return sorted({path for pattern in _COMPILED_SOURCES for path in package.glob(pattern)})


@functools.cache
def digest_of_sources(package: Path = PACKAGE) -> str:
    """Returns a digest, 16 hex digits, of all sources of kernels, by their paths in the package.

    They are read once, at the import of this module: later they may be other than what this process has imported.
    """
    digest = hashlib.sha256()
    for path in compiled_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


digest_of_sources()


def _digest_of_place() -> str:
    """Returns a digest, 16 hex digits, of all sources of kernels, their folder and the compiler's versions."""
    what = digest_of_sources(), str(PACKAGE), *map(version, ("numpy", "numba", "llvmlite"))
    return hashlib.sha256(repr(what).encode()).hexdigest()[:16]


@functools.cache
def cache_directory() -> Path:
    """Returns this process's cache directory.

    The first call creates it, updates its time of last use, and removes old caches. If the chosen place cannot be
    written, this process and those that it starts use a temporary folder, and a warning says so. Raises BadInput if
    other users could write it.
    """
    name = f"kernels-{_digest_of_place()}"
    try:
        directory = _usable(cache_root() / name)
    except OSError as error:
        warn_of_folder(error)
        os.environ["AZERO_CACHE_DIR"] = temporary = tempfile.mkdtemp(prefix="azero-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        directory = _usable(Path(temporary) / name)
    _remove_old_caches(directory)
    return directory


def warn_of_folder(error: OSError) -> None:
    """Says once that the cache cannot be written."""
    warn_once(
        f"warning: compiled kernels cannot be kept in {str(cache_root())!r}: {error.strerror}; the next command "
        "compiles them again; set AZERO_CACHE_DIR to a folder that can be written"
    )


def _usable(directory: Path) -> Path:
    """Returns a folder, which is created, after a check that it can be written; raises OSError."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    _check_owner(directory)
    os.utime(directory)
    if not os.access(directory, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return directory


def _check_owner(directory: Path) -> None:
    """Raises BadInput if other users could put code into the cache."""
    root = directory.parent.stat()
    root_is_safe = not hasattr(os, "getuid") or (
        root.st_uid in (os.getuid(), 0) and (not root.st_mode & stat.S_IWOTH or bool(root.st_mode & stat.S_ISVTX))
    )
    for folder, is_safe in ((directory, not others_can_write(directory)), (directory.parent, root_is_safe)):
        if not is_safe:
            raise BadInput(
                f"compiled kernels are not read from {str(folder)!r}, because other users can write there; "
                "set AZERO_CACHE_DIR to a folder of your own"
            )


def _remove_old_caches(current: Path) -> None:
    """Removes caches of other sources that are unused for a week or not among the last `_NUM_CACHES_KEPT` used."""
    others = []
    for path in current.parent.glob("kernels-*"):
        with contextlib.suppress(FileNotFoundError):  # another process may remove them at the same time
            others.append((path.stat().st_mtime, path))
    others = sorted(((used, path) for used, path in others if path != current), reverse=True)
    for rank, (used, path) in enumerate(others):
        if rank >= _NUM_CACHES_KEPT or time.time() - used > _CACHE_LIFETIME_S:
            shutil.rmtree(path, ignore_errors=True)


SOURCE_DIGEST = "source_digest"
"""The attribute of a class of rules from a user's file that holds the digest of its sources."""
