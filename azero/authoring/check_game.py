"""`azero check-game`: checks the laws of a game and a prototype in random games, and measures the rules' speed."""

import difflib
import inspect
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
from azero.games import Game, Rules, make_game
from azero.games.defaults import DEFAULTS, has_own
from azero.games.laws.findings import Notes
from azero.games.laws.laws import LAWS, Law
from azero.games.laws.prototype import check_against, load_prototype
from azero.games.reasons import after_actions, failures_named
from azero.games.user.trial import Interpreted

_SPEED_S = 0.5
_NUM_GAMES_AGAINST = 1000
_PLAY_S, _LAW_S, _AGAINST_S = 8.0, 8.0, 20.0
"""Seconds of computing for the random games, and for each law; seconds by the clock for the prototype.

A big, slow game has fewer positions checked. A busy machine checks as many as an idle one, and takes longer.
"""

_MOVES_FOLLOWED = 300_000
"""All moves that the law of keys makes."""

_ENDLESS_S = 60.0
"""Seconds of computing after which a compiled game, or a law in one game, counts as endless."""

_LIKENESS = 0.75
"""The least ratio of difflib between two such names. `symmetry` and `symmetries` have 0.78."""


_METHODS_OF_LAWS = {
    "symmetries": "symmetries",
    "exchange": "exchange_players",
    "places": "places",
    "position text": "position_to_text",
    "picture": "picture",
}
"""The optional method that a law is about."""


@dataclass
class Report:
    """The result of a check. docs/your_own_game.md describes the fields as those of `--json`."""

    game: str
    games: int = 0  # random games that ended
    positions: int = 0  # positions of these games
    laws: dict[str, str | None] = field(default_factory=dict)  # how each law is broken; None if it is kept
    remark: str | None = None  # a player who never moves, which breaks no law
    warnings: list[str] = field(default_factory=list)  # misspelt names of optional methods, which break no law
    speeds: dict[str, float] | None = None  # per second on one thread; None if a law is broken

    @property
    def broken(self) -> list[str]:
        """The names of the laws that are broken."""
        return [name for name, finding in self.laws.items() if finding]

    def to_json(self) -> dict:
        """Returns the object that `azero check-game --json` prints."""
        return asdict(self)


def check_game(name: str, against: str | None, num_positions: int, seed: int, tell: Callable[[str], None]) -> Report:
    """Checks a game. Calls `tell` with each line of the result as soon as it is known.

    Raises BadInput if the rules break their contract in every random game. Compiled rules that do not end, although
    they end in plain Python, end the process.
    """
    with _cut_off(f"{name}: the first call of its compiled methods"):
        game = make_game(name)
    prototype = load_prototype(against) if against else None
    report = Report(str(game), warnings=find_misspelt(game.rules))
    games, finding = _play(game, num_positions, seed)
    lengths = [len(actions) for actions in games]
    report.games, report.positions = len(games), sum(lengths) + len(games)
    tell(f"{game}: {report.positions:,} positions of {len(games)} random games, {_spread(lengths)} plies long")
    for warning in report.warnings:
        tell(f"  {'warning':<16} {warning}")

    def note(law: str, finding: str | None, remark: str = "") -> None:
        report.laws[law] = finding
        tell(f"  {law:<16} {f'BROKEN: {finding}' if finding else f'ok{remark}'}")

    games_per_s = math.nan
    if finding is None:
        games_per_s, finding = _measure(game, random_games_per_s, "a compiled random game")
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
        uct_per_s, finding = _measure(game, uct_simulations, "a compiled search", num_simulations)
        if finding:
            note("search", finding)
            return report
        report.speeds = {"random_games_per_s": games_per_s, "uct_simulations_per_s": uct_per_s}
        speeds = f"{_short(games_per_s)} random games/s, {_short(uct_per_s)} UCT simulations/s on one thread"
        tell(f"  {'speed':<16} {speeds}")
    return report


def find_misspelt(rules: Rules) -> list[str]:
    """Returns a warning for each public name of the class that nearly spells an optional method or attribute.

    The parameters of the game cause no warning. Neither does a name whose nearest optional name the class has as well.
    """
    of_class = type(rules)
    lacking = {name for name, default in DEFAULTS.items() if inspect.unwrap(getattr(of_class, name)) is default}
    known = {*vars(Rules), *of_class._fields}  # type: ignore[attr-defined]
    own = [name for name in vars(of_class) if name not in known and not name.startswith("_")]
    nearest = {name: difflib.get_close_matches(name, DEFAULTS, n=1, cutoff=_LIKENESS) for name in own}
    meant = [(name, near[0]) for name, near in nearest.items() if near and near[0] in lacking]
    return [f"azero never uses {name}: did you mean {near}?" for name, near in meant]


def _play(game: Game, num_positions: int, seed: int) -> tuple[list[list[int]], str | None]:
    """Plays random games in plain Python. Returns the actions of those that ended, and the first error, if any."""
    plain, chooser = Interpreted(game.rules, game.name), random.Random(seed)
    games: list[list[int]] = []
    findings: list[BadInput] = []
    done, begin = 0, time.process_time()
    with _bar("random games", num_positions, "positions") as bar:
        while done < num_positions and time.process_time() - begin < _PLAY_S:
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


def _measure(game: Game, measure: Callable[..., float], what: str, *arguments: object) -> tuple[float, str | None]:
    """Returns a speed per second, and None. If the rules fail, returns NaN and the error."""
    try:
        with failures_named(), _cut_off(f"{game}: {what}"):
            return measure(game, _SPEED_S, *arguments), None
    except BadInput as error:
        return math.nan, str(error)


def _idle_player(game: Game, games: Sequence[list[int]]) -> str | None:
    """Returns a remark if one player never moves in these games, otherwise None."""
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
    """Returns how a law is broken, or None. Also returns remarks, e.g. if positions were skipped."""
    num_positions = sum(len(actions) + 1 for actions in games)
    chooser, notes = random.Random(seed), Notes(num_positions, _LAW_S, _MOVES_FOLLOWED // len(games))
    with _bar(name, len(games), "games") as bar:
        for actions in games:
            try:
                with failures_named(), _cut_off(f"{game}: the law {name!r}", after_actions(actions)):
                    law(game, actions, chooser, notes)
            except BadInput as error:
                return str(error), ""
            bar.update()
    own = _METHODS_OF_LAWS.get(name)
    if own and not has_own(game.rules, own):
        return None, ": the rules have none"
    is_partial = notes.num_looked < notes.num_passed
    remarks = [f"{notes.num_looked:,} of these positions checked"] * is_partial + [notes.remark] * bool(notes.remark)
    return None, f": {'; '.join(remarks)}" if remarks else ""


def _bar(what: str, total: int, unit: str) -> tqdm:
    return tqdm(total=total, desc=what, unit=f" {unit}", leave=False, disable=None, file=sys.stderr, delay=0.5)


@contextmanager
def _cut_off(what: str, where: str = "") -> Iterator[None]:
    """Ends the process, with a message, if the block computes without end. Nothing else stops compiled code.

    The process's own computing counts: beside other programs, compilation alone may take minutes by the clock.
    """
    began, ended = time.process_time(), threading.Event()

    def watch() -> None:
        while (left := _ENDLESS_S - (time.process_time() - began)) > 0:
            if ended.wait(max(left, 0.01)):
                return
        _give_up(what, where)

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _give_up(what: str, where: str) -> None:
    sys.stdout.flush()
    message = f"azero: {what} has not ended within {_ENDLESS_S:g} s{where}; is there an endless loop in the rules?"
    tqdm.write(message, file=sys.stderr)
    sys.stderr.flush()
    os._exit(2)


def _spread(lengths: list[int]) -> str:
    return f"{min(lengths)} to {max(lengths)}" if min(lengths) < max(lengths) else str(lengths[0])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.2f} M"
