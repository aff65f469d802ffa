"""Kernels in shared libraries, which a wheel carries for the games that azero ships, so that nothing is compiled.

A library is a file NAME.so, and beside it NAME.json says what it holds. `linking.py` makes both. A library counts if
it was made from these sources for this platform and a level of CPUs that this one has, and if it is whole. Else Numba
compiles, with the same results.
"""

import ctypes
import functools
import hashlib
import json
import pickle
import struct
import sysconfig
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType

from azero.compiler.cache import digest_of_sources
from azero.system.files import PACKAGE
from azero.system.machine import cpu_flags

FOLDER = PACKAGE / "compiler" / "libraries"
"""Where the libraries are. A clone has none."""

LEVEL = "x86-64-v3"
FLAGS_OF_LEVEL = {"avx2", "fma", "bmi1", "bmi2", "abm", "f16c", "movbe", "popcnt"}

RESULT_WORDS = 8
"""Most values that a kernel in a library returns."""

Entries = Mapping[tuple[str, ...], Callable[[bytes], object]]
"""The entries of a kernel in all libraries, by the types of its arguments. Each takes the arguments' words."""


def entries_of(function: Callable) -> Entries | None:
    """Returns a kernel's entries in the libraries; None if there are none."""
    assert isinstance(function, FunctionType)
    name = f"{function.__module__}.{function.__qualname__}"
    entries: dict[tuple[str, ...], Callable[[bytes], object]] = {}
    for library in _libraries()[0]:
        for kinds, symbol, returns in library.kernels.get(name, ()):
            entries[tuple(kinds)] = Entry(library.opened, symbol, returns)
    return entries or None


class Library:
    """An open library.

    Attributes:
      kernels: types, symbol and form of the result of its entries, by the kernel's name.
    """

    def __init__(self, path: Path, kernels: Mapping[str, list]):
        """Opens it; raises OSError."""
        self.kernels = kernels
        self.opened = ctypes.CDLL(str(path))


class Entry:
    """A kernel for one combination of types."""

    def __init__(self, library: ctypes.CDLL, symbol: str, returns: str):
        """Takes the form of what it returns: "" for None, else as of `struct`, in brackets if it is a tuple."""
        self._library, self._symbol = library, symbol
        self._is_tuple = returns.startswith("(")
        self._returns = struct.Struct(f"@{returns.strip('()')}") if returns else None

    @functools.cached_property
    def _function(self) -> Callable:
        function = self._library[self._symbol]
        function.argtypes = ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
        function.restype = ctypes.c_int
        return function

    def __call__(self, words: bytes):
        result, raised = ctypes.create_string_buffer(8 * RESULT_WORDS), ctypes.c_void_p()
        status = self._function(words, result, ctypes.addressof(raised))
        if status != 0:
            raise _exception(raised)
        if self._returns is None:
            return None
        values = self._returns.unpack_from(result)
        return values if self._is_tuple else values[0]


class _Raised(ctypes.Structure):
    """An exception of a kernel that Numba has compiled: its class and arguments, pickled."""

    _fields_ = (("pickled", ctypes.c_void_p), ("size", ctypes.c_int32))


def _exception(raised: ctypes.c_void_p) -> BaseException:
    exception = _Raised.from_address(raised.value or 0)
    of_class, arguments, *_ = pickle.loads(ctypes.string_at(exception.pickled, exception.size))
    return of_class(*(arguments or ()))


def why_unused() -> str:
    """Returns why the first library that does not count does not; empty if all count."""
    return next(iter(_libraries()[1]), "")


@functools.cache
def _libraries() -> tuple[list[Library], list[str]]:
    """Returns the libraries that count here, and why others do not."""
    opened, reasons = [], []
    for manifest in sorted(FOLDER.glob("*.json")):
        try:
            opened.append(_open(manifest))
        except (OSError, ValueError, KeyError, TypeError) as error:  # the first one also if it needs a newer C library
            reasons.append(f"{manifest.with_suffix('.so')} is not used: {error}")
    return opened, reasons


def _open(manifest: Path) -> Library:
    """Returns a library; raises ValueError with the reason, or another error, if it does not count here."""
    if missing := FLAGS_OF_LEVEL - cpu_flags():
        raise ValueError(f"this CPU lacks {', '.join(sorted(missing))}")
    content = json.loads(manifest.read_bytes())
    if content["made_for"] != made_for():
        raise ValueError(f"it was made for {content['made_for']}, this is {made_for()}")
    path = manifest.with_suffix(".so")
    if content["digest"] != hashlib.sha256(path.read_bytes()).hexdigest():
        raise ValueError("it is damaged")
    return Library(path, content["kernels"])


@functools.cache
def made_for() -> list[str]:
    """Returns what a library is made for: platform, level of CPUs, and a digest of the sources of kernels."""
    return [sysconfig.get_platform(), LEVEL, digest_of_sources()]
