"""A game as it is played: its positions, what is known of each action, how it ended, and its record."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from azero.games import State
from azero.records import Record


class Note(NamedTuple):
    """What is known of an action. `value` and `simulations` are those of the search that chose it."""

    value: float | None = None  # of the position before it, in [-1, 1], for the player who moves
    simulations: int | None = None
    seconds: float | None = None


class Ending(NamedTuple):
    """How a game ended.

    Attributes:
      winner: 0 or 1; None after a draw.
      termination: the tag Termination of a game that did not end by the rules, otherwise empty.
    """

    winner: int | None
    termination: str = ""


class GameSoFar:
    """The positions of a game from its beginning, and the actions between them.

    Attributes:
      positions: the beginning, then the position after each action.
      notes: one for each action.
      num_given: number of actions that were played before, which are not taken back.
    """

    def __init__(self, start: State, moves: Sequence[int] = ()):
        given, begin = list(moves), start
        if start.history() and start.is_replayable():
            given, begin = [*start.history(), *moves], start.game.new_initial_state()
        self.positions = [begin.clone()]
        self.notes: list[Note] = []
        self.num_given = len(given)
        for action in given:
            self.add(action, Note())

    @property
    def state(self) -> State:
        """The position now."""
        return self.positions[-1]

    def add(self, action: int, note: Note) -> None:
        """Plays an action; raises BadInput if it is not legal."""
        after = self.state.clone()
        after.apply_action(action)
        self.positions.append(after)
        self.notes.append(note)

    def take_back(self, person: int) -> bool:
        """Goes back to this player's previous action since the given ones; returns whether there is one."""
        for length in range(len(self.positions) - 1, self.num_given, -1):
            if self.positions[length - 1].current_player() == person:
                del self.positions[length:], self.notes[length - 1 :]
                return True
        return False

    def actions(self) -> list[int]:
        """Returns the actions from the beginning."""
        return self.state.history()[len(self.positions[0].history()) :]

    def before_last_turn(self) -> State | None:
        """Returns the position before the last turn, which may have several actions; None at the beginning."""
        begin = self._begin_of_turn()
        return self.positions[begin] if begin < len(self.positions) - 1 else None

    def turn_so_far(self) -> list[str]:
        """Returns the actions that the player to move has played in this turn, in the game's notation."""
        begin = self._begin_of_turn()
        if self.positions[begin].current_player() != self.state.current_player():
            return []
        pairs = zip(self.positions[begin:], self.actions()[begin:], strict=False)
        return [position.game.action_to_text(position, action) for position, action in pairs]

    def _begin_of_turn(self) -> int:
        """Returns how many actions came before the last turn."""
        begin = len(self.positions) - 1
        while begin > 0 and self.positions[begin - 1].current_player() == self.positions[-2].current_player():
            begin -= 1
        return begin

    def number(self) -> int:
        """Returns the number of the current turn, counted from 1."""
        players = [position.current_player() for position in self.positions]
        return 1 + sum(one != other for one, other in itertools.pairwise(players))

    def to_record(self, names: tuple[str, str], ending: Ending | None) -> Record:
        """Returns the record of the game, finished or not.

        Args:
          names: of the first and the second player.
        """
        tags = dict(zip(("First", "Second"), names, strict=True))
        record = Record.of_game(self.positions[0], self.actions(), **tags)
        if ending and ending.termination and ending.winner is not None:
            record.award(ending.winner, ending.termination)
        for node, note in zip(record.line(), self.notes, strict=True):
            node.value, node.simulations, node.seconds = note
        return record
