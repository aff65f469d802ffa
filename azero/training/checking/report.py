"""What the check of a run's folder has found."""

import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass


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
