"""Plain Python instead of compiled code, for a block: the first calls take milliseconds instead of a compilation."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from azero.compiler.wide_states import store, wide_copy

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
