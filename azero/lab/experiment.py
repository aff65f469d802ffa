"""Experiments. Running one does its units of work, saves a row for each, and makes a table from the rows."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from azero.lab.results import Results
from azero.system.worker_pool import Pool

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
