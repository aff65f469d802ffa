"""`azero lab`: a command for each experiment, which parses, calls and prints."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from azero.errors import BadInput

app = typer.Typer(
    help="Rerun the UCT paper's experiments.",
    rich_markup_mode=None,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The folder of the results; results/NAME unless given.")
]
FullOption = Annotated[bool, typer.Option("--full", help="The paper's size: hours to days, by the experiment.")]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of every random choice; 0 unless given.")]
ThreadsOption = Annotated[int | None, typer.Option("--threads", help="Workers; all cores unless given.")]
TreesOption = Annotated[int | None, typer.Option("--trees", help="Random trees.")]
RunsOption = Annotated[int | None, typer.Option("--runs", help="Runs on each of the trees.")]
IterationsOption = Annotated[int | None, typer.Option("--iterations", help="Iterations of a run.")]
UctOption = Annotated[
    str | None, typer.Option("--uct", metavar="AGENT", help="UCT with other options, without a limit.")
]
GamesOption = Annotated[int | None, typer.Option("--games", help="Games of a match, in pairs with colours swapped.")]
GameOption = Annotated[str | None, typer.Option("--game", help="The game, e.g. of another size.")]


@app.callback()
def lab(context: typer.Context) -> None:
    """Rerun the UCT paper's experiments.

    Each writes its rows, a table and a plot into a folder, and goes on there where it was stopped.
    """
    if context.invoked_subcommand is None:
        for command in app.registered_commands:
            summary = (command.callback.__doc__ or "").splitlines()[0]
            print(f"{command.name:<15} {summary}")


@app.command("pgame-failure", epilog="Example:  azero lab pgame-failure --trees 100 --runs 2")
def pgame_failure(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    trees: TreesOption = None,
    runs: RunsOption = None,
    iterations: IterationsOption = None,
    uct: UctOption = None,
) -> None:
    """Figure 4: wrong moves of UCT, alpha-beta and plain Monte Carlo, averaged or minimax, in random trees."""
    _run("pgame-failure", out, full, threads, seed=seed, trees=trees, runs=runs, iterations=iterations, uct=uct)


@app.command("pgame-growth", epilog="Example:  azero lab pgame-growth --trees 200 --rates 0.1,0.03")
def pgame_growth(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    trees: TreesOption = None,
    runs: RunsOption = None,
    rates: Annotated[str | None, typer.Option("--rates", metavar="R,R,...", help="Failure rates to reach.")] = None,
    patience: Annotated[
        int | None, typer.Option("--patience", help="Iterations of a run, in units of B^(D/2).")
    ] = None,
    uct: UctOption = None,
) -> None:
    """Figure 5: iterations that UCT needs in random trees, by depth and branching."""
    some = _numbers("--rates", rates, float)
    _run("pgame-growth", out, full, threads, seed=seed, trees=trees, runs=runs, rates=some, patience=patience, uct=uct)


@app.command("pgame-memory", epilog="Example:  azero lab pgame-memory --entries 4000,500")
def pgame_memory(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    trees: TreesOption = None,
    runs: RunsOption = None,
    iterations: IterationsOption = None,
    entries: Annotated[str | None, typer.Option("--entries", metavar="N,N,...", help="Entries of the tables.")] = None,
    uct: UctOption = None,
) -> None:
    """Figure 6: wrong moves of UCT in random trees, with small tables in place of the tree."""
    sizes = _numbers("--entries", entries, int)
    given = {"seed": seed, "trees": trees, "runs": runs, "iterations": iterations, "entries": sizes, "uct": uct}
    _run("pgame-memory", out, full, threads, **given)


@app.command("amazons", epilog="Example:  azero lab amazons --games 20 --times 0.001,0.01")
def amazons(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    games: GamesOption = None,
    times: Annotated[str | None, typer.Option("--times", metavar="S,S,...", help="Seconds a whole move.")] = None,
    game: GameOption = None,
    uct: UctOption = None,
) -> None:
    """Table 1: UCT against plain Monte Carlo in Amazons, by seconds a move."""
    some = _numbers("--times", times, float)
    _run("amazons", out, full, threads, seed=seed, games=games, times=some, game=game, uct=uct)


@app.command("clobber", epilog="Example:  azero lab clobber --games 20 --time 0.03")
def clobber(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    games: GamesOption = None,
    time: Annotated[
        float | None, typer.Option("--time", metavar="S", help="Seconds a move; the shorter time is a sixth of it.")
    ] = None,
    game: GameOption = None,
    uct: UctOption = None,
) -> None:
    """Table 2: UCT, plain Monte Carlo and alpha-beta in Clobber, at equal and unequal time."""
    _run("clobber", out, full, threads, seed=seed, games=games, time=time, game=game, uct=uct)


@app.command("scaling", epilog="Example:  azero lab scaling --game tic_tac_toe --playouts 512")
def scaling(
    out: OutOption = None,
    full: FullOption = False,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    games: GamesOption = None,
    playouts: Annotated[int | None, typer.Option("--playouts", help="The most playouts; from there by halves.")] = None,
    game: Annotated[str | None, typer.Option("--game", help="Any game; see `azero games`.")] = None,
    uct: UctOption = None,
) -> None:
    """The strength of UCT by playouts, each number against half of it, on any game."""
    _run("scaling", out, full, threads, seed=seed, games=games, playouts=playouts, game=game, uct=uct)


def _run(name: str, out: Path | None, is_full: bool, threads: int | None, **given: Any) -> None:
    from azero.lab.workers import check_workers

    experiment = import_module(f"azero.lab.{name.replace('-', '_')}")
    size = experiment.FULL if is_full else experiment.SMALL
    parameters = size._replace(**{key: value for key, value in given.items() if value is not None})
    folder = out or Path("results") / (f"{name}-full" if is_full else name)
    try:
        table = experiment.run(folder, parameters, check_workers(threads))
    except KeyboardInterrupt:
        typer.echo(f"\nazero: stopped; the same command goes on with what is in {folder}", err=True)
        raise typer.Exit(130) from None
    print(f"{table}\n\n{folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")


def _numbers(option: str, text: str | None, kind: type) -> tuple | None:
    if text is None:
        return None
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        example = "1000,500" if kind is int else "0.1,0.01"
        raise BadInput(f"{option} {text!r} should be numbers, e.g. {example}") from None
