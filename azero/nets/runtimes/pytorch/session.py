"""The net run by torch itself, which works everywhere: on a CPU, on CUDA, on MPS."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.nets.architectures.contract import Net, Prediction, fold
from azero.nets.architectures.heads import run_heads


class AlignedLinear(nn.Module):
    """A linear layer whose inputs are filled up with zeros to whole vectors of the CPU.

    If a row of inputs does not begin at such a boundary, its sums may be computed in another order than those of other
    rows, and differ in the last bit.
    """

    def __init__(self, linear: nn.Linear):
        super().__init__()
        self.missing = -linear.in_features % 16
        self.weight = nn.Parameter(F.pad(linear.weight, (0, self.missing)))
        self.bias = linear.bias

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(F.pad(x, (0, self.missing)), self.weight, self.bias)


def align(net: Net) -> Net:
    """Aligns the linear layers of a folded net, in place; returns it."""
    for parent in list(net.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Linear):
                setattr(parent, name, AlignedLinear(child))
    return net.requires_grad_(False)


class TorchSession:
    """A net ready to run, with folded normalisations and channels last."""

    def __init__(self, net: Net, device: torch.device, dtype: torch.dtype):
        self._device, self._dtype = device, dtype
        folded = fold(net) if net.identity else align(fold(net))  # a user's net may use its linear layers in other ways
        self._net = folded.to(device=device, dtype=dtype)
        for weights in (*self._net.parameters(), *self._net.buffers()):
            if weights.dim() == 4:  # torch refuses others in this format
                weights.data = weights.data.to(memory_format=torch.channels_last)

    @torch.inference_mode()
    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        if self._device.type == "cpu":
            torch.set_num_threads(1)  # of this thread; passes run side by side, see docs/decisions/0003
        prediction = self.predict(torch.from_numpy(planes))
        return prediction.policy_logits.cpu().numpy(), prediction.value().cpu().numpy()

    def predict(self, planes: Tensor) -> Prediction:
        """Returns the net's prediction, float32 on its device, for planes [B, C, H, W] float32 in the CPU's memory."""
        return Prediction(*(each.float() for each in self._net(self._moved(planes))))

    def heads(self, planes: Tensor) -> dict[str, Tensor]:
        """Returns the answers of the net's kept heads, see `run_heads`; float32 on its device."""
        answers = run_heads(self._net.kept, self._net.game, self._net.features(self._moved(planes)))
        return {name: each.float() for name, each in answers.items()}

    def _moved(self, planes: Tensor) -> Tensor:
        return planes.to(self._device, non_blocking=True).to(self._dtype, memory_format=torch.channels_last)
