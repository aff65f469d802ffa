"""The protocol of Gomocup and Piskvork, for Gomoku.

Coordinates are X, the column, and Y, the row, both from 0 at the top left. The stones are kept as the manager names
them, and become a position when the agent is to move.

Source: Gomoku AI protocol, new version (plastovicka.github.io/protocl2en.htm).
"""

import math
import random
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import azero
from azero.arena.agents.analysis import MEMORY_MIB, MOST_MIB
from azero.arena.agents.clock import Clock, Limit, TimeControl
from azero.arena.agents.suggestion import Suggestion
from azero.errors import BadInput
from azero.games import State
from azero.games.gomoku.rules import Gomoku
from azero.games.position_text import PLAYERS, board_to_text
from azero.interfaces.engines.engine import Engine, Report, Task, with_parameters
from azero.interfaces.engines.lines import Lines
from azero.system.console import printable

OWN, THEIRS = 1, 2
"""Whose stone it is, as the manager writes it."""

_MARGIN_S = 0.1  # of the time of a turn, for what a move takes outside the search, on a busy machine too
_SHORTEST_S = 0.001
_UNLIMITED_MS = 2147483647  # what `time_left` says of a match without a limit
_MIB = 1 << 20
_TREE_PART = 2  # trees get this part of the memory that the manager allows; the rest is the program's own

_MOST_STONES = 20 * 20
_OPENINGS = 8  # by Swap2, of which the best one is played,
_OPENING_S = 1.0  # and the time to choose it, at most

_STOPS = ("YXSTOP", "STOP")
"""Commands that end a search: the move is the best one so far."""

_STONE = re.compile(r"([0-9]{1,3})\s*,\s*([0-9]{1,3})\s*,\s*([12])")


class Refused(Exception):
    """A known command cannot be obeyed."""


class Gomocup:
    """Answers the commands of a manager."""

    def __init__(self, make: Callable, lines: Lines[Report]):
        self._lines = lines
        self._engine = Engine(make, lines)
        rules: Any = self._engine.game.rules
        if not isinstance(rules, Gomoku):
            raise BadInput(f"Gomocup's protocol is for gomoku, not {self._engine.game}")
        self._stones: dict[tuple[int, int], int] | None = None  # by column and row; None before START
        self._begun_list: Callable[[list[str]], str | None] | None = None  # what the lines up to DONE are for
        self._list: list[str] = []
        self._random = random.Random(self._engine.agent.seed)
        self._info: dict[str, int] = {}
        self._complaints: dict[str, str] = {}  # of INFO by its key, told with the next other command
        self._is_hurried = False  # whether the last search ended before its time
        self._is_over = False
        self._handlers: dict[str, Callable[[str], str | None]] = {
            "START": self._start,
            "RECTSTART": self._start_rectangle,
            "RESTART": self._restart,
            "BEGIN": self._begin,
            "TURN": self._turn,
            "BOARD": lambda rest: self._begin_list(self._set_board),
            "SWAP2BOARD": lambda rest: self._begin_list(self._choose_colour),
            "TAKEBACK": self._take_back,
            "PLAY": self._play,
            "SUGGEST": self._suggest,
            "INFO": self._note,
            "ABOUT": self._about,
            "END": self._end,
            **dict.fromkeys(_STOPS, lambda rest: None),  # the search they mean is over
        }

    @property
    def _rules(self) -> Gomoku:
        rules: Any = self._engine.game.rules
        assert isinstance(rules, Gomoku), "no other game is begun"
        return rules

    def run(self) -> None:
        """Answers until `END` or the end of the input."""
        while not self._is_over:
            line = self._lines.next()
            if line is None:
                return
            if isinstance(line, str) and line.strip():
                self._answer(line.strip())

    def close(self) -> bool:
        """Ends searches; returns whether they have ended."""
        return self._engine.close()

    def _answer(self, line: str) -> None:
        try:
            word, _, rest = line.partition(" ")
            if word.upper() in ("START", "RECTSTART", "RESTART"):  # the manager begins another game
                self._begun_list = None
            if self._begun_list is not None:
                answer = self._read_list(line)
            else:
                handler = self._handlers.get(word.upper())
                if handler is None:
                    self._lines.write(f"UNKNOWN command {_shown(word)}\n")
                    return
                if word.upper() not in ("INFO", "END", "ABOUT", "BOARD", "SWAP2BOARD"):
                    self._complain()
                answer = handler(rest.strip())
        except (Refused, BadInput) as error:
            self._complaints.clear()
            self._lines.write(f"ERROR {_shown(' '.join(str(error).split()))}\n")
            return
        if answer is not None:
            self._lines.write(f"{answer}\n")

    def _complain(self) -> None:
        """Raises Refused if INFO has said what cannot be."""
        if self._complaints:
            raise Refused("; ".join(self._complaints.values()))

    # --- beginning ---

    def _start(self, rest: str) -> str:
        if not re.fullmatch("[0-9]{1,3}", rest):
            raise Refused("START needs the size of the board, e.g. START 15")
        return self._start_game(int(rest), int(rest))

    def _start_rectangle(self, rest: str) -> str:
        columns, rows = _point(rest)
        return self._start_game(columns, rows)

    def _start_game(self, columns: int, rows: int) -> str:
        self._stones = None
        exact = bool(self._info.get("rule", 0)) if "rule" in self._info else self._rules.exact
        self._engine.set_game(with_parameters(self._engine.game, rows=rows, columns=columns, exact=exact))
        self._stones = {}
        return "OK"

    def _restart(self, rest: str) -> str:
        self._begun()
        self._engine.begin_game()
        self._stones = {}
        return "OK"

    def _begun(self) -> dict[tuple[int, int], int]:
        if self._stones is None:
            raise Refused("there is no board yet; START comes first")
        return self._stones

    def _note(self, rest: str) -> None:
        """Takes note of what the manager says. What cannot be is told with the next command."""
        key, _, text = rest.partition(" ")
        if key not in ("timeout_turn", "timeout_match", "time_left", "max_memory", "rule"):
            return
        if not re.fullmatch("-?[0-9]{1,15}", text.strip()):
            self._complaints[key] = f"INFO {key} should be a whole number"
            return
        self._complaints.pop(key, None)
        try:
            self._use(key, int(text))
        except BadInput as error:
            self._complaints[key] = str(error)

    def _use(self, key: str, value: int) -> None:
        """Goes on by a limit or a rule; raises BadInput."""
        if key == "max_memory":
            mib = min(value // _MIB // _TREE_PART, MEMORY_MIB, MOST_MIB) if value > 0 else MEMORY_MIB
            self._engine.set_memory(max(1, mib))
            return
        if key == "rule" and value not in (0, 1):
            raise BadInput(f"rule {value} is not played here; 0 is five or more in a row, 1 exactly five")
        self._info[key] = value
        exact = self._info.get("rule") == 1
        if key == "rule" and self._stones is not None and self._rules.exact != exact:
            self._engine.set_game(with_parameters(self._engine.game, exact=exact))

    # --- playing ---

    def _begin(self, rest: str) -> str | None:
        if self._begun():
            raise Refused("the board is not empty; RESTART comes first")
        return self._move()

    def _turn(self, rest: str) -> str | None:
        point = self._empty(_point(rest))
        self._begun()[point] = THEIRS
        try:
            return self._move()
        except (Refused, BadInput):
            self._begun().pop(point)
            raise

    def _play(self, rest: str) -> str:
        point = self._empty(_point(rest))
        self._begun()[point] = OWN
        return f"{point[0]},{point[1]}"

    def _take_back(self, rest: str) -> str:
        if self._begun().pop(_point(rest), None) is None:
            raise Refused(f"there is no stone at {_shown(rest)}")
        return "OK"

    def _begin_list(self, use: Callable[[list[str]], str | None]) -> None:
        self._begun_list, self._list = use, []

    def _read_list(self, line: str) -> str | None:
        """Reads a line of BOARD or SWAP2BOARD. What is wrong refuses the whole list, once DONE has come."""
        use = self._begun_list
        assert use is not None, "its lines come"
        if line.upper() == "END":
            self._end("")
        elif line.upper() == "DONE":
            self._begun_list = None
            self._begun()
            self._complain()
            return use(self._list)
        elif len(self._list) <= _MOST_STONES:
            self._list.append(line)
        return None

    def _set_board(self, lines: list[str]) -> str | None:
        stones: dict[tuple[int, int], int] = {}
        for line in lines:
            match = _STONE.fullmatch(line)
            point = (int(match[1]), int(match[2])) if match else (-1, -1)
            if match is None or not self._is_on_board(point) or point in stones:
                raise Refused("BOARD has lines that are no stones on this board; they are X,Y,1 or X,Y,2")
            stones[point] = int(match[3])
        before, self._stones = self._stones, stones
        try:
            return self._move()
        except (Refused, BadInput):
            self._stones = before
            raise

    def _choose_colour(self, lines: list[str]) -> str | None:
        """Plays its part of an opening by Swap2: three stones, or whether it swaps. It never adds two stones.

        The game itself begins with BOARD.
        """
        points = [_point(line) for line in lines]
        if len(points) not in (0, 3, 5) or len({*points}) < len(points) or not all(map(self._is_on_board, points)):
            raise Refused("SWAP2BOARD should have no stones, three or five, each X,Y on this board")
        if not points:
            return self._open()
        limit, clock = self._limits()
        found = self._think(self._position(_alternating(points)), Task(limit, clock))
        if found is None:
            return None
        return "SWAP" if found.value < 0 else "{},{}".format(*self._point_of(found.moves[0].action))

    def _open(self) -> str | None:
        """Returns the three stones, of some that are drawn, after which the game is the most open."""
        rules, (limit, _) = self._rules, self._limits()
        cells = [(column, row) for row in range(rules.rows) for column in range(rules.columns)]
        seconds = min(_OPENING_S, limit.seconds or _OPENING_S) / _OPENINGS
        best: tuple[float, list[tuple[int, int]]] = (math.inf, [])
        for _ in range(_OPENINGS):
            points = self._random.sample(cells, 3)
            found = self._think(self._position(_alternating(points)), Task(Limit(limit.simulations, seconds)))
            if found is None:
                return None
            best = min(best, (abs(found.value), points))
            if self._is_hurried:
                break
        return " ".join("{},{}".format(*point) for point in best[1])

    def _suggest(self, rest: str) -> str | None:
        return self._move("SUGGEST ", stays=True)

    def _is_on_board(self, point: tuple[int, int]) -> bool:
        rules = self._rules
        return 0 <= point[0] < rules.columns and 0 <= point[1] < rules.rows

    def _empty(self, point: tuple[int, int]) -> tuple[int, int]:
        if point in self._begun() or not self._is_on_board(point):
            raise Refused(f"{point[0]},{point[1]} is not an empty cell of the board")
        return point

    def _move(self, before: str = "", stays: bool = False) -> str | None:
        """Returns the agent's move; None if END has come meanwhile."""
        limit, clock = self._limits()
        found = self._think(self._position(self._begun()), Task(limit, clock))
        if found is None:
            return None
        point = self._point_of(found.moves[0].action)
        if not stays:
            self._begun()[point] = OWN
        return f"{before}{point[0]},{point[1]}"

    def _point_of(self, action: int) -> tuple[int, int]:
        row, column = divmod(action, self._rules.columns)
        return column, row

    def _position(self, stones: dict[tuple[int, int], int]) -> State:
        """Returns the position of some stones; raises Refused if it is none in which the agent is to move."""
        game, rules = self._engine.game, self._rules
        own, theirs = (list(stones.values()).count(whose) for whose in (OWN, THEIRS))
        first = OWN if own == theirs else THEIRS
        cells = ["."] * (rules.rows * rules.columns)
        for (column, row), whose in stones.items():
            cells[row * rules.columns + column] = PLAYERS[whose != first]
        try:
            state = game.state_from_text(board_to_text(cells, rules.columns, PLAYERS[(own + theirs) % 2]))
        except BadInput:
            raise Refused(f"there are {own} own stones and {theirs} of the opponent, so nobody can move") from None
        if state.is_terminal():
            raise Refused("the game is over")
        return state

    def _limits(self) -> tuple[Limit, Clock | None]:
        """Returns what limits a move: the agent's name, the time of a turn, and what is left of the match."""
        turn, match = self._info.get("timeout_turn"), self._info.get("timeout_match", 0)
        left = self._info.get("time_left", match if match > 0 else _UNLIMITED_MS)
        limit, agent = self._engine.agent.limit, self._engine.agent
        if turn is not None:
            most_s = max(turn / 1000 - _MARGIN_S, turn / 2000, _SHORTEST_S)
            limit = agent.limit.beside_clock()
            limit = Limit(limit.simulations, min(most_s, limit.seconds or most_s))
        if left >= _UNLIMITED_MS or (match <= 0 and "time_left" not in self._info):
            return limit, None
        return limit, self._engine.give_clock(0, TimeControl(max(left, 1) / 1000))

    def _think(self, state: State, task: Task) -> Suggestion | None:
        """Searches a position. END and the end of the input end the search soon; None: it does not end."""
        search, self._is_hurried = self._engine.start(task, state), False

        def is_left() -> bool:
            is_left = self._lines.has_waiting("END") or self._lines.is_abandoned
            if any(map(self._lines.take, _STOPS)):
                search.stop()
                self._is_hurried = True
            self._is_hurried |= is_left
            return is_left

        report = self._engine.wait(search, lambda report: None, is_left)
        if task.clock is not None:
            task.clock.spend(time.perf_counter() - search.begin_s)
        if report is None:
            self._is_over = True
            return None
        if report.error is not None:
            raise report.error
        assert report.found is not None and report.found.moves, "there is a move"
        return report.found

    def _about(self, rest: str) -> str:
        name = self._engine.agent.name.replace('"', "'")
        return f'name="azero {name}", version="{azero.__version__}", author="azero"'

    def _end(self, rest: str) -> None:
        self._is_over = True


def _alternating(points: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Returns stones that were put in this order. The agent is to move."""
    return {point: OWN if (len(points) - ply) % 2 == 0 else THEIRS for ply, point in enumerate(points)}


def _point(text: str) -> tuple[int, int]:
    numbers = text.replace(",", " ").split()
    if len(numbers) != 2 or not all(re.fullmatch("[0-9]{1,3}", each) for each in numbers):
        raise Refused(f"{_shown(text)} should be X,Y, e.g. 7,7")
    return int(numbers[0]), int(numbers[1])


def _shown(text: str) -> str:
    text = printable(text[:200])
    return text if len(text) < 200 else f"{text[:197]}..."
