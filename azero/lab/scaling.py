"""Strength of UCT by its number of playouts: matches against half the playouts, in any game."""

import math
from typing import NamedTuple

from azero.arena.matches.openings import OPENING_PLIES
from azero.arena.matches.statistics import elo_from_score
from azero.errors import BadInput
from azero.games import make_game
from azero.lab.duels import PLAIN_UCT, PLAYING, Outcome, check_games, outcome_of, pairs_of, show_score
from azero.lab.experiment import Experiment, Groups, Results, Table
from azero.lab.trees import check_player
from azero.plots import Line, Panel, draw

MOST_PLAYOUTS = 1 << 24


class Parameters(NamedTuple):
    """Parameters of the experiment. The same seed gives the same rows."""

    games: int  # per match
    playouts: int  # largest number, which is halved repeatedly
    game: str = "connect_four"
    uct: str = PLAIN_UCT
    seed: int = 0


SMALL = Parameters(games=200, playouts=4096)
FULL = Parameters(games=2000, playouts=65536)


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
    check_games(parameters.games)
    check_player(parameters.uct)
    make_game(parameters.game)
    if not 2 <= parameters.playouts <= MOST_PLAYOUTS:
        raise BadInput(f"--playouts {parameters.playouts} should be from 2 to {MOST_PLAYOUTS:,}")


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by the playouts of the stronger side."""
    return {
        playouts: pairs_of(
            parameters.game,
            f"{parameters.uct}@{playouts}",
            f"{parameters.uct}@{playouts // 2}",
            parameters.games,
            parameters.seed,
            OPENING_PLIES,
        )
        for playouts in steps(parameters.playouts)
    }


def steps(playouts: int) -> list[int]:
    """Returns the numbers of playouts, ascending: `playouts` and its repeated halves down to 32."""
    fewest = min(32, playouts)
    return sorted(playouts >> k for k in range(playouts.bit_length()) if playouts >> k >= fewest)


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes the table and the plot; returns the table."""
    outcomes = {playouts: outcome_of(results, units) for playouts, units in groups.items()}
    rows = [
        [f"{playouts:,}", show_score(outcome), *(f"{elo:+z.0f}" for elo in (_elo(outcome), *outcome.elo_interval))]
        for playouts, outcome in outcomes.items()
    ]
    notes = [
        f"{parameters.game}, {parameters.uct}: {parameters.games:,} games per row "
        f"from openings of {OPENING_PLIES} random plies or one fewer, with 95 % intervals."
    ]
    finite = {playouts: outcome for playouts, outcome in outcomes.items() if math.isfinite(_elo(outcome))}
    intervals = [
        (low if math.isfinite(low) else _elo(each), high if math.isfinite(high) else _elo(each))
        for each in finite.values()
        for low, high in [each.elo_interval]
    ]
    line = Line(f"{parameters.uct}", list(finite), [_elo(outcome) for outcome in finite.values()], intervals)
    title = f"{parameters.game}: twice the playouts"
    panel = Panel(title, "playouts a move", "Elo above half of them", [line], is_y_log=False, x_ticks=list(finite))
    draw([panel], results.folder / "plot.png")
    return results.write_table(Table(["playouts", "score against half, %", "Elo", "from", "to"], rows, notes))


def _elo(outcome: Outcome) -> float:
    return elo_from_score(outcome.score)


EXPERIMENT = Experiment("scaling", SMALL, FULL, PLAYING, check, groups_of, report)
