"""Another engine as an agent, through the Go Text Protocol, version 2, in any game.

Moves are written in azero's notation of the game. An engine may answer `resign`. A process plays one game after
another. Each game begins with `clear_board`, and continues with one `play` or `genmove` per move. The engine is
not asked for a forced pass. Some engines pass by themselves and refuse `play black pass`: a refused forced pass is
skipped.
"""

import contextlib
import math
import time

from azero.arena.agents.clock import Clock
from azero.arena.agents.engines.engine import LONGEST_QUOTE, EngineAgent, shorten
from azero.arena.agents.names import Options
from azero.arena.agents.suggestion import RESIGN, Suggestion, check_state, lone_move
from azero.errors import BadInput, EngineFailed
from azero.games import Game, State
from azero.games.names import write_value
from azero.games.state import is_forced_pass


class _Refused(EngineFailed):
    """The engine answered a command with `?`."""


class GtpAgent(EngineAgent):
    """Plays a GTP engine's moves. Raises EngineFailed if the engine ends, does not answer or breaks the protocol."""

    judges_positions = False
    _example = "gtp:gnugo --mode gtp"

    def __init__(self, name: str, game: Game, options: Options, command: str, seed: int = 0):
        super().__init__(name, game, options, command, seed)
        self._shown: list[int] | None = None  # the moves on the engine's board; None if unknown

    def _configure(self, options: Options) -> None:
        super()._configure(options)
        if options.resign_below() is not None:
            raise BadInput(f"agent {self.name!r}: resign has no effect, since GTP engines do not tell values")
        options.finish()

    def begin_game(self) -> None:
        self._shown = None  # a new game begins with clear_board

    def suggest_on_clock(self, state: State, clock: Clock) -> Suggestion:
        """Tells the engine the time that is left. An engine that knows no clocks is asked all the same."""
        control = clock.control
        is_byo_yomi = clock.main_s == 0.0
        left_s, stones = (control.period_s, 1) if is_byo_yomi else (clock.main_s, 0)
        period = f"{math.ceil(control.period_s)} 1" if control.periods else "0 0"
        with contextlib.suppress(_Refused):  # whole seconds; 0 could mean that there is no limit
            self.ask(f"time_settings {math.ceil(control.main_s)} {period}")
            self.ask(f"time_left {_colour(state)} {max(1, int(left_s))} {stones}")
        return self.suggest(state)

    def suggest(self, state: State, simulations: int | None = None, seconds: float | None = None) -> Suggestion:
        check_state(self.game, state)
        begin = time.perf_counter()
        action = self._generate(state)
        elapsed_s = time.perf_counter() - begin
        if action == RESIGN:
            return Suggestion(str(self.game), state.current_player(), 0, elapsed_s, -1.0, "resign", [])
        return lone_move(state, action, elapsed_s)

    def _generate(self, state: State) -> int:
        """Returns the engine's move in a position, or RESIGN."""
        self._show(state)
        if is_forced_pass(state):
            action = state.legal_actions()[0]
            self._play(state, action)
            self._shown = [*state.history(), action]
            return action
        answer = self.ask(f"genmove {_colour(state)}")
        if answer.lower() == "resign":
            self._shown = None  # its board is unknown now
            return RESIGN
        if len(answer) > LONGEST_QUOTE:
            raise EngineFailed(f"agent {self.name!r} answered genmove with {shorten(answer)!r}")
        try:
            action = self._action_of(state, answer)
        except BadInput as error:
            raise EngineFailed(f"agent {self.name!r} answered genmove with {shorten(answer)!r}: {error}") from None
        self._shown = [*state.history(), action]
        return action

    def _action_of(self, state: State, answer: str) -> int:
        """Returns the action of an answer, in which a move may have capital letters; raises BadInput."""
        answer = "swap" if answer.lower() == "swap-pieces" else answer  # as HexGui and its engines write it
        try:
            return self.game.text_to_action(state, answer)
        except BadInput:
            return self.game.text_to_action(state, answer.lower())

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
            self.ask(f"play {_colour(state)} {self.game.action_to_text(state, action)}")
        except _Refused:
            if not is_forced_pass(state):
                raise

    def _set_up(self) -> None:
        """Starts a game: sends the size if the board is square, and the komi if the game has one."""
        height, width = self.game.planes_shape[1:]
        if height == width:
            self.ask(f"boardsize {height}")
        self.ask("clear_board")
        if hasattr(self.game.rules, "komi"):
            self.ask(f"komi {write_value(self.game.rules.komi)}")

    def ask(self, command: str) -> str:
        """Sends a command; returns the answer without its `=`. Raises EngineFailed."""
        self.send(command)
        answer = " ".join(self._answer_lines(command))
        if not answer.startswith("="):
            kind = _Refused if answer.startswith("?") else EngineFailed
            raise kind(f"agent {self.name!r}: the engine answered {command!r} with {shorten(answer)!r}")
        return answer[1:].strip()

    def _answer_lines(self, command: str) -> list[str]:
        """Returns the lines of an answer, up to the blank line that ends it; only the first if that is not GTP."""
        lines: list[str] = []
        for line in self._read(command):
            if line:
                lines.append(line)
            if lines and (not line or lines[0][0] not in "=?"):  # complete, or not GTP at all
                break
        return lines


def _colour(state: State) -> str:
    return "black" if state.current_player() == 0 else "white"
