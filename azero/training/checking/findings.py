"""What the check of a run has found so far, and how it mends it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from azero.errors import BadInput, Damaged
from azero.runs.state import digest_of
from azero.system.files import put_aside
from azero.system.formats import OtherFormat
from azero.training.checking.report import Damage


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
