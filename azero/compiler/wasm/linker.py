"""Links one object of LLVM into a WebAssembly module: gives data their addresses, patches the code, names the exports.

Source:
  WebAssembly tool conventions, Linking.md; WebAssembly core specification, chapter 5, Binary Format.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

PAGE = 1 << 16
_ALIGNMENT = 16  # bytes, of what follows the data

_MAGIC = b"\0asm\1\0\0\0"
_CUSTOM, _TYPES, _IMPORTS, _FUNCTIONS, _TABLES, _MEMORY, _GLOBALS, _EXPORTS = range(8)
_ELEMENTS, _CODE, _DATA, _COUNT_OF_DATA = 9, 10, 11, 12  # 8 is the function that begins
_OF_FUNCTION, _OF_TABLE, _OF_MEMORY, _OF_GLOBAL = range(4)  # kinds of imports and exports
_SEGMENT_INFO, _SYMBOL_TABLE = 5, 8  # parts of the section "linking"
_FUNCTION, _DATUM, _SECTION = 0, 1, 3  # kinds of symbols; the others are numbered like functions
_UNDEFINED, _HAS_NAME = 0x10, 0x40  # flags of a symbol

_FUNCTION_INDEX, _TABLE_INDEX, _TABLE_INDEX_I32, _ADDRESS, _ADDRESS_SIGNED, _ADDRESS_I32, _TYPE, _GLOBAL = range(8)
_TABLE_NUMBER = 20
_WITH_ADDEND = {_ADDRESS, _ADDRESS_SIGNED, _ADDRESS_I32, 8, 9}
"""Kinds of relocations."""


class Segment(NamedTuple):
    """Bytes of the memory that a module sets when it is loaded."""

    address: int
    content: bytes


class Linked(NamedTuple):
    """A module, and where its data are.

    Attributes:
      end: the first address behind the module's data.
      addresses: of data, by name.
      image: the contents of the data, from `begin` on.
    """

    module: bytes
    begin: int
    end: int
    addresses: dict[str, int]
    image: bytes

    def read(self, address: int, size: int) -> bytes:
        """Returns bytes of the data."""
        return self.image[address - self.begin : address - self.begin + size]

    def without(self, module: bytes, address: int, size: int) -> bytes:
        """Returns the module, or one that was made of it so, with zeros in place of bytes of the data."""
        begin = len(module) - len(self.image.rstrip(b"\0")) + address - self.begin  # the data are at its end
        return module[:begin] + bytes(size) + module[begin + size :]


class Undefined(Exception):
    """The object calls functions that nobody defines: their names are the arguments."""


def unsigned(number: int, size: int = 0) -> bytes:
    """Returns a number as LEB128, filled up to `size` bytes."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        is_last = number == 0 and len(out) + 1 >= size
        out.append(low | (0 if is_last else 0x80))
        if is_last:
            return bytes(out)


def signed(number: int, size: int = 0) -> bytes:
    """Returns a number as signed LEB128, filled up to `size` bytes."""
    out = bytearray()
    while True:
        low, number = number & 0x7F, number >> 7
        is_last = number == (-1 if low & 0x40 else 0) and len(out) + 1 >= size
        out.append(low | (0 if is_last else 0x80))
        if is_last:
            return bytes(out)


class _Reader:
    """Reads bytes from a place on."""

    def __init__(self, content: bytes, at: int = 0):
        self.content, self.at = content, at

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def take(self, size: int) -> bytes:
        self.at += size
        return bytes(self.content[self.at - size : self.at])

    def number(self) -> int:
        """Reads an unsigned LEB128."""
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def signed(self) -> int:
        """Reads a signed LEB128."""
        begin, value = self.at, self.number()
        bits = 7 * (self.at - begin)
        return value - (1 << bits) if self.content[self.at - 1] & 0x40 else value

    def name(self) -> str:
        return self.take(self.number()).decode()


class _Symbol(NamedTuple):
    kind: int
    is_defined: bool
    name: str
    place: int  # of a function, a global or a table; of data, their segment
    offset: int = 0  # of data, in their segment


class _Object:
    """An object, read."""

    def __init__(self, content: bytes):
        self.sections: dict[int | str, bytes] = {}
        reader = _Reader(content, len(_MAGIC))
        while reader.at < len(content):
            kind, size = reader.byte(), reader.number()
            body = _Reader(reader.take(size))
            key: int | str = body.name() if kind == _CUSTOM else kind
            self.sections[key] = body.content[body.at :]
        self.has_table = self._read_imports()
        self._read_linking()

    def _read_imports(self) -> bool:
        """Reads the functions that the object imports; returns whether it imports a table."""
        self.imported: list[str] = []
        has_table = False
        reader = _Reader(self.sections[_IMPORTS])
        for _ in range(reader.number()):
            reader.name()
            name, kind = reader.name(), reader.byte()
            if kind == _OF_FUNCTION:
                reader.number()
                self.imported.append(name)
            elif kind == _OF_GLOBAL:
                reader.take(2)
            else:
                has_table |= kind == _OF_TABLE
                reader.take(1 if kind == _OF_TABLE else 0)
                has_most = reader.number() & 1
                reader.number()
                if has_most:
                    reader.number()
        return has_table

    def _read_linking(self) -> None:
        self.symbols: list[_Symbol] = []
        self.alignments: list[int] = []  # of segments, in bytes
        reader = _Reader(self.sections["linking"])
        assert reader.number() == 2, "the version of the conventions"
        while reader.at < len(reader.content):
            kind, size = reader.byte(), reader.number()
            part = _Reader(reader.take(size))
            if kind == _SEGMENT_INFO:
                for _ in range(part.number()):
                    part.name()
                    self.alignments.append(1 << part.number())
                    part.number()
            elif kind == _SYMBOL_TABLE:
                self.symbols = [self._read_symbol(part) for _ in range(part.number())]

    def _read_symbol(self, reader: _Reader) -> _Symbol:
        kind, flags = reader.byte(), reader.number()
        is_defined = not flags & _UNDEFINED
        if kind == _DATUM:
            name = reader.name()
            if not is_defined:
                return _Symbol(kind, False, name, -1)
            index, offset = reader.number(), reader.number()
            reader.number()
            return _Symbol(kind, True, name, index, offset)
        index = reader.number()
        has_name = kind != _SECTION and (is_defined or flags & _HAS_NAME)
        return _Symbol(kind, is_defined, reader.name() if has_name else "", index)

    def segments(self, data: bytes) -> list[bytes]:
        """Returns the contents of the segments in a data section."""
        reader, found = _Reader(data), []
        for _ in range(reader.number()):
            reader.take(2)  # flags, and the instruction i32.const
            reader.signed()
            reader.byte()
            found.append(reader.take(reader.number()))
        return found


def link(content: bytes, begin: int, entries: Iterable[str], filled: Sequence[Segment] = (), stack: int = 0) -> Linked:
    """Returns the module of an object. It exports its memory, and the entries by their names.

    Args:
      begin: the address of its data.
      filled: further contents of memory.
      stack: the address that the stack grows down from.

    Raises Undefined if it imports functions.
    """
    found = _Object(content)
    if found.imported:
        raise Undefined(*found.imported)
    sections = found.sections
    contents = found.segments(sections.get(_DATA, b"\0"))
    places, at = [], begin
    for segment, alignment in zip(contents, found.alignments, strict=True):
        at = -(-at // alignment) * alignment
        places.append(at)
        at += len(segment)
    end = -(-at // _ALIGNMENT) * _ALIGNMENT

    def address(symbol: _Symbol) -> int:
        return places[symbol.place] + symbol.offset if symbol.is_defined else 0

    table: dict[int, int] = {}  # places of functions that are called by pointers
    code, data = (
        _patch(sections.get(kind, b"\0"), sections.get(name, b"\0\0"), found.symbols, address, table)
        for kind, name in ((_CODE, "reloc.CODE"), (_DATA, "reloc.DATA"))
    )
    image = bytearray(end - begin)
    for place, segment in zip(places, found.segments(data), strict=True):
        image[place - begin : place - begin + len(segment)] = segment
    functions = {each.name: each.place for each in found.symbols if each.kind == _FUNCTION and each.is_defined}
    exports = [_name("memory") + bytes([_OF_MEMORY, 0])]
    exports += [_name(each) + bytes([_OF_FUNCTION]) + unsigned(functions[each]) for each in entries]
    kept = [each for each in (*filled, Segment(begin, bytes(image).rstrip(b"\0"))) if each.content]
    written = {
        _TYPES: sections[_TYPES],
        _FUNCTIONS: sections[_FUNCTIONS],
        _TABLES: _vector([b"\x70\0" + unsigned(len(table) + 1)]) if found.has_table else b"",
        _MEMORY: _vector([b"\0" + unsigned(-(-end // PAGE))]),
        _GLOBALS: _vector([b"\x7f\1\x41" + signed(stack) + b"\x0b"]),  # the stack's pointer, a variable i32
        _EXPORTS: _vector(exports),
        _ELEMENTS: _vector([b"\0\x41\1\x0b" + _vector([unsigned(each) for each in table])]) if table else b"",
        _COUNT_OF_DATA: unsigned(len(kept)),
        _CODE: code,
        _DATA: _vector(
            [b"\0\x41" + signed(each.address) + b"\x0b" + unsigned(len(each.content)) + each.content for each in kept]
        ),
    }
    module = _MAGIC + b"".join(bytes([kind]) + unsigned(len(body)) + body for kind, body in written.items() if body)
    addresses = {each.name: address(each) for each in found.symbols if each.kind == _DATUM and each.is_defined}
    return Linked(module, begin, end, addresses, bytes(image))


def _patch(
    section: bytes, relocations: bytes, symbols: Sequence[_Symbol], address, table: Mapping[int, int] | dict
) -> bytes:
    """Returns a section with the numbers that are known only now."""
    out, reader = bytearray(section), _Reader(relocations)
    reader.number()  # of the section
    for _ in range(reader.number()):
        kind, at, index = reader.byte(), reader.number(), reader.number()
        addend = reader.signed() if kind in _WITH_ADDEND else 0
        if kind == _TYPE:
            patch = unsigned(index, 5)
        elif kind in (_GLOBAL, _TABLE_NUMBER):  # there is one of each
            patch = unsigned(0, 5)
        elif kind == _FUNCTION_INDEX:
            patch = unsigned(symbols[index].place, 5)
        elif kind in (_TABLE_INDEX, _TABLE_INDEX_I32):
            place = table.setdefault(symbols[index].place, len(table) + 1)  # type: ignore[union-attr]
            patch = signed(place, 5) if kind == _TABLE_INDEX else place.to_bytes(4, "little")
        elif kind == _ADDRESS:
            patch = unsigned(address(symbols[index]) + addend, 5)
        elif kind == _ADDRESS_SIGNED:
            patch = signed(address(symbols[index]) + addend, 5)
        elif kind == _ADDRESS_I32:
            patch = (address(symbols[index]) + addend).to_bytes(4, "little")
        else:
            raise ValueError(f"a relocation of kind {kind}")
        out[at : at + len(patch)] = patch
    return bytes(out)


def _vector(parts: Sequence[bytes]) -> bytes:
    return unsigned(len(parts)) + b"".join(parts)


def _name(text: str) -> bytes:
    return _vector([bytes([each]) for each in text.encode()])
