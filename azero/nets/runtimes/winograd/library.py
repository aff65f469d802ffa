"""azero's own kernels as a library that runs nets."""

from collections.abc import Sequence

from azero.compiler.jit import IS_COMPILED
from azero.nets.runtimes.library import Library, Runnable, library
from azero.nets.runtimes.session import Session
from azero.system.machine import cpu_flags


@library
class Winograd(Library):
    """Winograd convolutions, on a CPU with AVX2 and FMA."""

    name = "winograd"
    expected_rank = 2
    takes_any_rows = True

    def precisions(self, device: str) -> Sequence[str]:
        return ("fp32",) if device == "cpu" and IS_COMPILED and cpu_flags() >= {"avx2", "fma"} else ()

    def takes(self, net: Runnable) -> bool:
        drawing = net.drawing()
        return drawing is not None and not drawing.architecture.is_flat

    def open(self, net: Runnable, precision: str, device: str, rows: int, num_threads: int) -> Session:
        from azero.nets.runtimes.winograd.session import open_drawing

        drawing = net.drawing()
        assert drawing, "it takes azero's own nets only"
        if not self.precisions(device):
            raise RuntimeError("its kernels are for compiled code and CPUs with AVX2 and FMA")
        return open_drawing(drawing)
