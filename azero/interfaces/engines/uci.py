"""UCI, the Universal Chess Interface, for the games that engines know as variants, by `agents/engines/variants.py`.

Source: Kahlen and Meyer-Kahlen, UCI protocol (2006); Fairy-Stockfish for `UCI_Variant` and the notations.
"""

import math
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import azero
from azero.arena.agents.analysis import MEMORY_MIB, MOST_MIB
from azero.arena.agents.clock import Limit, TimeControl
from azero.arena.agents.engines.variants import Variant, known_variants
from azero.arena.agents.suggestion import Move, Suggestion
from azero.errors import BadInput
from azero.games import State
from azero.games.make import make_trusted_game
from azero.interfaces.engines.engine import Engine, Report, Search, Task
from azero.interfaces.engines.lines import Lines
from azero.interfaces.engines.rates import win_rate
from azero.system.console import printable

_INTERVAL_S = 0.5
_MARGIN_S = 0.02  # of `movetime`, for what a move takes outside the search
_SHORTEST_S = 0.001
_MOST_LINES = 500
_MOST_DEFERRED = 1000  # commands that wait for the end of a search
_MOST_CP = 15_000
_LONGEST_MS = 7 * 24 * 3600 * 1000


@dataclass
class _Going:
    """A `go` that has no bestmove yet.

    Attributes:
      search: its search.
      holds: whether bestmove waits for `stop` or `ponderhit`, as in `infinite` and `ponder`.
      hit: the task after `ponderhit`; None unless it ponders.
      found: the last report.
      is_done: whether the search is over.
    """

    search: Search
    holds: bool
    hit: Task | None = None
    found: Suggestion | None = None
    is_done: bool = False


_OPTION = re.compile(r"name (.+?)(?: value (.*))?")


class Uci:
    """Answers the commands of a GUI."""

    def __init__(self, make: Callable, lines: Lines[Report]):
        self._lines = lines
        self._engine = Engine(make, lines)
        self._variant = Variant(self._engine.game)
        self._begin()
        self._num_lines, self._tells_wdl = 1, True
        self._going: _Going | None = None
        self._deferred: deque[str] = deque()
        self._is_over = False
        self._handlers: dict[str, Callable[[list[str]], None]] = {
            "uci": self._introduce,
            "isready": lambda words: self._lines.write("readyok\n"),
            "setoption": self._set_option,
            "ucinewgame": lambda words: self._begin(),
            "position": self._set_position,
            "go": self._go,
            "stop": self._stop,
            "ponderhit": self._hit,
            "quit": self._quit,
            "d": self._show,
            "debug": lambda words: None,
            "register": lambda words: None,
        }

    def _begin(self) -> None:
        self._engine.begin_game()
        self._engine.state = self._variant.start()

    def run(self) -> None:
        """Answers until `quit` or the end of the input, which ends a search that nothing follows."""
        while not self._is_over:
            event = self._lines.next()
            if isinstance(event, Report):
                self._take(event)
            elif event is not None:
                self._answer(event)
            elif self._going is None or self._going.holds:
                return
            else:
                self._wait()
            while self._deferred and self._going is None and not self._is_over:
                self._answer(self._deferred.popleft())

    def close(self) -> bool:
        """Ends searches; returns whether they have ended."""
        return self._engine.close()

    def _answer(self, line: str) -> None:
        words = line.split()
        at = next((place for place, word in enumerate(words) if word in self._handlers), len(words))
        words = words[at:]  # by the protocol, words before a command are left out
        if not words:
            if line.strip():
                self._say(f"unknown command {line.strip()[:100]!r}")
            return
        if self._going is not None and words[0] not in ("isready", "stop", "ponderhit", "quit"):
            if not self._going.holds:  # it comes when the search is over
                if len(self._deferred) < _MOST_DEFERRED:
                    self._deferred.append(line)
                else:
                    self._say("too many commands wait for the end of the search")
                return
            self._stop([])
            self._wait()
            if self._is_over:
                return
        try:
            self._handlers[words[0]](words[1:])
        except BadInput as error:
            self._say(str(error))

    def _say(self, text: str) -> None:
        self._lines.write(f"info string {printable(' '.join(text.split()))[:500]}\n")

    # --- the engine and its options ---

    def _introduce(self, words: list[str]) -> None:
        name = self._variant.known or self._variant.name
        known = sorted({name, *self._known()})
        variants = " ".join(f"var {each}" for each in known)
        self._lines.write(
            f"id name azero {azero.__version__} {self._engine.agent.name}\nid author azero\n"
            f"option name UCI_Variant type combo default {name} {variants}\n"
            f"option name MultiPV type spin default 1 min 1 max {_MOST_LINES}\n"
            "option name Ponder type check default false\n"
            f"option name Hash type spin default {MEMORY_MIB} min 1 max {MOST_MIB}\n"
            "option name UCI_ShowWDL type check default true\n"
            "uciok\n"
        )

    def _known(self) -> dict[str, str]:
        """Returns the games that the agent can play as variants, by the variant's name."""
        if self._engine.agent.at_full_strength.net_alone is not None:
            return {}
        return known_variants()

    def _set_option(self, words: list[str]) -> None:
        match = _OPTION.fullmatch(" ".join(words))
        if match is None:
            raise BadInput("setoption should be: setoption name NAME value VALUE")
        name, value = match[1].lower(), (match[2] or "").strip()
        if name == "uci_variant":
            self._set_variant(value)
        elif name == "multipv":
            self._num_lines = _whole(value, 1, _MOST_LINES)
        elif name == "hash":
            self._engine.set_memory(_whole(value, 1, MOST_MIB))
        elif name == "uci_showwdl":
            self._tells_wdl = value.lower() == "true"
        elif name not in ("ponder", "uci_analysemode", "uci_chess960", "uci_opponent"):
            raise BadInput(f"there is no option {match[1]!r}")

    def _set_variant(self, value: str) -> None:
        known = self._known()
        if value not in (self._variant.known, self._variant.name):
            if value not in known:
                own = self._variant.known or self._variant.name
                raise BadInput(f"this agent does not play {value!r}; it plays {', '.join(sorted({own, *known}))}")
            self._engine.set_game(make_trusted_game(known[value]))
            self._variant = Variant(self._engine.game)
            self._begin()
        variant = self._variant
        size = f"files {variant.files} ranks {variant.ranks}"
        self._say(f"variant {value} {size} pocket 0 template fairy startpos {variant.fen(variant.start())}")

    # --- positions ---

    def _set_position(self, words: list[str]) -> None:
        """Sets the position, unless a part of it is wrong; then the one before stays."""
        at = words.index("moves") if "moves" in words else len(words)
        if words[:1] == ["startpos"]:
            state = self._variant.start()
        elif words[:1] == ["fen"]:
            state = self._variant.state(" ".join(words[1:at]))
        else:
            raise BadInput("position should begin with startpos or fen")
        for number, text in enumerate(words[at + 1 :], start=1):
            try:
                for action in self._variant.notation.read(state, text):
                    state.apply_action(action)
            except BadInput as error:
                raise BadInput(f"illegal move {number}, {text!r}: {error}") from None
        self._engine.state = state

    def _show(self, words: list[str]) -> None:
        self._lines.write(f"{self._engine.state.draw()}\nFen: {self._variant.fen(self._engine.state)}\n")

    # --- searching ---

    def _go(self, words: list[str]) -> None:
        state = self._engine.state
        if state.is_terminal():
            self._lines.write("bestmove (none)\n")
            return
        task, holds, hit = self._task(words), "infinite" in words, None
        if "ponder" in words:
            holds, hit, task = True, task, task._replace(limit=Limit(), clock=None)
        self._going = _Going(self._engine.start(task), holds, hit)

    def _task(self, words: list[str]) -> Task:
        """Reads the arguments of `go`. Where several limits are given, the first one that is reached counts."""
        player, numbers = self._engine.state.current_player(), _numbers_of(words)
        time_name, more_name = ("wtime", "winc") if player == 0 else ("btime", "binc")
        is_told = bool(numbers.keys() & {time_name, "movetime", "nodes"}) or "infinite" in words
        limit = self._engine.agent.limit.beside_clock() if is_told else self._engine.agent.limit
        simulations, seconds = limit.simulations, limit.seconds or math.inf
        if "nodes" in numbers:
            simulations = min(simulations, max(1, numbers["nodes"]))
        if "movetime" in numbers:
            most_s = numbers["movetime"] / 1000
            seconds = min(seconds, max(most_s - _MARGIN_S, most_s / 2, _SHORTEST_S))
        clock = None
        if time_name in numbers:
            left_s = max(numbers[time_name], 1) / 1000
            control = TimeControl(left_s, increment_s=max(0, numbers.get(more_name, 0)) / 1000)
            clock = self._engine.give_clock(0, control)  # one for both players: what azero takes counts
        limit = Limit(simulations, None if seconds == math.inf else seconds, limit.is_default and not is_told)
        return Task(limit, clock, _INTERVAL_S, self._searched(words))

    def _searched(self, words: list[str]) -> list[int] | None:
        """Returns the first actions of the moves after `searchmoves`; None: all moves are searched."""
        if "searchmoves" not in words:
            return None
        allowed = set()
        for text in words[words.index("searchmoves") + 1 :]:
            try:
                allowed.add(self._variant.notation.read(self._engine.state, text)[0])
            except BadInput:
                break  # other arguments follow
        return sorted(allowed) or None

    def _take(self, report: Report) -> None:
        """Writes a report; the last one also ends the `go`, unless that waits for the GUI."""
        going = self._going
        if going is None or report.search is not going.search:
            return
        if report.error is not None and not isinstance(report.error, BadInput):
            raise report.error
        if report.error is not None:
            self._say(str(report.error))
            self._lines.write("bestmove (none)\n")
            self._going = None
            return
        going.found, going.is_done = report.found, report.is_last
        if report.found is not None and report.found.moves:
            self._inform(report.found, going.search)
        if going.is_done and not going.holds:
            self._end()

    def _wait(self) -> None:
        """Waits for the end of the search, if one runs. azero ends if nobody needs the search and it does not end."""
        going = self._going
        if going is not None and not going.is_done:
            self._is_over = self._engine.wait(going.search, self._take, self._is_left) is None or self._is_over

    def _is_left(self) -> bool:
        if self._is_over or self._lines.has_waiting("QUIT"):
            return True
        return self._lines.is_abandoned and (not self._deferred or self._lines.is_unread())

    def _stop(self, words: list[str]) -> None:
        going = self._going
        if going is None:
            return
        going.holds, going.hit = False, None
        if going.is_done:
            self._end()
        else:
            going.search.stop()

    def _hit(self, words: list[str]) -> None:
        """The opponent has played the move that was pondered: now the clock counts."""
        going = self._going
        if going is None or going.hit is None:
            return
        going.search.stop()
        self._wait()  # without bestmove, since it holds
        if not self._is_over and self._going is going:
            self._going = _Going(self._engine.start(going.hit), holds=False)

    def _end(self) -> None:
        """Writes bestmove: a whole turn, and the reply that is expected."""
        going = self._going
        assert going is not None, "it has gone"
        self._going = None
        state, found = going.search.state, going.found
        if found is None or not found.moves:
            self._lines.write("bestmove (none)\n")
            return
        first, made = self._variant.notation.turn_of(state)
        turns = self._turns(first, made, found.moves[0].pv) or [self._completed(first, made, found.moves[0].pv)]
        line = self._variant.notation.write(first, [turns[0]])[0]
        reply = ""
        if len(turns) > 1:
            after = _after(first, turns[0])
            reply = f" ponder {self._variant.notation.write(after, [turns[1]])[0]}"
        self._lines.write(f"bestmove {line}{reply}\n")
        if going.search.task.clock is not None:
            going.search.task.clock.spend(time.perf_counter() - going.search.begin_s)

    def _turns(self, first: State, made: list[int], pv: Sequence[str]) -> list[list[int]]:
        """Returns the whole turns of a principal variation, the first one with the actions that are made."""
        turns, turn, reached = list[list[int]](), list(made), _after(first, made)
        for text in pv:
            player = reached.current_player()
            turn.append(reached.game.text_to_action(reached, text))
            reached.apply_action(turn[-1])
            if reached.current_player() != player:
                turns.append(turn)
                turn = []
            if reached.is_terminal():
                break
        return turns

    def _completed(self, first: State, made: list[int], pv: Sequence[str]) -> list[int]:
        """Returns the turn that a principal variation begins, with the agent's first thoughts as its end."""
        turn, reached = list(made), _after(first, made)
        for text in pv:
            turn.append(reached.game.text_to_action(reached, text))
            reached.apply_action(turn[-1])
        while reached.current_player() == first.current_player():
            found = self._engine.agent.suggest(reached, 1)
            turn.append(found.moves[0].action if found.moves else reached.legal_actions()[0])
            reached.apply_action(turn[-1])
        return turn

    def _inform(self, found: Suggestion, search: Search) -> None:
        """Writes the best lines of a report. A line is of whole turns."""
        elapsed_s = max(time.perf_counter() - search.begin_s, 0.001)
        rate = found.simulations_per_s or found.simulations / elapsed_s
        facts = f"nodes {found.simulations} nps {round(rate)} time {round(1000 * elapsed_s)}"
        first, made = self._variant.notation.turn_of(search.state)
        moves = [move for move in found.moves if move.visits or move.proven] or found.moves[:1]
        lines = list[str]()
        for move in moves[: self._num_lines]:
            turns, texts, reached = self._turns(first, made, move.pv), list[str](), first
            if not turns:
                continue
            for turn in turns:
                texts.append(self._variant.notation.write(reached, [turn])[0])
                reached = _after(reached, turn)
            pv, depth = " ".join(texts), len(texts)
            lines.append(
                f"info depth {depth} seldepth {depth} multipv {len(lines) + 1} score {_score(move)}"
                f"{self._wdl(move)} {facts} pv {pv}\n"
            )
        if lines:
            self._lines.write("".join(lines))

    def _wdl(self, move: Move) -> str:
        if not self._tells_wdl:
            return ""
        wins = round(1000 * win_rate(move.value))
        if move.proven == "draw":
            return " wdl 0 1000 0"
        return f" wdl {wins} 0 {1000 - wins}"

    def _quit(self, words: list[str]) -> None:
        self._is_over = True
        self._stop([])
        self._wait()


def _after(state: State, actions: list[int]) -> State:
    after = state.clone()
    for action in actions:
        after.apply_action(action)
    return after


def _score(move: Move) -> str:
    """Returns a value in centipawns, the inverse of `value_of` in `agents/engines/uci.py`, or moves to the end."""
    if move.proven in ("win", "loss") and move.proven_plies:
        moves = math.ceil(move.proven_plies / 2)
        return f"mate {moves if move.proven == 'win' else -moves}"
    value = min(max(move.value, -1 + 1e-15), 1 - 1e-15)
    cp = 400 * math.log10((1 + value) / (1 - value))
    return f"cp {round(min(max(cp, -_MOST_CP), _MOST_CP))}"


def _numbers_of(words: list[str]) -> dict[str, int]:
    """Returns the whole numbers of `go` by the words before them. Others are left out: a GUI waits for a bestmove."""
    numbers = dict[str, int]()
    for name in ("wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime"):
        if name in words:
            at = words.index(name) + 1
            text = words[at] if at < len(words) else ""
            if re.fullmatch("-?[0-9]{1,18}", text):
                numbers[name] = min(int(text), _LONGEST_MS if name != "nodes" else 1 << 30)
    return numbers


def _whole(text: str, low: int, high: int) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise BadInput(f"{text!r} should be a whole number from {low} to {high}")
    return int(text)
