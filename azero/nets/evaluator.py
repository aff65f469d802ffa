"""A net's judgement of positions: as an `Evaluator` of searches in the fastest runtime, and alone, in fp32."""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from azero.config.schema import DeviceConfig
from azero.nets.architectures.contract import Net, Prediction
from azero.nets.devices import pick_device
from azero.nets.runtimes.fastest import open_session
from azero.nets.runtimes.pytorch.session import TorchSession
from azero.nets.runtimes.session import ROWS, Heads, SessionEvaluator

_ROWS_ALONE = 256  # per pass


class NetEvaluator(SessionEvaluator):
    """Evaluates batches of positions with a net, in the fastest runtime that the settings allow."""

    def __init__(self, net: Net, config: DeviceConfig, rows: int = ROWS, num_threads: int = 1):
        self.is_on_device = pick_device(config.device).type != "cpu"
        runtime, session = open_session(net, config, rows, num_threads)
        super().__init__(runtime, session, 0 if self.is_on_device else rows, num_threads)


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
