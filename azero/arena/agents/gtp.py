"""Another engine as an agent, through the Go Text Protocol, version 2, in any game.

Moves are written in azero's notation of the game. An engine may answer `resign`. It plays the games of a match one
after another. Each game begins with `clear_board`, and continues with one `play` or `genmove` per move. The engine is
not asked for a forced pass. Some engines pass by themselves and refuse `play black pass`: a refused forced pass is
skipped.
"""

import contextlib
import math
import queue
import threading
import time
import weakref
from collections.abc import Sequence

from azero.arena.agents.agent import Agent, check_state
from azero.arena.agents.clock import Clock
from azero.arena.agents.engine_process import end_engine, read_lines, split_command, start_engine
from azero.arena.agents.suggestion import RESIGN, Move, Suggestion
from azero.errors import BadInput, EngineFailed
from azero.games import Game, State
from azero.games.names import write_value
from azero.system.code import check_may_run

_GRACE_S = 5.0  # beyond its clock, until an engine is given up
_LONGEST_QUOTE = 100  # most characters of an answer in a message
_LONGEST_ANSWER = 100_000  # characters
_MOST_LINES_WAITING = 1000  # an engine that writes more has to wait


class _Refused(EngineFailed):
    """The engine answered a command with `?`."""


class GtpAgent(Agent):
    """Plays a GTP engine's moves. Raises EngineFailed if the engine ends, does not answer or breaks the protocol."""

    plays_side_by_side = False
    judges_positions = False

    most_seconds = 60.0
    """Time limit for an answer, in seconds."""

    def __init__(self, name: str, game: Game, command: str, seed: int = 0):
        super().__init__(name, game, seed)
        self._states: list[State] = []
        self._more_seconds = 0.0  # for an answer, beside a clock
        self._shown: list[int] | None = None  # the moves on the engine's board; None if unknown
        try:
            words = split_command(command)
            if not words:
                raise BadInput(f"agent {name!r} names no command, e.g. gtp:gnugo --mode gtp")
            check_may_run(f"agent {name!r}")
            self._process, lifeline = start_engine(words)
        except BadInput:
            raise
        except (OSError, ValueError) as error:
            raise BadInput(f"agent {name!r}: the engine cannot be started: {error}") from None
        self._end = weakref.finalize(self, end_engine, self._process, lifeline)  # runs when Python ends, if not before
        self._lines: queue.Queue[str] = queue.Queue(_MOST_LINES_WAITING)  # of the engine's output; "" at its end
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=read_lines, args=(self._process.stdout, self._lines), daemon=True)
        self._reader.start()

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        self._states = [state.clone() for state in states]
        self._shown = None  # a new game begins with clear_board

    def advance(self, slot: int, action: int) -> None:
        self._states[slot].apply_action(action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        return [self._generate(self._states[slot]) for slot in slots]

    def _play_on_clock(self, state: State, clock: Clock) -> Suggestion:
        self._tell_time(state, clock)
        self._more_seconds = max(0.0, clock.left_s + _GRACE_S - self.most_seconds)
        try:
            return self.suggest(state)
        finally:
            self._more_seconds = 0.0

    def _tell_time(self, state: State, clock: Clock) -> None:
        """Tells the engine the time that is left. An engine that knows no clocks is asked all the same."""
        control = clock.control
        is_byo_yomi = clock.main_s == 0.0
        left_s, stones = (control.period_s, 1) if is_byo_yomi else (clock.main_s, 0)
        period = f"{math.ceil(control.period_s)} 1" if control.periods else "0 0"
        with contextlib.suppress(_Refused):  # whole seconds; 0 could mean that there is no limit
            self._ask(f"time_settings {math.ceil(control.main_s)} {period}")
            self._ask(f"time_left {_colour(state)} {max(1, int(left_s))} {stones}")

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        begin = time.perf_counter()
        action = self._generate(state)
        elapsed, player = time.perf_counter() - begin, state.current_player()
        if action == RESIGN:
            return Suggestion(str(self.game), player, 0, elapsed, -1.0, "resign", [])
        move = self.game.action_to_text(state, action)
        moves = [Move(action, move, 0, 0.0, 1.0, None, None, [move])]
        return Suggestion(str(self.game), player, 0, elapsed, 0.0, move, moves)

    def close(self) -> None:
        self._end()
        deadline = time.monotonic() + 1.0  # a process outside the session may keep the output open
        while self._reader.is_alive() and time.monotonic() < deadline:
            with contextlib.suppress(queue.Empty):  # the reader may wait for room
                self._lines.get_nowait()
            self._reader.join(timeout=0.01)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):  # the last line was never read
            self._process.stdin.close()

    def _generate(self, state: State) -> int:
        """Returns the engine's move in a position, or RESIGN."""
        self._show(state)
        if _is_forced_pass(state):
            action = state.legal_actions()[0]
            self._play(state, action)
            self._shown = [*state.history(), action]
            return action
        answer = self._ask(f"genmove {_colour(state)}")
        if answer.lower() == "resign":
            self._shown = None  # its board is unknown now
            return RESIGN
        if len(answer) > _LONGEST_QUOTE:
            raise EngineFailed(f"agent {self.name!r} answered genmove with {_quote(answer)}")
        try:
            action = self.game.text_to_action(state, answer.lower())
        except BadInput as error:
            raise EngineFailed(f"agent {self.name!r} answered genmove with {_quote(answer)}: {error}") from None
        self._shown = [*state.history(), action]
        return action

    def _show(self, state: State) -> None:
        """Sets the engine's board to a position: by the missing moves if possible, otherwise from the start."""
        history = state.history()
        if not state.is_replayable():
            raise BadInput(f"agent {self.name!r} needs the moves that lead to a position; give them as 'moves: ...'")
        if self._shown is None or self._shown != history[: len(self._shown)]:
            self._set_up()
            num_shown = 0
        else:
            num_shown = len(self._shown)
        self._shown = None  # in case the engine fails on the way
        replayed = self.game.new_initial_state()
        for ply, action in enumerate(history):
            if ply >= num_shown:
                self._play(replayed, action)
            replayed.apply_action(action)
        self._shown = history

    def _play(self, state: State, action: int) -> None:
        """Sends a move. A refused forced pass is skipped, because the next command names the colour anyway."""
        try:
            self._ask(f"play {_colour(state)} {self.game.action_to_text(state, action)}")
        except _Refused:
            if not _is_forced_pass(state):
                raise

    def _set_up(self) -> None:
        """Starts a game: sends the size if the board is square, and the komi if the game has one."""
        height, width = self.game.planes_shape[1:]
        if height == width:
            self._ask(f"boardsize {height}")
        self._ask("clear_board")
        if hasattr(self.game.rules, "komi"):
            self._ask(f"komi {write_value(self.game.rules.komi)}")

    def _ask(self, command: str) -> str:
        """Sends a command; returns the answer without its `=`. Raises EngineFailed."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except OSError:  # a broken pipe; on Windows, an invalid argument
            raise self._ended(command) from None
        answer = " ".join(self._answer_lines(command))
        if not answer.startswith("="):
            kind = _Refused if answer.startswith("?") else EngineFailed
            raise kind(f"agent {self.name!r}: the engine answered {command!r} with {_quote(answer)}")
        return answer[1:].strip()

    def _ended(self, command: str) -> EngineFailed:
        return EngineFailed(f"agent {self.name!r}: the engine ended before {command!r} was answered")

    def _given_up(self, why: str) -> EngineFailed:
        """Ends the engine, since a late answer would be taken for that to another command; returns the error."""
        self._end()
        return EngineFailed(f"agent {self.name!r}: the engine {why}")

    def _answer_lines(self, command: str) -> list[str]:
        """Returns the lines of an answer, up to the blank line that ends it; only the first if that is not GTP."""
        most_s = self.most_seconds + self._more_seconds
        deadline = time.monotonic() + most_s
        lines: list[str] = []
        while True:
            left_s = deadline - time.monotonic()
            try:
                if left_s <= 0:  # even if there are lines: an engine may write without end
                    raise queue.Empty
                line = self._lines.get(timeout=left_s)
            except queue.Empty:
                raise self._given_up(f"did not answer {command!r} within {most_s:g} s") from None
            if sum(map(len, lines)) + len(line) > _LONGEST_ANSWER:
                raise self._given_up(f"answered {command!r} with more than {_LONGEST_ANSWER:,} characters")
            if line.strip():
                lines.append(line.strip())
            if not line:
                self._lines.put(line)  # for the next call
                raise self._ended(command)
            if lines and (not line.strip() or lines[0][0] not in "=?"):  # complete, or not GTP at all
                return lines


def _is_forced_pass(state: State) -> bool:
    legal = state.legal_actions()
    return len(legal) == 1 and state.game.action_to_text(state, legal[0]) == "pass"


def _quote(answer: str) -> str:
    """Returns an engine's answer for a message, shortened if it is long."""
    return repr(answer if len(answer) <= _LONGEST_QUOTE else f"{answer[: _LONGEST_QUOTE - 3]}...")


def _colour(state: State) -> str:
    return "black" if state.current_player() == 0 else "white"
