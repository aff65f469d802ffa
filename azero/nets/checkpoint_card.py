"""What a checkpoint says of itself, and whether what was read is such a card."""

from dataclasses import MISSING, dataclass, fields
from math import inf
from reprlib import repr as _short
from typing import get_type_hints

import torch

from azero.errors import BadInput
from azero.system.formats import check_format

FORMAT = 1

_KINDS = {str: "a text", int: "a whole number, 0 or more", float: "a finite number", dict: "an object"}


@dataclass(frozen=True)
class Card:
    """What a checkpoint says of itself."""

    game: str  # with its sizes; of a user's own game with the file
    net: dict  # NetConfig
    search: dict  # SearchConfig, the search it was trained with
    step: int = 0  # training steps
    iteration: int = 0
    positions: int = 0  # self-play positions generated so far
    rating: float = 0.0  # Elo above the run's first net, by its gates
    seed: int = 0
    torch_version: str = torch.__version__
    format: int = FORMAT
    game_digest: str = ""  # of the user's sources that the rules come from
    game_file: str = ""  # the way from the run's folder to the user's file


def card_from(read: object) -> Card:
    """Returns the card of an object from JSON.

    Raises BadInput with the first field that is missing, unknown, or of another type than it should be.
    """
    if not isinstance(read, dict):
        raise BadInput("its card is no JSON object")
    required = [field.name for field in fields(Card) if field.default is MISSING]
    for name in ["format", *required]:
        if name not in read:
            raise BadInput(f"its card has no field {name!r}")
    check_format("its card", read["format"], FORMAT)
    types = get_type_hints(Card)
    for name, value in read.items():
        if name not in types:
            raise BadInput(f"its card has an unknown field {name!r}")
        if not _is_of(types[name], value):
            raise BadInput(f"its card says {name} = {_short(value)}, which should be {_KINDS[types[name]]}")
    return Card(**read)


def _is_of(kind: type, value: object) -> bool:
    """Returns whether a value is what JSON has for a type: a float may be written as a whole number."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return type(value) is kind
