"""The disk cache of compiled kernels: a folder named by a digest of all sources that can be compiled.

Numba's own disk cache checks only the file that defines the kernel. A kernel that inlines `games/hex/rules.py` would
run the old rules after that file is edited. Here an edit of any source changes the folder. Kernels with code from
users' files have folders of their own in it. A damaged entry counts as a missing one. See
docs/decisions/0001-compile-cache.md.
"""

import contextlib
import errno
import functools
import hashlib
import os
import pickle
import shutil
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.sigutils import normalize_signature

from azero.compiler.beside import note_missing
from azero.errors import BadInput
from azero.system.files import PACKAGE, others_can_write

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


def sources_digest(package: Path = PACKAGE) -> str:
    """Returns a digest, 16 hex digits, of all sources of kernels, the compiler's versions and the CPU."""
    digest = hashlib.sha256()
    for path in compiled_sources(package):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    versions = numba.__version__, llvmlite.__version__, np.__version__
    digest.update(repr((str(package), *versions, cpu_identity())).encode())
    return digest.hexdigest()[:16]


def cpu_identity() -> tuple[str, str]:
    """Returns the CPU's name and features."""
    return llvmlite.binding.get_host_cpu_name(), llvmlite.binding.get_host_cpu_features().flatten()


@functools.cache
def cache_directory() -> Path:
    """Returns this process's cache directory.

    The first call creates it, updates its time of last use, and removes old caches. Raises BadInput if the directory
    cannot be written.
    """
    directory = cache_root() / f"kernels-{sources_digest()}"
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_owner(directory)
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

_DIGEST_BYTES = hashlib.sha256().digest_size


class KernelCache:
    """A kernel's cache on disk, as Numba's dispatcher uses it. Code from users' files has its own folders."""

    def __init__(self, function: Callable):
        self._function = function
        self._places: dict[str, FunctionCache] = {}

    def _place(self, signature) -> FunctionCache:
        arguments, _ = normalize_signature(signature)
        folder = "-".join(sorted({digest for each in arguments for digest in _digests_of(each)})) or "azero"
        if folder not in self._places:
            shared_directory, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_directory() / folder)
            try:
                self._places[folder] = _Place(self._function)
            finally:
                numba.config.CACHE_DIR = shared_directory
        return self._places[folder]

    def load_overload(self, signature, target_context):
        found = self._place(signature).load_overload(signature, target_context)
        if found is None:
            note_missing()
        return found

    def save_overload(self, signature, data) -> None:
        self._place(signature).save_overload(signature, data)


def _digests_of(argument: types.Type) -> set[str]:
    """Returns digests of the users' files that define the class of a NamedTuple and of the NamedTuples in it.

    A user's game has a digest of all its files. For any other class, e.g. a root strategy, the digest covers its own
    file, but not the modules that it imports. The class's name is in the digest as well, so that an index does not
    refer to a class that its reader has yet to define, or has imported by another name.
    """
    if not isinstance(argument, types.NamedTuple | types.NamedUniTuple):
        return set()
    of_class = argument.instance_class
    own = getattr(of_class, SOURCE_DIGEST, "") or _file_digest(of_class)
    named = f"{own} {of_class.__module__}.{of_class.__qualname__}"
    digests = {hashlib.sha256(named.encode()).hexdigest()[:16]} if own else set()
    return digests.union(*map(_digests_of, argument.types))


@functools.cache
def _file_digest(of_class: type) -> str:
    """Returns a digest of the file that defines a class; an empty text for azero's own classes or without a file."""
    source = getattr(sys.modules.get(of_class.__module__), "__file__", None)
    if source is None or Path(source).is_relative_to(PACKAGE):
        return ""
    try:
        return hashlib.sha256(Path(source).read_bytes()).hexdigest()
    except OSError:  # the file does not exist, e.g. if the class comes from standard input
        return ""


class _Place(FunctionCache):
    """Numba's cache of a function in one folder, with files that are checked."""

    def __init__(self, function: Callable):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, locator.get_source_stamp())


class _CheckedFiles(IndexDataCacheFile):
    """An index and its data files. Each file begins with a digest of the rest."""

    def _load_index(self) -> dict[object, str]:
        try:
            version, stamp, overloads = self._read(self._index_path)
        except OSError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: dict[object, str]) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> object:
        return self._read(self._data_path(name))

    def _save_data(self, name: str, data: object) -> None:
        self._write(self._data_path(name), data)

    def _read(self, path: str) -> Any:
        """Returns what a file contains; raises OSError if it is missing, damaged, or of no use here."""
        content = Path(path).read_bytes()
        digest, data = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
        if hashlib.sha256(data).digest() != digest:
            raise OSError(f"{path} is damaged")
        try:
            return pickle.loads(data)
        except Exception as error:  # e.g. a class in it that is defined later, or no longer
            raise OSError(f"{path} cannot be read here") from error

    def _write(self, path: str, data: object) -> None:
        content = self._dump(data)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(content).digest() + content)
