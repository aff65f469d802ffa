"""Table 1: UCT against plain Monte Carlo in Amazons, by seconds a move."""

from typing import NamedTuple

from azero.errors import BadInput
from azero.games import make_game
from azero.games.amazons import Amazons
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
)  # fmt: skip
from azero.lab.experiment import Experiment, Groups
from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import check_player

ACTIONS_A_MOVE = 3  # an amazon, where it goes, where it shoots: a third of the time each
PAPER = {0.01: 39.2, 0.1: 48.9, 1.0: 81.0, 5.0: 96.0}  # % of 1000 games
PAPER_SPEEDS = 15_000, 27_000  # iterations a second of UCT and MC at the start


class Parameters(NamedTuple):
    """What is to be run."""

    games: int  # at each of the times
    times: tuple[float, ...]  # seconds a whole move
    game: str = "amazons"
    uct: str = PLAIN_UCT
    seed: int = 0


SMALL = Parameters(games=40, times=(0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1))
FULL = Parameters(games=1000, times=(0.0001, 0.0003, 0.001, 0.003, 0.01, 0.1, 1.0, 5.0))


def check(parameters: Parameters) -> None:
    """Raises BadInput for parameters that will not do."""
    check_games(parameters.games)
    check_times(parameters.times)
    check_player(parameters.uct)
    if not isinstance(make_game(parameters.game).rules, Amazons):
        raise BadInput(f"--game {parameters.game!r} should be amazons, e.g. amazons(size=6)")


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by seconds a move."""
    return {
        seconds: pairs_of(
            parameters.game,
            with_seconds(parameters.uct, seconds / ACTIONS_A_MOVE),
            with_seconds("mc", seconds / ACTIONS_A_MOVE),
            parameters.games,
            parameters.seed,
        )
        for seconds in parameters.times
    }


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes table and plot; returns the table."""
    outcomes = {seconds: outcome_of(results, units) for seconds, units in groups.items()}
    speeds = results.measured_once("iterations_a_second", lambda: speeds_of(parameters))
    header = ["seconds a move", "ms an action", "UCT", "MC", "UCT wins, %", "the paper, %"]
    rows = [
        [f"{seconds:g}", *spent(outcome), show_score(outcome), f"{PAPER[seconds]:.1f}" if seconds in PAPER else ""]
        for seconds, outcome in outcomes.items()
    ]
    notes = [
        f"{parameters.games:,} games a row, with 95 % intervals. UCT, MC: iterations an action, over whole games. "
        f"A move is {ACTIONS_A_MOVE} actions, and its seconds are shared equally among them.",
        f"At the start UCT does {speeds[0]:,.0f} iterations a second, and MC {speeds[1]:,.0f}; "
        f"the paper's {PAPER_SPEEDS[0]:,} and {PAPER_SPEEDS[1]:,}.",
    ]
    iterations = [speeds[0] * seconds for seconds in outcomes]
    panels = [
        _panel(parameters.game, "seconds a move", list(outcomes), outcomes, list(PAPER)),
        _panel(
            parameters.game,
            "iterations of UCT for the first move",
            iterations,
            outcomes,
            [PAPER_SPEEDS[0] * seconds for seconds in PAPER],
        ),
    ]
    draw(panels, results.folder / "plot.png")
    return results.write_table(Table(header, rows, notes))


def speeds_of(parameters: Parameters) -> list[float]:
    """Returns the iterations a second of UCT and of MC at the start of the game."""
    game = make_game(parameters.game)
    return [simulations_a_second(name, game) for name in (parameters.uct, "mc")]


def spent(outcome: Outcome) -> list[str]:
    """Returns the mean time of an action, and the simulations of both sides."""
    milliseconds = 1000 * sum(outcome.seconds) / 2
    return [f"{milliseconds:.3g}", *(show_simulations(each) for each in outcome.simulations)]


def _panel(game: str, x_label: str, xs: list[float], outcomes: dict[float, Outcome], paper_xs: list[float]) -> Panel:
    scores = [100 * outcome.score for outcome in outcomes.values()]
    intervals = [(100 * low, 100 * high) for low, high in (outcome.interval for outcome in outcomes.values())]
    lines = [Line("azero", xs, scores, intervals), Line("the paper", paper_xs, list(PAPER.values()), is_reference=True)]
    return Panel(f"{game}: UCT against MC", x_label, "UCT wins (%)", lines, is_y_log=False, y_range=(0, 100))


EXPERIMENT = Experiment("amazons", SMALL, FULL, PLAYING, check, groups_of, report)
