"""Plain Python instead of compiled code, for a block: the first calls take milliseconds instead of a compilation.

Small integers of states are widened, because the compiler widens integers when it reads them. NumPy computes with an
int8 in 8 bits, the compiler in 64. Without widening, `3 * key + state.cells[k]` with cells of int8 would overflow in
plain Python only.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

import numpy as np


@functools.cache
def widened(dtype: np.dtype) -> np.dtype:
    """Returns the dtype with which plain Python computes like the compiler with `dtype`.

    int8, int16 and int32 become int64. uint8 and uint16 become uint32. The compiler computes with uint64 here. But
    uint64 with a signed integer gives float64 in NumPy and int64 in compiled code. Fields that share memory keep their
    dtypes.
    """
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return np.dtype((widened(base), shape))
    if dtype.names:
        sizes = sum(dtype[name].itemsize for name in dtype.names)
        return np.dtype([(name, widened(dtype[name])) for name in dtype.names]) if sizes <= dtype.itemsize else dtype
    if dtype.kind == "i":
        return np.dtype(np.int64)
    return np.dtype(np.uint32) if dtype.kind == "u" and dtype.itemsize < 4 else dtype


def wide_copy(state: np.record) -> np.record:
    """Returns a wide copy of a state, or the state itself if it has nothing to widen."""
    if _is_wide(state.dtype):
        return state
    copy = np.zeros(1, widened(state.dtype)).view(np.recarray)
    copy[...] = np.asarray(state)
    return copy[0]


def store(wide: np.record, state: np.record) -> bool:
    """Writes a wide state into `state`, cut to its widths like in compiled rules. Returns whether all values fit."""
    if wide is state:
        return True
    computed, kept = np.asarray(wide), np.asarray(state)
    kept[...] = computed
    again = np.zeros_like(computed)
    again[...] = kept
    return again.tobytes() == computed.tobytes()


def misfit(wide: np.record, dtype: np.dtype) -> str:
    """Returns the first value of a wide state that does not fit `dtype`, e.g. `state.cells[3] becomes 300, ...`."""
    return next(_misfits("state", np.asarray(wide), dtype), "")


def _misfits(name: str, wide: np.ndarray, dtype: np.dtype) -> Iterator[str]:
    """Yields a description of each value that does not fit."""
    if dtype.subdtype:
        dtype = dtype.subdtype[0]
    for field in dtype.names or ():
        yield from _misfits(f"{name}.{field}", wide[field], dtype[field])
    if dtype.names:
        return
    if wide.dtype == dtype:
        return
    for place in np.argwhere(wide != wide.astype(dtype)).tolist():
        yield f"{name}{place or ''} becomes {wide[tuple(place)]}, which {dtype} cannot hold; give it a wider dtype"


def line_of_misfit(wide: np.record, dtype: np.dtype, file: str, work: Callable) -> str:
    """Runs `work`; returns `, line N` for the line of `file` after which `wide` has a value that does not fit."""
    path, lines = str(Path(file).resolve()), [0]

    def trace(frame, event, argument):
        if frame.f_code.co_filename != path:
            return None
        if misfit(wide, dtype):
            sys.settrace(None)
        elif event == "line":
            lines.append(frame.f_lineno)
        return trace

    tracing = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(tracing)
    return f", line {lines[-1]}" if lines[-1] else ""


def on_wide_states(method: Callable) -> Callable:
    """Returns a method of rules that runs on a wide copy of its state and stores the result in the state."""

    @functools.wraps(method)
    def run(game, *arguments, **named):
        if not arguments or not isinstance(state := arguments[0], np.record) or _is_wide(state.dtype):
            return method(game, *arguments, **named)
        wide = wide_copy(state)
        result = method(game, wide, *arguments[1:], **named)
        store(wide, state)
        return result

    return run


@functools.cache
def _is_wide(dtype: np.dtype) -> bool:
    return widened(dtype) == dtype


_IS_PLAIN = ContextVar("is_plain", default=False)


@contextmanager
def plain_python() -> Iterator[None]:
    """Runs games' rules as plain Python within the block, in this thread. The results are those of compiled rules.

    `State` and `Game` respect it, and so does every function that is decorated by `subroutine`. Searches do not.
    """
    token = _IS_PLAIN.set(True)
    try:
        with np.errstate(over="ignore"):  # as in compiled code, unsigned integers wrap around
            yield
    finally:
        _IS_PLAIN.reset(token)


_ARE_KERNELS_PLAIN = ContextVar("are_kernels_plain", default=False)


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Runs kernels as plain Python within the block, too, in this thread: a whole search."""
    token = _ARE_KERNELS_PLAIN.set(True)
    try:
        with plain_python():
            yield
    finally:
        _ARE_KERNELS_PLAIN.reset(token)


def are_kernels_plain() -> bool:
    """Returns whether the caller is in a block of `plain_kernels`."""
    return _ARE_KERNELS_PLAIN.get()


def is_plain() -> bool:
    """Returns whether the caller is in a block of `plain_python`."""
    return _IS_PLAIN.get()


def call(kernel: Callable, *arguments: object):
    """Calls a kernel; its Python function within `plain_python`, which computes with states as the compiler does."""
    if not is_plain():
        return kernel(*arguments)
    function = getattr(kernel, "py_func", kernel)  # it is Python's already if compilation is off
    wide = [wide_copy(each) if isinstance(each, np.record) else each for each in arguments]
    result = function(*wide)
    for each, computed in zip(arguments, wide, strict=True):
        if isinstance(each, np.record) and isinstance(computed, np.record):
            store(computed, each)
    return result
