"""Compilation by Numba, for kernels that no library holds. Only `jit.py` imports this module, as late as possible.

The import of Numba takes half a second, which a command whose kernels are all in libraries saves.
"""

import functools
import inspect
import warnings
from collections.abc import Callable

import llvmlite.binding
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaWarning
from numba.core.registry import cpu_target
from numba.extending import intrinsic, overload_method, register_jitable

from azero.compiler import codegen, faster, notice
from azero.compiler.kernel_cache import KernelCache
from azero.compiler.machine import IS_WASM

_OPTIONS = {"nogil": True, "error_model": "numpy"}

_OF_KERNELS = {**_OPTIONS, "_nrt": False, "no_cfunc_wrapper": True}
"""Options of kernels. Kernels fill arrays that they are given, and allocate none.

`_nrt` is Numba's memory management. Without it, kernels and their subroutines do not count references, which took half
of the time of a large kernel.
"""

_INNER = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of code that only compiled code calls. Unless forced, LLVM does not inline in the hottest loops."""

_OF_RULES = {**_INNER, "_nrt": True}
"""Options of rules. They may copy overlapping slices, for which Numba allocates temporary memory.

`codegen.py` refuses other allocations.
"""

codegen.install()
faster.install()
notice.install()
warnings.simplefilter("ignore", NumbaWarning)  # advice on style; code that cannot be compiled still raises an error


def kernel(function: Callable) -> Callable:
    """Returns Numba's dispatcher of a kernel, whose machine code is kept on disk.

    For WebAssembly, a kernel is what other kernels call, and nothing is kept.
    """
    if IS_WASM:
        return numba.njit(**_OF_KERNELS, no_cpython_wrapper=True)(function)
    compiled = numba.njit(**_OF_KERNELS)(function)
    compiled._cache = cache = KernelCache(function)
    compiled.compile = functools.partial(cache.compile_once, compiled.compile)
    return compiled


def inner(function: Callable, is_inlined: bool) -> Callable:
    """Returns the dispatcher of a function that only compiled code calls."""
    return numba.njit(**_OPTIONS, **{**_INNER, "forceinline": is_inlined})(function)


def share_with_python(function: Callable) -> None:
    """Lets kernels call a function, which is inlined in them."""
    register_jitable(**_OF_RULES)(function)


def bind(name: str, parameters: tuple[str, ...], may_allocate: bool) -> None:
    """Lets kernels call methods with a name on any NamedTuple."""

    def method_of_class(instance, *arguments):
        return getattr(instance.instance_class, name, None)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    method_of_class.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(each, kind) for each in ("instance", *parameters)]
    )
    options = _OF_RULES if may_allocate else _INNER
    for named_tuple in (types.NamedTuple, types.NamedUniTuple):
        overload_method(named_tuple, name, strict=False, jit_options=options)(method_of_class)


def compile_alone(function: Callable, arguments: tuple) -> None:
    """Compiles a function for these arguments, to see whether it can be."""
    numba.njit(function).compile(tuple(map(numba.typeof, arguments)))


def word_instruction(name: str, *arguments: bool) -> types.Type:
    """Returns the type of a function from uint64 to int64 that is one LLVM instruction, e.g. `ctpop`."""

    @intrinsic
    def instruction(typingctx, word):
        def generate(context, builder, signature, args):
            flags = [context.get_constant(types.boolean, each) for each in arguments]
            return getattr(builder, name)(args[0], *flags)

        return types.int64(types.uint64), generate

    return _type_of(instruction)


def vector_operation(name: str) -> types.Type:
    """Returns the type of an operation of `vectors.py`."""
    from azero.compiler.vector_type import OPERATIONS  # here, because few kernels need it

    return _type_of(OPERATIONS[name])


def name_address(symbol: str, address: int) -> None:
    """Lets machine code, also such as is loaded from disk, find an address by a symbol."""
    llvmlite.binding.add_symbol(symbol, address)


def outside_function(symbol: str, num_integers: int, num_arrays: int, unanswered: int) -> types.Type:
    """Returns the type of the function whose address has a symbol; see `for_kernels`."""
    names = [f"given_{place}" for place in range(num_integers + num_arrays)]

    def outside(typingctx, *given):
        signature = types.int64(*given)

        def generate(context, builder, signature, values):
            pairs = list(zip(signature.args, values, strict=True))
            passed = [context.cast(builder, value, kind, types.int64) for kind, value in pairs[:num_integers]]
            arrays = [context.make_array(kind)(context, builder, value) for kind, value in pairs[num_integers:]]
            word = ir.IntType(64)
            answer = cgutils.alloca_once(builder, word)
            builder.store(word(unanswered), answer)
            passed += [builder.ptrtoint(pointer, word) for pointer in (*(array.data for array in arrays), answer)]
            function_type = ir.FunctionType(ir.VoidType(), [word] * len(passed))
            builder.call(cgutils.get_or_insert_function(builder.module, function_type, symbol), passed)
            return builder.load(answer)

        return signature, generate

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    outside.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(each, kind) for each in ("typingctx", *names)]
    )
    return _type_of(intrinsic(outside))


def _type_of(made: object) -> types.Type:
    cpu_target.typing_context.refresh()
    return cpu_target.typing_context.resolve_value_type(made)


class ForPython:
    """A subroutine that Python calls: compiled for that, once a process."""

    def __init__(self, function: Callable):
        self._compiled = numba.njit(**_OPTIONS)(function)
        self._num_overloads = 0
        self._return_types: set[types.Type] = set()

    def __call__(self, *arguments, **named):
        return _as_numpy(self._compiled(*arguments, **named), self._return_type(arguments, named))

    def _return_type(self, arguments: tuple, named: dict) -> types.Type:
        """Returns the Numba type of the result of the last call, which had these arguments."""
        overloads = self._compiled.overloads
        if len(overloads) != self._num_overloads:
            self._num_overloads = len(overloads)
            self._return_types = {each.signature.return_type for each in overloads.values()}
        if len(self._return_types) == 1:
            return next(iter(self._return_types))
        kinds = tuple(map(numba.typeof, arguments))
        named_kinds = {name: numba.typeof(each) for name, each in named.items()}
        function = self._compiled
        return function._numba_type_.get_call_type(function.typingctx, kinds, named_kinds).return_type


def _as_numpy(value, kind: types.Type):
    """Returns a value that compiled code returned, as np.uint64 if its type is uint64.

    Numba converts a uint64 to a Python integer. The next subroutine would take that as an int64, which overflows from
    2^63 on.
    """
    if kind == types.uint64:
        return np.uint64(value)
    if isinstance(kind, types.BaseTuple):
        values = map(_as_numpy, value, kind.types)
        return value._make(values) if hasattr(value, "_make") else tuple(values)
    return value
