"""Files of records: text, or SGF where the name ends in `.sgf`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from azero.errors import BadInput
from azero.games import Game
from azero.records.record import RESERVED, Record
from azero.records.sgf import MARKS, records_to_sgf, sgf_to_records
from azero.records.sgf_games import number_of
from azero.records.text import record_to_text, text_to_records
from azero.system.files import append, check_regular, read_regular

LARGEST, LARGEST_SGF = 64 << 20, 16 << 20
"""Bytes of the largest files that are read: some 100,000 games of text. A parser of SGF needs more memory."""

_HEAD, _END = (
    re.compile(rb"(?:\xef\xbb\xbf)?(?:\s|;[^\n]*\n)*+\[\s*\w+\s*\""),
    re.compile(rb"(?:^|\s)(?:1-0|0-1|1/2-1/2|\*)\s*$"),
)
_SGF_HEAD, _SGF_END = re.compile(rb"\s*\(\s*;"), re.compile(rb"\)\s*$")
_LOOKED_AT = 1 << 16  # bytes at both ends of a file


def read_records(path: str | Path, game: Game | None = None, keeps_komi: bool = False) -> Iterator[Record]:
    """Yields the records in a file. Every move is checked by the rules.

    Args:
      game: the game that all records must have; None: the records name it. A user's own game must be given.
      keeps_komi: whether records may have another komi than `game`, which they keep.

    Raises:
      BadInput: the file cannot be read, is cut short, is of another game, or has an illegal move. The message has the
        file and the line or, of SGF, the number of the game.
    """
    path, is_empty = Path(path), True
    try:
        data = read_regular(path, _largest(path))
    except OSError as error:
        raise BadInput(f"record {str(path)!r} cannot be read: {error.strerror or error}") from None
    try:
        for record in _parsed(path, data, game, keeps_komi):
            is_empty = False
            yield record
    except BadInput as error:
        raise BadInput(f"{path}, {error}") from None
    if is_empty:
        raise BadInput(f"record {str(path)!r} has no games")


def read_records_of_one_game(
    paths: Sequence[str | Path], game: Game | None = None, keeps_komi: bool = False
) -> list[Record]:
    """Returns the records in several files, all of the same game, one after another; raises as `read_records`."""
    records: list[Record] = []
    for path in paths:
        for record in read_records(path, records[0].game if records else game, keeps_komi):
            if records and record.game != records[0].game:
                raise BadInput(f"{path}: a game of {record.game} cannot be beside one of {records[0].game}")
            records.append(record)
    return records


def save_records(path: str | Path, records: Iterable[Record]) -> None:
    """Adds records to the end of a file, or begins a new one; raises BadInput if it cannot have them."""
    path, records = Path(path), list(records)
    if not records:
        return
    for record in records:
        check_record(record)
    for game in {record.game for record in records}:
        check_target(path, game)
    data = records_to_sgf(records) if is_sgf(path) else "".join(map(record_to_text, records)).encode()
    size = path.stat().st_size if path.exists() else 0
    if size + len(data) >= _largest(path):
        raise BadInput(f"{str(path)!r} would have more than {_largest(path):,} bytes; name another file")
    append(path, b"\n" * bool(size) + data)


def check_record(record: Record) -> None:
    """Raises BadInput if a reader would not understand the tags or the marks of a record."""
    for name in record.tags:
        if not re.fullmatch(r"\w{1,100}", name) or name in RESERVED:
            raise BadInput(f"tag {name!r} should be a word, and none of {', '.join(sorted(RESERVED))}")
    left = [record.root]
    while left:
        node = left.pop()
        if node.mark not in ("", *MARKS):
            raise BadInput(f"mark {node.mark!r} should be one of {' '.join(MARKS)}")
        left += node.children


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
        begin, last = _both_ends(path)
    except OSError as error:
        raise BadInput(f"records cannot be added to {str(path)!r}: {error.strerror or error}") from None
    head, end = (_SGF_HEAD, _SGF_END) if is_sgf(path) else (_HEAD, _END)
    if (begin + last).strip() and not (head.match(begin) and end.search(last.rstrip())):
        raise BadInput(f"{str(path)!r} exists, and is no record of games or is cut short; name another file")


def _both_ends(path: Path) -> tuple[bytes, bytes]:
    """Returns the first and the last bytes of a regular file; raises OSError."""
    check_regular(path)
    with open(path, "rb") as file:
        begin = file.read(_LOOKED_AT)
        file.seek(max(0, path.stat().st_size - _LOOKED_AT))
        return begin, file.read(_LOOKED_AT)


def _largest(path: Path) -> int:
    return LARGEST_SGF if is_sgf(path) else LARGEST


def is_sgf(path: Path) -> bool:
    """Returns whether a file's name says that it is SGF."""
    return path.suffix.lower() == ".sgf"


def _parsed(path: Path, data: bytes, game: Game | None, keeps_komi: bool) -> Iterator[Record]:
    if is_sgf(path):
        return sgf_to_records(data, game, keeps_komi=keeps_komi)
    try:
        return text_to_records(data.decode("utf-8-sig"), game, keeps_komi=keeps_komi)
    except UnicodeDecodeError:
        raise BadInput("it is not a text file in UTF-8") from None
