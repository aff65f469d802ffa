"""Files with a position in each line, such as the starts of self-play and the openings of a match."""

import re
from collections.abc import Callable
from pathlib import Path

from azero.errors import BadInput
from azero.games.state import State
from azero.system.files import read_regular

LONGEST_TEXT = 1 << 16
"""Most bytes of a position's text. A long game of Go, as moves, has some thousands."""

_LARGEST = 1 << 19  # bytes of a file; a run's state has the texts in its header, which has at most 2 MiB

_COMMENT = re.compile(r"(^|\s)#(\s.*)?$")  # not each #, which is an arrow in Amazons


def read_position_texts(what: str, path: Path, read: Callable[[str], State], example: str) -> list[str]:
    """Returns the texts of the positions in a file, in their order. "# " begins a comment.

    Args:
      what: names the file in errors.
      read: returns the position of a text; raises BadInput if it is none.
      example: a text that may stand in the file.

    Raises BadInput, with the line, if a text is no position, or the game is over there.
    """
    try:
        lines = read_regular(path, _LARGEST).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadInput(f"{what} is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # a ValueError: it is not a valid file name
        raise BadInput(f"{what} cannot be read: {getattr(error, 'strerror', error)}") from None
    texts = []
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.sub("", line).strip()
        if not text:
            continue
        if len(text.encode()) > LONGEST_TEXT:
            raise BadInput(f"{what}, line {number}: the text has more than {LONGEST_TEXT:,} bytes")
        try:
            is_over = read(text).is_terminal()
        except BadInput as error:
            raise BadInput(f"{what}, line {number}: {error}") from None
        if is_over:
            raise BadInput(f"{what}, line {number}: {text!r}: the game is over there")
        texts.append(text)
    if not texts:
        raise BadInput(f"{what} has no positions; each line should have one, e.g. {example!r}")
    return texts
