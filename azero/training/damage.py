"""What the check of a run has found so far, how it mends it, and how it says so."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

from azero.errors import BadInput, Damaged
from azero.runs.state import digest_of
from azero.system.files import put_aside
from azero.system.formats import OtherFormat


@dataclass
class Damage:
    """A file that is not whole."""

    file: str  # its path in the run's folder
    what: str  # is wrong with it
    cost: str  # of it, or of mending it
    repair: str  # what mends it; empty if nothing does
    is_repaired: bool = False


@dataclass(frozen=True)
class RunReport:
    """What was found in a run's folder."""

    run: str
    files: int  # that were read
    damaged: list[Damage]

    @property
    def is_whole(self) -> bool:
        return all(each.is_repaired for each in self.damaged)

    def to_json(self) -> dict:
        """Returns the report as JSON fields."""
        damaged = [asdict(each) for each in self.damaged]
        return {"run": self.run, "is_whole": self.is_whole, "files": self.files, "damaged": damaged}


def describe(report: RunReport) -> Iterator[str]:
    """Yields the lines of a report for people."""
    for each in report.damaged:
        mended = "  mended: " if each.is_repaired else "  --repair: "
        yield f"{each.file}: {each.what}"
        yield f"  cost: {each.cost}"
        yield f"{mended}{each.repair}" if each.repair else "  it cannot be mended"
    if not report.damaged:
        yield f"{report.run}: all {report.files} files are whole"
    elif report.is_whole:
        yield f"{report.run}: mended; the run goes on with: azero train --run {shlex.quote(report.run)} --resume"
    else:
        count = len(report.damaged)
        yield f"{report.run}: {count} file{' is' if count == 1 else 's are'} damaged or missing"


@dataclass
class Findings:
    """The damage of a run's folder."""

    folder: Path
    is_repairing: bool
    files: int = 0  # that were read
    damaged: list[Damage] = field(default_factory=list)

    def fault_of(self, path: Path, read: Callable[[Path], object], digest: str | None = None) -> str:
        """Reads a file by `read`; returns how it is damaged, empty if it is whole.

        Args:
          digest: that of the net or shard that should be there, if it is known.

        Raises BadInput if the file is as azero wrote it, but cannot be used here: it has a later format, or the game's
        file has changed. Nothing should be mended then.
        """
        if not path.exists():
            return "it is missing"
        self.files += 1
        if not path.is_file():
            return "it is not a file"
        try:
            read(path)
        except Damaged as error:
            return str(error)
        except BadInput as error:
            if isinstance(error, OtherFormat) or digest is None or digest == digest_of(path):
                raise
            return str(error)
        if digest is not None and digest != digest_of(path):
            return f"{str(path)!r} is another file than the one that the run's state names"
        return ""

    def note(self, path: Path, what: str, cost: str, repair: str, mend: Callable[[], object] | None = None) -> None:
        """Notes a damage, and mends it by `mend` if that is wanted and possible."""
        damage = Damage(path.relative_to(self.folder).as_posix(), what, cost, repair)
        self.damaged.append(damage)
        if self.is_repairing and mend is not None:
            if path.exists() and not path.is_file():
                put_aside(path)
            mend()
            damage.is_repaired = True

    def note_and_put_aside(self, path: Path, what: str, cost: str, then: str = "") -> None:
        """Notes a damage that is mended by giving the file another name. A missing file needs nothing."""
        if path.exists():
            repair = f"it is renamed to {path.name}.damaged{then}"
            self.note(path, what, cost, repair, lambda: path.exists() and put_aside(path))
        else:
            repair = then.removeprefix(", and ").removeprefix("; ") or "the run goes on without it"
            self.note(path, what, cost, repair, lambda: None)
