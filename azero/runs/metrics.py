"""metrics.jsonl: one JSON object per iteration. docs/metrics.md explains its keys.

Training reads all lines, and refuses a broken one. The page reads what it can show, whoever has written it.
"""

import functools
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from azero.errors import BadInput, Damaged
from azero.system.console import say
from azero.system.files import Stamp, read_regular, stamp_of, write_whole

Line = dict[str, Any]
"""An iteration's metrics, by name."""

_LARGEST = 1 << 30  # bytes of the file
_LARGEST_SHOWN = 16 << 20  # bytes of a file that the page shows: some thousands of iterations
_MOST_KEYS = 300  # of a line that the page shows
_MOST_CHARACTERS = 200  # of a key, or of a text
_MOST_ITERATION = 10_000_000
_LARGEST_NUMBER = 1 << 53  # that JSON has exactly


def read_metrics(path: Path) -> list[Line]:
    """Returns the lines, in order; none if there is no file. Raises Damaged if a line is broken."""
    lines = []
    for number, data in enumerate(_split(path), start=1):
        line = _parse(data)
        if line is None:
            raise Damaged(
                f'line {number} of {str(path)!r} is broken; it should be a JSON object with an "iteration": '
                "repair it or remove it"
            )
        lines.append(line)
    return lines


def write_metrics(path: Path, line: Line) -> None:
    """Adds an iteration's line. It replaces lines of this and later iterations, left by an interrupted run."""
    lines = [each for each in read_metrics(path) if each["iteration"] < line["iteration"]] + [line]
    write_whole(path, "".join(json.dumps(each) + "\n" for each in lines).encode())


def mend_metrics(path: Path) -> None:
    """Drops a last line that was cut short, with a notice on stderr; raises Damaged if another line is broken."""
    lines = _split(path)
    if lines and _parse(lines[-1]) is None:
        write_whole(path, _joined(lines[:-1]))
        say(f"line {len(lines)} of {str(path)!r}, the last, was cut short, and is dropped")
    read_metrics(path)


def good_lines(path: Path) -> bytes:
    """Returns the lines that are not broken, as bytes of a file."""
    return _joined(line for line in _split(path) if _parse(line) is not None)


def _joined(lines: Iterable[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def _split(path: Path) -> list[bytes]:
    return read_regular(path, _LARGEST).rstrip().splitlines() if path.exists() else []


def _parse(data: bytes) -> Line | None:
    """Returns a line's object, or None if it is not a valid one."""
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("iteration"), int) else None


def read_rows(path: Path) -> list[Line]:
    """Returns the lines that are whole, by ascending iteration: numbers, truths and short texts by name.

    There are none if there is no file. A line that is cut short or broken is left out, and so is one whose iteration is
    not later than the one before. Numbers that JSON lacks are None. A link is not read.

    Raises BadInput if the file is too large, or is none.
    """
    try:
        return _rows(path, stamp_of(path, _LARGEST_SHOWN))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise BadInput(f"metrics.jsonl cannot be read: {error.strerror or error}") from None


@functools.lru_cache(maxsize=16)
def _rows(path: Path, stamp: Stamp) -> list[Line]:
    rows: list[Line] = []
    for data in read_regular(path, _LARGEST_SHOWN).splitlines():
        row = _parse(data)
        if row and _can_be_shown(row) and (not rows or row["iteration"] > rows[-1]["iteration"]):
            rows.append({key: _cleaned(value) for key, value in row.items() if len(key) <= _MOST_CHARACTERS})
    return rows


def _can_be_shown(row: Line) -> bool:
    return len(row) <= _MOST_KEYS and type(row["iteration"]) is int and 0 < row["iteration"] <= _MOST_ITERATION


def _cleaned(value: object) -> float | int | bool | str | None:
    """Returns a value that can be sent; None for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    if isinstance(value, int | float) and abs(value) <= _LARGEST_NUMBER:
        return value
    return None


def mark_of(rows: list[Line]) -> str:
    """Returns a short text that differs if another run has begun in the folder: a digest of the first line."""
    text = json.dumps(rows[0], sort_keys=True) if rows else ""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
