"""How fast this machine runs a net in each way that it can: measured once, and kept in the cache folder."""

import contextlib
import hashlib
import json
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from azero.compiler.cache import cache_root, cpu_identity
from azero.nets.architectures.tower import ResidualTower
from azero.nets.runtimes.calibration import sample_positions
from azero.system.files import write_whole

_ROUNDS = 3
_SECONDS = 0.06  # of a runtime in a round


def measured_rates(
    net: ResidualTower, rows: int, runtimes: Mapping[str, Callable[[int, int], Any]]
) -> dict[str, float]:
    """Returns passes of `rows` rows a second, on one thread, by name of the runtime; of one that fails, infinitely
    many: who takes it for the best will see.

    Args:
      net: of whose shape the answer is kept, for this machine and these versions.
      runtimes: what opens a session of each, for `rows` rows and a number of threads.
    """
    what = [tuple(each.shape) for each in net.parameters()], net.game.planes_shape, rows
    return kept_rates("runtimes", what, list(runtimes), lambda: _measure(net, rows, runtimes))


def kept_rates(kind: str, what: object, names: list[str], measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Returns rates by name, measured once on this machine, with these versions; kept in the cache folder `kind`.

    Args:
      what: all else that the rates depend on, as its `repr` tells.
    """
    key = hashlib.sha256(repr((what, names, versions(), cpu_identity())).encode()).hexdigest()[:16]
    path = cache_root() / kind / f"{key}.json"
    with contextlib.suppress(OSError, ValueError):
        kept = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.keys() == set(names) and all(map(_is_rate, kept.values())):
            return kept
    rates = measure()
    if all(map(_is_rate, rates.values())):  # else it is measured again the next time: what failed may have passed
        with contextlib.suppress(OSError):
            write_whole(path, json.dumps(rates).encode())
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


def _measure(net: ResidualTower, rows: int, runtimes: Mapping[str, Callable[[int, int], Any]]) -> dict[str, float]:
    """Measures in turns, so that what else the machine does falls on all alike; the best of each counts."""
    planes = np.resize(sample_positions(net.game), (rows, *net.game.planes_shape))
    rates, sessions = dict.fromkeys(runtimes, 0.0), {}
    for name, make in runtimes.items():
        try:
            session = make(rows, 1)
            session.run(planes)
        except RuntimeError:
            rates[name] = math.inf
        else:
            sessions[name] = session
    for _ in range(_ROUNDS):
        for name, session in sessions.items():
            done, begin = 0, time.perf_counter()
            while (elapsed := time.perf_counter() - begin) < _SECONDS:
                session.run(planes)
                done += 1
            rates[name] = max(rates[name], done / elapsed)
    return rates
