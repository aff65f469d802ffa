"""What an experiment is, and how one is run: units of work are done and kept, and a table is made of them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from azero.lab.results import Results

Groups = dict[Any, list]
"""Units of work, by what a line of the table or of the plot is about."""


class Work(NamedTuple):
    """A kind of work: what is done with a unit, and the row that comes of it."""

    key: Sequence[str]  # the columns that name a row: a unit's first fields
    columns: Callable[[Sequence], Sequence[str]]  # the others, of these units
    do: Callable[[Any], dict[str, float]]  # returns a unit's values by column


class Experiment(NamedTuple):
    """An experiment of the paper's. Its parameters are a NamedTuple; with the same seed, they give the same rows."""

    name: str
    small: Any  # parameters that end in minutes
    full: Any  # the paper's size
    work: Work
    check: Callable[[Any], None]  # raises BadInput for parameters that will not do
    groups: Callable[[Any], Groups]
    report: Callable[[Results, Groups, Any], str]  # writes table and plot; returns the table

    def run(self, folder: Path, parameters: Any, num_workers: int) -> str:
        """Runs the experiment, or what is left of it; returns its table. Raises BadInput."""
        self.check(parameters)
        groups = self.groups(parameters)
        units = [unit for group in groups.values() for unit in group]
        results = Results(folder, self.name, parameters._asdict(), self.work.key, self.work.columns(units))
        results.complete(self.work.do, units, num_workers, self.name)
        return self.report(results, groups, parameters)
