"""Starts of a run: the positions at which games of self-play begin, from a file of texts."""

import re
from pathlib import Path

from azero.errors import BadInput
from azero.games import Game
from azero.selfplay.data.shard import LONGEST_START
from azero.system.files import read_regular

_LARGEST = 1 << 19  # bytes of a file; the state has the texts in its header, which has at most 2 MiB

_COMMENT = re.compile(r"(^|\s)#(\s.*)?$")  # not each #, which is an arrow in Amazons


def read_starts(file: str, game: Game) -> list[str]:
    """Returns the texts of the positions in a file, in their order; none if `file` is "none".

    Raises BadInput, with the line, if a text is not a position of the game, or the game is over there.
    """
    if file == "none":
        return []
    what = f"selfplay.starts = {file!r}"
    try:
        lines = read_regular(Path(file), _LARGEST).decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise BadInput(f"{what} is not UTF-8 text") from None
    except (OSError, ValueError) as error:  # a ValueError: it is not a valid file name
        raise BadInput(f"{what} cannot be read: {getattr(error, 'strerror', error)}") from None
    starts = []
    for number, line in enumerate(lines, start=1):
        text = _COMMENT.sub("", line).strip()
        if not text:
            continue
        if len(text.encode()) > LONGEST_START:
            raise BadInput(f"{what}, line {number}: the text has more than {LONGEST_START:,} bytes")
        try:
            is_over = game.state_from_text(text).is_terminal()
        except BadInput as error:
            raise BadInput(f"{what}, line {number}: {error}") from None
        if is_over:
            raise BadInput(f"{what}, line {number}: {text!r}: the game is over there")
        starts.append(text)
    if not starts:
        raise BadInput(
            f"{what} has no positions; each line should have one, e.g. {game.new_initial_state().to_text()!r}"
        )
    return starts
