"""Where a checkpoint's game, net and search come from: finds a user's file from the working or the run's folder.

A card has both paths of each file. With the second one the file is found from any working folder, and after run and
file have been moved together. To be found is not to be run: see `games/user/trust.py`.
"""

import os
import sysconfig
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import NamedTuple

from azero.errors import BadInput
from azero.games.names import file_of, parts_of
from azero.games.reasons import is_installed
from azero.games.user.sources import Sources


class Origin(NamedTuple):
    """Where a checkpoint's game, net or search comes from. Without a file of the user's, digest and place are empty."""

    kind: str  # "game", "net", "rule" or "root"
    name: str
    digest: str  # of the file's sources
    place: str  # the file's path from the run's folder


def place_of(name: str, run_folder: Path) -> str:
    """Returns the path from a run's folder to the file in a name; empty for azero's own.

    It is empty, too, if there is no such path, on another drive of Windows.
    """
    file = file_of(name)
    if file is None:
        return ""
    try:
        return Path(os.path.relpath(Path(file).resolve(), run_folder.resolve())).as_posix()
    except ValueError:
        return ""


def named_by(origin: Origin, path: Path) -> str:
    """Returns the name that a card has, with the file that it most likely means; see `find_named`.

    A card may come from anywhere. So an absolute path in it counts as a file in the working folder.

    Raises BadInput if the file is installed or behind a link, or if it is not a name.
    """
    file, name, arguments = parts_of(origin.name, origin.kind)
    if file is None:
        return origin.name
    # Normal, since the path that is checked should be the path that is opened.
    place = PureWindowsPath(file).name if _is_absolute(file) else os.path.normpath(file)
    told = find_named(f"{place}:{name}" + (f"({arguments})" if arguments else ""), origin, path)
    found = Path(os.path.normpath(Path.cwd() / str(file_of(told))))
    if found.is_file() and not _is_users_own(found):
        raise BadInput(
            f"{origin.kind} file {str(found)!r} is installed or behind a link, and is not taken from a checkpoint"
        )
    return told


def find_named(name: str, origin: Origin, path: Path) -> str:
    """Returns a name, with the file that the card most likely means. Runs no code.

    There are two candidates: the file in the name, and the file at the card's path from the run's folder. The one with
    the card's digest is chosen; if neither has it, the second. Without a second file the name stays as it is, and so do
    the names of azero's own. A second file that is installed or behind a link does not count.

    Args:
      name: the name in the card, or in the settings of its run.
      path: path of the checkpoint with that card, in a run's folder or in its checkpoints/.
    """
    file = file_of(name, origin.kind)
    if file is None or not origin.place or _is_absolute(origin.place):
        return name
    folder = path.resolve().parent
    run_folder = folder.parent if folder.name == "checkpoints" else folder
    beside = Path(os.path.normpath(run_folder / origin.place))
    if not _is_users_own(beside) or (Path(file).is_file() and Path(file).samefile(beside)):
        return name
    if _has_digest(file, origin):
        return name
    return name.replace(file, str(beside), 1)


def _is_absolute(file: str) -> bool:
    """Returns whether a path from a card is absolute, or on another system would be."""
    return any(kind(file).is_absolute() or kind(file).anchor for kind in (PurePosixPath, PureWindowsPath))


def _is_users_own(path: Path) -> bool:
    """Returns whether an absolute path is a file, in no library, and not behind a link."""
    libraries = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")]
    if is_installed(path) or any(path.is_relative_to(each) for each in libraries):
        return False
    return path.is_file() and path.resolve() == path


def _has_digest(file: str, origin: Origin) -> bool:
    try:
        return Sources(file, origin.kind).made(origin.digest)
    except BadInput:  # it is not there
        return False
