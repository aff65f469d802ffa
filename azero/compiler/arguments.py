"""Arguments of kernels as a library takes them: texts of their types, and 64-bit words.

The words are those of Numba's flattened arguments: an array is (0, 0, size, itemsize, address, shape, strides), a
record its address, a tuple its parts one after another. The text of a type differs wherever Numba's types do.
"""

import struct
import sys

import numpy as np


class NotTaken(Exception):
    """Libraries cannot take an argument."""


_MOST_KEPT = 64
_int64, _uint64, _double, _float = (struct.Struct(form).pack for form in ("<q", "<Q", "<d", "<fi"))

_KEPT: dict[int, tuple[tuple, str, bytes]] = {}
"""Tuples by identity, with their types and words. Rules and trees are tuples that many calls share."""

_HELD_HERE = 2
"""The references to a tuple in `_KEPT` that nobody else holds: the entry, and the question itself."""


def packed(arguments: tuple) -> tuple[tuple[str, ...], bytes]:
    """Returns the types and the words of a kernel's arguments; raises NotTaken if a library cannot take one."""
    try:
        pairs = [_packed(each) for each in arguments]
    except struct.error as error:  # an integer of more than 64 bits, for example
        raise NotTaken(str(error)) from None
    return tuple([kind for kind, _ in pairs]), b"".join([words for _, words in pairs])


def _packed(value) -> tuple[str, bytes]:
    kind = type(value)
    if kind is int:
        return ("<i8", _int64(value)) if value < 1 << 63 else ("<u8", _uint64(value))
    if kind is bool or kind is np.bool_:
        return "bool", _int64(int(value))
    if kind is float:
        return "<f8", _double(value)
    if value is None:
        return "none", bytes(8)
    if isinstance(value, tuple):
        return _packed_tuple(value)
    if isinstance(value, np.ndarray):
        flags = value.flags
        order = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        text = f"{_text(value.dtype)}{value.ndim}{order}{flags.writeable:d}{flags.aligned:d}"
        words = 0, 0, value.size, value.itemsize, value.__array_interface__["data"][0], *value.shape, *value.strides
        return text, struct.pack(f"<{len(words)}q", *words)
    if isinstance(value, np.void):
        memory = np.frombuffer(value, np.uint8)  # not the record's own interface, which may be of a copy
        return _text(value.dtype), _int64(memory.__array_interface__["data"][0])
    if isinstance(value, np.generic):
        return value.dtype.str, _number(value)
    raise NotTaken(f"a library takes no {kind.__name__}")


def _number(value: np.generic) -> bytes:
    if isinstance(value, np.float32):
        return _float(value, 0)
    if isinstance(value, np.float64):
        return _double(value)
    return _uint64(value) if isinstance(value, np.unsignedinteger) else _int64(value)


def _packed_tuple(value: tuple) -> tuple[str, bytes]:
    kept = _KEPT.get(id(value))
    if kept is not None and kept[0] is value:
        return kept[1], kept[2]
    kinds, words = packed(value)
    of_class = type(value)
    text = f"{of_class.__module__}.{of_class.__qualname__}({','.join(kinds)})"
    drop_unheld()
    _KEPT[id(value)] = value, text, words
    return text, words


def drop_unheld() -> None:
    """Drops tuples that nobody else holds, such as the trees of a search that is over; all, if many are left."""
    for key in reversed(list(_KEPT)):  # a tuple stands after those in it
        kept = _KEPT.get(key)
        if kept and sys.getrefcount(kept[0]) <= _HELD_HERE:
            _KEPT.pop(key, None)
    if len(_KEPT) >= _MOST_KEPT:
        _KEPT.clear()


_TEXTS: dict[int, tuple[np.dtype, str]] = {}


def _text(dtype: np.dtype) -> str:
    """Returns a dtype as text: kinds, names, places, sizes."""
    known = _TEXTS.get(id(dtype))
    if known is None or known[0] is not dtype:
        if len(_TEXTS) > 1000:
            _TEXTS.clear()
        known = _TEXTS[id(dtype)] = dtype, _described(dtype)
    return known[1]


def _described(dtype: np.dtype) -> str:
    if dtype.subdtype:
        base, shape = dtype.subdtype
        return f"{_described(base)}{list(shape)}"
    if dtype.fields is None:
        return dtype.str
    parts = [f"{name}:{_described(each[0])}@{each[1]}" for name, each in dtype.fields.items()]
    return f"{{{' '.join(parts)}}}{dtype.itemsize}{'a' if dtype.isalignedstruct else ''}"
