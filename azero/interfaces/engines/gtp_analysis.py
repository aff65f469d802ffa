"""Analyses by GTP: `lz-analyze`, `kata-analyze`, `analyze`, their `genmove` forms, and the lines that they write.

Source: KataGo, GTP_Extensions.md; Leela Zero; Sabaki, engine-analysis-integration.md.
"""

from collections import deque
from collections.abc import Callable
from functools import partialmethod
from typing import Any, NamedTuple

import numpy as np

from azero.arena.agents.suggestion import Move
from azero.errors import BadInput
from azero.games import State
from azero.interfaces.engines.engine import Report, Task
from azero.interfaces.engines.gtp_table import COLOUR_WORDS, Refused, Table, colour, number, whole
from azero.interfaces.engines.positions import Vertices, actions_of, points_name
from azero.interfaces.engines.rates import bound_of, lower_bound, win_rate

_MOST_CENTISECONDS = 10_000_000


class Asked(NamedTuple):
    """What is analysed, and what is told of it.

    Attributes:
      is_in_parts: whether numbers are fractions, as KataGo writes them, or hundredths of percents, as Leela Zero does.
      interval: seconds between lines.
      allowed: the only actions to search; None: all.
    """

    state: State
    is_in_parts: bool
    interval: float = 0.5
    allowed: list[int] | None = None
    fewest: int = 0  # moves
    most: int = 10_000
    has_root: bool = False
    has_ownership: bool = False
    has_ownership_of_moves: bool = False
    has_visits: bool = False  # of the moves of principal variations
    has_edge_visits: bool = False  # which are the same in a tree

    @property
    def counts_lines(self) -> bool:
        """Whether the search has to tell the visits of lines."""
        return self.has_visits or self.has_edge_visits


def _interval(word: str) -> float:
    """Returns the seconds of an interval in hundredths of them."""
    return min(max(number(word), 1.0), _MOST_CENTISECONDS) / 100


def _flag(word: str) -> bool:
    return word.lower() == "true"


_KEYS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "interval": ("interval", _interval),
    "minmoves": ("fewest", whole),
    "maxmoves": ("most", whole),
    "rootinfo": ("has_root", _flag),
    "ownership": ("has_ownership", _flag),
    "movesownership": ("has_ownership_of_moves", _flag),
    "pvvisits": ("has_visits", _flag),
    "pvedgevisits": ("has_edge_visits", _flag),
}
"""Keys of analyses: which field of `Asked` they set, and how their value is read."""

_WITHOUT_EFFECT = {"ownershipstdev", "movesownershipstdev", "noresultvalue"}
"""Keys of KataGo's analyses that ask for what azero's search does not know."""


class Analyses(Table):
    """The commands that analyse."""

    def _asked(self, words: list[str], is_in_parts: bool) -> Asked:
        """Reads the arguments of an analysis: colour, interval, and pairs of keys and values."""
        left, allowed, avoided = deque(words), None, set[int]()
        state = self._searched([left.popleft()] if left and left[0].lower() in COLOUR_WORDS else [])
        asked = Asked(state, is_in_parts)
        if left and left[0].replace(".", "", 1).isdecimal():
            left.appendleft("interval")
        while left:
            key = left.popleft().lower()
            if key in ("allow", "avoid") and len(left) >= 3:
                player = colour(left.popleft()) ^ self._vertices.is_exchanged
                points, _ = left.popleft().split(","), whole(left.popleft())
                actions = actions_of(state, points, self._vertices)
                if player == state.current_player():
                    allowed = actions if key == "allow" else allowed
                    avoided |= actions if key == "avoid" else set()
            elif left and key in _KEYS:
                name, read = _KEYS[key]
                asked = asked._replace(**{name: read(left.popleft())})
            elif left and key in _WITHOUT_EFFECT:
                left.popleft()
            else:
                raise Refused
        if allowed is None and not avoided:
            return asked
        legal = set(state.legal_actions())
        chosen = sorted((legal if allowed is None else allowed & legal) - avoided)
        if not chosen:
            raise Refused("no move is left")
        return asked._replace(allowed=chosen)

    def _analyse(self, is_in_parts: bool, words: list[str]) -> None:
        """Writes lines until input comes, or nothing more to say. Then it waits for input without a search."""
        asked = self._asked(words, is_in_parts)
        if asked.state.is_terminal():
            raise Refused("the game is over")
        limit = self._engine.agent.limit.beside_clock()
        task = Task(limit, interval=asked.interval, allowed=asked.allowed, counts_lines=asked.counts_lines)
        search = self._engine.start(task, asked.state)
        is_over = False
        while True:
            event = self._lines.next()
            if not isinstance(event, Report):
                break
            if event.search is not search:
                continue
            is_over = event.is_last
            if event.error is not None and not self._is_begun:
                raise event.error
            if event.found is not None and event.found.moves:
                self._tell(f"{analysis_line(event, asked, self._vertices)}\n")
        search.stop()
        self._tell("\n")
        if event is not None:
            self._lines.put_back(event)
        if not is_over and self._engine.wait(search, lambda report: None, lambda: self._lines.is_abandoned) is None:
            raise EOFError

    def _generate_in_view(self, is_in_parts: bool, words: list[str]) -> None:
        """Writes lines while the agent chooses its move, then the move."""
        asked = self._asked(words, is_in_parts)
        if asked.state.is_terminal() and points_name(asked.state.game) != "Go":
            raise Refused("the game is over")

        def show(report: Report) -> None:
            self._tell(f"{analysis_line(report, asked, self._vertices)}\n")

        try:
            how = {"interval": asked.interval, "allowed": asked.allowed, "counts_lines": asked.counts_lines}
            move = self._generate(asked.state, show, **how)
        except BadInput as error:
            if not self._is_begun:
                raise
            self._lines.log.note("#", str(error))
            move = "resign"
        self._tell(f"play {move}\n\n")

    # Sabaki reads a win rate of `analyze` as hundredths of percents, whatever its form.
    _do_lz__analyze = _do_analyze = partialmethod(_analyse, False)
    _do_kata__analyze = partialmethod(_analyse, True)
    _do_lz__genmove_analyze = _do_genmove_analyze = partialmethod(_generate_in_view, False)
    _do_kata__genmove_analyze = partialmethod(_generate_in_view, True)


def analysis_line(report: Report, asked: Asked, vertices: Vertices) -> str:
    """Returns a report as a line of an analysis. All values are for the player to move."""
    found = report.found
    assert found is not None, "the search has found something"
    seen = [move for move in found.moves if move.visits or move.proven]
    shown = (seen if len(seen) >= asked.fewest else found.moves[: asked.fewest])[: asked.most]
    parts = [_move_part(order, move, report, asked, vertices) for order, move in enumerate(shown or found.moves[:1])]
    if asked.has_root:
        fields = {"visits": str(found.simulations), **_values(found.value, found.simulations)}
        parts.append(_fields("rootInfo", {**fields, **_scores(found.score)}))
    if asked.has_ownership:
        parts.append(_owners("ownership", found.ownership))
    return " ".join(filter(None, parts))


def _move_part(order: int, move: Move, report: Report, asked: Asked, vertices: Vertices) -> str:
    pv, after = " ".join(vertices.write(text) for text in move.pv), report.after.get(move.action, {})
    head = {"move": vertices.write(move.pv[0] if move.pv else move.move), "visits": str(move.visits)}
    if not asked.is_in_parts:
        winrate, bound = (f"{round(10_000 * each)}" for each in (win_rate(move.value), lower_bound(move)))
        fields = {**head, "winrate": winrate, "prior": f"{round(10_000 * move.prior)}", "lcb": bound}
        fields |= _scores(after.get("score"))
    else:
        values = {**_values(move.value, move.visits), **_scores(after.get("score"))}
        fields = {**head, **values, "prior": f"{move.prior:.6f}"}
    owners = _owners(" movesOwnership", after.get("ownership")) if asked.has_ownership_of_moves else ""
    visits = " ".join(map(str, report.visits.get(move.action, [])))
    told = f" pvVisits {visits}" * (asked.has_visits and bool(visits))
    told += f" pvEdgeVisits {visits}" * (asked.has_edge_visits and bool(visits))
    return f"{_fields('info', fields)} order {order} pv {pv}{told}{owners}"


def _owners(head: str, owners: np.ndarray | None) -> str:
    return "" if owners is None else f"{head} " + " ".join(f"{owner:.4f}" for owner in owners.ravel())


def _values(value: float, visits: int) -> dict[str, str]:
    low = bound_of(win_rate(value), visits)
    numbers = {"utility": value, "winrate": win_rate(value), "lcb": low, "utilityLcb": 2 * low - 1}
    return {name: f"{number:.6f}" for name, number in numbers.items()}


def _scores(score: float | None) -> dict[str, str]:
    return {} if score is None else {"scoreMean": f"{score:.6f}", "scoreLead": f"{score:.6f}"}


def _fields(head: str, fields: dict[str, str]) -> str:
    return " ".join([head, *(f"{name} {value}" for name, value in fields.items())])
