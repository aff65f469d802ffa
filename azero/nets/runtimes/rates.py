"""The speed of each runtime on this machine: measured once, and kept in the cache folder."""

import contextlib
import functools
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from azero.compiler.cache import cache_root, digest_of_sources
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.library import Runnable
from azero.system.files import write_whole
from azero.system.machine import cpu_flags, cpu_name

_ROUNDS = 3
_SECONDS = 0.02  # per runtime and round


def measured_rates(net: Runnable, runtimes: Mapping[str, Callable[[int, int], Any]], rows: int) -> dict[str, float]:
    """Returns passes per second on one thread, each of `rows` rows, by the runtime's name.

    The rate of a runtime that fails is infinite, so that the caller tries it first and reports the error. Rates are
    kept for nets of the same shape, this machine and these library versions.

    Args:
      runtimes: functions that open a session, given rows and a number of threads, by the runtime's name.
    """
    return kept_rates("runtimes", (_shape_of(net), rows), list(runtimes), lambda: _measure(net, runtimes, rows))


def _shape_of(net: Runnable) -> object:
    """Returns the shape of a net: what its speed depends on."""
    drawing = net.drawing()
    if drawing is None:
        own = net.torch_net
        return own.identity, [tuple(each.shape) for each in own.parameters()], net.game.planes_shape
    shapes = sorted((name, array.shape) for name, array in drawing.weights.arrays.items())
    return shapes, net.game.planes_shape


def kept_rates(kind: str, what: object, names: list[str], measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Returns rates by name. They are measured once per machine and library versions, and kept in folder `kind`.

    Args:
      what: everything else that the rates depend on; its `repr` is part of the key.
    """
    key = hashlib.sha256(repr((what, names, versions(), cpu_name(), sorted(cpu_flags()))).encode()).hexdigest()[:16]
    path = cache_root() / kind / f"{key}.json"
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.keys() == set(names) and all(map(_is_rate, kept.values())):
            return kept
    rates = measure()
    if all(map(_is_rate, rates.values())):  # else the next call measures again, since a failure may be temporary
        with contextlib.suppress(OSError):
            write_whole(path, json.dumps(rates).encode())
    return rates


def best_rates(works: Mapping[str, Callable[[], object]], rounds: int, seconds: float) -> dict[str, float]:
    """Returns the calls per second of each work, by its fastest call. They take turns of some seconds, in some rounds.

    So other load affects all alike, and only the calls that it interrupts. The first call of a turn wakes threads up.
    """
    fastest = dict.fromkeys(works, math.inf)
    for _ in range(rounds):
        for name, work in works.items():
            work()
            begin = now = time.perf_counter()
            while now - begin < seconds:
                work()
                last, now = now, time.perf_counter()
                fastest[name] = min(fastest[name], now - last)
    return {name: 1 / each for name, each in fastest.items()}


def _is_rate(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def versions() -> list[str]:
    """Returns the versions of the libraries that run nets, azero's kernels among them."""
    from importlib.metadata import PackageNotFoundError, version

    found = [version("torch"), digest_of_sources()]
    with contextlib.suppress(PackageNotFoundError):
        found.append(version("openvino"))
    return found


def _measure(net: Runnable, runtimes: Mapping[str, Callable[[int, int], Any]], rows: int) -> dict[str, float]:
    """Returns the rate of each runtime; infinite if it fails."""
    planes = np.resize(sample_positions(net.game), (rows, *net.game.planes_shape))
    rates, works = dict.fromkeys(runtimes, math.inf), {}
    for name, make in runtimes.items():
        with contextlib.suppress(RuntimeError, MemoryError):
            session = make(rows, 1)
            session.run(planes)
            works[name] = functools.partial(session.run, planes)
    return rates | best_rates(works, _ROUNDS, _SECONDS)
