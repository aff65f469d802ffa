"""A net that begins with the weights of a checkpoint, whose net may have fewer blocks or channels.

A grown net computes the same function. A new block begins as an identity. New channels begin with random weights, and
all that was there before takes nothing from them. Both can learn from the first step. Not every net can grow in this
way, so the outputs of both nets are compared. A kept head that only the new net has begins new.

Source:
  Chen, Goodfellow, Shlens, Net2Net: accelerating learning via knowledge transfer, ICLR 2016. There new channels are
  copies of old ones.
"""

from pathlib import Path

import torch
from torch import Tensor

from azero.config.reading import override_section
from azero.config.schema import NetConfig
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.names import file_of, is_made_with, parts_of, without_folder
from azero.games.user.sources import Sources
from azero.nets.architectures.blocks import ResidualBlock
from azero.nets.architectures.contract import Net, fold
from azero.nets.architectures.heads import all_outputs
from azero.nets.checkpoint import check_finite, net_from_weights, wanted_weights
from azero.nets.checkpoint_file import Card, read_whole
from azero.nets.make import make_net
from azero.system.console import warn_once
from azero.system.tensor_files import Tensors

_TOLERANCE = 1e-4
"""Largest difference of outputs, relative to the largest output, that is rounding."""

_POSITIONS = 16
"""Number of random inputs whose outputs are compared."""


def net_grown_from(path: Path, config: NetConfig, game: Game, seed: int) -> Net:
    """Returns a net with these settings that computes what a checkpoint's net computes.

    The game may have other parameters, e.g. another size of the board, if the weights have the same shapes. If the nets
    are the same, the weights are copied.

    Args:
      seed: of the new weights of a larger net.

    Raises:
      BadInput: the checkpoint is of another game or another kind of net, or its net is larger or cannot grow.
      Damaged: the file is damaged.
    """
    card, weights, _ = read_whole(path)
    try:
        _check_kind(card, config, game)
        if not is_made_with(game.rules, card.game_digest):
            warn_once(f"{game} has changed since checkpoint {str(path)!r} was made")
        own, weights = _with_heads_of(config, override_section(NetConfig, card.net, {}), weights)
        own = own.model_copy(update={"name": config.name})
        _check_fit(card, own, game, weights)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            net, old = make_net(config, game), net_from_weights(own, game, weights)
        check_finite(old, "it cannot be used")
        _grow(net, old, f"its net cannot become one with {_changes(own, config)}")
    except Damaged:
        raise
    except BadInput as error:
        raise BadInput(f"a run of {game} cannot begin with checkpoint {str(path)!r}: {error}") from None
    return net


def _with_heads_of(config: NetConfig, own: NetConfig, weights: Tensors) -> tuple[NetConfig, Tensors]:
    """Returns a checkpoint's settings of the net and its weights, without the heads that the new net does not keep."""
    kept = [name for name in own.heads if name in config.heads]
    dropped = tuple(f"kept.{name}." for name in own.heads if name not in kept)
    left = {name: each for name, each in weights.items() if not name.startswith(dropped)}
    return own.model_copy(update={"heads": tuple(kept)}), left


def _check_kind(card: Card, config: NetConfig, game: Game) -> None:
    """Raises BadInput if a checkpoint's game or net is of another kind. Parameters of the game may differ."""
    if _without_parameters(card.game) != _without_parameters(game.name):
        raise BadInput(f"it plays {card.game}")
    asked, name = config.name, card.origin_of_net.name
    if without_folder(name) != without_folder(asked):
        raise BadInput(f"its net is {name}, and net.name is {asked}")
    file = file_of(asked, "net")
    if file and not Sources(file, "net").made(card.net_digest):
        raise BadInput(f"{asked} has changed since it was made")


def _without_parameters(name: str) -> tuple[bool, str]:
    """Returns whether a game is a user's, and the name of the game or class. The file may have been moved."""
    file, own, _ = parts_of(name)
    return file is not None, own


def _check_fit(card: Card, own: NetConfig, game: Game, weights: Tensors) -> None:
    """Raises BadInput if the checkpoint's own net, made for `game`, has weights of other names, shapes or dtypes."""
    wanted = wanted_weights(own, game)
    for name in sorted(wanted.keys() | weights.keys()):
        here, there = (str(list(each[name].shape)) if name in each else "none" for each in (weights, wanted))
        if here != there:
            sizes = f": {own.name} has layers that depend on the board's size"
            raise BadInput(f"{name} is {here}, and {game} needs {there}{sizes if card.game != game.name else ''}")
        if f"torch.{weights[name].dtype.name}" != str(wanted[name].dtype):
            raise BadInput(f"{name} is of {weights[name].dtype.name}; it should be of {wanted[name].dtype}")


@torch.no_grad()
def _grow(net: Net, old_net: Net, refusal: str) -> None:
    """Puts the weights of a net into one that is as large or larger; raises BadInput, beginning with `refusal`."""
    weights, wanted = old_net.state_dict(), net.state_dict()
    new_heads = tuple(f"kept.{name}." for name in net.kept if name not in old_net.kept)
    added = _start_new_blocks(net, weights) + new_heads
    for name in sorted(wanted.keys() | weights.keys()):
        if name.startswith(added):
            continue
        if name not in weights:
            raise BadInput(f"{refusal}: its blocks have no {name}")
        if name not in wanted or any(map(int.__gt__, weights[name].shape, wanted[name].shape)):
            raise BadInput(f"{refusal}: a net can grow, and not shrink")
        old, new = weights[name], wanted[name]  # the net's own memory
        if new.dim() > 1:
            new[: len(old)] = 0.0  # what was there takes nothing from new inputs
        new[tuple(map(slice, old.shape))] = old
    if not _are_alike(net, old_net):
        raise BadInput(f"{refusal}: its outputs would change")


def _start_new_blocks(net: Net, weights: dict[str, Tensor]) -> tuple[str, ...]:
    """Makes the residual blocks that the weights lack identities; returns the beginnings of these blocks' names."""
    added = []
    for name, block in net.named_modules():
        if isinstance(block, ResidualBlock) and not any(each.startswith(f"{name}.") for each in weights):
            block.start_as_identity()
            added.append(f"{name}.")
    return tuple(added)


@torch.inference_mode()
def _are_alike(net: Net, old: Net) -> bool:
    """Returns whether the outputs of two nets are equal, except for rounding."""
    rng = torch.Generator().manual_seed(0)
    planes = torch.rand(_POSITIONS, *net.game.planes_shape, generator=rng).round()
    outputs, old_outputs = (all_outputs(fold(each), planes) for each in (net, old))
    pairs = [(outputs[name], each) for name, each in old_outputs.items()]
    return all((one - other).abs().max() <= _TOLERANCE * max(1.0, float(other.abs().max())) for one, other in pairs)


def _changes(own: NetConfig, config: NetConfig) -> str:
    """Returns the settings that differ, as text."""
    return ", ".join(
        f"net.{name} = {value}" for name, value in config.model_dump().items() if value != getattr(own, name)
    )
