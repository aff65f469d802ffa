"""Another engine as an agent, spoken to in the Go Text Protocol, version 2, whatever the game.

Moves go over in the notation of our own game. An engine plays one game at a time: with several slots the position is
set up anew whenever the slot changes.
"""

import contextlib
import shlex
import subprocess
import time
from collections.abc import Sequence

from azero.arena.agents import Agent, check_state
from azero.arena.suggestion import Move, Suggestion
from azero.errors import BadInput
from azero.games import Game, State


class GtpAgent(Agent):
    """Plays what a GTP engine generates."""

    def __init__(self, name: str, game: Game, command: str, seed: int = 0):
        super().__init__(name, game, seed)
        self._states: list[State] = []
        self._shown: list[int] | None = None  # the moves the engine knows of
        try:
            words = shlex.split(command)
            if not words:
                raise BadInput(f"agent {name!r} names no command, e.g. gtp:gnugo --mode gtp")
            self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        except BadInput:
            raise
        except (OSError, ValueError) as error:
            raise BadInput(f"agent {name!r}: the engine cannot be started: {error}") from None

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
        move = self.game.action_to_text(state, action)
        moves = [Move(action, move, 0, 0.0, 1.0, None, None, [move])]
        return Suggestion(str(self.game), state.current_player(), 0, time.perf_counter() - begin, 0.0, move, moves)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):  # of a line that was never read
                pipe.close()

    def _generate(self, state: State) -> int:
        """Returns the engine's move in a position."""
        self._show(state)
        answer = self._ask(f"genmove {_colour(state)}")
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
            height, width = self.game.planes_shape[1:]
            if height == width:
                self._ask(f"boardsize {height}")
            self._ask("clear_board")
            self._shown = []
        replayed = self.game.new_initial_state()
        for ply, action in enumerate(history):
            if ply >= len(self._shown):
                self._ask(f"play {_colour(replayed)} {self.game.action_to_text(replayed, action)}")
            replayed.apply_action(action)
        self._shown = history

    def _ask(self, command: str) -> str:
        """Sends a command; returns the answer without its `=`. Raises BadInput where the engine fails."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise BadInput(f"agent {self.name!r}: the engine ended before {command!r}") from None
        lines = []
        for line in self._process.stdout:
            if line.strip():
                lines.append(line.strip())
            if lines and (not line.strip() or lines[0][0] not in "=?"):  # complete, or not GTP at all
                break
        answer = " ".join(lines)
        if not answer.startswith("="):
            raise BadInput(f"agent {self.name!r}: the engine answered {command!r} with {answer or 'nothing'!r}")
        return answer[1:].strip()


def _colour(state: State) -> str:
    return "black" if state.current_player() == 0 else "white"
