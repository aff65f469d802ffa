"""Compilation: decorators for kernels and subroutines, and the binding of methods.

A game's rules and a search's selection rule are NamedTuples. Their methods are ordinary Python. They run as Python if
compilation is off (`NUMBA_DISABLE_JIT=1`), and as inlined machine code if a kernel calls them. After `bind_methods`,
`rules.apply_action(state, action)` in a kernel calls the method of the argument's own class.

A kernel runs from a library that a wheel carries (`libraries.py`), if one holds it for the types of its arguments. Else
Numba compiles it (`by_numba.py`), and it is kept on disk (`kernel_cache.py`). Numba is not imported before a kernel
needs it.
"""

import functools
import operator
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np

from azero.compiler.arguments import NotTaken, packed
from azero.compiler.libraries import Entries, entries_of
from azero.compiler.plain import are_kernels_plain, is_plain
from azero.errors import BadInput

IS_COMPILED = os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")

BOUND_METHODS: set[str] = set()
"""Names of methods that kernels may call on any NamedTuple. A field of a NamedTuple must not have such a name."""

_WAITING: list[Callable[[ModuleType], object]] = []
"""Calls of `by_numba.py` that register methods and functions, for when it is imported."""

_LOCK = threading.RLock()


def _by_numba() -> ModuleType:
    """Returns the module that compiles, with all methods and functions registered."""
    with _LOCK:
        from azero.compiler import by_numba

        while _WAITING:
            _WAITING.pop(0)(by_numba)
    return by_numba


def _before_compiling(step: Callable[[ModuleType], object]) -> None:
    """Calls `step` with `by_numba.py` before the next compilation."""
    _WAITING.append(step)
    if "azero.compiler.by_numba" in sys.modules:
        _by_numba()


def compile_dispatcher(dispatcher: Any, kinds: tuple) -> Any:
    """Compiles a dispatcher of Numba's for types of arguments; returns what Numba has compiled."""
    _by_numba()
    dispatcher.compile(kinds)
    (found,) = dispatcher.overloads.values()
    return found


def compile_alone(function: Callable, arguments: tuple) -> None:
    """Compiles a function for these arguments, to see whether it can be."""
    _by_numba().compile_alone(function, arguments)


def compile_errors() -> tuple[type[Exception], ...]:
    """Returns the errors of the compiler; none before Numba is in use."""
    errors = sys.modules.get("numba.core.errors")
    return (errors.NumbaError,) if errors else ()


def bind_methods(**parameters: tuple[str, ...]) -> None:
    """Lets kernels call methods with these names on any NamedTuple. The argument's own class provides the code.

    A name is registered once, on Numba's two NamedTuple types. With one registration per class, methods that call each
    other would not resolve.

    Args:
      parameters: the parameters of each method after the NamedTuple itself, e.g. `outcome=("state",)`.
    """
    _bind(parameters, may_allocate=True)


def bind_strategies(**parameters: tuple[str, ...]) -> None:
    """As `bind_methods`, for methods that allocate nothing. Like kernels, they do not count references."""
    _bind(parameters, may_allocate=False)


def _bind(parameters: dict[str, tuple[str, ...]], may_allocate: bool) -> None:
    BOUND_METHODS.update(parameters)
    for name, names in parameters.items():
        _before_compiling(operator.methodcaller("bind", name, names, may_allocate))


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
    except compile_errors() as error:
        message = plain_message(error)
        method = re.search(r"'(\w+)'\) for (\w+)\(", message)
        if method is None:
            raise
        lines = re.findall(_REASON, message, re.MULTILINE)
        reasons = [line for line in lines if not re.search("method_of_class|<intrinsic call>", line)]  # ours
        why = reasons[0] if reasons else "its code needs what Numba does not know"
        strategy = re.sub(r"_[0-9a-f]{16}$", "", method[2])  # as in the user's file
        raise BadInput(f"{strategy}.{method[1]} cannot be compiled: {why}") from error


def kernel(function: Callable) -> Callable:
    """Compiles a function that Python calls: once per combination of argument types, kept on disk.

    The compiled function releases the GIL.
    """
    return Kernel(function) if IS_COMPILED else _plain(function)


def subroutine(function: Callable) -> Callable:
    """Compiles a function that only kernels call. It is inlined in them and has no cache of its own."""
    return _Subroutine(function) if IS_COMPILED else _plain(function)


def shared_subroutine(function: Callable) -> Callable:
    """Compiles a subroutine that is not inlined. A call takes some nanoseconds, but its callers compile faster."""
    return _Subroutine(function, is_inlined=False) if IS_COMPILED else _plain(function)


def shared_with_python(function: Callable) -> Callable:
    """Lets kernels call a short function, which is inlined in them. From Python it runs as plain Python."""
    if IS_COMPILED:
        _before_compiling(operator.methodcaller("share_with_python", function))
    return function


class ForKernels:
    """A function that `by_numba.py` makes for kernels. From Python, another one runs."""

    def __init__(self, maker: str, *arguments: object, python: Callable):
        """Takes the name of a function of `by_numba.py` that returns its type, with the arguments for it."""
        self._maker, self._arguments, self._python = maker, arguments, python

    @functools.cached_property
    def _numba_type_(self):
        return getattr(_by_numba(), self._maker)(*self._arguments)

    def __call__(self, *arguments):
        return self._python(*arguments)


def for_kernels(
    symbol: str, address: int, num_integers: int, num_arrays: int, unanswered: int, python: Callable
) -> ForKernels:
    """Lets kernels call the C function at an address, which has a symbol in their code on disk.

    Kernels give it integers, then arrays. The C function gets all of them in 64 bits, of an array its address, and then
    the address of an int64 for the answer.

    Args:
      unanswered: the answer if the C function writes none.
      python: the function that runs instead where Python calls.
    """
    _before_compiling(operator.methodcaller("name_address", symbol, address))
    return ForKernels("outside_function", symbol, num_integers, num_arrays, unanswered, python=python)


class Kernel:
    """A compiled function that Python calls, from a library or by Numba; in `plain_kernels` it is plain Python.

    Attributes:
      py_func: the Python function.
    """

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.py_func = function

    @functools.cached_property
    def by_numba(self) -> Any:
        """Numba's dispatcher."""
        return _by_numba().kernel(self.py_func)

    @functools.cached_property
    def _entries(self) -> Entries | None:
        return entries_of(self.py_func)

    @property
    def _numba_type_(self):
        return self.by_numba._numba_type_

    def __call__(self, *arguments):
        if are_kernels_plain():
            return self.py_func(*arguments)
        if self._entries is None:
            return self.by_numba(*arguments)
        try:
            kinds, words = packed(arguments)
            entry = self._entries.get(kinds)
        except NotTaken:
            entry = None
        return entry(words) if entry else self.by_numba(*arguments)


class _Subroutine:
    """A compiled function for kernels. If Python calls it, it is compiled a second time for that.

    Within `plain_python` it runs as plain Python.
    """

    def __init__(self, function: Callable, is_inlined: bool = True):
        functools.update_wrapper(self, function)
        self._function, self._is_inlined = function, is_inlined

    @functools.cached_property
    def _for_kernels(self):
        return _by_numba().inner(self._function, self._is_inlined)

    @functools.cached_property
    def _for_python(self):
        return _by_numba().ForPython(self._function)

    @property
    def _numba_type_(self):
        return self._for_kernels._numba_type_

    def __call__(self, *arguments, **named):
        if is_plain():
            return self._function(*arguments, **named)
        return self._for_python(*arguments, **named)


def _plain(function: Callable) -> Callable:
    """Returns the plain Python function. As in compiled code, unsigned integers wrap around without a warning."""
    return np.errstate(over="ignore")(function)
