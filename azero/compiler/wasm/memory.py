"""Arrays at fixed places of a module's memory. Entries use them like global arrays.

Numba takes a global array for a constant, but not an array in a NamedTuple. So entries can write to those.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.base import BaseContext
from numba.core.cpu import CPUContext
from numba.extending import typeof_impl
from numba.np import arrayobj, numpy_support

from azero.compiler.wasm.linker import Segment

_ALIGNMENT = 16  # bytes


class Placed:
    """An array in the module's memory. For compiled code it is an array; for Python it is only a description.

    Attributes:
      dtype, shape: of the array. The length of a moved array is -1.
      address: of its first byte.
      moved_by: the address of two int64, where a moved array is and how long its last axis is. 0: it is not moved.
    """

    def __init__(self, dtype: np.dtype, shape: tuple[int, ...], address: int, moved_by: int = 0):
        self.dtype, self.shape, self.address, self.moved_by = dtype, shape, address, moved_by

    @property
    def num_bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def to_json(self) -> dict:
        """Returns where it is, as the loader reads it. The type of a record is "record"."""
        kind = "record" if self.dtype.names else self.dtype.name
        return {"at": self.address, "type": kind, "bytes": self.num_bytes}


class Room:
    """Gives arrays their places, one after another.

    Attributes:
      end: the first address that is free.
      segments: contents of arrays that are not all zero.
    """

    def __init__(self, begin: int):
        self.end = begin
        self.segments: list[Segment] = []
        self._placed: list[tuple[np.ndarray, int]] = []  # with the addresses; here, so that no memory is used again

    def place(self, value: Any, is_filled: bool = True) -> Any:
        """Returns arrays, or NamedTuples of arrays and numbers, with each array placed. Views share their memory.

        Args:
          is_filled: whether the module sets the contents. Else somebody writes them later.
        """
        if isinstance(value, np.ndarray):
            return Placed(value.dtype, value.shape, self._address_of(value, is_filled))
        if isinstance(value, tuple):
            return type(value)(*(self.place(each, is_filled) for each in value))
        return value

    def _address_of(self, array: np.ndarray, is_filled: bool) -> int:
        assert array.flags.c_contiguous
        own = _begin_of(array)
        for other, address in self._placed:
            if _begin_of(other) <= own and own + array.nbytes <= _begin_of(other) + other.nbytes:
                return address + own - _begin_of(other)
        address = self.end
        self.end = -(-(address + array.nbytes) // _ALIGNMENT) * _ALIGNMENT
        self._placed.append((array, address))
        if is_filled and array.nbytes and array.view(np.uint8 if array.ndim else array.dtype).any():
            self.segments.append(Segment(address, array.tobytes().rstrip(b"\0")))  # the rest of memory is zero
        return address


def _begin_of(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@typeof_impl.register(Placed)
def _type_of(placed: Placed, context) -> types.Array:
    return types.Array(numpy_support.from_dtype(placed.dtype), len(placed.shape), "C")


def _make_constant_array(context, builder, kind, value):
    """Returns an array whose data are at a fixed address. Numba would copy the contents into the code.

    It does so with other arrays, of any size: large ones would else be left where they are in this process.
    """
    if not isinstance(value, Placed):
        context.allow_dynamic_globals = False
        try:
            return BaseContext.make_constant_array(context, builder, kind, value)
        finally:
            del context.allow_dynamic_globals
    word, made = context.get_value_type(types.intp), context.make_array(kind)(context, builder)

    def read(address: int):
        return builder.load(ir.Constant(ir.IntType(32), address).inttoptr(word.as_pointer()))

    data = ir.Constant(ir.IntType(32), value.address).inttoptr(made.data.type)
    shape = [word(each) for each in value.shape]
    if value.moved_by:
        data = builder.inttoptr(read(value.moved_by), made.data.type)
        shape[-1] = read(value.moved_by + 8)
    strides = [word(value.dtype.itemsize)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    arrayobj.populate_array(
        made, data=data, shape=shape, strides=strides, itemsize=word(value.dtype.itemsize), meminfo=None
    )
    return made._getvalue()


CPUContext.make_constant_array = _make_constant_array
