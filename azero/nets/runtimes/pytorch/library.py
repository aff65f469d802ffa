"""torch as a library that runs nets."""

from collections.abc import Sequence

import torch

from azero.nets.architectures.contract import Net
from azero.nets.devices import has_bf16
from azero.nets.runtimes.library import Library, library
from azero.nets.runtimes.pytorch.gpu import GpuSession
from azero.nets.runtimes.pytorch.session import TorchSession
from azero.nets.runtimes.session import Session


@library
class Torch(Library):
    """The library that every machine has."""

    name = "torch"
    expected_rank = 0

    def precisions(self, device: torch.device) -> Sequence[str]:
        return ("fp32", "bf16") if has_bf16(device) else ("fp32",)

    def open(self, net: Net, precision: str, device: torch.device, rows: int, num_threads: int) -> Session:
        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
        return TorchSession(net, device, dtype) if device.type == "cpu" else GpuSession(net, device, dtype)
