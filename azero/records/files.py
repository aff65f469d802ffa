"""Files of records: text, or SGF where the name ends in `.sgf`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from azero.errors import BadInput
from azero.games import Game
from azero.records.reading import text_to_records
from azero.records.record import Record
from azero.records.sgf_games import number_of
from azero.records.sgf_reading import sgf_to_records
from azero.records.sgf_writing import records_to_sgf
from azero.records.writing import record_to_text
from azero.system.files import read_regular, write_whole

LARGEST = 64 << 20
"""Bytes of the largest file that is read: some 100,000 games."""


def read_records(path: str | Path, game: Game | None = None) -> Iterator[Record]:
    """Yields the records in a file. Every move is checked by the rules.

    Args:
      game: the game that all records must have; None: the records name it. A user's own game must be given.

    Raises:
      BadInput: the file cannot be read, is cut short, is of another game, or has an illegal move. The message has the
        file and the line or, of SGF, the number of the game.
    """
    path, is_empty = Path(path), True
    try:
        data = read_regular(path, LARGEST)
    except OSError as error:
        raise BadInput(f"record {str(path)!r} cannot be read: {error.strerror or error}") from None
    try:
        for record in _parsed(path, data, game):
            is_empty = False
            yield record
    except BadInput as error:
        raise BadInput(f"{path}, {error}") from None
    if is_empty:
        raise BadInput(f"record {str(path)!r} has no games")


def save_records(path: str | Path, records: Iterable[Record]) -> None:
    """Adds records to the end of a file, or begins a new one; raises BadInput if it cannot have them."""
    path, records = Path(path), list(records)
    for game in {record.game for record in records}:
        check_target(path, game)
    data = records_to_sgf(records) if is_sgf(path) else "".join(map(record_to_text, records)).encode()
    before = path.read_bytes() if path.exists() else b""
    if before and not before.endswith(b"\n"):
        before += b"\n"
    write_whole(path, before + data)


def check_target(path: str | Path, game: Game) -> None:
    """Raises BadInput if records of this game cannot be added to a file, e.g. because it has something else in it."""
    path = Path(path)
    if is_sgf(path):
        number_of(game)
    if path.is_dir():
        raise BadInput(f"{str(path)!r} is a folder; a file for records is needed, e.g. {path / 'games.txt'}")
    if not path.exists():
        return
    try:
        data = read_regular(path, LARGEST)
    except OSError as error:
        raise BadInput(f"records cannot be added to {str(path)!r}: {error.strerror or error}") from None
    begin = data.lstrip()[:1]
    if begin and begin != (b"(" if is_sgf(path) else b"["):
        raise BadInput(f"{str(path)!r} exists, and is no record of games; name another file")


def is_sgf(path: Path) -> bool:
    """Returns whether a file's name says that it is SGF."""
    return path.suffix.lower() == ".sgf"


def _parsed(path: Path, data: bytes, game: Game | None) -> Iterator[Record]:
    if is_sgf(path):
        return sgf_to_records(data, game)
    try:
        return text_to_records(data.decode("utf-8-sig"), game)
    except UnicodeDecodeError:
        raise BadInput("it is not a text file in UTF-8") from None
