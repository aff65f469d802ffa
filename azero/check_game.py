"""`azero check-game`: the laws of a game over random positions, a prototype in lockstep, and how fast the rules are."""

import random
from collections.abc import Callable

from azero.bench import random_games as random_games_per_s
from azero.bench import uct_simulations
from azero.errors import BadInput
from azero.games import Game
from azero.games.laws import LAWS, Notes, random_games
from azero.games.prototype import check_against, load_prototype

_SPEED_S = 0.5
_NUM_GAMES_AGAINST = 1000


def check_game(
    game: Game, against: str | None, num_positions: int, seed: int, tell: Callable[[str], None]
) -> list[str]:
    """Holds a game to its laws, and tells each as it is known; returns the names of the laws that are broken.

    Raises BadInput where the rules break their contract, so that no game can be played to the end.
    """
    prototype = load_prototype(against) if against else None
    games, lengths = _play(game, num_positions, seed)
    tell(f"{game}: {sum(lengths) + len(games):,} positions of {len(games)} random games, {_spread(lengths)} plies long")
    broken = []
    for name, law in LAWS.items():
        chooser, notes = random.Random(seed), Notes()
        finding = None
        for actions in games:
            try:
                law(game, actions, chooser, notes)
            except BadInput as error:
                finding = str(error)
                broken.append(name)
                break
        tell(f"  {name:<16} {f'BROKEN: {finding}' if finding else 'ok'}")
    if prototype and against:
        try:
            check_against(game, prototype, against, _NUM_GAMES_AGAINST, seed)
            tell(f"  {'prototype':<16} ok: {_NUM_GAMES_AGAINST:,} games in lockstep with {against}")
        except BadInput as error:
            broken.append("prototype")
            tell(f"  {'prototype':<16} BROKEN: {error}")
    if not broken:
        tell(f"  {'speed':<16} {_speeds(game)}")
    return broken


def _play(game: Game, num_positions: int, seed: int) -> tuple[list[list[int]], list[int]]:
    games: list[list[int]] = []
    for actions in random_games(game, num_positions, seed):
        games.append(actions)
        if sum(map(len, games)) + len(games) >= num_positions:
            break
    return games, [len(actions) for actions in games]


def _spread(lengths: list[int]) -> str:
    return f"{min(lengths)} to {max(lengths)}" if min(lengths) < max(lengths) else str(lengths[0])


def _speeds(game: Game) -> str:
    games = random_games_per_s(game, _SPEED_S)
    uct = uct_simulations(game, _SPEED_S, num_simulations=min(20_000, max(100, 2_000_000 // game.num_actions)))
    return f"{_short(games)} random games/s, {_short(uct)} UCT simulations/s on one thread"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value < 1e5 else f"{value / 1e6:.2f} M"
