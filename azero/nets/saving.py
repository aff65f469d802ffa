"""Checkpoints made in Python: a new net for a training loop of one's own, and nets that such a loop has trained."""

from dataclasses import replace
from pathlib import Path

import torch

from azero.config.reading import load_config, override_section
from azero.config.schema import Config, NetConfig
from azero.errors import BadInput
from azero.games.names import SHORT_IDENTITY, source_digest_of, without_folder
from azero.games.sizes import games_of
from azero.games.user.trust import trust_config
from azero.nets.architectures.contract import Net
from azero.nets.checkpoint import (
    Checkpoint,
    check_finite,
    check_shapes,
    wanted_weights,
    weights_of,
    write_checkpoint,
)
from azero.nets.checkpoint_card import Card
from azero.nets.make import make_net
from azero.nets.users_files import place_of


def new_checkpoint(config: str | Path | Config) -> Checkpoint:
    """Returns a new net for a game, as a config describes both. Its weights depend on the config's seed.

    Of several sizes, the game is the largest.

    Args:
      config: the name of an included config, a path, or what `load_config` returns.

    Raises BadInput if the config, the game or the net cannot be used.
    """
    config = config if isinstance(config, Config) else load_config(config)
    trust_config(config)
    game = games_of(config.game)[-1]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        net = make_net(config.net, game)
    card = Card(
        game=str(game), net=config.net.model_dump(mode="json"), search=config.search.model_dump(), seed=config.seed
    )
    return Checkpoint(net, card, game)


def save_checkpoint(path: str | Path, net: Net, card: Card) -> None:
    """Writes a checkpoint atomically. `azero suggest PATH` and `make_agent` play with it.

    Args:
      net: a net of `load_checkpoint` or `new_checkpoint`, perhaps trained further, on any device.
      card: its metadata. `dataclasses.replace(checkpoint.card, step=100)` changes a field. Fields that describe a
        user's own game and net are set here.

    Raises BadInput if the net does not fit the card, or has values that are not finite numbers.
    """
    path, refusal = Path(path), f"checkpoint {str(path)!r} is not written"
    if not isinstance(net, Net):
        raise BadInput(f"{refusal}: the net is a {type(net).__name__}; it should come from azero.load_checkpoint")
    if without_folder(card.game) != without_folder(str(net.game)):
        raise BadInput(f"{refusal}: its card names the game {card.game}, and the net is for {net.game}")
    config = override_section(NetConfig, card.net, {})
    try:
        check_shapes(wanted_weights(config, net.game), weights_of(net))
    except BadInput as error:
        raise BadInput(f"{refusal}: {error}") from None
    check_finite(net, refusal)
    card = replace(
        card,
        game_digest=source_digest_of(net.game.rules),
        game_file=place_of(net.game.name, path.parent),
        net_digest=net.identity[:SHORT_IDENTITY],
        net_file=place_of(config.name, path.parent),
    )
    write_checkpoint(path, net, card)
