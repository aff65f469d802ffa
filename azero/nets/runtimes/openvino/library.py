"""OpenVINO as a library that runs nets: azero's from their drawings, a user's from a trace of its operations."""

import importlib.util
import warnings
from collections.abc import Sequence
from typing import Any

import torch

from azero.nets.architectures.contract import Net, fold
from azero.nets.runtimes.calibration import sample_positions
from azero.nets.runtimes.library import Library, library
from azero.nets.runtimes.session import Session


@library
class OpenVino(Library):
    """OpenVINO, on a CPU. It is imported when it is first used."""

    name = "openvino"
    expected_rank = 1

    def precisions(self, device: torch.device) -> Sequence[str]:
        if device.type != "cpu" or importlib.util.find_spec("openvino") is None:
            return ()
        from azero.nets.runtimes.openvino.session import supported_precisions

        return supported_precisions()

    def open(self, net: Net, precision: str, device: torch.device, rows: int, num_threads: int) -> Session:
        from azero.nets.runtimes.openvino.session import OpenVinoSession, measure_peaks, open_drawing

        drawing = net.drawing()
        if drawing is None:
            return OpenVinoSession(_traced(fold(net).float().cpu(), rows), precision, num_threads)
        peaks = measure_peaks(drawing, sample_positions(net.game)) if precision == "int8" else None
        return open_drawing(drawing, precision, rows, num_threads, peaks)


def _traced(folded: Net, rows: int) -> Any:
    """Returns any net as an OpenVINO model, by a trace of its operations; raises RuntimeError if it has others."""
    from azero.nets.runtimes.openvino.session import convert_traced

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
