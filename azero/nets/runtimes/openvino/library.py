"""OpenVINO as a library that runs nets: azero's from their drawings, a user's from a trace of its operations."""

import importlib.util
from collections.abc import Sequence

from azero.nets.runtimes.library import Library, Runnable, library
from azero.nets.runtimes.session import Session


@library
class OpenVino(Library):
    """OpenVINO, on a CPU. It is imported when it is first used."""

    name = "openvino"
    expected_rank = 1

    def precisions(self, device: str) -> Sequence[str]:
        if device != "cpu" or importlib.util.find_spec("openvino") is None:
            return ()
        from azero.nets.runtimes.openvino.session import supported_precisions

        return supported_precisions()

    def open(self, net: Runnable, precision: str, device: str, rows: int, num_threads: int) -> Session:
        from azero.nets.runtimes.openvino.session import open_drawing

        drawing = net.drawing()
        if drawing is not None:
            return open_drawing(drawing, precision, rows, num_threads)
        from azero.nets.runtimes.openvino.traced import open_traced

        return open_traced(net.torch_net, precision, rows, num_threads)
