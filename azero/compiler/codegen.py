"""Changes to Numba: faster compilation, symbols that are unique across processes, and no allocation in rules.

`install` makes the changes, once per process. See docs/decisions/0001-compile-cache.md, "Compile time".
"""

import gc
import importlib
import importlib.util
import re
import secrets

import llvmlite
from numba.core import event
from numba.core.bytecode import FunctionIdentity
from numba.core.codegen import JITCodeLibrary
from numba.core.registry import cpu_target
from numba.np import linalg

from azero.compiler.machine import IS_WASM
from azero.errors import Allocates
from azero.system.interrupt import interruption_waits

_OF_USERS_CODE = ("_ZN7cpython5azero5games", "_ZN7cpython5azero4mcts9reference5trial")
"""How the names of kernels begin that contain little besides a user's rules, selection rule or root strategy."""


class _Library(JITCodeLibrary):
    """A library of functions under compilation. Only kernels become machine code; other functions are linked into them.

    Numba by itself links every function with everything that it calls and makes machine code of it. It does the same
    work again for each caller.

    Some kernels contain little besides what a user has written, which must not allocate. Numba's lists, sets, dicts and
    text are slow, and they crashed when many threads built them without the GIL. An allocation that remains after
    inlining and optimisation raises Allocates. Copies of overlapping slices do not raise it: they are freed at once.
    """

    def _is_kernel(self) -> bool:
        return any(function.name.startswith("_ZN7cpython") for function in self._final_module.functions)

    def add_linking_library(self, library: JITCodeLibrary) -> None:
        library._ensure_finalized()
        # A kernel is already linked with what it calls. So is a library that Numba made before `install`.
        inner = library._linking_libraries if isinstance(library, _Library) and not library._is_kernel() else []
        for each in (*inner, library):
            if each not in self._linking_libraries:
                self._linking_libraries.append(each)

    def finalize(self) -> None:
        if self._is_kernel():
            self._linking_libraries.reverse()  # callers first: the linker adds only symbols that are already referenced
            super().finalize()
            return
        self._raise_if_finalized()
        names = [each.name for each in self._final_module.global_variables if each.name.startswith("_ZN08NumbaEnv")]
        # Numba writes the addresses of a function's Python constants to these variables right after it is compiled.
        module = "\n".join(f"@{name} = common global i8* null" for name in names)
        self._codegen._add_module(llvmlite.binding.parse_assembly(module))
        self._finalized = True

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        names = [function.name for function in self._final_module.functions]
        is_of_rules = any(name.startswith(_OF_USERS_CODE) for name in names)
        if is_of_rules and any(re.match(r"NRT_MemInfo_(\w*_)?(alloc|new)", name) for name in names):
            raise Allocates("it allocates memory (an array, list, set, dict or text); rules should fill given arrays")

    def _finalize_specific(self) -> None:
        with interruption_waits() as interrupted:  # in LLVM's callbacks to Python a KeyboardInterrupt would be lost
            super()._finalize_specific()
        if interrupted():
            raise KeyboardInterrupt


class _WithoutCollections(event.Listener):
    """Turns the garbage collector off while Numba compiles. Otherwise it takes a twelfth of the time."""

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
            if gc.get_freeze_count() == 0:  # else somebody has frozen objects
                gc.freeze()
                gc.unfreeze()  # both together make all objects old ones: nothing looks at them now
            gc.enable()


def install() -> None:
    """Makes Numba compile as described in this file, in the whole process."""
    cpu_target.target_context.codegen()._library_class = _Library
    # Symbols contain these numbers. Numba counts functions from 1 in each process, and types in order of first use. So
    # two processes can give Go 9x9 and Go 19x19 the same symbols. A third that loads both would run one for both.
    FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(62), None)
    event.register("numba:compile", _WithoutCollections())
    _look_for_scipy()
    if IS_WASM:
        importlib.import_module("azero.compiler.wasm.target").install()


def _look_for_scipy() -> None:
    """Lets Numba see whether scipy is installed without an import of its linear algebra, which takes 0.1 s.

    Numba itself imports it before the first kernel runs. A function that needs it imports it when it is compiled.
    """
    ensure_blas = linalg.ensure_blas
    linalg.ensure_blas = _check_scipy
    try:
        importlib.import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = ensure_blas


def _check_scipy() -> None:
    if importlib.util.find_spec("scipy") is None:
        raise ImportError("scipy is not installed")
