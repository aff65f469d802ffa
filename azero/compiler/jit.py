"""Compilation: one decorator for kernels, and one binding for methods.

A game's rules and a search's selection rule are NamedTuples. Their methods are written as ordinary Python and
run two ways from the same text: as they stand when compilation is off (`NUMBA_DISABLE_JIT=1`), and as inlined
machine code when a kernel calls them. `bind_methods` is what makes `rules.apply_action(state, action)` mean the
method of the argument's own class inside a kernel.

Kernels are kept on disk (`cache.py`). Those with code from users' files have a folder of their own there, named by
digests of these files.
"""

import functools
import hashlib
import inspect
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np
from numba import types
from numba.core.caching import FunctionCache
from numba.core.errors import NumbaWarning
from numba.core.sigutils import normalize_signature
from numba.extending import overload_method, register_jitable

from azero.compiler import codegen, notice
from azero.compiler.cache import PACKAGE, cache_directory
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

SOURCE_DIGEST = "source_digest"
"""The attribute by which a class of rules from a user's file tells the digest of its sources."""

BOUND_METHODS: set[str] = set()
"""Names that kernels may call on any NamedTuple, so that none of its fields may have them."""

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
    _bind(parameters, _OF_RULES)


def check_strategy(value: object) -> None:
    """Raises BadInput where kernels could not call the methods of a NamedTuple, such as one's own root strategy."""
    fields = getattr(value, "_fields", ())
    name = type(value).__name__
    if not fields:
        raise BadInput(f"{name} needs a field: compiled code cannot call methods of a NamedTuple without any")
    for field in fields:
        if field in BOUND_METHODS:
            raise BadInput(f"{name}.{field} needs another name: it is that of a method that kernels call")


def bind_strategies(**parameters: tuple[str, ...]) -> None:
    """As `bind_methods`, for methods that allocate nothing: arrays are not counted in them, as in kernels."""
    _bind(parameters, _INNER)


def _bind(parameters: dict[str, tuple[str, ...]], options: dict[str, bool]) -> None:
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    BOUND_METHODS.update(parameters)
    for name, names in parameters.items():

        def method_of_class(instance, *arguments, name=name):
            return getattr(instance.instance_class, name, None)

        method_of_class.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [inspect.Parameter(each, kind) for each in ("instance", *names)]
        )
        for named_tuple in (types.NamedTuple, types.NamedUniTuple):
            overload_method(named_tuple, name, strict=False, jit_options=options)(method_of_class)


def kernel(function: Callable) -> Callable:
    """Compiles what Python calls: once for each combination of argument types, kept on disk; releases the GIL."""
    if not IS_COMPILED:
        return _plain(function)
    compiled = numba.njit(**_OF_KERNELS)(function)
    compiled._cache = _KernelCache(function)
    return compiled


class _KernelCache:
    """A kernel's places on disk, as Numba's dispatcher asks for them: azero's own, and those of users' files."""

    def __init__(self, function: Callable):
        self._function = function
        self._places: dict[str, FunctionCache] = {}

    def _place(self, signature) -> FunctionCache:
        arguments, _ = normalize_signature(signature)
        folder = "-".join(sorted({digest for each in arguments for digest in _digests_of(each)})) or "azero"
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


def _digests_of(argument: types.Type) -> set[str]:
    """Returns digests of the users' files that the class of a NamedTuple, and of those within it, come from.

    A user's game carries the digest of all its files. Of any other class, as of a root strategy, its own
    file is what counts; the modules that it imports are not seen.
    """
    if not isinstance(argument, types.NamedTuple | types.NamedUniTuple):
        return set()
    own = getattr(argument.instance_class, SOURCE_DIGEST, "") or _file_digest(argument.instance_class)
    return {own}.difference([""]).union(*map(_digests_of, argument.types))


@functools.cache
def _file_digest(of_class: type) -> str:
    """Returns a digest of the file that defines a class; an empty text for azero's own, and where there is no file."""
    source = getattr(sys.modules.get(of_class.__module__), "__file__", None)
    if source is None or Path(source).is_relative_to(PACKAGE):
        return ""
    try:
        return hashlib.sha256(Path(source).read_bytes()).hexdigest()[:16]
    except OSError:  # there is no such file, as where the class comes from standard input
        return ""


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
