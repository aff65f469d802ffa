"""The net run by torch itself, which works everywhere: on a CPU, on CUDA, on MPS. A net's own judgement is in fp32."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.config.schema import DeviceConfig
from azero.nets.architectures.contract import Net, Prediction, fold
from azero.nets.architectures.heads import run_heads
from azero.nets.devices import pick_device
from azero.nets.runtimes.session import Heads

_ROWS_ALONE = 256  # per pass


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


def judge_alone(net: Net, config: DeviceConfig, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a net's logits for the player to move: [B, A] of actions, [B, 3] of win, draw, loss.

    Args:
      planes: [B, C, H, W] float32.
    """
    logits, results = _predict(_open(net, config), planes)
    return logits.cpu().numpy(), results.cpu().numpy()


def evaluator_of(net: Net, config: DeviceConfig) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Returns a function from planes [B, C, H, W] float32 to logits [B, A] and values [B], both float32.

    It uses a copy of the net's present weights.
    """
    session = _open(net, config)

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        prediction = Prediction(*_predict(session, planes))
        return prediction.policy_logits.cpu().numpy(), prediction.value().cpu().numpy()

    return evaluate


def open_heads(net: Net, config: DeviceConfig) -> Heads:
    """Returns a net's kept heads, ready to run, with a copy of the net's present weights."""
    session, names = _open(net, config), [*net.kept]

    def run(planes: np.ndarray) -> dict[str, np.ndarray]:
        with torch.inference_mode():
            passes = [session.heads(each) for each in _passes(planes)]
        return {name: torch.cat([each[name] for each in passes]).cpu().numpy() for name in names}

    return run


def _open(net: Net, config: DeviceConfig) -> TorchSession:
    return TorchSession(net, pick_device(config.device), torch.float32)


def _predict(session: TorchSession, planes: np.ndarray) -> tuple[Tensor, Tensor]:
    with torch.inference_mode():
        passes = [session.predict(each) for each in _passes(planes)]
    return torch.cat([each.policy_logits for each in passes]), torch.cat([each.result_logits for each in passes])


def _passes(planes: np.ndarray) -> list[Tensor]:
    return [torch.from_numpy(planes[at : at + _ROWS_ALONE]) for at in range(0, len(planes), _ROWS_ALONE)]
