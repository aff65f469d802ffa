"""Several sizes of one game, for a net that learns them all."""

from azero.config.schema import GameConfig
from azero.errors import BadInput
from azero.games.make import make_trusted_game
from azero.games.names import SIZES, parts_of
from azero.games.state import Game


def games_of(config: GameConfig) -> tuple[Game, ...]:
    """Returns the game that settings name, or its sizes, the smallest first.

    Raises BadInput if there is no such game or size; Untrusted for a user's file that the user has not named.
    """
    if not config.sizes:
        return (make_trusted_game(config.name),)
    games = tuple(make_trusted_game(_name_of_size(config.name, size)) for size in config.sizes)
    _check_alike(config, games)
    return games


def _name_of_size(name: str, size: int) -> str:
    """Returns the name of a game with its size; raises BadInput if the name has a size already."""
    file, game, arguments = parts_of(name)
    given = [each.partition("=")[0].strip() for each in (arguments or "").split(",")]
    if already := [key for key in given if key in SIZES]:
        raise BadInput(f"game.name = {name!r} says {already[0]}, and game.sizes gives the sizes; leave one of them out")
    base = name.partition("(")[0].rstrip() if file is None else f"{file}:{game}"
    return f"{base}({f'{arguments},' if arguments else ''}size={size})"


def _check_alike(config: GameConfig, games: tuple[Game, ...]) -> None:
    """Raises BadInput unless all sizes have the same kinds of planes and actions, and the last is the largest."""
    figures = [(game.planes_shape[0], game.places.planes, game.places.slots) for game in games]
    for size, game, own in zip(config.sizes, games, figures, strict=True):
        if own != figures[-1] or any(map(int.__gt__, game.planes_shape[1:], games[-1].planes_shape[1:])):
            raise BadInput(
                f"game.sizes = {list(config.sizes)}: one net cannot learn sizes {size} and {config.sizes[-1]} of "
                f"{config.name}: their planes, or their places of actions, do not correspond"
            )
