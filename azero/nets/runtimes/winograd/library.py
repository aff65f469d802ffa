"""azero's own kernels as a library that runs nets."""

from collections.abc import Sequence

from azero.compiler.jit import IS_COMPILED
from azero.nets.runtimes.library import Library, Runnable, library
from azero.nets.runtimes.session import Session
from azero.system.machine import cpu_flags

NEEDED = "compiled kernels, and a CPU that is known to have AVX2 and FMA"


def has_vectors() -> bool:
    """Returns whether this process has what is `NEEDED`. Flags of a CPU are known on Linux alone."""
    return IS_COMPILED and cpu_flags() >= {"avx2", "fma"}


@library
class Winograd(Library):
    """Winograd convolutions, on a CPU with AVX2 and FMA."""

    name = "winograd"
    expected_rank = 2
    takes_any_rows = True

    def precisions(self, device: str) -> Sequence[str]:
        return ("fp32",) if device == "cpu" and has_vectors() else ()

    def takes(self, net: Runnable) -> bool:
        drawing = net.drawing()
        return drawing is not None and not drawing.architecture.is_flat

    def open(self, net: Runnable, precision: str, device: str, rows: int, num_threads: int) -> Session:
        from azero.nets.runtimes.winograd.session import open_drawing

        drawing = net.drawing()
        assert drawing, "it takes azero's own nets only"
        if not has_vectors():
            raise RuntimeError(f"it needs {NEEDED}")
        return open_drawing(drawing)
