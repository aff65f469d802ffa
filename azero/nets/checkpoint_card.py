"""The card of a checkpoint: its metadata, and their validation."""

from dataclasses import MISSING, dataclass, field, fields
from math import inf
from reprlib import repr as _short
from typing import NamedTuple, get_type_hints

from azero.errors import BadInput, Damaged
from azero.system.formats import check_format

FORMAT = 1

_KINDS = {str: "a text", int: "a whole number, 0 or more", float: "a finite number", dict: "an object"}


class Origin(NamedTuple):
    """Where a checkpoint's game or net comes from. Without a file of the user's, digest and place are empty."""

    kind: str  # "game" or "net"
    name: str
    digest: str  # of the file's sources
    place: str  # the file's path from the run's folder


def _torch_version() -> str:
    import torch  # here, because whoever reads a card may not need torch

    return torch.__version__


@dataclass(frozen=True)
class Card:
    """The metadata of a checkpoint."""

    game: str  # with its sizes; for a user's own game, with its file
    net: dict  # NetConfig
    search: dict  # SearchConfig of the training
    step: int = 0  # training steps
    iteration: int = 0
    positions: int = 0  # self-play positions generated so far
    rating: float = 0.0  # Elo above the run's first net, by the games between nets of the run
    seed: int = 0
    torch_version: str = field(default_factory=_torch_version)
    format: int = FORMAT
    game_digest: str = ""  # of the sources of a user's own game
    game_file: str = ""  # path of a user's own game, relative to the run's folder
    net_digest: str = ""  # the same for a user's own net
    net_file: str = ""

    @property
    def origin_of_game(self) -> Origin:
        return Origin("game", self.game, self.game_digest, self.game_file)

    @property
    def origin_of_net(self) -> Origin:
        return Origin("net", str(self.net.get("name", "")) or "tower", self.net_digest, self.net_file)


def card_from(read: object) -> Card:
    """Returns the card made of an object from JSON.

    Raises BadInput with the first field that is missing, unknown, or of the wrong type; Damaged if it is no card of a
    checkpoint.
    """
    if not isinstance(read, dict):
        raise Damaged("its card is not a JSON object")
    required = [each.name for each in fields(Card) if each.default is MISSING and each.default_factory is MISSING]
    for name in ["format", *required]:
        if name not in read:
            raise Damaged(f"its card has no field {name!r}")
    check_format("its card", read["format"], FORMAT)
    types = get_type_hints(Card)
    for name, value in read.items():
        if name not in types:
            raise BadInput(f"its card has an unknown field {name!r}")
        if not _is_of(types[name], value):
            raise BadInput(f"its card says {name} = {_short(value)}, which should be {_KINDS[types[name]]}")
    return Card(**read)


def _is_of(kind: type, value: object) -> bool:
    """Returns whether a JSON value has the right type. A float may be written as a whole number."""
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < inf
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return type(value) is kind
