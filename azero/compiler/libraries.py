"""Kernels in shared libraries, which a wheel carries for the games that azero ships, so that nothing is compiled.

A library is a file NAME.so. Beside it NAME.json says what it holds, after a line with a digest of both. `linking.py`
makes both. A library counts if it was made from these sources for this platform and a level of CPUs that this one has,
and if it is whole. Else Numba compiles, with the same results.
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
from typing import NamedTuple

from azero.compiler.cache import digest_of_sources
from azero.system.files import PACKAGE
from azero.system.machine import cpu_flags

FOLDER = PACKAGE / "compiler" / "libraries"
"""Where the libraries are. A clone has none."""

LEVEL = "x86-64-v3"

FEATURES = {
    "avx2": "avx2",
    "fma": "fma",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "lzcnt": "abm",
    "popcnt": "popcnt",
    "f16c": "f16c",
    "movbe": "movbe",
}
"""The names of Linux for what CPUs of the level have, by those of LLVM."""

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


class Library(NamedTuple):
    """An open library."""

    kernels: Mapping[str, list]  # types, symbol and form of the result of its entries, by the kernel's name
    opened: ctypes.CDLL


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
            raise _exception(raised) if raised else RuntimeError(f"a kernel failed with status {status}")
        if self._returns is None:
            return None
        values = self._returns.unpack_from(result)
        return values if self._is_tuple else values[0]


class _Raised(ctypes.Structure):
    """An exception of a kernel that Numba has compiled: its class and arguments, pickled."""

    _fields_ = (("pickled", ctypes.c_void_p), ("size", ctypes.c_int32))


def _exception(raised: ctypes.c_void_p) -> BaseException:
    assert raised.value is not None
    exception = _Raised.from_address(raised.value)
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
        except (OSError, ValueError) as error:  # the first one also if it needs a newer C library
            reasons.append(f"{manifest.with_suffix('.so')} is not used: {error}")
    return opened, reasons


def _open(manifest: Path) -> Library:
    """Returns a library; raises ValueError with the reason, or another error, if it does not count here."""
    if missing := set(FEATURES.values()) - cpu_flags():
        raise ValueError(f"this CPU lacks {', '.join(sorted(missing))}")
    path = manifest.with_suffix(".so")
    digest, _, text = manifest.read_bytes().partition(b"\n")
    if digest != digest_of(text, path):
        raise ValueError("it is damaged")
    content = json.loads(text)
    for what, is_for in made_for().items():
        if content["made_for"][what] != is_for:
            raise ValueError(f"it was made for another {what}")
    return Library(content["kernels"], ctypes.CDLL(str(path)))


def digest_of(text: bytes, library: Path) -> bytes:
    """Returns a digest of a library and of what is said of it, as hex digits."""
    return hashlib.sha256(text + library.read_bytes()).hexdigest().encode()


def made_for() -> dict[str, str]:
    """Returns what a library is made for: the platform, and azero's version, by a digest of the sources of kernels."""
    return {"platform": sysconfig.get_platform(), "version of azero": digest_of_sources()}
