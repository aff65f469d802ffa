"""Tests of packed files: what arrives is what was sent, or nothing does."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from azero.errors import Damaged
from azero.system.packed_files import pack, unpack, unpack_into


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files of a sender with the same name, and a receiver's empty folder."""
    monkeypatch.setenv("AZERO_PACKED_FILES", "")
    paths = [tmp_path / "sender" / name for name in ("one/net", "two/net")]
    for path in paths:
        path.parent.mkdir(parents=True)
        path.write_bytes(path.parent.name.encode())
    unpack_into(tmp_path / "receiver")
    return paths


def test_files_that_are_there_are_used_in_place(files, tmp_path):
    assert unpack(pack(files)) == {str(path): path for path in files}
    assert not (tmp_path / "receiver").exists()


def test_files_that_are_not_there_are_written_once(files, tmp_path):
    packed = pack(files)
    files[0].unlink()
    files[1].write_bytes(b"of another machine")
    found = unpack(packed)
    assert [found[str(path)].read_bytes() for path in files] == [b"one", b"two"]
    assert all(path.is_relative_to(tmp_path / "receiver") for path in found.values())
    times = [path.stat().st_mtime_ns for path in found.values()]
    assert unpack(packed) == found and [path.stat().st_mtime_ns for path in found.values()] == times
    found[str(files[0])].write_bytes(b"damaged")
    assert unpack(packed) == found and found[str(files[0])].read_bytes() == b"one"


def test_files_keep_their_places_to_each_other(files):
    packed = pack({files[0]: "rules.py", files[1]: "pieces/rook.py"})
    files[1].unlink()  # where one is missing, none is used in place
    rules, rook = unpack(packed).values()
    assert rook == rules.parent / "pieces" / "rook.py" and rules != files[0]


def test_a_process_has_a_folder_of_its_own(files, monkeypatch):
    monkeypatch.delenv("AZERO_PACKED_FILES")
    packed = pack(files)
    files[0].unlink()
    found = unpack(packed)[str(files[0])]
    place = Path(tempfile.gettempdir()).resolve()
    (folder,) = (each for each in found.parents if each.parent == place)
    assert folder.stat().st_mode & 0o77 == 0


def test_other_bytes_are_refused(files):
    one, two = pack(files)
    with pytest.raises(Damaged, match="has arrived with other bytes"):
        unpack((one, replace(two, data=b"tw0")))


@pytest.mark.parametrize("place", ["", "/etc/passwd", "../net", "a/../../net", "c:/net"])
def test_nothing_is_written_outside_the_folder(files, place):
    with pytest.raises(ValueError, match="is not a place in a folder"):
        unpack((replace(pack(files)[0], place=place),))
