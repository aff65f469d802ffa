"""The record of a game in the terminal."""

from pathlib import Path
from typing import NamedTuple

from azero.interfaces.terminal.played import Played
from azero.records import Record, save_records
from azero.records.record import FIRST_WON, SECOND_WON


class Ending(NamedTuple):
    """How a game ended.

    Attributes:
      winner: 0 or 1; None after a draw.
      termination: the tag Termination of a game that did not end by the rules, otherwise empty.
    """

    winner: int | None
    termination: str = ""


class Recorder:
    """Adds a game to files.

    Args:
      names: of the first and the second player.
    """

    def __init__(self, names: tuple[str, str]):
        self._names = names
        self._saved: list[tuple[Path, Record]] = []

    def record(self, played: Played, ending: Ending | None) -> Record:
        """Returns the record of a game, finished or not."""
        tags = dict(zip(("First", "Second"), self._names, strict=True))
        if ending and ending.termination:
            tags["Termination"] = ending.termination
        record = Record.of_game(played.positions[0], played.actions(), **tags)
        if ending and ending.termination:
            record.result = FIRST_WON if ending.winner == 0 else SECOND_WON
        for node, note in zip(record.line(), played.notes, strict=True):
            node.value, node.simulations, node.seconds = note
        return record

    def save(self, path: Path, played: Played, ending: Ending | None) -> bool:
        """Adds the game to a file unless it has been added as it is; returns whether it was added.

        Raises BadInput or OSError if the file cannot have it.
        """
        record = self.record(played, ending)
        if (path, record) in self._saved:
            return False
        save_records(path, [record])
        self._saved.append((path, record))
        return True
