"""torch as a library that runs nets. It is imported when it is first used."""

from collections.abc import Sequence

from azero.nets.devices import has_bf16, pick_device
from azero.nets.runtimes.library import Library, Runnable, library
from azero.nets.runtimes.session import Session


@library
class Torch(Library):
    """The library that every machine has."""

    name = "torch"
    expected_rank = 0

    def precisions(self, device: str) -> Sequence[str]:
        import torch

        return ("fp32", "bf16") if has_bf16(torch.device(device)) else ("fp32",)

    def open(self, net: Runnable, precision: str, device: str, rows: int, num_threads: int) -> Session:
        import torch

        from azero.nets.runtimes.pytorch.gpu import GpuSession
        from azero.nets.runtimes.pytorch.session import TorchSession

        dtype = {"fp32": torch.float32, "bf16": torch.bfloat16}[precision]
        kind = TorchSession if device == "cpu" else GpuSession
        return kind(net.torch_net, pick_device(device), dtype)
