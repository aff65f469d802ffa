"""Numba's cache of kernels on disk, in the folder of `cache.py`: a checked file for each kernel and types of arguments.

A file that is damaged, or was written for anything else, counts as missing. If several processes need a kernel, one
compiles it, and the others wait for it. See docs/decisions/0001-compile-cache.md.
"""

import functools
import hashlib
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout
from numba import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, UserProvidedCacheLocator

from azero.compiler.beside import LONGEST_S, note_missing
from azero.compiler.cache import SOURCE_DIGEST, cache_directory, warn_of_folder
from azero.compiler.elsewhere import attempts
from azero.system.files import PACKAGE

_DIGEST_BYTES = hashlib.sha256().digest_size

_POLL_S = 0.02


class _Locator(UserProvidedCacheLocator):
    """The place of a function's files. Numba would take another one, without `cache.py`'s digest, if this one fails."""

    def __init__(self, function: Callable, file: str):
        super().__init__(function, file)
        self._cache_path = os.path.join(cache_directory(), self.get_suitable_cache_subpath(file))

    @classmethod
    def from_function(cls, function: Callable, file: str) -> "_Locator":
        return cls(function, file)


class _Function(CompileResultCacheImpl):
    _locator_classes = (_Locator,)


class _Files(IndexDataCacheFile):
    """A file for each key, which it holds. It begins with a digest of the rest.

    Numba has an index of numbered files. Two processes that write it at the same time may take the same number.
    """

    def path_of(self, key: tuple) -> str:
        """Returns the file of a key."""
        digest = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        return str(Path(self._index_path).with_suffix(f".{digest}.nbc"))

    def load(self, key: tuple) -> object:
        """Returns the data of a key; None if its file is missing, damaged, of another key, or of no use here."""
        with suppress(OSError):
            content = Path(self.path_of(key)).read_bytes()
            digest, written = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
            if hashlib.sha256(written).digest() == digest:
                with suppress(Exception):  # e.g. a class in it that is defined later, or no longer
                    stamp, of_key, data = pickle.loads(written)
                    return data if (stamp, of_key) == (self._source_stamp, key) else None
        return None

    def save(self, key: tuple, data: object) -> None:
        """Writes the data of a key; raises OSError."""
        content = self._dump((self._source_stamp, key, data))
        with self._open_for_write(self.path_of(key)) as file:
            file.write(hashlib.sha256(content).digest() + content)


class KernelCache(FunctionCache):
    """A kernel's cache on disk, as Numba's dispatcher uses it."""

    _impl_class = _Function

    def __init__(self, function: Callable):
        super().__init__(function)
        locator = self._impl.locator
        self._cache_file = _Files(self._cache_path, self._impl.filename_base, locator.get_source_stamp())
        self._claims: dict[str, FileLock] = {}

    def _index_key(self, signature, codegen) -> tuple:
        return *super()._index_key(signature, codegen), *(each for kind in signature for each in _classes_in(kind))

    def load_overload(self, signature, target_context):
        if (found := super().load_overload(signature, target_context)) is not None:
            return found
        for _ in attempts(self._py_func, signature):
            if (found := super().load_overload(signature, target_context)) is not None:
                return found
        note_missing()
        self._claim(signature, target_context)
        return super().load_overload(signature, target_context)

    def save_overload(self, signature, data) -> None:
        try:
            super().save_overload(signature, data)
        except OSError as error:  # a full disk, for example
            warn_of_folder(error)

    def _claim(self, signature, target_context) -> None:
        """Waits while another process compiles the kernel for this signature. Others wait for this process then."""
        path = self._cache_file.path_of(self._index_key(signature, target_context.codegen()))
        with suppress(OSError, NotImplementedError, Timeout):  # no locks there, or it takes too long
            lock = FileLock(f"{path}.lock", timeout=LONGEST_S)
            lock.acquire(poll_interval=_POLL_S)
            self._claims[str(signature)] = lock

    def compile_once(self, numbas_compile: Callable, signature) -> object:
        """Compiles a kernel by Numba's function for it. What that has claimed is free afterwards."""
        try:
            return numbas_compile(signature)
        finally:
            if lock := self._claims.pop(str(signature), None):
                lock.release()


def _classes_in(argument: types.Type) -> list[str]:
    """Returns the classes of the NamedTuples in an argument, each with a digest of the users' files that define it.

    A user's game has a digest of all its files. For any other class, e.g. a root strategy, the digest covers its own
    file, but not the modules that it imports.
    """
    if not isinstance(argument, types.BaseTuple):
        return []
    inner = [each for kind in argument.types for each in _classes_in(kind)]
    if not isinstance(argument, types.BaseNamedTuple):
        return inner
    of_class = argument.instance_class
    digest = getattr(of_class, SOURCE_DIGEST, "") or _file_digest(of_class)
    return [f"{of_class.__module__}.{of_class.__qualname__} {digest}", *inner]


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
