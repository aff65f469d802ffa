"""Table 2: UCT, plain Monte Carlo and alpha-beta in Clobber 8 x 8, with equal and unequal time.

The paper's alpha-beta is MILA, which is not available. Ours, `alphabeta`, has no knowledge of Clobber but the rules.
"""

from typing import NamedTuple

from azero.errors import BadInput
from azero.games import make_game
from azero.games.clobber.rules import Clobber
from azero.lab.duels import (
    PLAIN_UCT,
    PLAYING,
    check_games,
    check_times,
    outcome_of,
    pairs_of,
    show_score,
    show_simulations,
    with_seconds,
)
from azero.lab.experiment import Experiment, Groups, Results, Table
from azero.lab.trees import check_player

SHORT = 1 / 6  # share of the time: 5 s of 30 s in the paper
PAPER_RULES, PAPER_TIME = Clobber(8, 8), 30.0


class Parameters(NamedTuple):
    """Parameters of the experiment."""

    games: int  # per match
    time: float  # seconds per move, the longer of the two times
    game: str = "clobber(size=8)"
    uct: str = PLAIN_UCT
    seed: int = 0


SMALL = Parameters(games=40, time=0.06)
FULL = Parameters(games=200, time=30.0)


class Match(NamedTuple):
    """A match of the paper. Each side has its time in units of the longer time."""

    a: str
    a_share: float
    b: str
    b_share: float
    paper: float  # A's score against MILA or MC, in %

    def label(self, time: float) -> tuple[str, str]:
        """Returns both sides' names in the table."""
        return f"{self.a} {time * self.a_share:g} s", f"{self.b} {time * self.b_share:g} s"


MATCHES = (
    Match("UCT", 1, "MC", 1, 85.0),
    Match("UCT", SHORT, "alpha-beta", SHORT, 21.5),
    Match("UCT", 1, "alpha-beta", 1, 26.5),
    Match("UCT", 1, "alpha-beta", SHORT, 44.5),
    Match("MC", 1, "alpha-beta", 1, 17.5),
)


def check(parameters: Parameters) -> None:
    """Raises BadInput for wrong parameters."""
    check_games(parameters.games)
    check_times((parameters.time, SHORT * parameters.time))
    check_player(parameters.uct)
    if not isinstance(make_game(parameters.game).rules, Clobber):
        raise BadInput(f"--game {parameters.game!r} should be clobber, e.g. clobber(size=6)")


def groups_of(parameters: Parameters) -> Groups:
    """Returns the units by match."""
    players = {"UCT": parameters.uct, "MC": "mc", "alpha-beta": "alphabeta"}
    return {
        match: pairs_of(
            parameters.game,
            with_seconds(players[match.a], match.a_share * parameters.time),
            with_seconds(players[match.b], match.b_share * parameters.time),
            parameters.games,
            parameters.seed,
        )
        for match in MATCHES
    }


def report(results: Results, groups: Groups, parameters: Parameters) -> str:
    """Writes the table and returns it. It shows the paper's figures if size and times are the same."""
    is_paper_size = make_game(parameters.game).rules == PAPER_RULES
    is_paper = is_paper_size and parameters.time == PAPER_TIME
    outcomes = {match: outcome_of(results, units) for match, units in groups.items()}
    header = ["A", "B", "iterations of A", "of B", "A wins, %", *["the paper, %"] * is_paper]
    rows = [
        [
            *match.label(parameters.time),
            *(show_simulations(each) for each in outcome.simulations),
            show_score(outcome),
            *[f"{match.paper:.1f}"] * is_paper,
        ]
        for match, outcome in outcomes.items()
    ]
    notes = [
        f"{parameters.game}: {parameters.games:,} games per row, with 95 % intervals. "
        "Iterations are per move; those of alpha-beta are leaves."
    ]
    if is_paper:
        notes.append("The paper's alpha-beta is MILA.")
    elif is_paper_size:
        figures = ", ".join(f"{match.paper:.1f}" for match in MATCHES)
        notes.append(
            f"The paper, at {PAPER_TIME:g} s and {SHORT * PAPER_TIME:g} s and with MILA as alpha-beta: {figures} %."
        )
    return results.write_table(Table(header, rows, notes))


EXPERIMENT = Experiment("clobber", SMALL, FULL, PLAYING, check, groups_of, report)
