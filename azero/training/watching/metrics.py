"""metrics.jsonl: one JSON object per iteration. docs/metrics.md explains its keys."""

import json
from pathlib import Path

from azero.errors import Damaged
from azero.system.console import say
from azero.system.files import read_regular, write_whole

_LARGEST = 1 << 30  # bytes of the file


def read_metrics(path: Path) -> list[dict]:
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


def write_metrics(path: Path, line: dict) -> None:
    """Adds an iteration's line. It replaces lines of this and later iterations, left by an interrupted run."""
    lines = [each for each in read_metrics(path) if each["iteration"] < line["iteration"]] + [line]
    write_whole(path, "".join(json.dumps(each) + "\n" for each in lines).encode())


def mend_metrics(path: Path) -> None:
    """Drops a last line that was cut short, with a notice on stderr; raises Damaged if another line is broken."""
    lines = _split(path)
    if lines and _parse(lines[-1]) is None:
        write_whole(path, b"".join(line + b"\n" for line in lines[:-1]))
        say(f"line {len(lines)} of {str(path)!r}, the last, was cut short, and is dropped")
    read_metrics(path)


def good_lines(path: Path) -> bytes:
    """Returns the lines that are not broken, as bytes of a file."""
    return b"".join(line + b"\n" for line in _split(path) if _parse(line) is not None)


def _split(path: Path) -> list[bytes]:
    return read_regular(path, _LARGEST).rstrip().splitlines() if path.exists() else []


def _parse(data: bytes) -> dict | None:
    """Returns a line's object, or None if it is not a valid one."""
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return line if isinstance(line, dict) and isinstance(line.get("iteration"), int) else None
