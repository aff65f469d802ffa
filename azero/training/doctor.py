"""What is wrong with a run, the likeliest cause first: from its settings and metrics, its rules, and its machine."""

import random
import shlex
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.laws.findings import Notes
from azero.games.laws.laws import LAWS, random_games
from azero.games.laws.planes import share_that_differs
from azero.games.names import identity_of
from azero.nets.devices import device_type
from azero.runs.folder import METRICS, check_is_run
from azero.runs.metrics import read_metrics
from azero.runs.settings import find_settings, game_of_run
from azero.selfplay.workers import count_workers
from azero.system.machine import count_cores, total_memory
from azero.training.health import Case, Figure, Finding, Line, Side, examine
from azero.training.suited import look_at
from azero.training.symptoms import FIGURES

_GAMES = 60
"""Random games by users' rules, whose results must teach something."""

_GAMES_OF_LAWS, _LAW_S, _MOVES_A_GAME = 6, 4.0, 20_000
"""Random games that are held to each law, seconds of computing for a law, and moves that the law of keys follows."""


class Diagnosis(NamedTuple):
    """What `azero doctor` tells.

    Attributes:
      iterations: that have ended, and that are planned.
      positions: of self-play.
      num_figures: that were looked at.
    """

    run: str
    game: str
    iterations: tuple[int, int]
    positions: int
    num_figures: int
    findings: list[Finding]

    def to_json(self) -> dict:
        """Returns the object that `azero doctor --json` prints."""
        done, planned = self.iterations
        findings = [{**each._asdict(), "text": str(each)} for each in self.findings]
        return {**self._asdict(), "iterations": done, "planned_iterations": planned, "findings": findings}


def diagnose(folder: Path) -> Diagnosis:
    """Looks at a run, which may be under way. Raises BadInput if there is none, or if no iteration has ended."""
    check_is_run(folder)
    config = find_settings(folder)
    lines = read_metrics(folder / METRICS)
    if not lines:
        raise BadInput(f"run {str(folder)!r} has ended no iteration yet, so there is nothing to judge")
    game = game_of_run(folder, config.game)
    of_rules, broken = _in_rules(game) if identity_of(game.rules) else ([], [])
    case = Case(config, lines, None if broken else look_at(game).moves)
    num_figures, findings = _judge(case, [*of_rules, *FIGURES, *_of_machine(game)])
    iterations = lines[-1]["iteration"], config.training.iterations
    positions = round(case.last("positions", 1)[0]) if case.last("positions", 1) else 0
    return Diagnosis(str(folder), str(game), iterations, positions, num_figures, [*broken, *findings])


def verdict(folder: Path, config: Config, lines: Sequence[Line], game: Game) -> str:
    """Returns the line with which a run ends. Rules are not looked at."""
    num_figures, findings = _judge(Case(config, lines), [*FIGURES, *_of_machine(game)])
    if not findings:
        return f"nothing is wrong with this run, by {num_figures} figures"
    return f"{findings[0]} (azero doctor {shlex.quote(str(folder))} looks closer)"


def _judge(case: Case, figures: Sequence[Figure]) -> tuple[int, list[Finding]]:
    """Returns how many figures there are, and what they find."""
    known = [each for each in figures if each.values_of(case)]
    return len(known), examine(case, known)


def _in_rules(game: Game) -> tuple[list[Figure], list[Finding]]:
    """Plays random games by a user's rules. Returns figures of the games, and a law that the rules break, if any."""
    chooser, notes = random.Random(0), Notes()
    try:
        games = [*random_games(game, _GAMES_OF_LAWS, seed=0)]
        for law in LAWS.values():
            notes = Notes(_GAMES_OF_LAWS * len(games[0]), _LAW_S, _MOVES_A_GAME, notes.enumeration)
            for actions in games:
                law(game, actions, chooser, notes)
    except BadInput as error:
        return [], [Finding("the rules break a law", f"{error}; azero check-game {shlex.quote(game.name)} shows more")]
    known = notes.enumeration
    assert known is not None, "the law of keys has been held"
    draws, firsts, last_lost = _results(game, chooser)
    return [
        _share(
            "positions that look like another, which plays differently,",
            share_that_differs(known, chooser),
            Side(0.02, "the planes hide what matters", "show it in encode; azero check-game names two positions"),
        ),
        _share(
            "decided random games that are lost by whoever made the last move",
            last_lost,
            Side(0.95, "the value's sign is wrong", "unless that is right, mend outcome: it is for the first player"),
        ),
        _share("random games that are drawn", draws, Side(0.995, "draws leave nothing to learn", "look at outcome")),
        _share(
            "random games that the same player wins",
            max(firsts, 1 - firsts),
            Side(0.995, "the same player wins all games", "look at outcome, which is for the first player"),
        ),
    ], []


def _share(of_what: str, share: float, most: Side) -> Figure:
    return Figure(f"the share of {of_what}", lambda case: [share], None, most)


def _results(game: Game, chooser: random.Random) -> tuple[float, float, float]:
    """Returns shares of random games: drawn, points of player 0, and of decided games lost by the last to move."""
    results, is_won_by_last = list[float](), list[bool]()
    for _ in range(_GAMES):
        state = game.new_initial_state()
        while not state.is_terminal():
            last = state.current_player()
            state.apply_action(chooser.choice(state.legal_actions()))
        results.append(state.returns()[0])
        if results[-1]:
            is_won_by_last.append(state.returns()[last] > 0)
    draws, last_lost = results.count(0) / _GAMES, 1 - fmean(is_won_by_last) if is_won_by_last else 0.0
    return draws, (fmean(results) + 1) / 2, last_lost


def _of_machine(game: Game) -> list[Figure]:
    """Returns figures of what a run asks of this machine."""
    cores = count_cores()

    def workers(case: Case) -> list[float]:
        return [count_workers(case.config) / cores] if device_type(case.config.device.device) == "cpu" else []

    def shards(case: Case) -> list[float]:
        play, num_sizes = case.config.selfplay, max(1, len(case.config.game.sizes))
        num_shards = num_sizes * ceil(play.games_per_iteration / num_sizes / play.games_per_shard)
        return [num_shards / count_workers(case.config)]

    def memory(case: Case) -> list[float]:
        bytes_of_position = game.rules.state_dtype.itemsize + 16 + 4 * (case.moves or 0.0)
        window = min(case.setting("replay.window"), case.planned) / case.setting("selfplay.full_search_share")
        return [window * bytes_of_position / total_memory()]

    return [
        Figure(
            "workers for each core of this machine",
            workers,
            Side(0.6, "cores are idle in self-play", "raise selfplay.num_workers; 0 means all cores"),
            Side(4, "there are more workers than cores", "lower selfplay.num_workers; 0 means one a core"),
        ),
        Figure(
            "shards of an iteration for each worker",
            shards,
            Side(0.2, "cores are idle in self-play", "lower selfplay.games_per_shard"),
        ),
        Figure(
            "threads for each core of this machine",
            lambda case: [(case.setting("device.threads") or cores) / cores],
            Side(0.6, "cores are idle in training", "raise device.threads; 0 means all cores"),
        ),
        Figure(
            "the memory of replay.window over this machine's",
            memory,
            None,
            Side(0.4, "the memory will not suffice", "lower replay.window"),
        ),
    ]


def describe(diagnosis: Diagnosis) -> list[str]:
    """Returns the lines that `azero doctor` prints."""
    done, planned = diagnosis.iterations
    lines = [f"{diagnosis.run}: {diagnosis.game}, {done} of {planned} iterations, {diagnosis.positions:,} positions"]
    if not diagnosis.findings:
        return [*lines, f"nothing is wrong with it, by {diagnosis.num_figures} figures"]
    return lines + [f"{place}. {finding}" for place, finding in enumerate(diagnosis.findings, start=1)]
