"""A checkpoint's file: its card and weights, read and checked without torch. Loading runs no code from it.

The file is one of `azero/system/tensor_files.py`, and its card has the fields of `Card`.
"""

from dataclasses import MISSING, dataclass, field, fields
from importlib.metadata import version
from math import inf
from pathlib import Path
from reprlib import repr as _short
from typing import get_type_hints

import numpy as np

from azero.config.reading import override_section
from azero.config.schema import NetConfig, SearchConfig
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.games.names import KOMI, contrast, differences, file_of, is_made_with, is_playable, without_folder
from azero.games.user.sources import Sources
from azero.games.user.trust import Untrusted, check_trusted
from azero.nets.architectures.drawing import is_any_size
from azero.nets.origins import Origin, named_by
from azero.system.console import warn_once
from azero.system.formats import check_format, check_names
from azero.system.tensor_files import Tensors, check_digest, read_tensors

FORMAT = 1

_KINDS = {str: "a text", int: "a whole number, 0 or more", float: "a finite number", dict: "an object"}


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
    torch_version: str = field(default_factory=lambda: version("torch"))
    format: int = FORMAT
    game_digest: str = ""  # of the sources of a user's own game
    game_file: str = ""  # path of a user's own game, relative to the run's folder
    net_digest: str = ""  # the same for a user's own net
    net_file: str = ""
    rule_digest: str = ""  # the same for a user's own selection rule, which `search` names
    rule_file: str = ""
    root: str = ""  # a user's own root strategy of self-play, with its file
    root_digest: str = ""
    root_file: str = ""

    @property
    def origins(self) -> dict[str, Origin]:
        """The origins of game, net, selection rule and root strategy, by what they are of."""
        return {
            "game": self.origin_of_game,
            "net": self.origin_of_net,
            "rule": self.origin_of_rule,
            "root": Origin("root", self.root or "noise", self.root_digest, self.root_file),
        }

    @property
    def origin_of_game(self) -> Origin:
        return Origin("game", self.game, self.game_digest, self.game_file)

    @property
    def origin_of_net(self) -> Origin:
        return Origin("net", str(self.net.get("name", "")) or "tower", self.net_digest, self.net_file)

    @property
    def origin_of_rule(self) -> Origin:
        return Origin("rule", str(self.search.get("selection", "")) or "puct", self.rule_digest, self.rule_file)


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


@dataclass(frozen=True)
class CheckpointFile:
    """What a checkpoint's file says. Whether the weights fit the net is not known yet."""

    path: Path
    card: Card
    game: Game
    config: NetConfig  # with the present place of a user's net
    weights: Tensors
    digest: str

    def warn_of_change(self) -> None:
        """Prints a warning on stderr if the sources of a user's own game have changed since it was written."""
        if not is_made_with(self.game.rules, self.card.game_digest):
            warn_once(f"{self.game} has changed since checkpoint {str(self.path)!r} was made")


def read_checkpoint(path: Path, game: Game | None = None, net: str | None = None) -> CheckpointFile:
    """Reads a checkpoint's file, for `game` if it is given.

    Args:
      net: the name of a user's own net, with its present file; by default the card and its place tell.

    Raises Damaged, or BadInput if it is of another game or format, or has weights that are not finite numbers.
    """
    card, arrays, digest = read_whole(path)
    own_game = game_of_card(path, card, game)
    try:
        config = override_section(NetConfig, card.net, {})
        override_section(SearchConfig, card.search, {})
    except BadInput as error:
        raise BadInput(f"checkpoint {str(path)!r} does not fit its own card: {error}") from None
    try:
        config = config.model_copy(update={"name": name_of_net(path, card, net)})
    except BadInput as error:
        raise type(error)(f"checkpoint {str(path)!r}: {error}") from None
    for name, array in arrays.items():
        if not np.isfinite(array).all():
            raise BadInput(f"checkpoint {str(path)!r} cannot be used: {name} has values that are not finite numbers")
    return CheckpointFile(path, card, own_game, config, arrays, digest)


def read_whole(path: Path) -> tuple[Card, Tensors, str]:
    """Returns the card, the weights and the digest of a checkpoint. Runs no code of a user's.

    Raises BadInput if the file cannot be read as a checkpoint, or differs from its digest.
    """
    fields, arrays = _read(path)
    digest = str(fields.pop("digest", ""))
    check_digest(f"checkpoint {str(path)!r}", digest, fields, arrays)
    card = _card_from(path, fields)
    of_net, of_search = NetConfig.model_fields, SearchConfig.model_fields
    known = [f"net.{each}" for each in of_net] + [f"search.{each}" for each in of_search]
    found = [f"net.{each}" for each in card.net] + [f"search.{each}" for each in card.search]
    check_names(f"checkpoint {str(path)!r}", found, known, optional=known)
    return card, arrays, digest


def game_of_card(path: Path, card: Card, game: Game | None = None) -> Game:
    """Returns the game that a checkpoint plays; raises BadInput if `game` is given and is another game.

    A net plays the game with another komi, too; a notice names its own. A net for all sizes plays it in other sizes.

    Without `game`, the file of a user's own game runs only if it is trusted (`games/user/trust.py`) and its code is
    unchanged since the checkpoint was made. If it has changed, or is at neither place that the card names, pass `game`.
    """
    game = game or _game_told(path, card)
    if without_folder(game.name) == without_folder(card.game):
        return game
    has_all_sizes = is_any_size(card.net.get("name"))
    if not is_playable(card.game, game.rules, has_all_sizes):
        raise Damaged(f"checkpoint {str(path)!r} plays {contrast(card.game, game.rules, has_all_sizes)}")
    if komi := (differences(card.game, game.rules) or {}).get(KOMI):
        warn_once(f"checkpoint {str(path)!r} was trained with komi {komi[0]}; it plays {game}")
    return game


def _game_told(path: Path, card: Card) -> Game:
    """Returns the game that a card names."""
    name, file, told = f"checkpoint {str(path)!r}", None, card.game
    try:
        told = named_by(card.origin_of_game, path)
        file = file_of(told)
        if file is None or Sources(file).made(card.game_digest):
            return make_trusted_game(told)
    except Untrusted as error:
        raise Untrusted(f"{name}: {error}; if you trust it, name it with --game {told!r}") from None
    except BadInput as error:
        is_gone = file is not None and not Path(file).is_file()
        place = f"; it plays {card.game}; name the file's place, e.g. --game 'path/to/{without_folder(card.game)}'"
        raise type(error)(f"{name}: {error}{place if is_gone else ''}") from None
    advice = f"to use the changed file, name it with --game {told!r}"
    raise BadInput(f"{name} plays {told}, and that file has changed since; {advice}")


def name_of_net(path: Path, card: Card, present: str | None = None) -> str:
    """Returns the name of the net that a card names, with the present place of a user's file, or `present`.

    Raises BadInput if that file is gone or has changed: the weights might fit the new net, and mean something else.
    """
    name = present or named_by(card.origin_of_net, path)
    file = file_of(name, "net")
    if file is None or Sources(file, "net").made(card.net_digest):
        return name
    raise BadInput(f"its net {name} has changed since it was made; it needs the file as it was")


def rule_of_card(path: Path, card: Card) -> str:
    """Returns the name of the selection rule with which a checkpoint is searched, unless the user names another.

    It is azero's own PUCT, which a notice says, if the card names a user's rule that may not run: its file is gone, has
    changed since, or is code that the user has not named.
    """
    if file_of(card.origin_of_rule.name, "rule") is None:
        return card.origin_of_rule.name
    try:
        name = named_by(card.origin_of_rule, path)
        sources = Sources(str(file_of(name, "rule")), "rule")
        check_trusted(sources)
        if sources.made(card.rule_digest):
            return name
        why = f"{sources.what} has changed since"
    except BadInput as error:
        why = str(error)
    own = card.origin_of_rule.name
    warn_once(
        f"checkpoint {str(path)!r} was made with the selection rule {own}, and plays with puct: {why}; name the rule "
        f"to use it, e.g. {path}(selection={own})"
    )
    return "puct"


def read_card(path: Path) -> Card:
    """Returns the card of a checkpoint; raises BadInput if the file cannot be read as one."""
    return _card_from(path, _read(path)[0])


def _read(path: Path) -> tuple[dict, Tensors]:
    """Returns the fields of the card, the digest among them, and the weights."""
    name = f"checkpoint {str(path)!r}"
    fields, tensors = read_tensors(path, name)
    if set(tensors) == {"patterns", "actions"}:
        raise Damaged(f"{name} is a rollout policy, not a net; use it as uct(rollout={path}), for example")
    return fields, tensors


def _card_from(path: Path, fields: dict) -> Card:
    """Returns the card with these fields, among which is the digest."""
    try:
        return card_from({name: value for name, value in fields.items() if name != "digest"})
    except BadInput as error:
        raise type(error)(f"checkpoint {str(path)!r} cannot be used: {error}") from None
