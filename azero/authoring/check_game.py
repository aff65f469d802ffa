"""`azero check-game`: the laws of a game over random positions, a prototype in lockstep, and how fast the rules are."""

import math
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field

from tqdm import tqdm

from azero.bench.kernels import random_games as random_games_per_s
from azero.bench.kernels import uct_simulations
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.laws.findings import Notes
from azero.games.laws.laws import LAWS, Law
from azero.games.laws.prototype import check_against, load_prototype
from azero.games.state import after_actions
from azero.games.user.interpreted import Interpreted
from azero.games.user.loading import reason_of

_SPEED_S = 0.5
_NUM_GAMES_AGAINST = 1000
_PLAY_S, _LAW_S, _AGAINST_S = 8.0, 8.0, 20.0
"""Seconds for the random games, for a law, and for the prototype, after which positions of a big game are left out."""

_MOVES_FOLLOWED = 300_000
"""Moves that the law of keys follows in all."""

_ENDLESS_S = 60.0
"""Seconds within which a game, or a law on one game, has to come to an end."""


@dataclass
class Report:
    """What is known of a game."""

    game: str
    games: int = 0  # random ones that came to their end
    positions: int = 0
    laws: dict[str, str | None] = field(default_factory=dict)  # how each is broken, None where it is kept
    remark: str | None = None  # what breaks no law, and is seldom meant
    speeds: dict[str, float] | None = None  # units a second on one thread; None for a broken game

    @property
    def broken(self) -> list[str]:
        """The names of the laws that are broken."""
        return [name for name, finding in self.laws.items() if finding]

    def to_json(self) -> dict:
        """Returns the object that `azero check-game --json` prints."""
        return asdict(self)


def check_game(name: str, against: str | None, num_positions: int, seed: int, tell: Callable[[str], None]) -> Report:
    """Holds a game to its laws, and tells each as it is known.

    Raises BadInput where the rules break their contract in such a way that no game can be played to the end. Compiled
    rules that do not come to an end, though they do as plain Python, end the process.
    """
    with _cut_off(f"{name}: the first call of its compiled methods"):
        game = make_game(name)
    prototype = load_prototype(against) if against else None
    report = Report(str(game))
    games, finding = _play(game, num_positions, seed)
    lengths = [len(actions) for actions in games]
    report.games, report.positions = len(games), sum(lengths) + len(games)
    tell(f"{game}: {report.positions:,} positions of {len(games)} random games, {_spread(lengths)} plies long")

    def note(law: str, finding: str | None, remark: str = "") -> None:
        report.laws[law] = finding
        tell(f"  {law:<16} {f'BROKEN: {finding}' if finding else f'ok{remark}'}")

    games_per_s = math.nan
    if finding is None:
        try:
            with _cut_off(f"{game}: a compiled random game"):
                games_per_s = random_games_per_s(game, _SPEED_S)
        except BadInput as error:
            finding = str(error)
        except (Exception, SystemExit) as error:  # which compiled rules raise
            finding = f"compiled random games end in {reason_of(error)}"
    report.remark = _idle_player(game, games)
    note("contract", finding, f": {report.remark}" if report.remark else "")
    for law_name, law in LAWS.items():
        note(law_name, *_hold_law(law_name, law, game, games, seed))
    if prototype and against:
        try:
            num = check_against(game, prototype, against, _NUM_GAMES_AGAINST, seed, _AGAINST_S)
            note("prototype", None, f": {num:,} games in lockstep with {against}")
        except BadInput as error:
            note("prototype", str(error))
    if not report.broken:
        num_simulations = min(20_000, max(100, 2_000_000 // game.num_actions))
        with _cut_off(f"{game}: a compiled search"):
            uct_per_s = uct_simulations(game, _SPEED_S, num_simulations)
        report.speeds = {"random_games_per_s": games_per_s, "uct_simulations_per_s": uct_per_s}
        speeds = f"{_short(games_per_s)} random games/s, {_short(uct_per_s)} UCT simulations/s on one thread"
        tell(f"  {'speed':<16} {speeds}")
    return report


def _play(game: Game, num_positions: int, seed: int) -> tuple[list[list[int]], str | None]:
    """Plays random games in plain Python; returns the actions of those that ended, and what broke off the others."""
    plain, chooser = Interpreted(game.rules, game.name), random.Random(seed)
    games: list[list[int]] = []
    findings: list[BadInput] = []
    done, begin = 0, time.monotonic()
    with _bar("random games", num_positions, "positions") as bar:
        while done < num_positions and time.monotonic() - begin < _PLAY_S:
            try:
                plain.play_at_random(chooser)
                games.append(list(plain.moves))
            except BadInput as error:
                findings.append(error)
            done += len(plain.moves) + 1
            bar.update(len(plain.moves) + 1)
    if not games:
        raise findings[0]
    return games, str(findings[0]) if findings else None


def _idle_player(game: Game, games: Sequence[list[int]]) -> str | None:
    """Returns a remark where one player has nothing to do in any of these games, and else None."""
    plain, movers = Interpreted(game.rules, game.name), set()
    for actions in games:
        plain.reset()
        for action in actions:
            movers.add(plain.current_player())
            if len(movers) == 2:
                return None
            plain.apply_action(action)
    return f"the {('second', 'first')[movers.pop()]} player never moves in these games"


def _hold_law(name: str, law: Law, game: Game, games: Sequence[list[int]], seed: int) -> tuple[str | None, str]:
    """Returns how a law is broken, or None; and a remark where not every position was looked at."""
    num_positions = sum(len(actions) + 1 for actions in games)
    chooser, notes = random.Random(seed), Notes(num_positions, _LAW_S, _MOVES_FOLLOWED // len(games))
    with _bar(name, len(games), "games") as bar:
        for actions in games:
            try:
                with _cut_off(f"{game}: the law {name!r}{after_actions(actions)}"):
                    law(game, actions, chooser, notes)
            except BadInput as error:
                return str(error), ""
            bar.update()
    is_partial = notes.num_looked < notes.num_passed
    return None, f": {notes.num_looked:,} of these positions looked at" if is_partial else ""


def _bar(what: str, total: int, unit: str) -> tqdm:
    return tqdm(total=total, desc=what, unit=f" {unit}", leave=False, disable=None, file=sys.stderr, delay=0.5)


@contextmanager
def _cut_off(what: str) -> Iterator[None]:
    """Ends the process, with a line, where the block does not end: nothing else ends compiled code."""
    timer = threading.Timer(_ENDLESS_S, _give_up, [what])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _give_up(what: str) -> None:
    sys.stdout.flush()
    told = f"azero: {what} has not come to an end within {_ENDLESS_S:g} s; does a loop in the rules go on for ever?"
    tqdm.write(told, file=sys.stderr)
    sys.stderr.flush()
    os._exit(2)


def _spread(lengths: list[int]) -> str:
    return f"{min(lengths)} to {max(lengths)}" if min(lengths) < max(lengths) else str(lengths[0])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.2f} M"
