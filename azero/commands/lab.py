"""`azero lab`: one command per experiment. All of them have the options in `_COMMON`."""

from importlib import import_module
from inspect import Parameter, Signature
from pathlib import Path
from typing import Annotated, Any

import typer

from azero.commands.clusters import check_cluster, workers_of
from azero.commands.options import ClusterOption, as_path
from azero.errors import BadInput, Stopped
from azero.system.console import printable

app = typer.Typer(
    help="Repeat the UCT paper's experiments.",
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_COMMON = {
    "out": Annotated[
        Path | None,
        typer.Option("--out", parser=as_path, metavar="DIR", help="Folder of the results; results/NAME by default."),
    ],
    "full": Annotated[
        bool, typer.Option("--full", help="A large size: the paper's if it gives one. This takes hours to days.")
    ],
    "threads": Annotated[int | None, typer.Option("--threads", help="Worker processes; one per core by default.")],
    "cluster": ClusterOption,
    "seed": Annotated[int | None, typer.Option("--seed", min=0, help="Seed of all random choices.")],
    "uct": Annotated[
        str | None, typer.Option("--uct", metavar="AGENT", help="uct with other options, e.g. 'uct(c=2)', without @.")
    ],
}
_TREES = {
    "trees": Annotated[int | None, typer.Option("--trees", help="Number of random trees.")],
    "runs": Annotated[int | None, typer.Option("--runs", help="Runs per tree.")],
}
_ITERATIONS = {"iterations": Annotated[int | None, typer.Option("--iterations", help="Iterations per run.")]}
_GAMES = {
    "games": Annotated[int | None, typer.Option("--games", help="Games per match, in pairs with colours swapped.")],
    "game": Annotated[str | None, typer.Option("--game", help="The game, e.g. in another size; see `azero games`.")],
}


@app.callback()
def lab(context: typer.Context) -> None:
    """Repeat the UCT paper's experiments.

    Each experiment writes its rows, a table and a plot into a folder; that of Clobber has no plot. The same command
    continues a stopped experiment.
    """
    if context.invoked_subcommand is None:
        for command in app.registered_commands:
            print(f"{command.name:<15} {(command.callback.__doc__ or '').splitlines()[0]}")


def _add(name: str, summary: str, example: str, options: dict[str, Any]) -> None:
    """Adds the command of an experiment. Each of its parameters becomes an option."""

    def command(out: Path | None, full: bool, threads: int | None, cluster: str | None, **given: Any) -> None:
        _run(name, out, full, threads, cluster, {key: value for key, value in given.items() if value is not None})

    parameters = [
        Parameter(key, Parameter.KEYWORD_ONLY, default=False if key == "full" else None, annotation=option)
        for key, option in {**_COMMON, **options}.items()
    ]
    command.__doc__ = summary
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]  # typer reads the options here
    app.command(name, epilog=f"Example:  azero lab {name} {example}")(command)


def _numbers(option: str, kind: type, what: str) -> Any:
    """Returns an option whose value is several numbers, separated by commas."""

    def parse(text: str) -> tuple:
        try:
            return tuple(kind(part) for part in text.split(","))
        except ValueError:
            example = "1000,500" if kind is int else "0.1,0.01"
            raise BadInput(f"{option} {text!r} should be numbers separated by commas, e.g. {example}") from None

    return Annotated[tuple | None, typer.Option(option, parser=parse, metavar="N,N,...", help=what)]


def _run(
    name: str, out: Path | None, is_full: bool, threads: int | None, cluster: str | None, given: dict[str, Any]
) -> None:
    from azero.system.machine import count_cores

    if threads is not None and threads < 1:
        raise BadInput(f"threads = {threads} should be 1 or more")
    experiment = import_module(f"azero.lab.{name.replace('-', '_')}").EXPERIMENT
    parameters = (experiment.full if is_full else experiment.small)._replace(**given)
    folder = out or Path("results") / (f"{name}-full" if is_full else name)
    if cluster is not None:
        check_cluster([], threads)
    try:
        with workers_of(cluster) as pool:
            table = experiment.run(folder, parameters, threads or count_cores(), pool)
    except KeyboardInterrupt:
        raise Stopped(f"stopped; run the same command again to continue from {folder}") from None
    print(f"{table}\n\n{printable(f'{folder}: ' + ', '.join(sorted(path.name for path in folder.iterdir())))}")


_add(
    "pgame-failure",
    "Figure 4: wrong moves of UCT and others in random trees. The others are alpha-beta and Monte Carlo.",
    "--trees 100 --runs 2",
    {**_TREES, **_ITERATIONS},
)
_add(
    "pgame-growth",
    "Figure 5: iterations that UCT needs in random trees. Depth and branching factor vary.",
    "--trees 200 --rates 0.1,0.03",
    {
        **_TREES,
        "rates": _numbers("--rates", float, "Failure rates to reach."),
        "patience": Annotated[int | None, typer.Option("--patience", help="Iterations per run, in units of B^(D/2).")],
    },
)
_add(
    "pgame-memory",
    "Figure 6: wrong moves of UCT with small tables. The tables replace its search tree.",
    "--entries 4000,500",
    {**_TREES, **_ITERATIONS, "entries": _numbers("--entries", int, "Entries of each table.")},
)
_add(
    "amazons",
    "Table 1: UCT against plain Monte Carlo in Amazons. The seconds per move vary.",
    "--games 20 --times 0.001,0.01",
    {
        **_GAMES,
        "times": _numbers("--times", float, "Seconds per whole move."),
        "root": Annotated[
            str | None,
            typer.Option("--root", metavar="ROOT", help="turns: one search per whole move; actions: one per action."),
        ],
    },
)
_add(
    "clobber",
    "Table 2: UCT, Monte Carlo and alpha-beta in Clobber. Times are equal or unequal.",
    "--games 20 --time 0.03",
    {
        **_GAMES,
        "time": Annotated[
            float | None, typer.Option("--time", metavar="S", help="Seconds per move; the short time is a sixth of it.")
        ],
    },
)
_add(
    "scaling",
    "Strength of UCT by playouts. Each match is against half the playouts, in any game.",
    "--game tic_tac_toe --playouts 512",
    {
        **_GAMES,
        "playouts": Annotated[
            int | None, typer.Option("--playouts", help="Largest number of playouts; halved repeatedly.")
        ],
    },
)
