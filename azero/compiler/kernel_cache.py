"""Numba's cache of kernels on disk, in the folders of `cache.py`, with files that are checked.

Kernels with code from users' files have folders of their own in the cache's. A damaged entry counts as a missing one.
What one process compiles, others that need it wait for.
See docs/decisions/0001-compile-cache.md.
"""

import functools
import hashlib
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numba
from filelock import FileLock, Timeout
from numba import types
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.sigutils import normalize_signature

from azero.compiler.beside import note_missing
from azero.compiler.cache import SOURCE_DIGEST, cache_directory
from azero.compiler.elsewhere import attempts
from azero.system.files import PACKAGE

_DIGEST_BYTES = hashlib.sha256().digest_size

_LONGEST_S = 60.0
"""How long another process that compiles a kernel is waited for. Afterwards this process compiles it, too."""

_POLL_S = 0.02


class KernelCache:
    """A kernel's cache on disk, as Numba's dispatcher uses it. Code from users' files has its own folders."""

    def __init__(self, function: Callable):
        self._function = function
        self._places: dict[str, _Place] = {}
        self._claims: dict[str, FileLock] = {}

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
        place = self._place(signature)
        if (found := place.load_overload(signature, target_context)) is not None:
            return found
        for _ in attempts(self._function, signature):
            if (found := place.load_overload(signature, target_context)) is not None:
                return found
        note_missing()
        self._claim(signature)
        return place.load_overload(signature, target_context)

    def save_overload(self, signature, data) -> None:
        self._place(signature).save_overload(signature, data)

    def _claim(self, signature) -> None:
        """Waits while another process compiles the kernel for this signature. Others wait for this process then."""
        place = self._place(signature)
        with suppress(OSError, NotImplementedError, Timeout):  # no locks there, or it takes too long
            lock = FileLock(place.lock_path(signature), timeout=_LONGEST_S)
            lock.acquire(poll_interval=_POLL_S)
            self._claims[str(signature)] = lock

    def compile_once(self, numbas_compile: Callable, signature) -> object:
        """Compiles a kernel by Numba's function for it. What that has claimed is free afterwards."""
        try:
            return numbas_compile(signature)
        finally:
            if lock := self._claims.pop(str(signature), None):
                lock.release()


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

    def lock_path(self, signature) -> Path:
        """Returns the file that is locked while a process compiles for a signature."""
        digest = hashlib.sha256(str(signature).encode()).hexdigest()[:16]
        return Path(self._cache_path) / f"{self._impl.filename_base}.{digest}.lock"


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
