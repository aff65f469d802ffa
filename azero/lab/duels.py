"""Matches of an experiment, in pairs: two games from one opening with colours swapped. Workers play separate pairs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import AgentSpec, make_from, spec_of
from azero.arena.matches.match import play_match
from azero.arena.matches.statistics import Tally, elo_interval, score_interval
from azero.compiler.rng import derive_seed
from azero.config.schema import C_UCT
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.lab.experiment import Results, Work

KEY = ("game", "a", "b", "pair")
VALUES = ("score_first", "score_second", "simulations_a", "simulations_b", "seconds_a", "seconds_b")

PLAIN_UCT = f"uct(c={C_UCT:g},prove=false)"
"""UCB1 with a tree. The constant is written out, so that folders of results name it. The paper used the bias by depth
and, in Amazons, a table of 2^20 entries: `uct(bias=depth,prove=false,table=1048576)`.
"""
MOST_PAIRS = 1_000_000


class Unit(NamedTuple):
    """One pair of games between two agents."""

    game: str
    a: str
    b: str
    pair: int
    opening_plies: int
    seed: int


class Outcome(NamedTuple):
    """The result of a match, from A's side. Simulations and seconds are per action, as means over pairs."""

    tally: Tally
    score: float
    interval: tuple[float, float]
    elo_interval: tuple[float, float]
    simulations: tuple[float, float]
    seconds: tuple[float, float]


def pairs_of(game: str, a: str, b: str, num_games: int, seed: int, opening_plies: int = 0) -> list[Unit]:
    """Returns the units of a match. Games begin after `opening_plies` random plies or one fewer."""
    return [Unit(game, a, b, pair, opening_plies, seed) for pair in range(num_games // 2)]


def play_pair(specs: Mapping[str, AgentSpec], unit: Unit) -> dict[str, float]:
    """Plays a pair; returns A's scores as first and as second player, and both sides' cost per action.

    Seconds are left out if only simulations limit the agents. These rows are then the same on any machine.

    Args:
      specs: of the agents, by name.
    """
    seed = derive_seed(unit.seed, *unit[:4])
    a, b = (make_from(replace(specs[name], seed=derive_seed(seed, name))) for name in (unit.a, unit.b))
    result = play_match(a, b, a.game, 2, seed, unit.opening_plies)
    spent = [result.simulations_a, result.simulations_b]
    if any(name.endswith("s") for name in (unit.a, unit.b)):
        spent += [result.seconds_a, result.seconds_b]
    return dict(zip(VALUES, [*(each.score for each in result.results), *spent], strict=False))


def _playing(units: Sequence[Unit]) -> Callable[[Unit], dict[str, float]]:
    """Returns what plays these units. It takes the files that they name to any machine."""
    games = {unit.game for unit in units}
    assert len(games) == 1, "an experiment has one game"
    game = make_game(games.pop())
    return partial(play_pair, {name: spec_of(name, game) for unit in units for name in (unit.a, unit.b)})


PLAYING = Work(KEY, lambda units: VALUES, _playing)


def outcome_of(results: Results, units: Sequence[Unit]) -> Outcome:
    """Returns the result of a match from the rows of its pairs."""
    rows = [results.row(unit) for unit in units]
    scores = [row[name] for row in rows for name in ("score_first", "score_second")]
    if not {*scores} <= {0.0, 0.5, 1.0}:
        raise BadInput(f"{str(results.folder / 'results.csv')!r} is damaged: a game's score is 0, 0.5 or 1")
    pair_scores = [(scores[k] + scores[k + 1]) / 2 for k in range(0, len(scores), 2)]
    tally = Tally(scores.count(1.0), scores.count(0.5), scores.count(0.0))

    def mean(name: str) -> float:
        return sum(row[name] for row in rows) / len(rows)

    return Outcome(
        tally,
        tally.score,
        score_interval(pair_scores),
        elo_interval(pair_scores),
        (mean("simulations_a"), mean("simulations_b")),
        (mean("seconds_a"), mean("seconds_b")),
    )


def simulations_a_second(name: str, game: Game, seconds: float = 0.5) -> float:
    """Returns the simulations per second in the initial position, on one thread. `name` has no limit."""
    agent = make_agent(name, game)
    agent.suggest(game.new_initial_state(), seconds=seconds)  # not measured: it loads code and allocates memory
    suggestion = agent.suggest(game.new_initial_state(), seconds=seconds)
    return suggestion.simulations / suggestion.elapsed_s


def with_seconds(name: str, seconds: float) -> str:
    """Returns an agent's name with a limit in seconds per action."""
    return f"{name}@{f'{seconds:.9f}'.rstrip('0').rstrip('.')}s"


def check_times(times: Sequence[float]) -> None:
    """Raises BadInput for a time that is too short or too long."""
    for seconds in times:
        if not 1e-5 <= seconds <= 3600:
            raise BadInput(f"time {seconds:g} should be from 0.00001 to 3600 seconds per move")


def check_games(num_games: int) -> None:
    """Raises BadInput for a number of games that is odd, too small or too large."""
    if not 2 <= num_games <= 2 * MOST_PAIRS or num_games % 2:
        raise BadInput(f"games = {num_games} should be an even number from 2 to {2 * MOST_PAIRS:,}")


def show_simulations(number: float) -> str:
    """Returns a number of simulations for tables."""
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}"


def show_score(outcome: Outcome) -> str:
    """Returns a score with its interval, in percent."""
    low, high = outcome.interval
    return f"{100 * outcome.score:.1f} [{100 * low:.1f}, {100 * high:.1f}]"
