"""The commands about a run, a run to come, a net and a game: what is wrong, how strong, what is not seen, how fair."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from azero.commands.options import AGENT_HELP, JsonOption, SeedOption, as_path, named_game
from azero.commands.training import AllowOption, ConfigArgument, SettingsOption
from azero.errors import BadInput
from azero.system.console import printable

app = typer.Typer()


@app.command(epilog="Example:  azero doctor runs/connect_four_quick")
def doctor(
    run: Annotated[Path, typer.Argument(parser=as_path, metavar="RUN", help="A run's folder.")],
    as_json: JsonOption = False,
) -> None:
    """Say what is wrong with a run, the worst first.

    Looks at its settings, its metrics, and what it asks of this machine; with rules of your own, at these, too. The run
    may be under way. Each line has a cause, the figure that shows it, its limit, and what to change.
    """
    from azero.training.doctor import describe, diagnose

    found = diagnose(run)
    print(json.dumps(found.to_json()) if as_json else "\n".join(map(printable, describe(found))))


@app.command(epilog="Example:  azero plan connect_four_quick --hours 0.5")
def plan(
    config: ConfigArgument = None,
    hours: Annotated[
        float | None, typer.Option("--hours", metavar="H", help="The time of the run, as of train --minutes.")
    ] = None,
    elo: Annotated[float | None, typer.Option("--elo", metavar="E", help="Say when the net will be so strong.")] = None,
    run: Annotated[
        Path | None, typer.Option("--run", parser=as_path, metavar="RUN", help="A run under way, in place of CONFIG.")
    ] = None,
    settings: SettingsOption = None,
    allow_commands: AllowOption = False,
    as_json: JsonOption = False,
) -> None:
    """Say how long a run takes here, what it will have played, and how strong it gets.

    Measures this machine for a minute or so. Without --hours and --elo the run is the config's own. The strength comes
    from runs of minutes on small boards; where these say nothing, it is not known.
    """
    from azero.training.plan import describe, plan_config, plan_run

    if (config is None) == (run is None):
        raise BadInput("plan needs either a CONFIG, e.g. azero plan connect_four_quick, or --run RUN")
    if run is not None:
        if hours is not None or settings:
            raise BadInput("--run has its own settings; leave --hours and --set out")
        made = plan_run(run, elo)
    else:
        made = plan_config(str(config), hours, elo, settings=settings or [], allow_commands=allow_commands)
    print(json.dumps(made.to_json()) if as_json else "\n".join(describe(made)))


@app.command(epilog="Example:  azero report runs/connect_four_quick --out report.html")
def report(
    run: Annotated[Path, typer.Argument(parser=as_path, metavar="RUN", help="A run's folder.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE.html", parser=as_path, help="The page.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a page that azero wrote.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a run as one page that needs no server.

    It has the doctor's findings, curves, positions that the first net and the best one see differently, games, the
    settings and how to repeat the run; and the page of `azero publish`, in which positions and games open, and on which
    one plays against the best net. It takes about a minute.
    """
    from azero.publishing.files import check_target, is_page
    from azero.publishing.report import html_of_report
    from azero.system.files import write_whole

    if not is_page(out):
        raise BadInput(f"--out {str(out)!r} should end in .html")
    check_target(out, force)
    content = html_of_report(run).encode()
    write_whole(out, content)
    size = len(content)
    print(json.dumps({"out": str(out), "bytes": size}) if as_json else f"{printable(str(out))}: {size:,} bytes")


@app.command(epilog="Example:  azero balance 'hex(size=5)' --minutes 9")
def balance(
    game: Annotated[list[str], typer.Argument(metavar="GAME...", help="A game, or several to compare.")],
    minutes: Annotated[float, typer.Option("--minutes", metavar="M", help="Time of training for each game.")],
    seeds: Annotated[int, typer.Option("--seeds", help="Runs for each game.")] = 3,
    out: Annotated[Path, typer.Option("--out", parser=as_path, metavar="DIR", help="The folder of the runs.")] = Path(
        "runs/balance"
    ),
    as_json: JsonOption = False,
) -> None:
    """Say what a game is like between players who have learned it.

    Trains runs with several seeds, whose best nets then play against themselves. Prints the first player's score,
    draws, length, levels of skill, first moves, and moves that nobody plays; and the truth where a solver reaches. The
    same command goes on after an interruption.
    """
    from azero.games.names import without_folder
    from azero.training.balance import balance as measure
    from azero.training.balance import check, describe

    for name in map(named_game, game):
        check(str(name), minutes, seeds)
    reports = []
    for name in game:
        plain = "".join(each if each.isalnum() else "_" for each in without_folder(name)).strip("_")
        reports.append(found := measure(name, minutes, seeds, out / f"{plain[:100]}_{minutes / seeds:g}_minutes"))
        if not as_json:
            print("\n".join(map(printable, describe(found))), flush=True)
    if as_json:
        print(json.dumps({"games": [each.to_json() for each in reports]}))


@app.command(epilog="Example:  azero blindspots connect_four@100 --out results/blindspots")
def blindspots(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help=AGENT_HELP)],
    games: Annotated[int, typer.Option("--games", help="Games that it plays against itself.")] = 40,
    out: Annotated[
        Path | None, typer.Option("--out", parser=as_path, metavar="DIR", help="Write the positions to this folder.")
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Find positions that a net misjudges, in games of the agent against itself.

    The truth is a solver's, or that of a search 16 times as deep. Positions are grouped by what they share. --out
    writes a benchmark for `azero evaluate --benchmark`, starts for `selfplay.starts`, and a page with boards.
    """
    from contextlib import closing

    from tqdm import tqdm

    from azero.arena.agents.names import parse_name
    from azero.arena.solved.blindspots import benchmark_of, describe, find_blindspots, starts_of
    from azero.commands.makers import Maker, device_of_options
    from azero.publishing.plain import html_of_blindspots
    from azero.system.files import write_whole

    if parse_name(agent).kind != "net":
        raise BadInput(f"{agent!r} has no net; name a checkpoint or a run")
    if out is not None and out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise BadInput(f"--out {str(out)!r} is there already; name a new folder")
    maker = Maker(None, seed, None, device_of_options([agent], "auto", "auto", "auto"))
    with (
        closing(maker.agent(agent)) as judged,
        tqdm(unit=" positions", desc="blind spots", leave=False, disable=None, file=sys.stderr) as bar,
    ):

        def show(num: int, total: int) -> None:
            bar.total = total
            bar.update(num - bar.n)

        found = find_blindspots(judged, games, seed, show)
    print(json.dumps(found.to_json()) if as_json else "\n".join(map(printable, describe(found))))
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        files = {"blindspots.txt": benchmark_of(found), "starts.txt": starts_of(found)}
        for name, text in {**files, "blindspots.html": html_of_blindspots(found)}.items():
            if text:
                write_whole(out / name, text.encode())
