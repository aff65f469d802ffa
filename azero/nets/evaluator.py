"""From planes to priors and values: owns device, precision and batching of inference."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from azero.config import DeviceConfig
from azero.errors import BadInput
from azero.nets.tower import Prediction, ResidualTower, fold

ROWS = 64
"""Rows of a forward pass where many games share the net: a CPU is at its best from here on."""


def pick_device(name: str) -> torch.device:
    """Returns the device of that name, "auto" being the best there is; raises BadInput where it is not to be had."""
    is_there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return torch.device("cuda" if is_there["cuda"] else "mps" if is_there["mps"] else "cpu")
    if not is_there[name]:
        raise BadInput(
            f"device {name!r} is not to be had here; there is: {', '.join(k for k, v in is_there.items() if v)}"
        )
    return torch.device(name)


def pick_precision(name: str, device: torch.device) -> torch.dtype:
    """Returns the dtype of inference; "auto" is bfloat16 where the machine computes in it, else float32."""
    if name != "auto":
        return {"fp32": torch.float32, "bf16": torch.bfloat16}[name]
    if device.type == "cpu":
        return torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32
    is_fast = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.bfloat16 if is_fast else torch.float32


class NetEvaluator:
    """Judges batches of positions with a net; the `Evaluator` that searches use.

    On a CPU every forward pass has the same number of rows, filled up with zeros, so that what the net says of a
    position does not depend, to the last bit, on what else is asked. A pass takes one thread, and several passes go
    side by side: threads that share one pass wait for each other, and for whatever else the machine does.
    A GPU takes a batch as it comes.
    """

    def __init__(self, net: ResidualTower, config: DeviceConfig, rows: int = ROWS, num_threads: int = 1):
        self.device = pick_device(config.device)
        self.dtype = pick_precision(config.precision, self.device)
        self._rows = rows if self.device.type == "cpu" else 0
        self._pool = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))
        self._is_shared = num_threads > 1
        folded = fold(net).to(device=self.device, dtype=self.dtype)
        self._net = folded.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        rows = self._rows or len(planes)
        passes = [planes[at : at + rows] for at in range(0, len(planes), rows)]
        if self._is_shared and len(passes) > 1:
            answers = list(self._pool.map(self._forward, passes))
        else:
            torch.set_num_threads(1)
            answers = [self._forward(each) for each in passes]
        logits, values = zip(*answers, strict=True)
        return np.concatenate(logits)[: len(planes)], np.concatenate(values)[: len(planes)]

    @torch.inference_mode()
    def _forward(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Runs the net on the positions of one pass."""
        missing = self._rows - len(planes)
        if missing > 0:
            planes = np.concatenate([planes, np.zeros((missing, *planes.shape[1:]), np.float32)])
        x = torch.from_numpy(planes).to(self.device, self.dtype, memory_format=torch.channels_last)
        prediction = Prediction(*(each.float() for each in self._net(x)))
        return prediction.policy_logits.cpu().numpy(), prediction.value().cpu().numpy()
