"""What a machine's results depend on, to the last bit: azero's code, the libraries, the CPU's features.

What a node sends before it is known to have the driver's azero is plain data, which any version can read.
"""

import hashlib
import importlib.metadata
import platform
from functools import cache
from typing import NamedTuple

import llvmlite.binding

import azero
from azero.system.files import PACKAGE
from azero.system.process_backend import Refused

_LIBRARIES = "numpy", "numba", "torch", "openvino"

_MOST_NAMED = 4
"""Features that are named in a line."""


class Fingerprint(NamedTuple):
    """A machine's azero, libraries and CPU. Where two are equal, the same task has the same result."""

    azero: str  # version
    code: str  # digest of azero's sources
    python: str  # version, as 3.11
    libraries: tuple[str, ...]  # "numpy 2.4.6"
    cpu: str  # LLVM's name of it
    features: frozenset[str]  # of the CPU, by LLVM's names

    @classmethod
    def here(cls) -> "Fingerprint":
        """Returns this machine's."""
        return cls(
            azero.__version__,
            _digest_of_code(),
            ".".join(platform.python_version_tuple()[:2]),
            tuple(f"{name} {_version(name)}" for name in _LIBRARIES),
            llvmlite.binding.get_host_cpu_name(),
            frozenset(name for name, is_there in llvmlite.binding.get_host_cpu_features().items() if is_there),
        )


class Terms(NamedTuple):
    """What a machine needs to work for a driver, as plain data, which any version of azero can read."""

    fingerprint: tuple  # the driver's
    is_mixed: bool


def check_machine(terms: tuple, node: str) -> Refused | None:
    """Returns why this node is refused; None if it may work.

    Args:
      terms: the values of the driver's `Terms`.
      node: Ray's name of this node.
    """
    try:
        fingerprint, is_mixed = terms
        how = difference(Fingerprint(*fingerprint), Fingerprint.here(), is_mixed)
    except (TypeError, ValueError):
        how = "another version of azero"
    return Refused(node, platform.node(), f"has {how}") if how else None


def difference(here: Fingerprint, there: Fingerprint, is_mixed: bool) -> str:
    """Returns how another machine differs in what matters, to follow "it has"; empty if it does not.

    Args:
      is_mixed: whether other libraries and CPUs do not matter.
    """
    if here.azero != there.azero:
        return f"azero {there.azero}, not {here.azero}"
    if here.code != there.code:
        return f"another code of azero {here.azero}"
    if here.python != there.python:
        return f"Python {there.python}, not {here.python}"
    if is_mixed:
        return ""
    for own, other in zip(here.libraries, there.libraries, strict=True):
        if own != other:
            return f"{other}, not {own.split()[1]}"
    if lacking := sorted(here.features - there.features):
        return f"a CPU without {_some(lacking)}"
    if more := sorted(there.features - here.features):
        return f"a CPU that also has {_some(more)}"
    return f"a CPU {there.cpu}, not {here.cpu}" if here.cpu != there.cpu else ""


def _some(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


@cache
def _digest_of_code() -> str:
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        digest.update(f"{path.relative_to(PACKAGE).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"
