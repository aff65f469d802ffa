"""metrics.jsonl as it is read from outside: while it is written, and whoever has written it."""

import functools
import hashlib
import json
from pathlib import Path
from typing import Any

from azero.errors import BadInput
from azero.interfaces.web.runs.stamps import Stamp, stamp_of
from azero.system.files import read_regular

LARGEST = 16 << 20
"""Bytes of the file: some thousands of iterations."""

_MOST_KEYS = 300  # of a line
_MOST_CHARACTERS = 200  # of a key, or of a text
_MOST_ITERATION = 10_000_000
_LARGEST_NUMBER = 1 << 53  # that JSON has exactly

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Returns the lines that are whole, by ascending iteration: numbers, truths and short texts by name.

    There are none if there is no file. A line that is cut short or broken is left out, and so is one whose iteration is
    not later than the one before. Numbers that JSON lacks are None. Raises BadInput if the file is too large.
    """
    try:
        return _rows(path, stamp_of(path, LARGEST))
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            return []
        raise BadInput(f"metrics.jsonl cannot be read: {error.strerror or error}") from None


def mark_of(rows: list[Row]) -> str:
    """Returns a short text that differs if another run has begun in the folder: a digest of the first line."""
    text = json.dumps(rows[0], sort_keys=True) if rows else ""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@functools.lru_cache(maxsize=16)
def _rows(path: Path, stamp: Stamp) -> list[Row]:
    rows: list[Row] = []
    for line in read_regular(path, LARGEST).splitlines():
        row = _row_of(line)
        if row and (not rows or row["iteration"] > rows[-1]["iteration"]):
            rows.append(row)
    return rows


def _row_of(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or len(row) > _MOST_KEYS:
        return None
    if type(row.get("iteration")) is not int or not 0 < row["iteration"] <= _MOST_ITERATION:
        return None
    return {key: _cleaned(value) for key, value in row.items() if len(key) <= _MOST_CHARACTERS}


def _cleaned(value: object) -> float | int | bool | str | None:
    """Returns a value that can be sent; None for any other."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value[:_MOST_CHARACTERS].encode("utf-8", "replace").decode()
    if isinstance(value, int | float) and abs(value) <= _LARGEST_NUMBER:
        return value
    return None
