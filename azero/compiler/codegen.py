"""How Numba is made to compile in less time, to keep what processes compile apart, and to refuse rules that allocate.

`install` changes it, once.

See docs/decisions/0001-compile-cache.md, "Compile time".
"""

import gc
import re
import secrets

import llvmlite
from numba.core import event
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target

from azero.system.interrupt import interruption_waits


class Allocates(Exception):
    """A kernel that may not allocates memory."""


class _Library(JITCodeLibrary):
    """Code in the making. Only kernels become machine code: the rest waits to be linked into them, once.

    Numba would link every function with all that it calls and make machine code of it, and then do so again as a part
    of each of its callers.

    Kernels of azero.games hold little else than the rules, which may not allocate: Numba's lists, sets, dicts and text
    are slow, and when built from many threads without the GIL they have crashed. What is left of allocations after
    inlining and optimising raises Allocates; copies of overlapping slices, which are freed at once, do not.
    """

    def _is_kernel(self) -> bool:
        return any(function.name.startswith("_ZN7cpython") for function in self._final_module.functions)

    def add_linking_library(self, library: JITCodeLibrary) -> None:
        library._ensure_finalized()
        # A kernel has what it calls linked in already; so has a library that Numba made before `install`.
        inner = library._linking_libraries if isinstance(library, _Library) and not library._is_kernel() else []
        for each in (*inner, library):
            if each not in self._linking_libraries:
                self._linking_libraries.append(each)

    def finalize(self) -> None:
        if self._is_kernel():
            self._linking_libraries.reverse()  # callers first: the linker takes in only what has been asked for
            super().finalize()
            return
        self._raise_if_finalized()
        names = [each.name for each in self._final_module.global_variables if each.name.startswith("_ZN08NumbaEnv")]
        # Numba writes the addresses of a function's Python constants there as soon as it is compiled.
        module = "\n".join(f"@{name} = common global i8* null" for name in names)
        self._codegen._add_module(llvmlite.binding.parse_assembly(module))
        self._finalized = True

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        names = [function.name for function in self._final_module.functions]
        is_of_rules = any(name.startswith("_ZN7cpython5azero5games") for name in names)
        if is_of_rules and any(re.match(r"NRT_MemInfo_(\w*_)?(alloc|new)", name) for name in names):
            raise Allocates("it allocates memory (an array, list, set, dict or text); rules should fill what is there")

    def _finalize_specific(self) -> None:
        with interruption_waits() as interrupted:  # LLVM calls back into Python, where it would be swallowed
            super()._finalize_specific()
        if interrupted():
            raise KeyboardInterrupt


class _WithoutCollections(event.Listener):
    """Turns the garbage collector off while Numba compiles, where it takes a twelfth of the time."""

    def __init__(self) -> None:
        self._depth = 0
        self._was_enabled = False

    def on_start(self, event) -> None:
        if self._depth == 0:
            self._was_enabled = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_enabled:
            gc.enable()


def install() -> None:
    """Puts the ways of this file in the place of Numba's own, for the whole process."""
    cpu_target.target_context.codegen()._library_class = _Library
    # Symbols carry these numbers. Numba counts from 1 in each process, and types by the order in which it meets them:
    # so two processes give Go 9x9 and Go 19x19 the same symbols, and a third, with both from disk, runs one for both.
    FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(62), None)
    event.register("numba:compile", _WithoutCollections())
