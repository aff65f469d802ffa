"""`azero evaluate`: matches, and mistakes in solved positions."""

import json
import os
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from azero.commands.clusters import check_cluster, workers_of
from azero.commands.makers import Maker, device_of_options
from azero.commands.options import (
    AGENT_HELP,
    ClockOption,
    ClusterOption,
    DeviceOption,
    GameOption,
    JsonOption,
    NodesOption,
    PrecisionOption,
    RecordOption,
    RuntimeOption,
    SeedOption,
    ThreadsOption,
    as_path,
    named_game,
    time_control,
)
from azero.errors import BadInput, Stopped
from azero.system.console import say

if TYPE_CHECKING:
    from azero.arena.matches.results import Interrupted, MatchResult, Unfinished
    from azero.games import Game

app = typer.Typer()

BenchmarkOption = Annotated[
    str | None,
    typer.Option(
        "--benchmark", metavar="NAME", help="Solved positions instead of B: connect_four_pons, a file or a folder."
    ),
]
GamesOption = Annotated[
    int | None, typer.Option("--games", help="Games to play, in pairs with colours swapped; 100 by default.")
]
OpeningOption = Annotated[
    int | None,
    typer.Option(
        "--opening-plies",
        help="Random plies before a pair, this number or one fewer; 4 by default. A whole turn counts as one.",
    ),
]
OpeningsOption = Annotated[
    str | None,
    typer.Option(
        "--openings",
        metavar="FILE",
        help="File with a line of moves for each pair to begin with, in place of random plies; `balanced`: the "
        "included one for the game.",
    ),
]
SprtOption = Annotated[
    str | None,
    typer.Option("--sprt", metavar="ELO0,ELO1", help="Stop when an SPRT decides between these Elo differences."),
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        parser=as_path,
        metavar="FILE",
        help="File that keeps the finished games. The same command goes on from there after an interruption.",
    ),
]
PonderOption = Annotated[
    bool, typer.Option("--ponder", help="With --clock: both agents also think on the opponent's time.")
]


@app.command(epilog="Example:  azero evaluate connect_four@200 --against uct@1000 --games 100")
def evaluate(
    a: Annotated[str, typer.Argument(metavar="A", help=AGENT_HELP)],
    against: Annotated[str | None, typer.Option("--against", metavar="B", help="The opponent, named like A.")] = None,
    benchmark: BenchmarkOption = None,
    game: GameOption = None,
    games: GamesOption = None,
    opening_plies: OpeningOption = None,
    openings: OpeningsOption = None,
    sprt: SprtOption = None,
    clock: ClockOption = None,
    ponder: PonderOption = False,
    seed: SeedOption = 0,
    threads: ThreadsOption = None,
    device: DeviceOption = "auto",
    precision: PrecisionOption = "auto",
    runtime: RuntimeOption = "auto",
    max_nodes: NodesOption = None,
    cluster: ClusterOption = None,
    record: RecordOption = None,
    out: OutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match, or count mistakes in solved positions.

    A match prints A's score and Elo difference with 95 % intervals, and the time and simulations of both agents.
    --benchmark prints the share of mistakes among A's moves for each set of positions. If an engine fails in the
    middle of a match, the result of the finished games is printed, and the exit code is 1. Ctrl-C prints it, too.
    With --out, the finished games are kept in a file, and the same command plays only the others.
    With --clock, each side has this time for a game, and games are played one after another. Of games with other
    programs, each thread plays one at a time; if an agent has a limit in seconds, they are played one after another.
    With --cluster, the workers of a Ray cluster play the same games, or search the same positions.
    """
    if (against is None) == (benchmark is None):
        raise BadInput("give either an opponent with --against, e.g. uct@1000, or solved positions with --benchmark")
    if cluster is not None:
        check_cluster([a, against] if against else [a], threads, clock)
    device_config = device_of_options([a, against] if against else [a], device, precision, runtime)
    maker = Maker(named_game(game), seed, threads, device_config, max_nodes)
    if benchmark is not None:
        matches = {
            "--games": games,
            "--opening-plies": opening_plies,
            "--openings": openings,
            "--sprt": sprt,
            "--clock": clock,
            "--ponder": ponder or None,
            "--record": record,
            "--out": out,
        }
        for option, value in matches.items():
            if value is not None:
                raise BadInput(f"{option} is for matches, and has no effect with --benchmark")
        _evaluate_on_benchmark(maker, a, benchmark, cluster, as_json)
    elif against is not None:
        begin = opening_plies, openings
        _play_match(maker, a, against, games, begin, sprt, clock, ponder, cluster, record, out, as_json)


def _play_match(
    maker: Maker,
    a: str,
    b: str,
    games: int | None,
    openings: tuple[int | None, str | None],
    sprt: str | None,
    clock: str | None,
    ponder: bool,
    cluster: str | None,
    record: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    from azero.arena.matches.match import play_match
    from azero.arena.matches.results import Interrupted, Unfinished
    from azero.arena.matches.specs import MatchSpec, play_matches
    from azero.arena.matches.statistics import Sprt
    from azero.arena.matches.timed import play_timed_match
    from azero.config.checks import describe_odd_games
    from azero.interfaces.terminal.results import show_match

    control = time_control(clock, ponder)
    if control and sprt:
        raise BadInput("--sprt is for matches without --clock")
    games = 100 if games is None else games
    if games > 0 and games % 2:
        say(describe_odd_games("--games", games))
    test = Sprt(*_two_numbers("--sprt", sprt)) if sprt else None
    one, other = maker.pair(a, b)
    num_plies, lines = _openings_of(*openings, one.game)
    if record:
        _check_record(record, out, one.game)
    with closing(one), closing(other), workers_of(cluster, maker.device_of(one, other)) as pool, _bar(games) as bar:
        bar.set_description(f"{a} - {b}", refresh=False)
        show = partial(_show, bar)
        early_end: Unfinished | Interrupted | None = None
        try:
            pair = one, other, one.game, games
            result: MatchResult | None
            if control:
                result = play_timed_match(*pair, control, maker.seed, num_plies, ponder, show, out, lines)
            elif pool:
                spec = MatchSpec(
                    maker.spec(a, one), maker.spec(b, other), games, maker.seed, num_plies, test,
                    keeps_thoughts=record is not None, out=out, openings=lines,
                )  # fmt: skip
                (result,) = play_matches([spec], pool, show)
            else:
                result = play_match(
                    *pair, maker.seed, num_plies, test, show, record is not None, threads=maker.num_threads, out=out,
                    openings=lines,
                )  # fmt: skip
        except (Unfinished, Interrupted) as error:
            result, early_end = error.result, error
    if result:
        added_to = None if early_end and out else record  # its other games are added when the match goes on
        _report(result, json.dumps(result.to_json()) if as_json else show_match(result, test), added_to, one.game)
    _end_early(early_end, out)


def _report(result: "MatchResult", text: str, record: Path | None, game: "Game") -> None:
    """Prints a match, and adds its games to a file. Neither is lost if the other fails."""
    from azero.arena.matches.results import records_of
    from azero.records.files import save_records

    try:
        if record is not None:
            save_records(record, records_of(result, game))
    finally:
        print(text)


def _check_record(record: Path, out: Path | None, game: "Game") -> None:
    """Raises BadInput if the games cannot be added to a file."""
    from azero.records.files import check_target

    check_target(record, game)
    if out and os.path.realpath(record) == os.path.realpath(out):  # no error for links in a circle
        raise BadInput(f"--record and --out name the same file, {str(out)!r}; they need one each")


def _openings_of(plies: int | None, file: str | None, game: "Game") -> tuple[int, tuple[str, ...]]:
    """Returns the number of random plies, and the lines of a file; raises BadInput if a game may be over before."""
    from azero.arena.matches.openings import OPENING_PLIES, read_openings

    if plies is not None and file is not None:
        raise BadInput("--openings FILE takes the place of --opening-plies; leave one of the two out")
    if plies is not None and plies >= game.max_plies:
        raise BadInput(f"--opening-plies {plies} should be less than {game.max_plies}, the longest game")
    return OPENING_PLIES if plies is None else plies, read_openings(file, game) if file else ()


def _end_early(early_end: "Unfinished | Interrupted | None", out: Path | None) -> None:
    """Ends the command if Ctrl-C or an engine's failure ended the match."""
    message = f"{early_end}; the same command goes on from {out}" if out else str(early_end)
    if isinstance(early_end, KeyboardInterrupt):
        raise Stopped(message)
    if early_end:
        say(message)
        raise typer.Exit(1)


def _evaluate_on_benchmark(maker: Maker, name: str, benchmark: str, cluster: str | None, as_json: bool) -> None:
    from azero.arena.agents.checkpoints import game_of
    from azero.arena.solved.files import read_benchmark
    from azero.arena.solved.mistakes import evaluate_on_benchmark, evaluate_spec
    from azero.games import make_game
    from azero.interfaces.terminal.results import show_benchmark

    game = make_game(maker.game) if isinstance(maker.game, str) else game_of(name)
    solved = read_benchmark(benchmark, game)
    with (
        closing(maker._replace(game=solved.game).agent(name)) as agent,
        workers_of(cluster, maker.device_of(agent)) as pool,
        _bar(solved.num_positions, "positions") as bar,
    ):
        bar.set_description(name, refresh=False)
        if pool:
            result = evaluate_spec(maker.spec(name, agent), solved, pool, bar.update)
        else:
            result = evaluate_on_benchmark(agent, solved, bar.update)
    print(json.dumps(result.to_json()) if as_json else show_benchmark(result))


def _bar(total: int, unit: str = "games") -> Any:
    """Returns a progress bar on stderr, which disappears at its end."""
    from tqdm import tqdm

    return tqdm(total=total, unit=f" {unit}", leave=False, disable=None, file=sys.stderr)


def _show(bar: Any, num: int, tally: Any) -> None:
    """Shows on the bar that `num` games have ended, and the tally."""
    bar.set_postfix_str(f"+{tally.wins} ={tally.draws} -{tally.losses}", refresh=False)
    bar.update(num)


def _two_numbers(option: str, text: str) -> tuple[float, float]:
    try:
        first, second = (float(part) for part in text.split(","))
    except ValueError:
        raise BadInput(f"{option} {text!r} should be two numbers, e.g. 0,50") from None
    return first, second
