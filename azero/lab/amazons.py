"""Table 1: UCT against plain Monte Carlo in Amazons, by seconds a move."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from azero.errors import BadInput
from azero.games import make_game
from azero.games.amazons import Amazons
from azero.lab.duels import (
    KEY,
    PLAIN_UCT,
    VALUES,
    Outcome,
    check_games,
    check_times,
    outcome_of,
    pairs_of,
    play_pair,
    show_score,
    show_simulations,
    simulations_a_second,
    with_seconds,
)  # fmt: skip
from azero.lab.plots import Line, Panel, draw
from azero.lab.results import Results, Table
from azero.lab.trees import check_player

NAME = "amazons"
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


def run(folder: Path, parameters: Parameters, num_workers: int) -> str:
    """Runs the experiment, or what is left of it; returns its table."""
    check_games(parameters.games)
    check_times(parameters.times)
    check_player(parameters.uct)
    game = make_game(parameters.game)
    if not isinstance(game.rules, Amazons):
        raise BadInput(f"--game {parameters.game!r} should be amazons, e.g. amazons(size=6)")
    results = Results(folder, NAME, parameters._asdict(), KEY, VALUES)
    speeds = results.measured_once(
        "iterations_a_second", lambda: [simulations_a_second(name, game) for name in (parameters.uct, "mc")]
    )
    groups = {
        seconds: pairs_of(
            parameters.game,
            with_seconds(parameters.uct, seconds / ACTIONS_A_MOVE),
            with_seconds("mc", seconds / ACTIONS_A_MOVE),
            parameters.games,
            parameters.seed,
        )
        for seconds in parameters.times
    }
    results.complete(play_pair, [unit for units in groups.values() for unit in units], num_workers, NAME)
    outcomes = {seconds: outcome_of(results, units) for seconds, units in groups.items()}
    return report(results, parameters.game, outcomes, speeds)


def report(results: Results, game: str, outcomes: dict[float, Outcome], speeds: Sequence[float]) -> str:
    """Writes table and plot; returns the table."""
    header = ["seconds a move", "ms an action", "UCT", "MC", "UCT wins, %", "the paper, %"]
    rows = [
        [f"{seconds:g}", *spent(outcome), show_score(outcome), f"{PAPER[seconds]:.1f}" if seconds in PAPER else ""]
        for seconds, outcome in outcomes.items()
    ]
    games = next(iter(outcomes.values())).tally.games
    notes = [
        f"{games:,} games a row, with 95 % intervals. UCT, MC: iterations an action, over whole games. "
        f"A move is {ACTIONS_A_MOVE} actions, and its seconds are shared equally among them.",
        f"At the start UCT does {speeds[0]:,.0f} iterations a second, and MC {speeds[1]:,.0f}; "
        f"the paper's {PAPER_SPEEDS[0]:,} and {PAPER_SPEEDS[1]:,}.",
    ]
    iterations = [speeds[0] * seconds for seconds in outcomes]
    panels = [
        _panel(game, "seconds a move", list(outcomes), outcomes, list(PAPER)),
        _panel(
            game,
            "iterations of UCT for the first move",
            iterations,
            outcomes,
            [PAPER_SPEEDS[0] * seconds for seconds in PAPER],
        ),
    ]
    draw(panels, results.folder / "plot.png")
    return results.write_table(Table(header, rows, notes))


def spent(outcome: Outcome) -> list[str]:
    """Returns the mean time of an action, and the simulations of both sides."""
    milliseconds = 1000 * sum(outcome.seconds) / 2
    return [f"{milliseconds:.3g}", *(show_simulations(each) for each in outcome.simulations)]


def _panel(game: str, x_label: str, xs: list[float], outcomes: dict[float, Outcome], paper_xs: list[float]) -> Panel:
    scores = [100 * outcome.score for outcome in outcomes.values()]
    intervals = [(100 * low, 100 * high) for low, high in (outcome.interval for outcome in outcomes.values())]
    lines = [Line("azero", xs, scores, intervals), Line("the paper", paper_xs, list(PAPER.values()), is_reference=True)]
    return Panel(f"{game}: UCT against MC", x_label, "UCT wins (%)", lines, is_y_log=False, y_range=(0, 100))
