"""`azero check-game`: checks the laws of a game and a prototype in random games, and measures the rules' speed."""

import difflib
import inspect
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from tqdm import tqdm

from azero.authoring.game_figures import figures_of
from azero.bench.kernels import RandomGames, random_games, uct_simulations
from azero.bench.rates import per_computed_s
from azero.errors import BadInput
from azero.games import Game, Rules, make_game
from azero.games.defaults import DEFAULTS, has_own
from azero.games.laws.findings import Broken, Notes, beside
from azero.games.laws.keys import Enumeration
from azero.games.laws.laws import LAWS, Law
from azero.games.laws.planes import find_lookalikes
from azero.games.laws.prototype import Prototype, compare_with, load_prototype
from azero.games.make import errors_of
from azero.games.reasons import after_actions, failures_named
from azero.games.user.trial import Interpreted

_SPEED_S = 0.5
_PLAY_S, _LAW_S, _AGAINST_S = 8.0, 8.0, 60.0
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
    errors: list[str] = field(default_factory=list)  # of methods that fail or cannot be compiled; then nothing else is
    games: int = 0  # random games that ended
    positions: int = 0  # positions of these games
    laws: dict[str, str | None] = field(default_factory=dict)  # how each law is broken; None if it is kept
    boards: dict[str, list[str]] = field(default_factory=dict)  # by broken law: the positions where it is broken
    remark: str | None = None  # a player who never moves, which breaks no law
    planes: str | None = None  # two positions with equal planes that play differently, which breaks no law
    warnings: list[str] = field(default_factory=list)  # misspelt names of optional methods, which break no law
    figures: dict | None = None  # of random games and of speed; None if a law is broken

    @property
    def broken(self) -> list[str]:
        """The names of the laws that are broken."""
        return [name for name, finding in self.laws.items() if finding]

    def to_json(self) -> dict:
        """Returns the object that `azero check-game --json` prints."""
        return asdict(self)


Value = TypeVar("Value")


class _Finding(NamedTuple):
    """How a law is broken, and the boards of the positions where it is."""

    text: str
    boards: Sequence[str] = ()


def check_game(name: str, against: str | None, num_positions: int, seed: int, tell: Callable[[str], None]) -> Report:
    """Checks a game. Calls `tell` with each line of the result as soon as it is known.

    If methods of a user's rules fail in every game, the report has nothing but these errors. Raises BadInput if there
    is no such game. Compiled rules that do not end, although they end in plain Python, end the process.
    """
    try:
        with _cut_off(f"{name}: the first call of its compiled methods"):
            game = make_game(name)
    except BadInput as error:
        report = Report(name, _all_errors(name, error))
        for each in report.errors if len(report.errors) > 1 else ():
            tell(each)
        return report
    prototype = load_prototype(against) if against else None
    try:
        games, finding = _play(game, num_positions, seed)
    except BadInput as error:
        return Report(str(game), [str(error)])
    check = _Check(game, games, seed, tell)
    check.contract(finding)
    check.laws()
    if prototype and against:
        check.compare(prototype, against)
    if not check.report.broken:
        check.measure()
    return check.report


class _Check:
    """A check in progress. Each step notes and tells what it finds.

    Attributes:
      report: what is known so far.
    """

    def __init__(self, game: Game, games: Sequence[list[int]], seed: int, tell: Callable[[str], None]):
        """Takes random games that ended, as actions."""
        self._game, self._games, self._seed, self._tell = game, games, seed, tell
        self._played: RandomGames | None = None  # compiled
        lengths = [len(actions) for actions in games]
        num_positions = sum(lengths) + len(games)
        self.report = Report(str(game), [], len(games), num_positions, warnings=find_misspelt(game.rules))
        tell(f"{game}: {num_positions:,} positions of {len(games)} random games, {_spread(lengths)} plies long")
        for warning in self.report.warnings:
            self._say("warning", warning)

    def _say(self, what: str, text: str) -> None:
        self._tell(f"  {what:<16} {text}")

    def _note(self, law: str, finding: _Finding | None, remark: str = "") -> None:
        """Notes whether a law is kept. Where it is broken, the boards follow."""
        self.report.laws[law] = finding.text if finding else None
        self._say(law, f"BROKEN: {finding.text}" if finding else f"ok{remark}")
        if finding and any(finding.boards):
            self.report.boards[law] = list(finding.boards)
            for line in beside(finding.boards):
                self._tell(f"{'':<19}{line}".rstrip())

    def contract(self, finding: _Finding | None) -> None:
        """Plays compiled random games, unless those in plain Python have broken the contract already."""
        if finding is None:
            what = "a compiled random game"
            self._played, finding = _attempt(self._game, what, lambda: random_games(self._game, _SPEED_S))
        self.report.remark = remark = _idle_player(self._game, self._games)
        self._note("contract", finding, f": {remark}" if remark else "")

    def laws(self) -> None:
        """Checks the laws, and the planes where the keys are right."""
        known: Enumeration | None = None
        for name, law in LAWS.items():
            notes = Notes(self.report.positions, _LAW_S, _MOVES_FOLLOWED // len(self._games), known)
            self._note(name, *_hold_law(name, law, self._game, self._games, notes, self._seed))
            known = notes.enumeration
            if name == "keys" and known and not self.report.broken:
                self._look_at_planes(known)

    def _look_at_planes(self, known: Enumeration) -> None:
        """Looks for positions that the planes do not tell apart. That they do is no law."""
        found, finding = _attempt(
            self._game, "play from equal planes", lambda: find_lookalikes(known, random.Random(self._seed))
        )
        if finding:
            self._note("planes", finding)
            return
        self.report.planes = found or None
        self._say("planes", f"NOTICE: {found}" if found else "ok")

    def compare(self, prototype: type[Prototype], name: str) -> None:
        """Compares the rules with a prototype."""
        finding, games, positions = None, 0, 0
        try:
            with _bar("prototype", int(_AGAINST_S), "s") as bar:
                games, positions = compare_with(self._game, prototype, name, self._seed, _AGAINST_S, bar.update)
        except BadInput as error:
            finding = _finding_of(error)
        self._note("prototype", finding, f": the same as {name} in {positions:,} positions of {games:,} random games")

    def measure(self) -> None:
        """Searches, and measures how the game plays."""
        assert self._played is not None, "the contract is kept"
        num_simulations = min(20_000, max(100, 2_000_000 // self._game.num_actions))
        uct_per_s, finding = _attempt(
            self._game,
            "a compiled search",
            lambda: per_computed_s(lambda: uct_simulations(self._game, _SPEED_S, num_simulations)),
        )
        if uct_per_s is None:
            self._note("search", finding)
            return
        figures = figures_of(self._game, self._games, self._played, uct_per_s, self._seed)
        self.report.figures = figures._asdict()
        for what, text in figures.lines():
            self._say(what, text)


def _all_errors(name: str, error: BadInput) -> list[str]:
    """Returns the errors in a game's methods, `error` among them. Raises it if the methods are not to blame."""
    errors, method = errors_of(name), str(error).partition(" ")[0].rstrip(",")
    if not errors:
        raise error
    own = [str(error)] if len(errors) == 1 or not any(each.startswith(method) for each in errors) else []
    return own + [each for each in errors if not (own and each.startswith(method))]


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


def _play(game: Game, num_positions: int, seed: int) -> tuple[list[list[int]], _Finding | None]:
    """Plays random games in plain Python. Returns the actions of those that ended, and the first error, if any.

    Raises BadInput if none of them ended.
    """
    plain, chooser = Interpreted(game.rules, game.name), random.Random(seed)
    games: list[list[int]] = []
    first: BadInput | None = None
    finding: _Finding | None = None
    done, begin = 0, time.process_time()
    with _bar("random games", num_positions, "positions") as bar:
        while done < num_positions and time.process_time() - begin < _PLAY_S:
            try:
                plain.play_at_random(chooser)
                games.append(list(plain.moves))
            except BadInput as error:
                first = first or error
                finding = finding or _Finding(str(error), [plain.board()])
            done += len(plain.moves) + 1
            bar.update(len(plain.moves) + 1)
    if first and not games:
        raise first
    return games, finding


def _attempt(game: Game, what: str, work: Callable[[], Value], where: str = "") -> tuple[Value | None, _Finding | None]:
    """Returns a result, and None. If the rules fail, returns None and the error.

    Args:
      what: what is called endless if it does not end.
      where: the actions of the game in which it does not end, as `after_actions` writes them.
    """
    try:
        with failures_named(), _cut_off(f"{game}: {what}", where):
            return work(), None
    except BadInput as error:
        return None, _finding_of(error)


def _finding_of(error: BadInput) -> _Finding:
    return _Finding(str(error), error.boards() if isinstance(error, Broken) else ())


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


def _hold_law(
    name: str, law: Law, game: Game, games: Sequence[list[int]], notes: Notes, seed: int
) -> tuple[_Finding | None, str]:
    """Returns how a law is broken, or None. Also returns remarks, e.g. if positions were skipped."""
    chooser = random.Random(seed)
    with _bar(name, len(games), "games") as bar:
        for actions in games:
            what, where = f"the law {name!r}", after_actions(actions)
            _, finding = _attempt(game, what, partial(law, game, actions, chooser, notes), where)
            if finding:
                return finding, ""
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
