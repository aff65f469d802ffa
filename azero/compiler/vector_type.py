"""Numba's side of `vectors.py`: a type of some floats, and LLVM's instructions on it."""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from azero.compiler.machine import IS_WASM, LANES

_FLOAT, _INT32 = ir.FloatType(), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_ZEROS = ir.Constant(_VECTOR, None)
_FLOAT_BYTES = 4


class _Vector(types.Type):
    def __init__(self):
        super().__init__(name=f"vector of {LANES} floats")


vector = _Vector()


@register_model(_Vector)
class _Model(models.PrimitiveModel):
    def __init__(self, manager, of_type):
        super().__init__(manager, of_type, _VECTOR)


def _pointer(context, builder, signature, args, to: ir.Type) -> Any:
    """Returns a pointer to the place of an array; these are the first two arguments."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    return builder.bitcast(builder.gep(data, [args[1]]), to.as_pointer())


@intrinsic
def load(typing_context, array, place):
    def generate(context, builder, signature, args):
        return builder.load(_pointer(context, builder, signature, args, _VECTOR), align=_FLOAT_BYTES)

    return vector(array, types.intp), generate


@intrinsic
def store(typing_context, array, place, value):
    def generate(context, builder, signature, args):
        builder.store(args[2], _pointer(context, builder, signature, args, _VECTOR), align=_FLOAT_BYTES)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@intrinsic
def spread(typing_context, array, place):
    def generate(context, builder, signature, args):
        number = builder.load(_pointer(context, builder, signature, args, _FLOAT), align=_FLOAT_BYTES)
        first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, _INT32(0))
        return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(_INT32, LANES), None))

    return vector(array, types.intp), generate


@intrinsic
def zeros(typing_context):
    return vector(), lambda context, builder, signature, args: _ZEROS


@intrinsic
def add(typing_context, a, b):
    return vector(vector, vector), lambda context, builder, signature, args: builder.fadd(*args)


@intrinsic
def multiply(typing_context, a, b):
    return vector(vector, vector), lambda context, builder, signature, args: builder.fmul(*args)


@intrinsic
def fma(typing_context, a, b, c):
    def generate(context, builder, signature, args):
        if IS_WASM:
            return builder.fadd(builder.fmul(args[0], args[1]), args[2])
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)  # llvmlite's own builder.fma takes no vectors
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32"), args)

    return vector(vector, vector, vector), generate


@intrinsic
def larger(typing_context, a, b):
    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[1], args[0])

    return vector(vector, vector), generate


@intrinsic
def where_positive(typing_context, a, b):
    def generate(context, builder, signature, args):
        return builder.select(builder.fcmp_ordered(">", args[0], _ZEROS), args[1], _ZEROS)

    return vector(vector, vector), generate


@intrinsic
def fetch(typing_context, array, place):
    def generate(context, builder, signature, args):
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, _INT32, _INT32, _INT32])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        to_read, all_caches, data = _INT32(0), _INT32(3), _INT32(1)
        builder.call(function, [_pointer(context, builder, signature, args, ir.IntType(8)), to_read, all_caches, data])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


OPERATIONS: dict[str, Callable] = {
    each.__name__: each for each in (load, store, spread, zeros, add, multiply, fma, larger, where_positive, fetch)
}
