"""Compilation: one decorator for kernels, one binding for methods, one cache that knows when sources change.

A game's rules and a search's selection rule are NamedTuples. Their methods are written as ordinary Python and
run two ways from the same text: as they stand when compilation is off (`NUMBA_DISABLE_JIT=1`), and as inlined
machine code when a kernel calls them. `bind_methods` is what makes `game.apply_action(state, action)` mean the
method of the argument's own class inside a kernel.

Numba's disk cache looks at one file only, the kernel's own: a kernel that inlines `games/hex/rules.py` would
run the old rules after that file is edited. So the cache directory is named by a digest of all that can be
compiled, and an edit anywhere leads to a directory without the old code. Rules from a user's file have a folder of
their own in it, named by the digest of that file and of the user's modules that it imports. See
docs/decisions/0001-compile-cache.md.
"""

import contextlib
import errno
import functools
import hashlib
import inspect
import os
import shutil
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import llvmlite
import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.core.errors import NumbaWarning
from numba.core.sigutils import normalize_signature
from numba.extending import overload_method, register_jitable

from azero.compiler import codegen, notice
from azero.errors import BadInput

IS_COMPILED = not numba.config.DISABLE_JIT

_OPTIONS = {"nogil": True, "error_model": "numpy"}

_OF_KERNELS = {**_OPTIONS, "_nrt": False}
"""Kernels fill arrays that they are handed, and allocate none. Without `_nrt`, Numba's memory management, they and the
subroutines that they call count no references: in a large kernel that was half of the time.
"""

_INNER = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Of code that only other compiled code calls. Left to itself, LLVM stops inlining where loops are hottest."""

_OF_RULES = {**_INNER, "_nrt": True}
"""A user's rules may copy overlapping slices, for which Numba takes memory for a moment; `codegen.py` sees the rest."""

_PACKAGE = Path(__file__).parents[1]
_COMPILED_SOURCES = (
    "errors.py",
    "authoring/__init__.py",
    "compiler/*.py",
    "games/**/*.py",
    "exact/*.py",
    "mcts/**/*.py",
    "selfplay/**/*.py",
)
SOURCE_DIGEST = "source_digest"
"""The attribute by which a class of rules from a user's file tells the digest of its sources."""

_NUM_CACHES_KEPT = 8
_CACHE_LIFETIME_S = 7 * 24 * 3600

codegen.install()
notice.install()
warnings.simplefilter("ignore", NumbaWarning)  # advice on style; what cannot be compiled is an error all the same


def bind_methods(**parameters: tuple[str, ...]) -> None:
    """Lets kernels call methods of these names on any NamedTuple; the argument's own class provides the code.

    Args:
      parameters: for each method its parameters after the NamedTuple itself, e.g. `outcome=("state",)`.

    Registered once per name on Numba's two NamedTuple types. Registered per class instead, methods that call each
    other would not resolve.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, names in parameters.items():

        def method_of_class(instance, *arguments, name=name):
            return getattr(instance.instance_class, name, None)

        method_of_class.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(each, kind) for each in ("instance", *names)]
        )
        for named_tuple in (types.NamedTuple, types.NamedUniTuple):
            overload_method(named_tuple, name, strict=False, jit_options=_OF_RULES)(method_of_class)


def kernel(function: Callable) -> Callable:
    """Compiles what Python calls: once for each combination of argument types, kept on disk; releases the GIL."""
    if not IS_COMPILED:
        return _plain(function)
    compiled = numba.njit(**_OF_KERNELS)(function)
    compiled._cache = _KernelCache(function)
    return compiled


class _KernelCache:
    """A kernel's places on disk, as Numba's dispatcher asks for them: azero's own rules, and each user's file."""

    def __init__(self, function: Callable):
        self._function = function
        self._places: dict[str, FunctionCache] = {}

    def _place(self, signature) -> FunctionCache:
        arguments, _ = normalize_signature(signature)
        folder = next(filter(None, map(_source_digest, arguments)), "azero")
        if folder not in self._places:
            shared_directory, numba.config.CACHE_DIR = numba.config.CACHE_DIR, str(cache_directory() / folder)
            try:
                self._places[folder] = FunctionCache(self._function)
            finally:
                numba.config.CACHE_DIR = shared_directory
        return self._places[folder]

    def load_overload(self, signature, target_context):
        return self._place(signature).load_overload(signature, target_context)

    def save_overload(self, signature, data) -> None:
        self._place(signature).save_overload(signature, data)


def _source_digest(argument: types.Type) -> str:
    """Returns the digest that the class of a NamedTuple, or of one within it, carries; an empty text for none."""
    if not isinstance(argument, types.NamedTuple | types.NamedUniTuple):
        return ""
    own = getattr(argument.instance_class, SOURCE_DIGEST, "")
    return own or next(filter(None, map(_source_digest, argument.types)), "")


def subroutine(function: Callable) -> Callable:
    """Compiles what only kernels call: it becomes part of theirs and needs no place on disk."""
    return _Subroutine(function) if IS_COMPILED else _plain(function)


def shared_subroutine(function: Callable) -> Callable:
    """Compiles a subroutine that is called, not inlined: a call takes some nanoseconds, and callers compile sooner."""
    return _Subroutine(function, is_inlined=False) if IS_COMPILED else _plain(function)


def shared_with_python(function: Callable) -> Callable:
    """Lets kernels call a short function, which becomes part of them; Python runs it as it stands."""
    return register_jitable(**_OF_RULES)(function) if IS_COMPILED else function


class _Subroutine:
    """A compiled function as kernels see it; where Python calls it, too, it is compiled a second time, for that."""

    def __init__(self, function: Callable, is_inlined: bool = True):
        functools.update_wrapper(self, function)
        self._for_kernels = numba.njit(**_OPTIONS, **{**_INNER, "forceinline": is_inlined})(function)
        self._for_python = numba.njit(**_OPTIONS)(function)
        self._num_overloads = 0
        self._return_types: set[types.Type] = set()

    @property
    def _numba_type_(self) -> types.Type:
        return self._for_kernels._numba_type_

    def __call__(self, *arguments, **named):
        result = self._for_python(*arguments, **named)
        return _as_numpy(result, self._return_type(arguments, named))

    def _return_type(self, arguments: tuple, named: dict) -> types.Type:
        """Returns the type that Numba gives to what has just been returned for these arguments."""
        overloads = self._for_python.overloads
        if len(overloads) != self._num_overloads:
            self._num_overloads = len(overloads)
            self._return_types = {each.signature.return_type for each in overloads.values()}
        if len(self._return_types) == 1:
            return next(iter(self._return_types))
        kinds = tuple(map(numba.typeof, arguments))
        named_kinds = {name: numba.typeof(each) for name, each in named.items()}
        function = self._for_python
        return function._numba_type_.get_call_type(function.typingctx, kinds, named_kinds).return_type


def _as_numpy(value, kind: types.Type):
    """Returns what compiled code has returned, as np.uint64 where that is its type.

    Numba makes a Python integer of it. To the next subroutine that would be an int64, and too big from 2^63 on.
    """
    if kind == types.uint64:
        return np.uint64(value)
    if isinstance(kind, types.BaseTuple):
        values = map(_as_numpy, value, kind.types)
        return value._make(values) if hasattr(value, "_make") else tuple(values)
    return value


def _plain(function: Callable) -> Callable:
    """Returns the function as it stands; its unsigned integers wrap around without a warning, as compiled ones do."""
    return np.errstate(over="ignore")(function)


def cache_root() -> Path:
    """Returns the folder of compiled kernels of every digest: `$AZERO_CACHE_DIR`, or one in the user's cache folder."""
    chosen = os.environ.get("AZERO_CACHE_DIR")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return Path(chosen) if chosen else base / "azero"


def compiled_sources(package: Path = _PACKAGE) -> list[Path]:
    """Returns the files of which kernels are made."""
    return sorted({path for pattern in _COMPILED_SOURCES for path in package.glob(pattern)})


def sources_digest(package: Path = _PACKAGE) -> str:
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
