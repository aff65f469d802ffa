"""Packed files travel with tasks, by content: a worker on another machine reads the same bytes, or none.

They are plain data. Where they arrive, a file that is in its sender's place with the same digest is used there.
Otherwise they are written once into a private folder.
"""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from azero.errors import Damaged
from azero.system.files import read_regular, write_whole

_LARGEST = 1 << 30
"""Bytes of a file."""


@dataclass(frozen=True)
class PackedFile:
    """A file on its way."""

    path: str  # at the sender's
    place: str  # relative path in the receiver's folder, with slashes
    digest: str  # SHA-256 of the data, in hex digits
    data: bytes


PackedFiles = tuple[PackedFile, ...]
"""Files that belong together: where one cannot be used in place, none is."""


def pack(files: Iterable[str | Path] | Mapping[str | Path, str]) -> PackedFiles:
    """Packs these files; raises OSError if one cannot be read.

    Args:
      files: paths; or a mapping from paths to the places that the files keep to each other, e.g. "pieces/rook.py".
        Without places, each file keeps its name.
    """
    places = files if isinstance(files, Mapping) else {path: Path(path).name for path in files}
    packed = []
    for number, (path, place) in enumerate(places.items()):
        data = read_regular(Path(path), _LARGEST)
        own = place if isinstance(files, Mapping) else f"{number}/{place}"  # two files may have the same name
        packed.append(PackedFile(str(path), own, _digest(data), data))
    return tuple(packed)


def unpack(files: PackedFiles) -> dict[str, Path]:
    """Returns where each packed file is on this machine, by its sender's path; the same path if it is in place.

    Raises:
      Damaged: a file's bytes are not those of its digest.
      ValueError: a place is not within the receiver's folder.
      OSError: a file cannot be written.
    """
    for each in files:
        _check(each)
    if all(_is_here(Path(each.path), each.digest) for each in files):
        return {each.path: Path(each.path) for each in files}
    whole = hashlib.sha256("\n".join(f"{each.digest} {each.place}" for each in files).encode()).hexdigest()
    folder = _folder() / whole[:32]
    for each in files:
        if not _is_here(folder / each.place, each.digest):
            write_whole(folder / each.place, each.data)
    return {each.path: (folder / each.place).resolve() for each in files}


def unpack_into(folder: Path) -> None:
    """Makes this process write packed files into `folder`. Processes of one machine may share it.

    Only the user may be able to write there. Otherwise each process has a folder of its own, until it ends.
    """
    os.environ[_PLACE] = str(folder)


_PLACE = "AZERO_PACKED_FILES"
"""The environment's variable with the folder of packed files. Processes that this one starts have it, too."""


@cache
def _own_folder() -> tempfile.TemporaryDirectory:
    """Returns a private folder that is removed when this process ends."""
    return tempfile.TemporaryDirectory(prefix="azero-", ignore_cleanup_errors=True)


def _folder() -> Path:
    if not (chosen := os.environ.get(_PLACE)):
        return Path(_own_folder().name)
    folder = Path(chosen)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _check(file: PackedFile) -> None:
    place = PurePosixPath(file.place)
    if place.is_absolute() or not place.parts or any(part in ("..", "") or ":" in part for part in place.parts):
        raise ValueError(f"{file.place!r} is not a place in a folder")
    if _digest(file.data) != file.digest:
        raise Damaged(f"{file.path!r} has arrived with other bytes than it was sent with")


def _is_here(path: Path, digest: str) -> bool:
    try:
        return _digest(read_regular(path, _LARGEST)) == digest
    except (OSError, ValueError):
        return False


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
