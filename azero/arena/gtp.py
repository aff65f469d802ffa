"""Another engine as an agent, spoken to in the Go Text Protocol, version 2, whatever the game.

Moves go over in the notation of our own game; an engine may answer `resign`, too. An engine plays one game at a time:
with several slots the position is set up anew whenever the slot changes, which takes GNU Go 0.1 ms a move.
"""

import contextlib
import queue
import shlex
import subprocess
import threading
import time
from collections.abc import Sequence

from azero.arena.agents import Agent, check_state
from azero.arena.suggestion import RESIGN, Move, Suggestion
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.registry import write_value


class GtpAgent(Agent):
    """Plays what a GTP engine generates."""

    most_seconds = 60.0
    """Seconds that the engine may take for an answer."""

    def __init__(self, name: str, game: Game, command: str, seed: int = 0):
        super().__init__(name, game, seed)
        self._states: list[State] = []
        self._shown: list[int] | None = None  # the moves the engine knows of
        try:
            words = shlex.split(command)
            if not words:
                raise BadInput(f"agent {name!r} names no command, e.g. gtp:gnugo --mode gtp")
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, errors="replace"
            )
        except BadInput:
            raise
        except (OSError, ValueError) as error:
            raise BadInput(f"agent {name!r}: the engine cannot be started: {error}") from None
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()  # that it has written; "" when there will be no more
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def start(self, num_slots: int, states: Sequence[State], first_game: int) -> None:
        self._states = [state.clone() for state in states]

    def advance(self, slot: int, action: int) -> None:
        self._states[slot].apply_action(action)

    def _choose(self, slots: Sequence[int]) -> list[int]:
        return [self._generate(self._states[slot]) for slot in slots]

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
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(timeout=1.0)  # longer only where the engine has left children that hold its output
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # of a line that was never read
            self._process.stdin.close()

    def _generate(self, state: State) -> int:
        """Returns the engine's move in a position, or RESIGN."""
        self._show(state)
        answer = self._ask(f"genmove {_colour(state)}")
        if answer.lower() == "resign":
            self._shown = None  # whatever it does to its board then
            return RESIGN
        try:
            action = self.game.text_to_action(state, answer.lower())
        except BadInput as error:
            raise BadInput(f"agent {self.name!r} answered genmove with {answer!r}: {error}") from None
        self._shown = [*state.history(), action]
        return action

    def _show(self, state: State) -> None:
        """Brings the engine to a position, by the moves it lacks where it is on the way there."""
        history = state.history()
        if self._shown is None or self._shown != history[: len(self._shown)]:
            self._set_up()
            self._shown = []
        replayed = self.game.new_initial_state()
        for ply, action in enumerate(history):
            if ply >= len(self._shown):
                self._ask(f"play {_colour(replayed)} {self.game.action_to_text(replayed, action)}")
            replayed.apply_action(action)
        self._shown = history

    def _set_up(self) -> None:
        """Brings the engine to the start of a game: of a square board's size, and with the komi where there is one."""
        height, width = self.game.planes_shape[1:]
        if height == width:
            self._ask(f"boardsize {height}")
        self._ask("clear_board")
        if hasattr(self.game.rules, "komi"):
            self._ask(f"komi {write_value(self.game.rules.komi)}")

    def _ask(self, command: str) -> str:
        """Sends a command; returns the answer without its `=`. Raises BadInput where the engine fails."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._ended(command) from None
        answer = " ".join(self._answer_lines(command))
        if not answer.startswith("="):
            raise BadInput(f"agent {self.name!r}: the engine answered {command!r} with {answer!r}")
        return answer[1:].strip()

    def _ended(self, command: str) -> BadInput:
        return BadInput(f"agent {self.name!r}: the engine ended before {command!r} was answered")

    def _answer_lines(self, command: str) -> list[str]:
        """Returns the lines of an answer, up to the blank one that ends it; the first alone where that is no GTP."""
        deadline = time.monotonic() + self.most_seconds
        lines: list[str] = []
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                self._process.kill()  # what it might still say would be taken for another answer
                limit = f"within {self.most_seconds:g} s"
                raise BadInput(f"agent {self.name!r}: the engine did not answer {command!r} {limit}") from None
            if line.strip():
                lines.append(line.strip())
            if not line:
                self._lines.put(line)  # for whoever asks again
                raise self._ended(command)
            if lines and (not line.strip() or lines[0][0] not in "=?"):  # complete, or not GTP at all
                return lines

    def _read(self) -> None:
        """Passes on the engine's lines as they come, in a thread of its own: a pipe cannot be waited for in part."""
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self._lines.put(line)
        self._lines.put("")


def _colour(state: State) -> str:
    return "black" if state.current_player() == 0 else "white"
