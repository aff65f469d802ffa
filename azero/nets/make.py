"""From settings to a net: azero's own nets have folders in `architectures/`, a user's net is in a file."""

from importlib import import_module

from azero.config.schema import NetConfig
from azero.errors import BadInput, suggest_nearest
from azero.games import Game
from azero.games.names import file_of
from azero.games.user.trust import Untrusted
from azero.nets.architectures.contract import NETS, Net
from azero.nets.architectures.drawing import ARCHITECTURES
from azero.nets.architectures.heads import keep_heads
from azero.nets.users_net import UsersNet, load_users_net

for _name in ARCHITECTURES:
    import_module(f"azero.nets.architectures.{_name}.net")  # it registers itself


def make_net(config: NetConfig, game: Game, is_tried: bool = True) -> Net:
    """Returns a new net with these settings, and with the heads that it keeps.

    Args:
      is_tried: whether a user's net is tried out.

    Raises BadInput if there is no such net, a user's net fails a first trial, or a head is not for this game or net;
    Untrusted for a user's file that the user has not named.
    """
    net = _make_plain(config, game, is_tried)
    if config.heads:
        if isinstance(net, UsersNet) and not is_tried:
            net.note_features()
        keep_heads(net, config)
    return net


def _make_plain(config: NetConfig, game: Game, is_tried: bool) -> Net:
    name = config.name
    if file_of(name, "net"):
        try:
            return load_users_net(name, game, is_tried)
        except Untrusted as error:
            advice = f"if you trust it, name it first, e.g. with azero check-net {name!r} --game {str(game)!r}"
            raise Untrusted(f"{error}; {advice}") from None
    if name not in NETS:
        raise BadInput(
            f"net.name = {name!r} is neither a net of azero nor of the form my_net.py:MyNet; "
            f"{suggest_nearest(name, NETS)}"
        )
    return NETS[name](config, game)
