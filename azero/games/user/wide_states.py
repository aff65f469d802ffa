"""States as plain Python computes with them: their small integers widened, as the compiler widens what it reads.

NumPy computes with an int8 in 8 bits, the compiler in 64. So `3 * key + state.cells[k]`, with cells of int8, would
overflow in plain Python and nowhere else.
"""

import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np


@functools.cache
def widened(dtype: np.dtype) -> np.dtype:
    """Returns the dtype with which plain Python computes what the compiler computes with `dtype`.

    int8 to int32 become int64. uint8 and uint16 become uint32: the compiler computes with uint64, but that and a signed
    integer make float64 in NumPy, and int64 when compiled. Fields that share memory stay as they are.
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
    """Returns a wide copy of a state; the state itself where it has nothing to widen."""
    if _is_wide(state.dtype):
        return state
    copy = np.zeros(1, widened(state.dtype)).view(np.recarray)
    copy[...] = np.asarray(state)
    return copy[0]


def store(wide: np.record, state: np.record) -> bool:
    """Writes a wide state into `state`, cut to its widths as the compiler would; returns whether all of it fits."""
    if wide is state:
        return True
    computed, kept = np.asarray(wide), np.asarray(state)
    kept[...] = computed
    again = np.zeros_like(computed)
    again[...] = kept
    return again.tobytes() == computed.tobytes()


def misfit(wide: np.record, dtype: np.dtype) -> str:
    """Returns the first thing in a wide state that does not fit `dtype`, e.g. `state.cells[3] becomes 300, ...`."""
    return next(_misfits("state", np.asarray(wide), dtype), "")


def _misfits(name: str, wide: np.ndarray, dtype: np.dtype) -> Iterator[str]:
    """Yields what does not fit."""
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
    """Returns `, line N` for the line of `file` that leaves in `wide` what does not fit, while `work` runs."""
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
    """Returns a method of rules that runs on a wide copy of the state it is given, and stores what it makes of it."""

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
