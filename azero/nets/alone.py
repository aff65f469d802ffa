"""The net's output without a search."""

import numpy as np
import torch

from azero.config.schema import DeviceConfig
from azero.nets.architectures.contract import Net
from azero.nets.runtimes.choice import pick_device
from azero.nets.runtimes.torch_runtime import TorchSession

_ROWS = 256  # per pass


def judge_alone(net: Net, config: DeviceConfig, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a net's logits, computed in fp32, for the player to move: [B, A] of actions, [B, 3] of win, draw, loss.

    Args:
      planes: [B, C, H, W] float32.
    """
    session = TorchSession(net, pick_device(config.device), torch.float32)
    with torch.inference_mode():
        passes = [session.predict(torch.from_numpy(planes[at : at + _ROWS])) for at in range(0, len(planes), _ROWS)]
    logits = torch.cat([each.policy_logits for each in passes])
    results = torch.cat([each.result_logits for each in passes])
    return logits.cpu().numpy(), results.cpu().numpy()
