"""Settings that suit a game, for `azero train --minutes`, where the user has given none.

They follow the configs that ship. Random games say how many moves a position has, and how long a game is; the speed of
training says how large a net the time can teach.
"""

import random
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import NamedTuple

from azero.config.schema import Config, Section
from azero.games import Game
from azero.games.names import without_folder
from azero.training.budget import is_held, with_settings

_GAMES = 32

_MANY_MOVES = 24.0
"""With more moves in a position, few visits say little about each, and the root is Gumbel's (decision 9)."""

_SIMULATIONS, _GUMBEL_SIMULATIONS = 48, 40

_OPENING, _LONGEST_OPENING, _LATER_TEMPERATURE = 1 / 3, 30, 0.2
"""Share of a game whose moves are drawn by their visits, the most of them, and the temperature of the rest.

Random games may be far longer than good ones.
"""

_NETS = (2, 32), (4, 48), (5, 64)
"""Blocks and channels."""

_STEPS = 2_000, 16_000
"""Steps of the middle net that the time has room for, from which on it is worth it, and from which on the largest is.

A step of the largest has twice the multiplications, and a step of the smallest a fifth.
"""

_TRAINING = 2 / 3  # share of a run's time


class Look(NamedTuple):
    """What random games of a game are like, on average."""

    moves: float  # legal ones of a position
    plies: float  # of a game
    is_picture: bool = True  # whether its planes have more than one cell
    calls_python: bool = False  # then to look ahead from each new node takes longer than all else


def look_at(game: Game, starts: Sequence[str] = ()) -> Look:
    """Plays some random games, from these positions if there are any."""
    chooser = random.Random(0)
    moves, plies = list[int](), list[int]()
    for _ in range(_GAMES):
        state = game.state_from_text(chooser.choice(starts)) if starts else game.new_initial_state()
        begin = len(moves)
        while not state.is_terminal():
            legal = state.legal_actions()
            moves.append(len(legal))
            state.apply_action(chooser.choice(legal))
        plies.append(len(moves) - begin)
    return Look(fmean(moves), fmean(plies), game.planes_shape[1:] != (1, 1), game.rules.calls_python)


def suit(
    config: Config, look: Look, minutes: float, held: frozenset[str], rate_of: Callable[[Config], float]
) -> Config:
    """Returns the settings with those that suit the game in place of defaults.

    Args:
      held: names of settings that the user has set, besides those of the config's file.
      rate_of: returns the positions that training with some settings learns from in a second.
    """
    held |= _given_in(config)
    play, net, root = config.selfplay, config.net, config.selfplay.root
    if not any(is_held(f"selfplay.{key}", held) for key in ("root", "dirichlet_alpha", "dirichlet_epsilon")):
        root = "gumbel" if look.moves > _MANY_MOVES else "noise"
    num_simulations = _GUMBEL_SIMULATIONS if root == "gumbel" else _SIMULATIONS
    if play.full_search_share < 1:
        num_simulations = max(num_simulations, play.fast_simulations + 1)
    chosen: dict[str, object] = {
        "selfplay.root": root,
        "selfplay.num_simulations": num_simulations,
        "selfplay.dirichlet_alpha": round(min(1.0, max(0.03, 10 / look.moves)), 2),
        "selfplay.temperature_plies": min(_LONGEST_OPENING, max(1, round(_OPENING * look.plies))),
        "selfplay.final_temperature": _LATER_TEMPERATURE,
        "net.name": net.name if look.is_picture else "dense",
        "search.look_ahead": config.search.look_ahead and not look.calls_python,
    }
    config = with_settings(config, held, chosen)
    is_chosen = is_held("net.blocks", held) or is_held("net.channels", held)
    if is_chosen or net.name not in ("tower", "any_size") or config.training.first_net != "none":
        return config
    sized = [with_settings(config, held, {"net.blocks": size[0], "net.channels": size[1]}) for size in _NETS]
    steps = _TRAINING * 60 * minutes * rate_of(sized[1]) / config.training.batch_size
    return sized[sum(steps >= least for least in _STEPS)]


def _given_in(config: Config) -> frozenset[str]:
    """Returns the names of the settings that a config's file gives."""
    sections = {name: value for name, value in config if isinstance(value, Section)}
    return frozenset(f"{name}.{key}" for name, section in sections.items() for key in section.model_fields_set)


def describe_suited(config: Config, look: Look) -> str:
    """Returns what the settings are for, and the most important ones, in one line."""
    play, net = config.selfplay, config.net
    noise = f"Dirichlet alpha {play.dirichlet_alpha:g}"
    root = {"noise": noise, "gumbel": "a Gumbel root"}.get(play.root, without_folder(play.root))
    size = f"a net of {net.blocks} x {net.channels}, " if net.name in ("tower", "any_size", "dense") else ""
    return (
        f"random games have {look.plies:.0f} plies, and {look.moves:.0f} moves a position: {size}"
        f"{play.num_simulations} simulations, {root}, {play.temperature_plies} plies of an opening"
    )
