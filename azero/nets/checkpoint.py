"""Checkpoints: one `.safetensors` file with the weights and all it takes to rebuild the net. Loading runs none of it.

The file's metadata have one entry, `azero`, a JSON object with the fields of `Card` and a digest over them and the
weights, so that a flipped bit anywhere is noticed.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from azero.config.reading import override_section
from azero.config.schema import NetConfig, SearchConfig
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.names import contrast, file_of, source_digest_of, without_folder
from azero.games.user.loading import digest_of_file
from azero.nets.architectures.tower import ResidualTower, fold
from azero.nets.checkpoint_card import Card, card_from
from azero.nets.game_file import find_game
from azero.system.files import write_whole
from azero.system.formats import drop_unknown, warn_once


@dataclass(frozen=True)
class Checkpoint:
    """A net with its card."""

    net: ResidualTower
    card: Card
    game: Game
    digest: str


def save_checkpoint(path: Path, net: ResidualTower, card: Card) -> None:
    """Writes a checkpoint, whole or not at all."""
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    metadata = {**_fields(card), "digest": _digest(tensors, _fields(card))}
    write_whole(path, save(tensors, {"azero": json.dumps(metadata, sort_keys=True)}))


def load_checkpoint(path: Path, game: Game | None = None) -> Checkpoint:
    """Reads a checkpoint, for `game` if one is given; raises BadInput where it is damaged or of another game.

    Where `game` is a user's own whose sources are not those that the checkpoint was made with, that is told on stderr.
    """
    card, digest, tensors = _read(path)
    if digest != _digest(tensors, _fields(card)):
        raise BadInput(f"checkpoint {str(path)!r} is damaged: its contents do not match their digest")
    card = _as_known(path, card)
    own_game = game_of_card(path, card, game)
    try:
        net = ResidualTower(override_section(NetConfig, card.net, {}), own_game)
        override_section(SearchConfig, card.search, {})
    except BadInput as error:
        raise BadInput(f"checkpoint {str(path)!r} does not fit its own card: {error}") from None
    try:
        _check_shapes(net, tensors)
    except BadInput as error:
        if card.game_digest != source_digest_of(own_game.rules):
            raise BadInput(
                f"checkpoint {str(path)!r} does not fit {own_game}, which has changed since it was made: its planes, "
                f"now {'x'.join(map(str, own_game.planes_shape))}, or its actions, now {own_game.num_actions}, "
                "are of another shape than the net's"
            ) from None
        raise BadInput(f"checkpoint {str(path)!r} does not fit its own card: {error}") from None
    net.load_state_dict(tensors)
    for name, tensor in net.state_dict().items():
        if not tensor.isfinite().all():
            raise BadInput(f"checkpoint {str(path)!r} cannot be used: {name} has values that are not finite numbers")
    if not _answers(net):
        raise BadInput(f"checkpoint {str(path)!r} cannot be used: what its net says is not finite numbers")
    if card.game_digest != source_digest_of(own_game.rules):
        warn_once(f"{own_game} has changed since checkpoint {str(path)!r} was made")
    return Checkpoint(net, card, own_game, digest)


def _as_known(path: Path, card: Card) -> Card:
    """Returns the card without settings that are no longer known, which are told."""
    what = f"the card of checkpoint {str(path)!r}"
    net = drop_unknown(what, card.net, NetConfig.model_fields)
    return replace(card, net=net, search=drop_unknown(what, card.search, SearchConfig.model_fields))


def _check_shapes(net: ResidualTower, tensors: dict[str, Tensor]) -> None:
    """Raises BadInput where weights are not those of such a net, by name, shape and dtype."""
    wanted = net.state_dict()
    for name in sorted(wanted.keys() | tensors.keys()):
        own, other = (
            " x ".join(map(str, each[name].shape)) or "a number" if name in each else "not there"
            for each in (tensors, wanted)
        )
        if own != other:
            raise BadInput(f"{name} is {own}, and in the net that the card describes {other}")
        if tensors[name].dtype != wanted[name].dtype:
            raise BadInput(f"{name} is of {tensors[name].dtype}, and should be of {wanted[name].dtype}")


@torch.inference_mode()
def _answers(net: ResidualTower) -> bool:
    """Returns whether what the net says is finite, tried on planes full of ones: weights may be, and too large."""
    return all(bool(logits.isfinite().all()) for logits in fold(net)(torch.ones(1, *net.game.planes_shape)))


def game_of_card(path: Path, card: Card, game: Game | None = None) -> Game:
    """Returns the game that a checkpoint plays; raises BadInput where `game` is given and is another.

    A card alone runs no file but one that is unchanged since the checkpoint was made, to the last byte. A user's own
    game that has changed, or lies at neither of the places that the card has, is to be given.
    """
    game = game or _game_told(path, card)
    if without_folder(game.name) != without_folder(card.game):
        raise BadInput(f"checkpoint {str(path)!r} plays {contrast(card.game, game.rules)}")
    return game


def _game_told(path: Path, card: Card) -> Game:
    """Returns the game that a card alone tells."""
    name, file, told = f"checkpoint {str(path)!r}", None, card.game
    try:
        told = find_game(card.game, card, path)
        file = file_of(told)
        if file is None or digest_of_file(file) == card.game_digest:
            return make_game(told)
    except BadInput as error:
        is_gone = file is not None and not Path(file).is_file()
        place = f"; it plays {card.game}; name the file's place, e.g. --game path/to/{without_folder(card.game)}"
        raise type(error)(f"{name}: {error}{place if is_gone else ''}") from None
    advice = f"to play by it as it is now, say so by --game {told!r}"
    raise BadInput(f"{name} plays {told}, and that file has changed since; {advice}")


def read_card(path: Path) -> Card:
    """Reads what a checkpoint says of itself; raises BadInput."""
    return _read(path)[0]


def _read(path: Path) -> tuple[Card, str, dict[str, Tensor]]:
    """Returns card, digest and weights of a file; raises BadInput where it is none of ours."""
    name = f"checkpoint {str(path)!r}"
    try:
        with open(path, "rb") as file:
            start = file.read(9)  # of a safetensors file: the length of its header, then the header, which is JSON
        if not start:
            raise BadInput(f"{name} is empty")
        if start[8:] != b"{" and start.startswith((b"\x80", b"PK")):
            raise BadInput(f"{name} is a pickle, which could run code and is never loaded; azero writes .safetensors")
        if start[8:] != b"{":
            raise BadInput(f"{name} is not a checkpoint: it is not a .safetensors file")
        with safe_open(str(path), framework="pt") as file:
            metadata = (file.metadata() or {}).get("azero")
            tensors = {key: file.get_tensor(key) for key in sorted(file.keys())}
        if metadata is None:
            raise BadInput(f"{name} is a safetensors file, but not one of azero's: it has no card")
        fields = json.loads(metadata)
    except OSError as error:
        raise BadInput(f"{name} cannot be read: {error.strerror or error}") from None
    except BadInput:
        raise
    except (SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"{name} is damaged or not a .safetensors file: {error}") from None
    if set(tensors) == {"patterns", "actions"}:
        raise BadInput(f"{name} is a rollout policy, not a net; it is used as uct(rollout={path}), for example")
    digest = fields.pop("digest", "") if isinstance(fields, dict) else ""
    try:
        return card_from(fields), digest, tensors
    except BadInput as error:
        raise BadInput(f"{name} cannot be used: {error}") from None


def _fields(card: Card) -> dict:
    """Returns what is written of a card: of azero's own games nothing of a file, as before there were others."""
    return {key: value for key, value in asdict(card).items() if key not in ("game_digest", "game_file") or value}


def _digest(tensors: dict[str, Tensor], fields: dict) -> str:
    """Returns a digest of weights and card."""
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode())
    for name in sorted(tensors):
        tensor = tensors[name]
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
