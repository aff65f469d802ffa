"""`azero compare` shows the curves of several runs."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from azero.commands.options import JsonOption, as_path
from azero.errors import BadInput

if TYPE_CHECKING:
    from azero.training.comparison import Comparison

app = typer.Typer()

_AXES = {"time": "time_s", "positions": "positions", "iterations": "iteration"}


@app.command(epilog="Example:  azero compare runs/noise_0 runs/noise_1 runs/gumbel_0 runs/gumbel_1 --plot compare.png")
def compare(
    runs: Annotated[list[Path], typer.Argument(parser=as_path, metavar="RUN", help="The folders of the runs.")],
    plot: Annotated[
        Path | None,
        typer.Option("--plot", parser=as_path, metavar="FILE.png", help="Draw the curves into this file."),
    ] = None,
    over: Annotated[
        str, typer.Option("--over", help="The x axis of the curves: time, positions or iterations.")
    ] = "time",
    score: Annotated[
        float | None,
        typer.Option("--score", metavar="S", help="Say when each group reached this score, a share from 0 to 1."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the curves of several runs.

    Runs whose settings differ only in the seed are one group, and one row of the table. Runs that are still training
    can be compared, too.
    """
    if over not in _AXES:
        raise BadInput(f"--over {over!r} should be {', '.join(_AXES)}")
    if score is not None and not 0 < score <= 1:
        raise BadInput(f"--score {score:g} should be above 0 and at most 1, e.g. 0.9")
    if plot is not None:
        _check_plot(plot, runs)
    from azero.training.comparison import compare_runs, describe

    comparison = compare_runs(runs)
    if plot is not None:
        _draw(comparison, plot, _AXES[over])
    print(json.dumps(comparison.to_json(score)) if as_json else describe(comparison, score))


def _check_plot(plot: Path, runs: list[Path]) -> None:
    """Raises BadInput if the plot is no PNG file, or is in a run's folder, where only the run itself writes."""
    if plot.suffix != ".png":
        raise BadInput(f"--plot {str(plot)!r} should end in .png")
    for run in runs:
        if os.path.realpath(run) in map(str, Path(os.path.realpath(plot)).parents):  # no error for links in a circle
            raise BadInput(f"--plot {str(plot)!r} is in the folder of run {str(run)!r}; name a file outside of it")


def _draw(comparison: "Comparison", plot: Path, axis: str) -> None:
    try:
        comparison.draw(plot, axis)
    except OSError as error:
        raise BadInput(f"--plot {str(plot)!r} cannot be written: {error.strerror}") from None
