"""Where compiled kernels are kept: a folder named by a digest of all that can be compiled.

Numba's disk cache looks at one file only, the kernel's own: a kernel that inlines `games/hex/rules.py` would run the
old rules after that file is edited. An edit anywhere leads to a folder without the old code. See
docs/decisions/0001-compile-cache.md.
"""

import contextlib
import errno
import functools
import hashlib
import os
import shutil
import time
from pathlib import Path

import llvmlite
import numba
import numpy as np

from azero.errors import BadInput

PACKAGE = Path(__file__).parents[1]
_COMPILED_SOURCES = (
    "errors.py",
    "authoring/__init__.py",
    "compiler/*.py",
    "games/**/*.py",
    "exact/*.py",
    "mcts/**/*.py",
    "selfplay/**/*.py",
)

_NUM_CACHES_KEPT = 8
_CACHE_LIFETIME_S = 7 * 24 * 3600


def cache_root() -> Path:
    """Returns the folder of compiled kernels of every digest: `$AZERO_CACHE_DIR`, or one in the user's cache folder."""
    chosen = os.environ.get("AZERO_CACHE_DIR")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "azero"


def compiled_sources(package: Path = PACKAGE) -> list[Path]:
    """Returns the files of which kernels are made."""
    return sorted({path for pattern in _COMPILED_SOURCES for path in package.glob(pattern)})


def sources_digest(package: Path = PACKAGE) -> str:
    """Returns a digest of every source that a kernel can contain, of the compiler's versions and of the CPU."""
    digest = hashlib.sha256()
    for path in compiled_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = numba.__version__, llvmlite.__version__, np.__version__
    digest.update(repr((str(package), *versions, cpu_identity())).encode())
    return digest.hexdigest()[:16]


def cpu_identity() -> tuple[str, str]:
    """Returns the CPU's name, and what it can do."""
    return llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()


@functools.cache
def cache_directory() -> Path:
    """Returns this process's cache directory, made on first use; the time of that use keeps it from being removed.

    Raises BadInput where nothing can be kept there.
    """
    directory = cache_root() / f"kernels-{sources_digest()}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        os.utime(directory)
        if not os.access(directory, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise BadInput(
            f"compiled kernels cannot be kept in {str(directory)!r}: {error.strerror}; "
            "set AZERO_CACHE_DIR to a folder that can be written"
        ) from None
    _remove_old_caches(directory)
    return directory


def _remove_old_caches(current: Path) -> None:
    """Removes caches of earlier sources: all but the newest few, and of those the ones unused for a week."""
    others = []
    for path in current.parent.glob("kernels-*"):
        with contextlib.suppress(FileNotFoundError):  # another process may be removing them, too
            others.append((path.stat().st_mtime, path))
    others = sorted(((used, path) for used, path in others if path != current), reverse=True)
    for rank, (used, path) in enumerate(others):
        if rank >= _NUM_CACHES_KEPT or time.time() - used > _CACHE_LIFETIME_S:
            shutil.rmtree(path, ignore_errors=True)
