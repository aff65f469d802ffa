"""Compilation: decorators for kernels and subroutines, and the binding of methods.

A game's rules and a search's selection rule are NamedTuples. Their methods are ordinary Python. They run as Python if
compilation is off (`NUMBA_DISABLE_JIT=1`), and as inlined machine code if a kernel calls them. After `bind_methods`,
`rules.apply_action(state, action)` in a kernel calls the method of the argument's own class.

Kernels are kept on disk (`cache.py`). Kernels with code from users' files have their own folders there, named by
digests of these files.
"""

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaError, NumbaWarning
from numba.core.imputils import fix_returning_optional
from numba.extending import intrinsic, overload_method, register_jitable

from azero.compiler import codegen, faster, notice
from azero.compiler.cache import KernelCache
from azero.compiler.plain import is_plain
from azero.errors import BadInput

IS_COMPILED = not numba.config.DISABLE_JIT

_OPTIONS = {"nogil": True, "error_model": "numpy"}

_OF_KERNELS = {**_OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
"""Options of kernels. Kernels fill arrays that they are given, and allocate none.

`_nrt` is Numba's memory management. Without it, kernels and their subroutines do not count references, which took half
of the time of a large kernel.
"""

_INNER = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of code that only compiled code calls. Unless forced, LLVM does not inline in the hottest loops."""

_OF_RULES = {**_INNER, "_nrt": True}
"""Options of rules. They may copy overlapping slices, for which Numba allocates temporary memory.

`codegen.py` refuses other allocations.
"""

BOUND_METHODS: set[str] = set()
"""Names of methods that kernels may call on any NamedTuple. A field of a NamedTuple must not have such a name."""

codegen.install()
faster.install()
notice.install()
warnings.simplefilter("ignore", NumbaWarning)  # advice on style; code that cannot be compiled still raises an error


def bind_methods(**parameters: tuple[str, ...]) -> None:
    """Lets kernels call methods with these names on any NamedTuple. The argument's own class provides the code.

    A name is registered once, on Numba's two NamedTuple types. With one registration per class, methods that call each
    other would not resolve.

    Args:
      parameters: the parameters of each method after the NamedTuple itself, e.g. `outcome=("state",)`.
    """
    _bind(parameters, _OF_RULES)


def check_strategy(value: object, methods: Iterable[str]) -> None:
    """Raises BadInput if kernels could not call these methods of a NamedTuple, e.g. of a user's root strategy."""
    fields = getattr(value, "_fields", ())
    name = type(value).__name__
    if not isinstance(value, tuple):
        raise BadInput(f"{value!r} is not a strategy: it should be an instance of a NamedTuple")
    if not fields:
        raise BadInput(f"{name} needs a field: compiled code cannot call methods of a NamedTuple without fields")
    for field in fields:
        if field in BOUND_METHODS:
            raise BadInput(f"{name}.{field} needs another name: kernels call a method with this name")
    for method in methods:
        if not callable(getattr(value, method, None)):
            raise BadInput(f"{name} needs a method {method!r}: kernels call it")


_REASON = r"^[ \t]*((?:\w+Error: )?(?:name '|Untyped|Unknown attribute|Cannot unify|Can't unify|No implementation).*)$"
"""What a line of a compiler's message looks like that says why; the first one counts."""


def plain_message(error: BaseException) -> str:
    """Returns a compiler's message without escape sequences. Numba colours its messages if colorama is installed."""
    return re.sub(r"\x1b\[[0-9;]*m", "", str(error))


@contextmanager
def strategies_compiled() -> Iterator[None]:
    """Raises BadInput if a strategy's method cannot be compiled within the block; its cause is the whole message."""
    try:
        yield
    except NumbaError as error:
        message = plain_message(error)
        method = re.search(r"'(\w+)'\) for (\w+)\(", message)
        if method is None:
            raise
        reasons = [line for line in re.findall(_REASON, message, re.MULTILINE) if "method_of_class" not in line]
        why = reasons[0] if reasons else "its code needs what Numba does not know"
        raise BadInput(f"{method[2]}.{method[1]} cannot be compiled: {why}") from error


def bind_strategies(**parameters: tuple[str, ...]) -> None:
    """As `bind_methods`, for methods that allocate nothing. Like kernels, they do not count references."""
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
    """Compiles a function that Python calls: once per combination of argument types, kept on disk.

    The compiled function releases the GIL.
    """
    return _compiled_kernel(function, _OF_KERNELS)


def uninterrupted_kernel(function: Callable) -> Callable:
    """Compiles a kernel that keeps the GIL: no other thread runs Python or such a kernel meanwhile."""
    return _compiled_kernel(function, {**_OF_KERNELS, "nogil": False})


def with_or_without_gil(subroutine: Any) -> Callable:
    """Returns a function for an `uninterrupted_kernel`, which calls the subroutine with a tuple of arguments.

    Its first argument says whether the call keeps the GIL or releases it. So one kernel, compiled once, does both.
    """
    if not IS_COMPILED:
        return lambda keeps_gil, arguments: subroutine(*arguments)

    @intrinsic
    def call(typingctx, keeps_gil, arguments):
        kind = subroutine._numba_type_.get_call_type(typingctx, arguments.types, {})

        def generate(context, builder, signature, args):
            compiled = subroutine._numba_type_.dispatcher.get_compile_result(kind)
            context.active_code_library.add_linking_library(compiled.library)
            python = context.get_python_api(builder)
            thread = cgutils.alloca_once_value(builder, python.get_null_object())
            with builder.if_then(builder.not_(args[0])):
                builder.store(python.save_thread(), thread)
            unpacked = cgutils.unpack_tuple(builder, args[1])
            status, result = context.call_internal_no_propagate(builder, compiled.fndesc, kind, unpacked)
            with builder.if_then(builder.not_(args[0])):
                python.restore_thread(builder.load(thread))
            with cgutils.if_unlikely(builder, status.is_error):  # not earlier: an error ends the kernel at once
                context.call_conv.return_status_propagate(builder, status)
            return fix_returning_optional(context, builder, kind, status, result)

        return kind.return_type(keeps_gil, arguments), generate

    return call


def _compiled_kernel(function: Callable, options: dict[str, object]) -> Callable:
    if not IS_COMPILED:
        return _plain(function)
    compiled = numba.njit(**options)(function)
    compiled._cache = KernelCache(function)
    return compiled


def subroutine(function: Callable) -> Callable:
    """Compiles a function that only kernels call. It is inlined in them and has no cache of its own."""
    return _Subroutine(function, function) if IS_COMPILED else _plain(function)


def subroutine_with(python: Callable) -> Callable[[Callable], Callable]:
    """Returns a decorator like `subroutine` for a function that Python cannot run. `python` does the same there."""
    return lambda function: _Subroutine(function, python) if IS_COMPILED else _plain(python)


def shared_subroutine(function: Callable) -> Callable:
    """Compiles a subroutine that is not inlined. A call takes some nanoseconds, but its callers compile faster."""
    return _Subroutine(function, function, is_inlined=False) if IS_COMPILED else _plain(function)


def shared_with_python(function: Callable) -> Callable:
    """Lets kernels call a short function, which is inlined in them. From Python it runs as plain Python."""
    return register_jitable(**_OF_RULES)(function) if IS_COMPILED else function


class _Subroutine:
    """A compiled function for kernels. If Python calls it, it is compiled a second time for that.

    Within `plain_python` it is not: `python`, a function that does the same, runs instead.
    """

    def __init__(self, function: Callable, python: Callable, is_inlined: bool = True):
        functools.update_wrapper(self, function)
        self._python = python
        self._for_kernels = numba.njit(**_OPTIONS, **{**_INNER, "forceinline": is_inlined})(function)
        self._for_python = numba.njit(**_OPTIONS)(function)
        self._num_overloads = 0
        self._return_types: set[types.Type] = set()

    @property
    def _numba_type_(self) -> types.Type:
        return self._for_kernels._numba_type_

    def __call__(self, *arguments, **named):
        if is_plain():
            return self._python(*arguments, **named)
        result = self._for_python(*arguments, **named)
        return _as_numpy(result, self._return_type(arguments, named))

    def _return_type(self, arguments: tuple, named: dict) -> types.Type:
        """Returns the Numba type of the result of the last call, which had these arguments."""
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
    """Returns a value that compiled code returned, as np.uint64 if its type is uint64.

    Numba converts a uint64 to a Python integer. The next subroutine would take that as an int64, which overflows from
    2^63 on.
    """
    if kind == types.uint64:
        return np.uint64(value)
    if isinstance(kind, types.BaseTuple):
        values = map(_as_numpy, value, kind.types)
        return value._make(values) if hasattr(value, "_make") else tuple(values)
    return value


def _plain(function: Callable) -> Callable:
    """Returns the plain Python function. As in compiled code, unsigned integers wrap around without a warning."""
    return np.errstate(over="ignore")(function)
