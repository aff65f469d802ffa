"""`azero lab`: a command for each experiment. What they have in common is added to the options of each."""

from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from azero.errors import BadInput, Stopped

app = typer.Typer(
    help="Rerun the UCT paper's experiments.",
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMON = {
    "out": Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The folder of the results; results/NAME unless given.")
    ],
    "full": Annotated[bool, typer.Option("--full", help="The paper's size: hours to days, by the experiment.")],
    "threads": Annotated[int | None, typer.Option("--threads", help="Workers; all cores unless given.")],
    "seed": Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice; 0 unless given.")],
    "uct": Annotated[
        str | None, typer.Option("--uct", metavar="AGENT", help="UCT with other options, without a limit.")
    ],
}
_TREES = {
    "trees": Annotated[int | None, typer.Option("--trees", help="Random trees.")],
    "runs": Annotated[int | None, typer.Option("--runs", help="Runs on each of the trees.")],
}
_ITERATIONS = {"iterations": Annotated[int | None, typer.Option("--iterations", help="Iterations of a run.")]}
_GAMES = {
    "games": Annotated[int | None, typer.Option("--games", help="Games of a match, in pairs with colours swapped.")],
    "game": Annotated[str | None, typer.Option("--game", help="The game, e.g. of another size; see `azero games`.")],
}


@app.callback()
def lab(context: typer.Context) -> None:
    """Rerun the UCT paper's experiments.

    Each writes its rows, a table and a plot into a folder, and goes on there where it was stopped.
    """
    if context.invoked_subcommand is None:
        for command in app.registered_commands:
            print(f"{command.name:<15} {(command.callback.__doc__ or '').splitlines()[0]}")


def _add(name: str, summary: str, example: str, options: dict[str, Any]) -> None:
    """Adds the command of an experiment, with an option for each of its parameters."""

    def command(out: Path | None, full: bool, threads: int | None, **given: Any) -> None:
        _run(name, out, full, threads, {key: value for key, value in given.items() if value is not None})

    parameters = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=False if key == "full" else None, annotation=option)
        for key, option in {**_COMMON, **options}.items()
    ]
    command.__doc__ = summary
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # by which typer knows the options
    app.command(name, epilog=f"Example:  azero lab {name} {example}")(command)


def _numbers(option: str, kind: type, what: str) -> Any:
    """Returns an option that takes several numbers, with commas between them."""

    def parse(text: str) -> tuple:
        try:
            return tuple(kind(part) for part in text.split(","))
        except ValueError:
            example = "1000,500" if kind is int else "0.1,0.01"
            raise BadInput(f"{option} {text!r} should be numbers, e.g. {example}") from None

    return Annotated[tuple | None, typer.Option(option, parser=parse, metavar="N,N,...", help=what)]


def _run(name: str, out: Path | None, is_full: bool, threads: int | None, given: dict[str, Any]) -> None:
    from azero.system.workers import check_workers

    experiment = import_module(f"azero.lab.{name.replace('-', '_')}").EXPERIMENT
    parameters = (experiment.full if is_full else experiment.small)._replace(**given)
    folder = out or Path("results") / (f"{name}-full" if is_full else name)
    try:
        table = experiment.run(folder, parameters, check_workers(threads))
    except KeyboardInterrupt:
        raise Stopped(f"stopped; the same command goes on with what is in {folder}") from None
    print(f"{table}\n\n{folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


_add(
    "pgame-failure",
    "Figure 4: wrong moves of UCT, alpha-beta and plain Monte Carlo, averaged or minimax, in random trees.",
    "--trees 100 --runs 2",
    {**_TREES, **_ITERATIONS},
)
_add(
    "pgame-growth",
    "Figure 5: iterations that UCT needs in random trees, by depth and branching.",
    "--trees 200 --rates 0.1,0.03",
    {
        **_TREES,
        "rates": _numbers("--rates", float, "Failure rates to reach."),
        "patience": Annotated[int | None, typer.Option("--patience", help="Iterations of a run, in units of B^(D/2).")],
    },
)
_add(
    "pgame-memory",
    "Figure 6: wrong moves of UCT in random trees, with small tables in place of the tree.",
    "--entries 4000,500",
    {**_TREES, **_ITERATIONS, "entries": _numbers("--entries", int, "Entries of the tables.")},
)
_add(
    "amazons",
    "Table 1: UCT against plain Monte Carlo in Amazons, by seconds a move.",
    "--games 20 --times 0.001,0.01",
    {
        **_GAMES,
        "times": _numbers("--times", float, "Seconds a whole move."),
        "root": Annotated[
            str | None,
            typer.Option("--root", metavar="ROOT", help="turns: a search chooses a whole move; actions: a part of it."),
        ],
    },
)
_add(
    "clobber",
    "Table 2: UCT, plain Monte Carlo and alpha-beta in Clobber, at equal and unequal time.",
    "--games 20 --time 0.03",
    {
        **_GAMES,
        "time": Annotated[
            float | None, typer.Option("--time", metavar="S", help="Seconds a move; the shorter time is a sixth of it.")
        ],
    },
)
_add(
    "scaling",
    "The strength of UCT by playouts, each number against half of it, on any game.",
    "--game tic_tac_toe --playouts 512",
    {
        **_GAMES,
        "playouts": Annotated[int | None, typer.Option("--playouts", help="The most playouts; from there by halves.")],
    },
)
