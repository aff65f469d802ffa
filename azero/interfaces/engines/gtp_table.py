"""What the rooms of GTP share: the game on the board, whose stones are whose, searches, and how words are read."""

import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from azero.arena.agents.suggestion import Suggestion
from azero.games import Game, State
from azero.interfaces.engines.engine import Engine, Report, Search, Task
from azero.interfaces.engines.lines import Lines
from azero.interfaces.engines.positions import (
    Vertices,
    after_move,
    exchanged,
    has_swapped,
    player_of,
    points_name,
    turned_to,
)

COLOUR_WORDS = {"b": 0, "black": 0, "w": 1, "white": 1}
"""The first and the second player."""

_UNSEEN_S = 0.03  # of a move, by the controller's clock: until its command is read, and its answer
_INTERRUPT = "# INTERRUPT"
"""A comment with which GoGui ends a search: the move is the best one so far."""

_NUMBER = re.compile(r"[+-]?[0-9]{1,9}(\.[0-9]{0,9})?")


class Refused(Exception):
    """A command fails, with this message."""

    def __init__(self, message: str = "syntax error"):
        super().__init__(message)


def colour(word: str) -> int:
    """Returns the player whom a colour names: Black is the first one. Raises Refused."""
    if word.lower() not in COLOUR_WORDS:
        raise Refused("invalid color")
    return COLOUR_WORDS[word.lower()]


def whole(word: str) -> int:
    """Returns a whole number; raises Refused."""
    if not re.fullmatch(r"[0-9]{1,9}", word):
        raise Refused
    return int(word)


def number(word: str) -> float:
    """Returns a number; raises Refused."""
    if not _NUMBER.fullmatch(word):
        raise Refused
    return float(word)


class Table:
    """The game, and what several commands do with it. A method `_do_x__y` of a room answers the command `x-y`."""

    def __init__(self, make: Callable, lines: Lines[Report]):
        self._lines = lines
        self._engine = Engine(make, lines)
        self._vertices = Vertices(self._engine.game)
        self._header, self._is_begun = "=", False  # of an answer in parts
        self._exchanges = False  # whether a swap of Hex exchanges the colours

    def _tell(self, part: str) -> None:
        """Writes a part of an answer, the first one below the header."""
        self._lines.write(part if self._is_begun else f"{self._header}\n{part}")
        self._is_begun = True

    def _set_game(self, game: Game) -> None:
        self._engine.set_game(game)
        skips_i, self._vertices = self._vertices.skips_i, Vertices(self._engine.game)
        self._vertices.skips_i = skips_i

    def _player(self, word: str) -> int:
        """Returns the player whom a colour names. After a swap, it tells whether the players exchange their colours."""
        player, state = colour(word), self._engine.state
        if has_swapped(state) and len(state.history()) == 2:
            self._exchanges = player == 1
        self._look()
        return player ^ self._vertices.is_exchanged

    def _look(self) -> None:
        """Takes note of whether the players have exchanged their colours."""
        self._vertices.is_exchanged = self._exchanges and has_swapped(self._engine.state)

    def _shown(self) -> State:
        """Returns the position as the controller sees it."""
        return exchanged(self._engine.state) if self._vertices.is_exchanged else self._engine.state

    def _searched(self, words: Sequence[str]) -> State:
        """Returns the position with the player to move whom the words name; without words, as it is."""
        player = self._player(words[0]) if words else player_of(self._engine.state)
        return turned_to(self._engine.state, player)

    def _do_play(self, words: Sequence[str]) -> str:
        if len(words) < 2:
            raise Refused
        player, text = self._player(words[0]), "".join(words[1:])
        if text.lower() != "resign":
            self._engine.set_up(after_move(turned_to(self._engine.state, player, text), text, self._vertices))
        return ""

    def _undo(self, number: int) -> str:
        if number > len(self._engine.past):
            raise Refused("cannot undo")
        for _ in range(number):
            self._engine.undo()
        return ""

    def _generate(self, state: State, show: Callable[[Report], object] | None = None, **how: Any) -> str:
        """Plays the agent's move, and returns it; "resign" if it resigns, "pass" after the end of a game of Go.

        Args:
          show: takes the reports of the search.
          how: fields of its `Task`.
        """
        if state.is_terminal():
            if points_name(state.game) == "Go":
                return "pass"
            raise Refused("the game is over")
        clock, agent = self._engine.clocks[state.current_player()], self._engine.agent
        search = self._engine.start(Task(agent.limit, clock, **how), state)
        found = self._finish(search, show)
        if clock is not None:
            clock.spend(time.perf_counter() - search.begin_s + min(_UNSEEN_S, clock.main_s))
        if not found.moves or agent.resigns(found.value):
            return "resign"
        after = state.clone()
        after.apply_action(found.moves[0].action)
        self._engine.set_up(after)
        return self._move_of(state, found)

    def _suggest(self, state: State) -> Suggestion:
        """Returns what the agent finds within its limit, whatever was searched before."""
        return self._finish(self._engine.start(Task(self._engine.agent.limit, keeps_tree=False), state))

    def _move_of(self, state: State, found: Suggestion) -> str:
        return self._vertices.write(state.game.action_to_text(state, found.moves[0].action))

    def _finish(self, search: Search, show: Callable[[Report], object] | None = None) -> Suggestion:
        """Returns what a search finds. Meanwhile lines wait; the end of the input ends it soon, if nothing follows."""

        def take(report: Report) -> None:
            if report.error is not None:
                raise report.error
            assert report.found is not None, "it has found something"
            if show is not None and report.found.moves:
                show(report)

        def is_left() -> bool:
            if self._lines.take(_INTERRUPT):
                search.stop()
            return self._lines.is_abandoned

        report = self._engine.wait(search, take, is_left)
        if report is None:
            raise EOFError
        assert report.found is not None, "it has found something"
        return report.found
