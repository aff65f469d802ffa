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
import torch

from azero.compiler.cache import cache_root
from azero.nets.architectures.contract import Net
from azero.nets.runtimes.calibration import sample_positions
from azero.system.files import write_whole
from azero.system.machine import cpu_flags, cpu_name

_ROUNDS = 3
_SECONDS = 0.06  # per runtime and round


def measured_rates(net: Net, rows: int, runtimes: Mapping[str, Callable[[int, int], Any]]) -> dict[str, float]:
    """Returns passes of `rows` rows per second on one thread, by the runtime's name.

    The rate of a runtime that fails is infinite, so that the caller tries it first and reports the error. Rates are
    kept for nets of the same shape, this machine and these library versions.

    Args:
      runtimes: functions that open a session, given rows and a number of threads, by the runtime's name.
    """
    shapes = [tuple(each.shape) for each in net.parameters()]
    what = type(net).__name__, net.identity, shapes, net.game.planes_shape, rows
    return kept_rates("runtimes", what, list(runtimes), lambda: _measure(net, rows, runtimes))


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
    """Returns the calls per second of each work: the best of some rounds, in which they take turns of some seconds.

    So other load affects all alike.
    """
    rates = dict.fromkeys(works, 0.0)
    for _ in range(rounds):
        for name, work in works.items():
            done, begin = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - begin) < seconds:
                work()
                done += 1
            rates[name] = max(rates[name], done / elapsed)
    return rates


def _is_rate(value: object) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def versions() -> list[str]:
    """Returns the versions of the libraries that run nets."""
    from importlib.metadata import PackageNotFoundError, version

    found = [str(torch.__version__)]
    with contextlib.suppress(PackageNotFoundError):
        found.append(version("openvino"))
    return found


def _measure(net: Net, rows: int, runtimes: Mapping[str, Callable[[int, int], Any]]) -> dict[str, float]:
    """Returns the rate of each runtime; infinite if it fails."""
    planes = np.resize(sample_positions(net.game), (rows, *net.game.planes_shape))
    rates, works = dict.fromkeys(runtimes, math.inf), {}
    for name, make in runtimes.items():
        with contextlib.suppress(RuntimeError):
            session = make(rows, 1)
            session.run(planes)
            works[name] = functools.partial(session.run, planes)
    return rates | best_rates(works, _ROUNDS, _SECONDS)
