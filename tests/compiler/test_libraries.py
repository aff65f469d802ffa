"""Tests of kernels in shared libraries: results and errors are Numba's, and a library that is off counts as none."""

import ctypes
import pickle
import shutil
from enum import IntEnum
from typing import NamedTuple

import numba
import numpy as np
import pytest

from azero.compiler import arguments, libraries
from azero.compiler.arguments import NotTaken, drop_unheld, packed
from azero.compiler.jit import IS_COMPILED, Kernel, kernel
from azero.compiler.libraries import FEATURES, Entry, why_unused
from azero.errors import BadInput
from azero.system.machine import cpu_flags

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
needs_library = pytest.mark.skipif(
    shutil.which("cc") is None or not cpu_flags() >= set(FEATURES.values()), reason="no library is made or used here"
)

CELL = np.dtype([("owner", np.int8), ("value", np.float32), ("marks", np.uint64, (2,))], align=True)


class Pair(NamedTuple):
    """A tuple of the kinds of arguments that kernels have."""

    cells: np.ndarray
    factor: float


class Other(NamedTuple):
    """The same fields in another class, which may have other methods."""

    cells: np.ndarray
    factor: float


def work_on(pair, cell, numbers, word, small, is_on):
    if small < 0:
        raise BadInput("it is negative")
    cell.owner += 1
    pair.cells[0].value = pair.factor * numbers[-1]
    numbers[0] += word >> np.uint64(1)
    return word, np.float32(0.5) * small, is_on, cell.owner == 2, len(pair.cells)


by_numba = kernel(work_on)


def values(small=3):
    """Returns arguments of `work_on`."""
    cells = np.zeros(2, CELL)
    cells[1].setfield(1, np.int8)
    cells["owner"][1] = 1
    return Pair(cells, 2.5), cells[1], np.arange(1, 5, dtype=np.uint64), np.uint64(2**63 + 7), small, True


def looked(work, small=3):
    """Returns what a kernel returns, and what it has changed."""
    given = values(small)
    return repr(work(*given)), given[0].cells.tobytes(), given[2].tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a library of `work_on`."""
    from numba.core.caching import NullCache

    from azero.compiler.linking import Used, link

    given = values()
    kinds, words = packed(given)
    compiled = Kernel(work_on).by_numba
    compiled._cache = NullCache()  # code from the disk cannot be linked
    compiled.compile(tuple(map(numba.typeof, given)))
    name = f"{work_on.__module__}.{work_on.__qualname__}"
    folder = tmp_path_factory.mktemp("libraries")
    link([Used(name, kinds, len(words) // 8, next(iter(compiled.overloads.values())))], folder / "some")
    return folder


@pytest.fixture
def found(folder, tmp_path, monkeypatch):
    """A copy of the library, and a function that returns the entries of `work_on` in it."""
    copy = shutil.copytree(folder, tmp_path / "copy")
    monkeypatch.setattr(libraries, "FOLDER", copy)

    def entries():
        libraries._libraries.cache_clear()
        return libraries.entries_of(work_on)

    yield copy, entries
    libraries._libraries.cache_clear()


@needs_library
def test_a_library_gives_what_numba_gives_and_raises_the_same(found, monkeypatch):
    _, entries = found
    in_library = Kernel(work_on)
    in_library._entries = entries()
    monkeypatch.setattr(Kernel, "by_numba", property(lambda kernel: pytest.fail("the library has it")))
    from_library = looked(in_library)
    with pytest.raises(BadInput, match="^it is negative$"):
        looked(in_library, small=-1)
    monkeypatch.undo()
    assert from_library == looked(by_numba)


@needs_library
def test_other_types_are_compiled_by_numba(found):
    in_library = Kernel(work_on)
    in_library._entries = found[1]()
    pair, *rest = values()
    assert in_library(Other(*pair), *rest) == by_numba(*values())


@needs_library
def test_a_library_that_is_damaged_or_made_for_something_else_counts_as_none(found, monkeypatch):
    folder, entries = found
    assert len(entries()) == 1
    for what, name in (("platform", "sysconfig.get_platform"), ("version of azero", "digest_of_sources")):
        with monkeypatch.context() as patch:
            patch.setattr(f"azero.compiler.libraries.{name}", lambda: "another")
            assert entries() is None and why_unused().endswith(f"some.so is not used: it was made for another {what}")
    with monkeypatch.context() as patch:
        patch.setattr(libraries, "cpu_flags", lambda: set(FEATURES.values()) - {"fma", "avx2"})
        assert entries() is None and why_unused().endswith("this CPU lacks avx2, fma")
    manifest, library = folder / "some.json", folder / "some.so"
    whole = manifest.read_bytes()
    flipped = (
        whole.replace(old, new) for old, new in ((b"kernel_0", b"kernel_1"), (b"(Qd?", b"(Qf?"), (b"<i8", b"<u8"))
    )
    for text in (*flipped, b"", b"{", b"[]", whole[:-20], whole[65:]):
        assert text != whole
        manifest.write_bytes(text)
        assert entries() is None and why_unused().endswith("it is damaged")
    manifest.write_bytes(whole)
    assert len(entries()) == 1 and not why_unused()
    whole = library.read_bytes()
    library.unlink()  # this process still runs it
    library.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert entries() is None and why_unused().endswith("it is damaged")
    library.unlink()
    assert entries() is None


def test_a_status_without_an_exception_is_an_error():
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
    with pytest.raises(RuntimeError, match="failed with status 7"):
        Entry({"kernel_0": kind(lambda *_: 7)}, "kernel_0", "")(b"")


def test_types_differ_where_numba_s_do():
    numbers, cells = np.zeros((2, 3)), np.zeros(3, CELL)
    frozen = numbers.copy()
    frozen.flags.writeable = False
    unlike = [
        *(1, 2**63, True, 1.5, None, np.int32(1), np.uint8(1), np.float32(1)),
        *(numbers, numbers.T, numbers[:, 1:], numbers[0], numbers.astype(np.float32), frozen),
        *(
            cells,
            cells[0],
            np.zeros(3, [("owner", np.int8)]),
            np.zeros(3, np.dtype([("owner", np.int8), ("value", np.float32), ("marks", np.uint64, (2,))])),
        ),
        *(Pair(cells, 1.0), Other(cells, 1.0), Pair(cells, 1), (1, 2), (1, 2.0), (1, 2, 3)),
    ]
    kinds = [packed((each,))[0] for each in unlike]
    assert len(set(kinds)) == len(unlike) == len({numba.typeof(each) for each in unlike})
    for one, same in (
        (1, -(2**63)),
        (1, np.int64(5)),
        (1.5, np.float64(0)),
        (True, np.False_),
        (numbers, np.ones((1, 1))),
    ):
        assert packed((one,))[0] == packed((same,))[0] and numba.typeof(one) == numba.typeof(same)
    for other in ("text", 1j, 2**64, np.float16(1), IntEnum("Side", "left").left):
        with pytest.raises(NotTaken):
            packed((other,))


@pytest.mark.parametrize("value", [np.zeros(3, ">f4"), np.zeros(3, np.dtype(CELL.descr, align=False))])
def test_another_order_of_bytes_or_other_places_are_another_type(value):
    assert packed((value,))[0] != packed((value.astype(value.dtype.newbyteorder()),))[0]


@needs_library
def test_a_record_with_memory_of_its_own_is_changed_in_place(found):
    in_library = Kernel(work_on)
    in_library._entries = found[1]()
    pair, cell, *rest = values()
    own = pickle.loads(pickle.dumps(cell))
    assert own.base is None
    in_library(pair, own, *rest)
    by_numba(pair, cell, *rest)
    assert own.tobytes() == cell.tobytes()


@needs_library
def test_what_libraries_cannot_take_goes_to_numba(found):
    in_library = Kernel(work_on)
    in_library._entries = found[1]()
    with pytest.raises(numba.core.errors.TypingError, match="too large"):
        in_library(*values(2**70))


def test_what_nobody_else_holds_is_not_kept():
    arguments._KEPT.clear()
    held = Pair(np.zeros(1, CELL), 1.0)
    packed((held, Pair(np.zeros(1, CELL), 2.0)))
    packed(((1, 2),))
    assert next(each[0] for each in arguments._KEPT.values()) is held and len(arguments._KEPT) == 2
    arguments._KEPT.clear()
    around = (held, 3)
    packed((around,))
    del held, around
    drop_unheld()
    assert not arguments._KEPT
    held = Pair(np.zeros(1, CELL), 1.0)
    some = [Pair(held.cells, float(k)) for k in range(200)]
    packed(tuple(some))
    assert len(arguments._KEPT) <= 64
