"""What a player thought of a move, at the beginning of its comment: `+0.120/800 0.310s`, as match programs write it.

It is the value, the simulations and the seconds of the search, as far as they are known. A comma separates other text.
The name of a move is a comment of its own, `name: Main line`.
"""

import re
from collections.abc import Sequence

from azero.records.record import Node

_NAME = "name: "
_THOUGHT = re.compile(r"([+-][01]\.\d{3})?(?:/(\d{1,15}))?(?:(?:^|(?<=\d) )(\d{1,9}\.\d{3})s)?(?:$|, ?)", re.ASCII)


def comment_of(node: Node) -> str:
    """Returns the comment of a move, with what its player thought; empty if there is nothing to tell."""
    thought = "" if node.value is None else f"{node.value:+z.3f}"
    thought += "" if node.simulations is None else f"/{node.simulations}"
    if node.seconds is not None:
        thought += f"{' ' if thought else ''}{node.seconds:.3f}s"
    if not node.comment:
        return thought
    is_ambiguous = node.comment.startswith((",", _NAME)) or _read(node.comment) is not None
    return f"{thought}, {node.comment}" if thought or is_ambiguous else node.comment


def comments_of(node: Node) -> list[str]:
    """Returns the comments of a move, as azero's own format has them: its name, and the others."""
    name = " ".join(node.name.split())
    return [*([f"{_NAME}{name}"] if name else []), *filter(None, [comment_of(node)])]


def read_name(node: Node, texts: Sequence[str]) -> list[str]:
    """Writes the name among comments, if there is one, into the node; returns the other comments."""
    names = [text.strip().removeprefix(_NAME).strip() for text in texts if text.strip().startswith(_NAME)]
    node.name = names[0] if names else node.name
    return [text for text in texts if not text.strip().startswith(_NAME)]


def read_comments(node: Node, texts: Sequence[str]) -> None:
    """Writes what the comments of a move tell into its node."""
    rests = [node.comment]
    for text in (each.strip() for each in texts):
        found = _read(text)
        if found is not None:
            value, simulations, seconds = found.groups()
            node.value = node.value if value is None else float(value)
            node.simulations = node.simulations if simulations is None else int(simulations)
            node.seconds = node.seconds if seconds is None else float(seconds)
        rests.append(text if found is None else text[found.end() :].strip())
    node.comment = "\n".join(filter(None, rests))


def _read(text: str) -> re.Match[str] | None:
    """Returns what a comment begins with if it tells a player's thought, or a comma that separates nothing."""
    found = _THOUGHT.match(text)
    if found is None or found.end() == 0 or (found[1] and abs(float(found[1])) > 1.0):
        return None
    return found
