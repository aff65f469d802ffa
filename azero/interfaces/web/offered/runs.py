"""`OfferedRuns`: the runs of a server by their ids, those that begin while it runs among them."""

import itertools
import threading
from collections.abc import Iterable
from pathlib import Path

from azero.errors import BadInput
from azero.interfaces.web.offered.agents import id_of
from azero.runs.folder import CONFIG, is_run

_MOST_LOOKED_AT = 1000  # entries of a folder of runs


def runs_in(folder: Path) -> list[Path]:
    """Returns the run in a folder, or the runs in its folders; raises BadInput if there are none."""
    if not folder.is_dir():
        raise BadInput(f"--runs {str(folder)!r} is not a folder")
    found = [folder] if is_run(folder) else _runs_below(folder)
    if not found:
        raise BadInput(f"folder {str(folder)!r} has no run: a run has a {CONFIG}")
    return found


class OfferedRuns:
    """Runs by their ids. A run keeps its id, even if it goes and comes back."""

    def __init__(self, folders: Iterable[Path]):
        """`folders` are runs, or folders of runs, where `look` finds further ones."""
        self._folders: dict[str, Path] = {}
        self._above: list[Path] = []
        self._lock = threading.Lock()
        for folder in folders:
            if is_run(folder):
                self._add(folder)
            else:
                self._above.append(folder)
        self.look()

    def look(self) -> list[str]:
        """Looks for runs that have begun since; returns their ids."""
        with self._lock:
            known = {folder.resolve() for folder in self._folders.values()}
            found = {each.resolve(): each for above in self._above for each in _runs_below(above)}
            return [self._add(folder) for place, folder in found.items() if place not in known]

    def ids(self) -> list[str]:
        """Returns the ids of the runs that are there."""
        return [run_id for run_id in list(self._folders) if self.folder_of(run_id) is not None]

    def folder_of(self, run_id: str) -> Path | None:
        """Returns the folder of a run; None if there is no such run, or its folder has become a link to elsewhere."""
        folder = self._folders.get(run_id)
        if folder is None or not folder.is_dir() or (folder.parent in self._above and not _is_inside(folder)):
            return None
        return folder

    def _add(self, folder: Path) -> str:
        run_id = id_of(str(folder.resolve()), set(self._folders)).replace(":", "-")
        self._folders[run_id] = folder
        return run_id


def _runs_below(folder: Path) -> list[Path]:
    """Returns the runs in a folder, by name. Links that lead out of the folder are left out."""
    try:
        entries = sorted(itertools.islice(folder.iterdir(), _MOST_LOOKED_AT))
    except OSError:
        return []
    return [each for each in entries if is_run(each) and _is_inside(each)]


def _is_inside(folder: Path) -> bool:
    """Returns whether a folder is where its path says: in its parent, not elsewhere behind a link."""
    try:
        return folder.resolve().is_relative_to(folder.parent.resolve())
    except (OSError, RuntimeError):  # a RuntimeError: links in a circle
        return False
