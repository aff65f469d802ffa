"""A user's net run by OpenVINO, from torch's trace of its operations."""

import warnings

import torch

from azero.nets.architectures.contract import Net, fold
from azero.nets.runtimes.openvino.session import OpenVinoSession, convert_traced


def open_traced(net: Net, precision: str, rows: int, num_threads: int) -> OpenVinoSession:
    """Returns a session for passes of `rows` rows; raises RuntimeError if OpenVINO lacks an operation of the net."""
    folded, planes = fold(net).float().cpu(), torch.zeros(rows, *net.game.planes_shape)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # a trace notes each decision that depends on shapes
            model = convert_traced(torch.jit.trace(Untyped(folded), planes, check_trace=False), planes)
    except Exception as error:  # of many kinds
        raise RuntimeError(str(error).strip() or type(error).__name__) from None
    return OpenVinoSession(model, precision, num_threads)


class Untyped(torch.nn.Module):
    """A net whose output is a plain tuple."""

    def __init__(self, net: Net):
        super().__init__()
        self.net = net

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        prediction = self.net(planes)
        return prediction.policy_logits, prediction.result_logits
