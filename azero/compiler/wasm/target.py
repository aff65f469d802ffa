"""Makes Numba compile for WebAssembly, in the whole process. Such a process cannot run kernels itself.

`compiler/machine.py` says when. Numba lowers with the pointers and the data layout of wasm32, so structures are laid
out as the module reads them. Integers of arrays, such as shapes, stay 64 bits wide.
"""

import llvmlite.binding as llvm
import numba
from numba.core.registry import cpu_target

from azero.compiler.faster import TESTED
from azero.errors import BadInput

TRIPLE = "wasm32-unknown-unknown"

_FEATURES = "+bulk-memory,+bulk-memory-opt,+sign-ext,+mutable-globals,+nontrapping-fptoint,+simd128"
"""What all browsers have since 2023."""

_FIELDS = "_tm", "_target_data", "_data_layout", "_create_empty_module"
"""Numba's own fields that are changed."""


def new_machine() -> llvm.TargetMachine:
    """Returns LLVM's description of the machine."""
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(TRIPLE)
    return target.create_target_machine(cpu="generic", features=_FEATURES, opt=3, reloc="static")


def install() -> None:
    """Makes Numba compile for WebAssembly; raises BadInput if this Numba lacks what that needs."""
    codegen = cpu_target.target_context.codegen()
    lacking = [each for each in _FIELDS if not hasattr(codegen, each)]
    if lacking:
        found = f"Numba {numba.__version__} has no {', '.join(lacking)}"
        raise BadInput(f"{found}, which compilation for browsers needs; Numba {TESTED} has it")
    machine = new_machine()
    codegen._tm, codegen._target_data, codegen._data_layout = machine, machine.target_data, str(machine.target_data)
    make_module = codegen._create_empty_module

    def create_empty_module(name: str):
        module = make_module(name)
        module.triple = TRIPLE
        return module

    codegen._create_empty_module = create_empty_module
