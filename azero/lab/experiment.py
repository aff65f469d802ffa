"""Experiments. Running one does its units of work, saves a row for each, and makes a table from the rows.

The folder of an experiment has its name and its parameters in `experiment.json`, and a row for each finished unit of
work in `results.csv`. `table.md` and `plot.png` are made from these rows. A stopped experiment continues from them.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tqdm import tqdm

from azero import __version__
from azero.errors import BadInput
from azero.system.console import say
from azero.system.files import LOCK, held, read_regular, write_whole
from azero.system.formats import is_number
from azero.system.worker_pool import Pool, do_in_order

_LARGEST = 1 << 23  # bytes of a file

_ADVICE = "move it away, or name a new folder with --out"


class Table(NamedTuple):
    """A table in Markdown; `notes` are lines below it."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [self.header, *self.rows]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.header))]
        padded = [[f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)] for line in lines]
        texts = [f"| {' | '.join(line)} |" for line in padded]
        texts.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return "\n".join([*texts, *(f"\n{note}" for note in self.notes)])


class Results:
    """The open folder of an experiment: a new one, or one of the same experiment with the same parameters.

    The first cells of a row, its key, identify it; the others are numbers or empty. Rows are written one by one.

    Raises:
      BadInput: the folder has other contents or is in use by another run. It is not changed.
    """

    def __init__(self, folder: Path, name: str, parameters: dict[str, Any], key: Sequence[str], values: Sequence[str]):
        self.folder = folder
        self._columns = [*key, *values]
        self._num_keys = len(key)
        self._path = folder / "results.csv"
        self._card_path = folder / "experiment.json"
        self.rows: dict[tuple[str, ...], dict[str, float]] = {}
        if folder.exists() and not folder.is_dir():
            raise BadInput(f"--out {str(folder)!r} is a file, not an experiment's folder; name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        with held(folder, _in_use(folder)):
            self._open(name, json.loads(json.dumps(parameters)))

    def _open(self, name: str, parameters: dict[str, Any]) -> None:
        if self._card_path.is_file():
            _check_card(self.folder, self._read_card(), name, parameters)
        elif any(path.name != LOCK for path in self.folder.iterdir()):
            raise BadInput(f"--out {str(self.folder)!r} has other files than an experiment's; name a new folder")
        else:
            self._write_card({"experiment": name, "azero": __version__, "parameters": parameters})
        if self._path.exists():
            self._read()
        else:
            write_whole(self._path, _csv_line(self._columns).encode())

    def _read(self) -> None:
        """Reads the existing rows. An incomplete last row is removed."""
        data = read_regular(self._path, _LARGEST)
        whole = data[: data.rfind(b"\n") + 1]
        try:
            header, *lines = csv.reader(io.StringIO(whole.decode(), newline=""), strict=True) if whole else [[]]
            if header != self._columns or any(len(line) != len(header) for line in lines):
                raise ValueError
            self.rows = {tuple(line[: self._num_keys]): self._numbers(line) for line in lines}
        except (ValueError, csv.Error):
            raise BadInput(f"{str(self._path)!r} is damaged: {_ADVICE}") from None
        if len(self.rows) < len(lines):
            raise BadInput(f"{str(self._path)!r} has two rows with the same key: {_ADVICE}")
        if whole != data:
            write_whole(self._path, whole)

    def _numbers(self, cells: Sequence[str]) -> dict[str, float]:
        """Returns a row's numbers by column, NaN for an empty cell; raises ValueError."""
        pairs = zip(self._columns[self._num_keys :], cells[self._num_keys :], strict=True)
        return {column: float(cell or "nan") for column, cell in pairs}

    def _read_card(self) -> dict[str, Any]:
        """Returns the contents of `experiment.json`; raises BadInput."""
        try:
            card = json.loads(read_regular(self._card_path, _LARGEST))
            if isinstance(card, dict):
                return card
        except (ValueError, RecursionError):
            pass
        raise BadInput(f"{str(self._card_path)!r} is damaged; name a new folder with --out")

    def _write_card(self, card: dict[str, Any]) -> None:
        write_whole(self._card_path, f"{json.dumps(card, indent=2)}\n".encode())

    def measured_once(self, name: str, count: int, measure: Callable[[], list[float]]) -> list[float]:
        """Returns the `count` positive numbers of a measurement, which is made once and saved in `experiment.json`."""
        with held(self.folder, _in_use(self.folder)):
            card = self._read_card()
            if name not in card:
                card[name] = [float(each) for each in measure()]
                self._write_card(card)
            found = card[name]
            if isinstance(found, list) and len(found) == count and all(is_number(each) and each > 0 for each in found):
                return found
            raise BadInput(f"{str(self._card_path)!r} is damaged: {name}; name a new folder with --out")

    def complete(
        self,
        work: Callable[[Any], dict[str, Any]],
        units: Iterable,
        num_workers: int,
        label: str,
        pool: Pool | None = None,
    ) -> None:
        """Does the units of work that have no row yet, and writes their rows in the order of the units.

        Args:
          work: returns a unit's values by column. With several workers it runs in other processes.
          units: plain tuples; the first fields of each are its row's key.
          pool: other workers, which do the work instead.

        Raises:
          BadInput: the folder is in use by another run.
        """
        units = list(units)
        with held(self.folder, _in_use(self.folder)):
            self._read()  # another run may have added rows since the folder was opened
            left = [unit for unit in units if self._key(unit) not in self.rows]
            done = len(units) - len(left)
            with tqdm(total=len(units), initial=done, desc=label, leave=False, disable=None, delay=0.5) as bar:
                for unit, values in zip(left, do_in_order(work, left, num_workers, label, pool), strict=True):
                    cells = (_cell(values.get(column, "")) for column in self._columns[self._num_keys :])
                    self._append([*self._key(unit), *cells])
                    bar.update()

    def row(self, unit: Sequence) -> dict[str, float]:
        """Returns the numbers of a finished unit by column, NaN for an empty cell."""
        return self.rows[self._key(unit)]

    def _key(self, unit: Sequence) -> tuple[str, ...]:
        return tuple(str(cell) for cell in unit[: self._num_keys])

    def _append(self, cells: list[str]) -> None:
        # A power failure may lose the last rows; their units are done again.
        with open(self._path, "a", encoding="utf-8", newline="") as file:
            file.write(_csv_line(cells))
        self.rows[tuple(cells[: self._num_keys])] = self._numbers(cells)

    def write_table(self, table: Table) -> str:
        """Writes `table.md`; returns its text."""
        text = str(table)
        write_whole(self.folder / "table.md", f"{text}\n".encode())
        return text


def _in_use(folder: Path) -> str:
    return f"--out {str(folder)!r} is in use by another run; wait for its end, or name another folder"


def _check_card(folder: Path, card: dict[str, Any], name: str, parameters: dict[str, Any]) -> None:
    """Raises BadInput unless `experiment.json` is of this experiment; notes another version on stderr."""
    try:
        found, theirs = str(card["experiment"]), dict(card["parameters"])
    except (ValueError, KeyError, TypeError):
        raise BadInput(f"{str(folder / 'experiment.json')!r} is damaged; name a new folder with --out") from None
    advice = "name another folder with --out"
    if found != name:
        raise BadInput(f"--out {str(folder)!r} has the experiment {found}, not {name}; {advice}")
    for key in {**parameters, **theirs}:
        if parameters.get(key) != theirs.get(key):
            there, here = json.dumps(theirs.get(key)), json.dumps(parameters.get(key))
            raise BadInput(f"--out {str(folder)!r} has {name} with {key} = {there}, not {here}; {advice}")
    version = card.get("azero", "(version unknown)")
    if version != __version__:
        say(f"{str(folder)!r} was begun by azero {version} and continues with {__version__}")


def _csv_line(cells: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


Groups = dict[Any, list]
"""Units of work, by the line of the table or plot that shows them."""


class Work(NamedTuple):
    """A kind of work: what is done with a unit, and the columns of its row."""

    key: Sequence[str]  # the columns that identify a row: the first fields of a unit
    columns: Callable[[Sequence], Sequence[str]]  # returns the other columns, given the units
    doing: Callable[[Sequence], Callable[[Any], dict[str, float]]]  # returns what turns a unit into values by column


class Experiment(NamedTuple):
    """An experiment of the paper. Its parameters are a NamedTuple; with the same seed, they give the same rows."""

    name: str
    small: Any  # parameters for a run of minutes
    full: Any  # parameters of the paper's size
    work: Work
    check: Callable[[Any], None]  # raises BadInput for wrong parameters
    groups: Callable[[Any], Groups]
    report: Callable[[Results, Groups, Any], str]  # writes table and plot; returns the table

    def run(self, folder: Path, parameters: Any, num_workers: int, pool: Pool | None = None) -> str:
        """Does the units of work that have no row yet; returns the table. Raises BadInput.

        Args:
          num_workers: number of processes here.
          pool: other workers, which do the work instead.
        """
        self.check(parameters)
        groups = self.groups(parameters)
        units = [unit for group in groups.values() for unit in group]
        results = Results(folder, self.name, parameters._asdict(), self.work.key, self.work.columns(units))
        results.complete(self.work.doing(units), units, num_workers, self.name, pool)
        return self.report(results, groups, parameters)
