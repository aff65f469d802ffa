"""Table 1: UCT against plain Monte Carlo in Amazons, by seconds per move.

One search chooses a whole move, as in the paper, or one of the three actions of a move.
"""

from typing import NamedTuple

from azero.arena.agents.names import split_options, with_options
from azero.errors import BadInput
from azero.games import make_game
from azero.games.amazons.rules import Amazons
from azero.lab.duels import (
    PLAIN_UCT,
    PLAYING,
    Outcome,
    check_games,
    check_times,
    outcome_of,
    pairs_of,
    show_score,
    show_simulations,
    simulations_a_second,
    with_seconds,
)
from azero.lab.experiment import Experiment, Groups, Results, Table
from azero.lab.trees import check_player
from azero.plots import Line, Panel, draw

ACTIONS_A_MOVE = 3  # an amazon, its new cell, the arrow's cell
ROOTS = {
    "turns": "One search chooses a whole move.",
    "actions": f"A move takes {ACTIONS_A_MOVE} searches, one for each of its actions, with equal shares of the time.",
}
"""The kinds of moves at the root, with the table's note about each."""

PAPER_RULES = Amazons(10, 10)
PAPER = {0.01: 39.2, 0.1: 48.9, 1.0: 81.0, 5.0: 96.0}  # % of 1000 games
PAPER_SPEEDS = 15_000, 27_000  # iterations per second of UCT and MC in the initial position


class Parameters(NamedTuple):
    """Parameters of the experiment."""

    games: int  # for each of the times
    times: tuple[float, ...]  # seconds per whole move
    root: str = "turns"  # a key of ROOTS
    game: str = "amazons"
    uct: str = PLAIN_UCT
    seed: int = 0


SMALL = Parameters(games=40, times=(0.001, 0.003, 0.01, 0.03, 0.1))
FULL = Parameters(games=1000, times=(0.001, 0.003, 0.01, 0.1, 1.0, 5.0))


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
    check_games(parameters.games)
    check_times(parameters.times)
    check_player(parameters.uct)
    if parameters.root not in ROOTS:
        raise BadInput(f"--root {parameters.root!r} should be one of {', '.join(ROOTS)}")
    if "root" in split_options(parameters.uct)[1]:
        raise BadInput(f"--uct {parameters.uct!r} should have no root: --root sets it")
    if not isinstance(make_game(parameters.game).rules, Amazons):
        raise BadInput(f"--game {parameters.game!r} should be amazons, e.g. amazons(size=6)")


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by seconds per move."""
    num_searches = 1 if parameters.root == "turns" else ACTIONS_A_MOVE
    uct, mc = players(parameters)
    return {
        seconds: pairs_of(
            parameters.game,
            with_seconds(uct, seconds / num_searches),
            with_seconds(mc, seconds / num_searches),
            parameters.games,
            parameters.seed,
        )
        for seconds in parameters.times
    }


def players(parameters: Parameters) -> tuple[str, str]:
    """Returns the names of UCT and MC, without limits."""
    return with_options(parameters.uct, root=parameters.root), with_options("mc", root=parameters.root)


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes table and plot; returns the table. Both show the paper's figures if board and root are the paper's."""
    is_paper = parameters.root == "turns" and make_game(parameters.game).rules == PAPER_RULES
    paper = PAPER if is_paper else {}
    outcomes = {seconds: outcome_of(results, units) for seconds, units in groups.items()}
    speeds = results.measured_once("iterations_a_second", 2, lambda: speeds_of(parameters))
    header = ["seconds a move", "ms a search", "UCT", "MC", "UCT wins, %", *["the paper, %"] * is_paper]
    rows = [
        [f"{seconds:g}", *spent(outcome), show_score(outcome), *[_figure(paper.get(seconds))] * is_paper]
        for seconds, outcome in outcomes.items()
    ]
    paper_speeds = f"; the paper's {PAPER_SPEEDS[0]:,} and {PAPER_SPEEDS[1]:,}" if is_paper else ""
    notes = [
        f"{parameters.game}: {parameters.games:,} games per row, with 95 % intervals. UCT, MC: iterations per search, "
        f"over whole games. {ROOTS[parameters.root]}",
        f"Initially UCT does {speeds[0]:,.0f} iterations per second, and MC {speeds[1]:,.0f}{paper_speeds}.",
    ]
    panels = [
        _panel(parameters.game, "seconds a move", 1.0, outcomes, 1.0, paper),
        _panel(
            parameters.game, "iterations of UCT for the first move", speeds[0], outcomes, float(PAPER_SPEEDS[0]), paper
        ),
    ]
    draw(panels, results.folder / "plot.png")
    return results.write_table(Table(header, rows, notes))


def speeds_of(parameters: Parameters) -> list[float]:
    """Returns the iterations per second of UCT and of MC in the initial position."""
    game = make_game(parameters.game)
    return [simulations_a_second(name, game) for name in players(parameters)]


def spent(outcome: Outcome) -> list[str]:
    """Returns the mean time of a search in ms, and the simulations of both sides."""
    milliseconds = 1000 * sum(outcome.seconds) / 2
    return [f"{milliseconds:.3g}", *(show_simulations(each) for each in outcome.simulations)]


def _figure(percent: float | None) -> str:
    return "" if percent is None else f"{percent:.1f}"


def _panel(
    game: str,
    x_label: str,
    speed: float,
    outcomes: dict[float, Outcome],
    paper_speed: float,
    paper: dict[float, float],
) -> Panel:
    """Returns the scores over the seconds per move, times `speed`. The paper's are included if there are any."""
    scores = [100 * outcome.score for outcome in outcomes.values()]
    intervals = [(100 * low, 100 * high) for low, high in (outcome.interval for outcome in outcomes.values())]
    lines = [Line("azero", [speed * seconds for seconds in outcomes], scores, intervals)]
    if paper:
        paper_xs = [paper_speed * seconds for seconds in paper]
        lines.append(Line("the paper", paper_xs, list(paper.values()), is_reference=True))
    return Panel(f"{game}: UCT against MC", x_label, "UCT wins (%)", lines, is_y_log=False, y_range=(0, 100))


EXPERIMENT = Experiment("amazons", SMALL, FULL, PLAYING, check, groups_of, report)
