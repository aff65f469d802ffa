"""The devices of this machine: CPU and GPUs, and what they compute with. torch is imported where only it can say."""

import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from azero.errors import BadInput

if TYPE_CHECKING:
    import torch

_GPU_FILES = ("/dev/nvidiactl", "/dev/nvmap", "/dev/kfd", "/dev/dxg")
"""Of NVIDIA's driver, on Jetson, of AMD's driver, and of Windows' for Linux."""


def device_type(name: str) -> str:
    """Returns the type of the device of that name, see `pick_device`: cpu, cuda or mps.

    torch is not imported if it is for the CPU only, or if this is a Linux without the files of GPU drivers.
    """
    has_no_gpu = sys.platform == "linux" and not any(Path(each).exists() for each in _GPU_FILES)
    if name == "cpu" or (name == "auto" and (has_no_gpu or version("torch").endswith("+cpu"))):
        return "cpu"
    return pick_device(name).type


def pick_device(name: str) -> "torch.device":
    """Returns the device of that name; "auto" is the best available one. Raises BadInput if it is not available."""
    import torch

    is_there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = "cuda" if is_there["cuda"] else "mps" if is_there["mps"] else "cpu"
    if not is_there[name]:
        raise BadInput(
            f"device {name!r} is not available here; there is: {', '.join(k for k, v in is_there.items() if v)}"
        )
    return torch.device(name, torch.cuda.current_device()) if name == "cuda" else torch.device(name)


def pick_devices(name: str) -> list["torch.device"]:
    """Returns the devices that share one job: all GPUs on CUDA, beginning with this process's; else the named one."""
    import torch

    first = pick_device(name)
    if first.type != "cuda":
        return [first]
    count = torch.cuda.device_count()
    return [torch.device("cuda", (first.index + k) % count) for k in range(count)]


def take_gpu(number: int) -> None:
    """Makes GPU number `number` modulo their count the one that `pick_device` returns in this process."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.set_device(number % torch.cuda.device_count())


def pick_dtype(precision: str, device: "torch.device") -> "torch.dtype":
    """Returns torch's dtype of a precision, fp32 or bf16; raises BadInput if bf16 is not available on the device."""
    import torch

    if precision == "bf16" and not has_bf16(device):
        raise BadInput(f"precision 'bf16' is not available on {device.type} here; use training.precision=fp32")
    return {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]


def has_bf16(device: "torch.device") -> bool:
    """Returns whether a device computes in bf16 natively, without emulation."""
    import torch

    if device.type == "cpu":
        return torch.cpu._is_avx512_bf16_supported()
    return device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
