"""Opens any net in OpenVINO: azero's from their drawings, a user's from a trace of its operations."""

import warnings

import torch

from azero.nets.architectures.contract import Net, fold
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.openvino_runtime import OpenVinoSession, convert_traced, measure_peaks, open_drawing


def open_openvino(net: Net, precision: str, rows: int, num_threads: int) -> OpenVinoSession:
    """Returns a session for passes of `rows` rows; raises RuntimeError if OpenVINO cannot run the net."""
    drawing = net.drawing()
    if drawing is None:
        return OpenVinoSession(_traced(fold(net).float().cpu(), rows), precision, num_threads)
    peaks = measure_peaks(drawing, sample_positions(net.game)) if precision == "int8" else None
    return open_drawing(drawing, precision, rows, num_threads, peaks)


def _traced(folded: Net, rows: int) -> object:
    """Returns any net as an OpenVINO model, by a trace of its operations; raises RuntimeError if it has others."""
    planes = torch.zeros(rows, *folded.game.planes_shape)
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # a trace notes each decision that depends on shapes
            return convert_traced(torch.jit.trace(Untyped(folded), planes, check_trace=False), planes)
    except Exception as error:  # of many kinds
        raise RuntimeError(str(error).strip() or type(error).__name__) from None


class Untyped(torch.nn.Module):
    """A net whose output is a plain tuple."""

    def __init__(self, net: Net):
        super().__init__()
        self.net = net

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        prediction = self.net(planes)
        return prediction.policy_logits, prediction.result_logits
