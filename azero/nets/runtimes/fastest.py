"""The runtimes of this machine, and the fastest one that agrees with fp32. Nothing here imports torch."""

import functools
from importlib import import_module
from pathlib import Path

import numpy as np

from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.nets.architectures.drawing import int8_is_for
from azero.nets.devices import device_type
from azero.nets.runtimes.calibration import NUM_POSITIONS, sample_positions
from azero.nets.runtimes.library import LIBRARIES, Runnable
from azero.nets.runtimes.rates import measured_rates
from azero.nets.runtimes.session import EXACT, MATCH_ROWS, Runtime, Session, filled_up
from azero.system.console import say

for _library in sorted(Path(__file__).parent.glob("*/library.py")):
    import_module(f"azero.nets.runtimes.{_library.parent.name}.library")  # it registers itself

TOLERANCE = 0.03
"""Limit on `measure_drift`: the mean distance of values, or of policies (total variation), from fp32."""


_GAIN_OF_FP32 = 1.1
"""A less exact precision has to be faster than fp32 by this factor."""


def available_runtimes(device: str, has_torch: bool = True, net: Runnable | None = None) -> list[Runtime]:
    """Returns the runtimes for a device, in ascending order of expected speed.

    Args:
      device: its type, as of `device_type`.
      has_torch: whether those of torch, which is imported for them, are among them.
      net: leaves out libraries that do not run nets of its kind.
    """
    runtimes = []
    for library in sorted(LIBRARIES.values(), key=lambda each: each.expected_rank):
        if (library.name == EXACT.library and not has_torch) or (net and not library.takes(net)):
            continue
        try:
            runtimes += [Runtime(library.name, precision) for precision in library.precisions(device)]
        except (ImportError, RuntimeError) as error:
            _warn(f"{library.name} is installed but cannot be used ({_first_line(error)})")
    return runtimes


def wanted_runtimes(config: DeviceConfig, net: Runnable | None = None) -> list[Runtime]:
    """Returns the available runtimes that the settings allow, for a net; raises BadInput if there is none.

    torch is among them only if the settings name it, or allow nothing else here.
    """
    device = device_type(config.device)
    for has_torch in (False, True):
        available = available_runtimes(device, has_torch, net)
        wanted = [
            each
            for each in available
            if config.runtime in ("auto", each.library) and config.precision in ("auto", each.precision)
        ]
        if wanted:
            return wanted
    asked = " ".join(each for each in (config.runtime, config.precision) if each != "auto")
    there = ", ".join(each.name for each in available)
    raise BadInput(f"a net cannot run with {asked!r} here; on {device} there is: {there}")


def settle_runtime(net: Runnable, config: DeviceConfig, rows: int = MATCH_ROWS) -> DeviceConfig:
    """Returns the settings with the library and precision that are fastest here, in place of "auto".

    Args:
      rows: of the passes that matter.

    Raises BadInput if the settings ask for something that is not available.
    """
    ranked = _ranked(net, config, rows)
    if not _is_only(ranked, config):
        ranked = [each for each in ranked if _works(each, net, config)] or [EXACT]
    return config.model_copy(update={"runtime": ranked[-1].library, "precision": ranked[-1].precision})


def _is_only(ranked: list[Runtime], config: DeviceConfig) -> bool:
    """Returns whether the settings ask for one runtime, so that no other takes its place if it fails."""
    named = config.runtime != "auto" or config.precision not in ("auto", EXACT.precision)
    return len(ranked) == 1 and (ranked == [EXACT] or named)


def _works(runtime: Runtime, net: Runnable, config: DeviceConfig) -> bool:
    """Returns whether a runtime can run a net. `open_session` warns of one that cannot."""
    try:
        session = open_runtime(runtime, net, device_type(config.device), 1, 1)
        session.run(np.zeros((1, *net.game.planes_shape), np.float32))
    except (RuntimeError, MemoryError):
        return False
    return True


def open_session(net: Runnable, config: DeviceConfig, rows: int, num_threads: int) -> tuple[Runtime, Session]:
    """Opens a session with the fastest runtime that the settings allow and that agrees with fp32.

    A runtime that fails, or is too far from fp32, is skipped with a warning on stderr; one that lacks memory, silently.
    If the settings allow only one, those that are usually slower follow, in a fixed order.

    Args:
      rows: rows of every pass on a CPU.
      num_threads: number of threads that run passes side by side.

    Raises BadInput if the settings ask for something that is not available, or if the runtime that they name fails.
    """
    device, ranked = device_type(config.device), _ranked(net, config)
    only = ranked[0] if _is_only(ranked, config) else None
    if len(ranked) == 1:
        available = available_runtimes(device, ranked[0].library == EXACT.library, net)
        ranked = available[: available.index(ranked[0]) + 1]
    for runtime in reversed(ranked):
        try:
            session = open_runtime(runtime, net, device, rows, num_threads)
            drift = measure_drift(net, session, rows) if runtime != _reference(net) else 0.0
        except (RuntimeError, MemoryError) as error:
            what = f"{runtime.name} cannot run this net ({_first_line(error)})"
            if runtime == only:  # a run that went on with another one would play other games
                raise BadInput(f"{what}; choose another by device.runtime and device.precision") from None
            if not isinstance(error, MemoryError):
                _warn(what)
            continue
        if drift <= TOLERANCE:
            return runtime, session
        _warn(f"{runtime.name} is {drift:.2g} from fp32 with this net, more than {TOLERANCE}")
    return EXACT, open_runtime(EXACT, net, device, rows, num_threads)


def _ranked(net: Runnable, config: DeviceConfig, rows: int = MATCH_ROWS) -> list[Runtime]:
    """Returns the runtimes that the settings allow, in ascending order of their speed here; raises BadInput.

    Args:
      rows: of the passes whose speed is measured.
    """
    device, wanted = device_type(config.device), wanted_runtimes(config, net)
    drawing = net.drawing()
    if drawing is None or not drawing.architecture.is_quantizable:
        wanted = [each for each in wanted if each.precision != "int8"]
        if not wanted:
            raise BadInput(f"{int8_is_for()}; choose another with device.precision")
    if device == "cpu" and len(wanted) > 1:
        opened = {each.name: functools.partial(open_runtime, each, net, device) for each in wanted}
        rates = measured_rates(net, opened, rows)
        wanted.sort(key=lambda each: rates[each.name] * (_GAIN_OF_FP32 if each.precision == "fp32" else 1))
    return wanted


def _reference(net: Runnable) -> Runtime:
    """Returns fp32 in a library that needs no torch, if there is one for this net; else in torch."""
    runtimes = available_runtimes("cpu", has_torch=False, net=net) if net.drawing() else []
    return next((each for each in runtimes if each.precision == "fp32"), EXACT)


def measure_drift(net: Runnable, session: Session, rows: int, num_positions: int = NUM_POSITIONS) -> float:
    """Returns the distance of a session from fp32, averaged over the first positions of `sample_positions`.

    This is the mean distance of values, or the mean total variation (half the sum of absolute differences) of policies,
    whichever is greater.
    """
    positions = sample_positions(net.game)[:num_positions]
    answers = []
    for each in (open_runtime(_reference(net), net, "cpu", rows, 1), session):
        passes = [each.run(filled_up(positions[at : at + rows], rows)) for at in range(0, len(positions), rows)]
        logits, values = (np.concatenate(parts)[: len(positions)] for parts in zip(*passes, strict=True))
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        answers.append((weights / weights.sum(axis=1, keepdims=True), values))
    (policies, values), (other_policies, other_values) = answers
    of_values = np.abs(values - other_values).mean()
    of_policies = np.abs(policies - other_policies).sum(axis=1).mean() / 2
    return float(np.maximum(of_values, of_policies))  # NaN if either is NaN


def open_runtime(runtime: Runtime, net: Runnable, device: str, rows: int, num_threads: int) -> Session:
    """Opens a session of one runtime; raises RuntimeError if it cannot run the net."""
    return LIBRARIES[runtime.library].open(net, runtime.precision, device, rows, num_threads)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


@functools.cache
def _warn(what: str) -> None:
    """Prints on stderr, once, why a runtime is not used."""
    say(f"{what}; the next best runtime is used")
