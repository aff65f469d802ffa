"""The runtimes of this machine, and the choice of the fastest one that agrees with fp32."""

import functools
import importlib.util

import numpy as np
import torch

from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.nets.architectures.contract import Net
from azero.nets.runtimes.calibration import NUM_POSITIONS, sample_positions
from azero.nets.runtimes.gpu_session import GpuSession
from azero.nets.runtimes.rates import measured_rates
from azero.nets.runtimes.session import EXACT, Runtime, Session, filled_up
from azero.nets.runtimes.torch_runtime import TorchSession
from azero.system.console import say

TOLERANCE = 0.03
"""Limit on `measure_drift`: the mean distance of values, or of policies (total variation), from fp32."""


def pick_device(name: str) -> torch.device:
    """Returns the device of that name; "auto" is the best available one. Raises BadInput if it is not available."""
    is_there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if is_there["cuda"] else "mps" if is_there["mps"] else "cpu"
    if not is_there[name]:
        raise BadInput(
            f"device {name!r} is not available here; there is: {', '.join(k for k, v in is_there.items() if v)}"
        )
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else torch.device(name)


def pick_devices(name: str) -> list[torch.device]:
    """Returns the devices that share one job: all GPUs on CUDA, beginning with this process's; else the named one."""
    first = pick_device(name)
    if first.type != "cuda":
        return [first]
    count = torch.cuda.device_count()
    return [torch.device("cuda", (first.index + k) % count) for k in range(count)]


def take_gpu(number: int) -> None:
    """Makes GPU number `number` modulo their count the one that `pick_device` returns in this process."""
    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())


def pick_dtype(precision: str, device: torch.device) -> torch.dtype:
    """Returns torch's dtype of a precision, fp32 or bf16; raises BadInput if bf16 is not available on the device."""
    if precision == "bf16" and not has_bf16(device):
        raise BadInput(f"precision 'bf16' is not available on {device.type} here; use training.precision=fp32")
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]


def has_bf16(device: torch.device) -> bool:
    """Returns whether a device computes in bf16 natively, without emulation."""
    if device.type == "cpu":
        return torch.cpu._is_avx512_bf16_supported()
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)


def available_runtimes(device: torch.device) -> list[Runtime]:
    """Returns the runtimes for a device, in ascending order of expected speed."""
    runtimes = [EXACT, Runtime("torch", "bf16")] if has_bf16(device) else [EXACT]
    if device.type == "cpu" and importlib.util.find_spec("openvino"):
        try:
            from azero.nets.runtimes.openvino_runtime import supported_precisions

            runtimes += [Runtime("openvino", precision) for precision in supported_precisions()]
        except (ImportError, RuntimeError) as error:
            _warn(f"openvino is installed but cannot be used ({_first_line(error)})")
    return runtimes


def wanted_runtimes(config: DeviceConfig) -> list[Runtime]:
    """Returns the available runtimes that the settings allow; raises BadInput if there is none."""
    device = pick_device(config.device)
    available = available_runtimes(device)
    wanted = [
        each
        for each in available
        if config.runtime in ("auto", each.library) and config.precision in ("auto", each.precision)
    ]
    if not wanted:
        asked = " ".join(each for each in (config.runtime, config.precision) if each != "auto")
        there = ", ".join(each.name for each in available)
        raise BadInput(f"a net cannot run with {asked!r} here; on {device.type} there is: {there}")
    return wanted


def settle_runtime(net: Net, config: DeviceConfig, rows: int) -> DeviceConfig:
    """Returns the settings with the library and precision that are fastest here, in place of "auto".

    Raises BadInput if the settings ask for something that is not available.
    """
    ranked = _ranked(net, config, rows)
    if len(ranked) > 1:
        ranked = [each for each in ranked if _works(each, net, config, rows)] or [EXACT]
    return config.model_copy(update={"runtime": ranked[-1].library, "precision": ranked[-1].precision})


def _works(runtime: Runtime, net: Net, config: DeviceConfig, rows: int) -> bool:
    """Returns whether a runtime can run a net. `open_session` warns of one that cannot."""
    try:
        session = open_runtime(runtime, net, pick_device(config.device), rows, 1)
        session.run(np.zeros((rows, *net.game.planes_shape), np.float32))
    except RuntimeError:
        return False
    return True


def open_session(net: Net, config: DeviceConfig, rows: int, num_threads: int) -> tuple[Runtime, Session]:
    """Opens a session with the fastest runtime that the settings allow and that agrees with fp32.

    A runtime that fails, or is too far from fp32, is skipped with a warning on stderr. If the settings allow only one,
    and it is too far from fp32, those that are usually slower follow, in a fixed order.

    Args:
      rows: rows of every pass on a CPU.
      num_threads: number of threads that run passes side by side.

    Raises BadInput if the settings ask for something that is not available, or if the only runtime they allow fails.
    """
    device, ranked = pick_device(config.device), _ranked(net, config, rows)
    only = ranked[0] if len(ranked) == 1 else None
    if only:
        available = available_runtimes(device)
        ranked = available[: available.index(only) + 1]
    for runtime in reversed(ranked):
        try:
            session = open_runtime(runtime, net, device, rows, num_threads)
            drift = 0.0 if runtime == EXACT else measure_drift(net, session, rows)
        except RuntimeError as error:
            what = f"{runtime.name} cannot run this net ({_first_line(error)})"
            if runtime == only:  # a run that went on with another one would play other games
                raise BadInput(what) from None
            _warn(what)
            continue
        if drift <= TOLERANCE:
            return runtime, session
        _warn(f"{runtime.name} is {drift:.2g} from fp32 with this net, more than {TOLERANCE}")
    return EXACT, open_runtime(EXACT, net, device, rows, num_threads)


def _ranked(net: Net, config: DeviceConfig, rows: int) -> list[Runtime]:
    """Returns the runtimes that the settings allow, in ascending order of their speed here; raises BadInput."""
    device, wanted = pick_device(config.device), wanted_runtimes(config)
    if not net.is_quantizable:
        wanted = [each for each in wanted if each.precision != "int8"]
        if not wanted:
            raise BadInput("precision 'int8' is for net.name = tower or any_size; choose another with device.precision")
    if device.type == "cpu" and len(wanted) > 1:
        opened = {each.name: functools.partial(open_runtime, each, net, device) for each in wanted}
        rates = measured_rates(net, rows, opened)
        wanted.sort(key=lambda each: rates[each.name])
    return wanted


def measure_drift(net: Net, session: Session, rows: int, num_positions: int = NUM_POSITIONS) -> float:
    """Returns the distance of a session from fp32, averaged over the first positions of `sample_positions`.

    This is the mean distance of values, or the mean total variation (half the sum of absolute differences) of policies,
    whichever is greater.
    """
    positions = sample_positions(net.game)[:num_positions]
    exact = TorchSession(net, torch.device("cpu"), torch.float32)
    answers = []
    for each in (exact, session):
        passes = [each.run(filled_up(positions[at : at + rows], rows)) for at in range(0, len(positions), rows)]
        logits, values = (np.concatenate(parts)[: len(positions)] for parts in zip(*passes, strict=True))
        answers.append((torch.softmax(torch.from_numpy(logits), dim=1).numpy(), values))
    (policies, values), (other_policies, other_values) = answers
    of_values = np.abs(values - other_values).mean()
    of_policies = np.abs(policies - other_policies).sum(axis=1).mean() / 2
    return float(np.maximum(of_values, of_policies))  # NaN if either is NaN


def open_runtime(runtime: Runtime, net: Net, device: torch.device, rows: int, num_threads: int) -> Session:
    """Opens a session of one runtime; raises RuntimeError if it cannot run the net."""
    if runtime.library == "openvino":
        from azero.nets.runtimes.openvino_nets import open_openvino

        return open_openvino(net, runtime.precision, rows, num_threads)
    dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[runtime.precision]
    return TorchSession(net, device, dtype) if device.type == "cpu" else GpuSession(net, device, dtype)


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


@functools.cache
def _warn(what: str) -> None:
    """Prints on stderr, once, why a runtime is not used."""
    say(f"{what}; the next best runtime is used")
