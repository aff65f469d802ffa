"""What OpenSpiel has: its games by name, as far as azero plays such games."""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from azero.errors import BadInput, suggest_nearest
from azero.games.names import OPENSPIEL, parts_of, write_value
from azero.games.parameters import parse_parameters

LOCK = threading.RLock()
"""Who opens a game holds it: the process has one stderr, and one list of opened games."""

OLDEST = (2, 0)
"""The oldest version of OpenSpiel whose games azero has been tried with."""

MOST_PLIES = 4096
"""The most plies of a game, and of `max_plies`."""

USUAL_PLIES = 1024
"""The most plies of a game whose name does not say `max_plies`."""

_PLIES = "max_plies"
_LARGEST, _LARGEST_OF = 999, {"dims": 3, "insanity": 99}
"""The greatest value of an integer parameter, and of some, with which OpenSpiel would compute without end."""

_MOST_ACTIONS = 32_767  # trees keep an action in 16 bits
_MOST_INPUTS = 1 << 20


@dataclass(frozen=True)
class Opened:
    """One of OpenSpiel's games.

    Attributes:
      name: in azero, with the parameters that differ from their defaults.
      game: the `pyspiel.Game`.
      max_plies: the longest game; one that has no end by then is a draw.
    """

    name: str
    game: Any
    max_plies: int


def import_openspiel(what: str) -> Any:
    """Returns the module `pyspiel`; raises BadInput if it is not installed, or is too old.

    Args:
      what: what needs it, for the message.
    """
    try:
        import pyspiel
    except ImportError:
        raise BadInput(f"{what} needs OpenSpiel: pip install 'azero[openspiel]'") from None
    version = str(getattr(pyspiel, "__version__", "0"))
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST:
        raise BadInput(f"{what} needs OpenSpiel {'.'.join(map(str, OLDEST))} or newer; {version} is installed")
    return pyspiel


def open_game(text: str) -> Opened:
    """Returns the game of a name such as `openspiel:hex(board_size=5)`; raises BadInput if azero cannot play it.

    OpenSpiel itself would print what is wrong, so each parameter is checked before.
    """
    pyspiel = import_openspiel(f"game {text!r}")
    file, name, arguments = parts_of(text)
    if file or not name.startswith(OPENSPIEL):
        raise BadInput(f"game {text!r} is none of OpenSpiel's; these are named {OPENSPIEL}NAME")
    short_name = name.removeprefix(OPENSPIEL)
    kinds = {kind.short_name: kind for kind in pyspiel.registered_games()}
    if short_name not in kinds:
        playable = [known for known, kind in kinds.items() if not _lacks(pyspiel, kind)]
        nearest = suggest_nearest(short_name, playable)
        raise BadInput(f"OpenSpiel {pyspiel.__version__} has no game {short_name!r}; {nearest}")
    if reason := _lacks(pyspiel, kinds[short_name]):
        raise BadInput(
            f"{name} {reason}; azero plays games for two in turns, without chance or secrets, decided at the end"
        )
    defaults = dict(kinds[short_name].parameter_specification)
    types = {key: type(value) for key, value in {**defaults, _PLIES: 0}.items()}
    values: dict[str, Any] = parse_parameters(name, arguments, types)
    max_plies = values.pop(_PLIES, None)
    _check_integers(name, values)
    changed = {key: value for key, value in sorted(values.items()) if value != defaults[key]}
    return _open(pyspiel, name, changed, max_plies)


def _open(pyspiel: Any, name: str, changed: dict[str, Any], max_plies: int | None) -> Opened:
    """Loads a game whose parameters have the right types; raises BadInput if it is not one that azero can play."""
    parameters = [f"{key}={write_value(value)}" for key, value in changed.items()]
    full_name = f"{name}({','.join(parameters)})" if parameters else name
    try:
        with _held_back_stderr():
            game = pyspiel.load_game(name.removeprefix(OPENSPIEL), changed)
            _check_size(full_name, game)
            position = game.new_initial_state().clone()
            texts = [str(position), *map(position.action_to_string, position.legal_actions())]
    except pyspiel.SpielError as error:
        raise BadInput(f"{full_name}: OpenSpiel says: {str(error).splitlines()[0]}") from None
    except UnicodeDecodeError:
        raise BadInput(f"{full_name}: OpenSpiel writes moves that are no text; is the board too large?") from None
    if position.is_terminal() or len(texts) == 1:
        raise BadInput(f"{full_name} has no move at its start")
    usual = min(game.max_game_length(), USUAL_PLIES)
    plies = usual if max_plies is None else max_plies
    if not 1 <= plies <= MOST_PLIES:
        raise BadInput(f"{name}: {_PLIES}={plies} is out of range; it can be 1 to {MOST_PLIES}")
    if plies != usual:
        full_name = f"{name}({','.join([*parameters, f'{_PLIES}={plies}'])})"
    return Opened(full_name, game, plies)


def _check_size(name: str, game: Any) -> None:
    """Raises BadInput if a game is too large for azero, or is not for two."""
    if game.num_players() != 2:
        raise BadInput(f"{name} has {game.num_players()} players; azero plays games for two")
    sizes = game.num_distinct_actions(), game.observation_tensor_size(), game.max_game_length()
    is_empty = min(*sizes, *game.observation_tensor_shape()) < 1
    if is_empty or sizes[0] > _MOST_ACTIONS or sizes[1] > _MOST_INPUTS:
        raise BadInput(
            f"{name} has {sizes[0]:,} actions, {sizes[1]:,} inputs and {sizes[2]:,} plies; azero plays games with 1 "
            f"to {_MOST_ACTIONS:,} actions, 1 to {_MOST_INPUTS:,} inputs, and 1 ply or more"
        )


@contextmanager
def _held_back_stderr() -> Iterator[None]:
    """Shows what OpenSpiel writes on stderr only if no error follows, which would say the same."""
    if sys.stderr is None:
        yield
        return
    sys.stderr.flush()
    with LOCK, tempfile.TemporaryFile() as file, os.fdopen(os.dup(2), "wb") as stderr:
        os.dup2(file.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr.fileno(), 2)
        file.seek(0)
        stderr.write(file.read())


def _lacks(pyspiel: Any, kind: Any) -> str:
    """Returns why azero cannot play a kind of game; empty if it can."""
    of_type = pyspiel.GameType
    reasons = {
        "is made from another game": any(isinstance(each, dict) for each in kind.parameter_specification.values()),
        "cannot be loaded by its name alone": not kind.default_loadable,
        "is for other numbers of players": not kind.min_num_players <= 2 <= kind.max_num_players,
        "has simultaneous moves": kind.dynamics != of_type.Dynamics.SEQUENTIAL,
        "has chance": kind.chance_mode != of_type.ChanceMode.DETERMINISTIC,
        "has hidden information": kind.information != of_type.Information.PERFECT_INFORMATION,
        "is not zero-sum": kind.utility != of_type.Utility.ZERO_SUM,
        "has rewards on the way": kind.reward_model != of_type.RewardModel.TERMINAL,
        "has no observation tensor": not kind.provides_observation_tensor,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def _check_integers(name: str, values: dict[str, Any]) -> None:
    """Raises BadInput if an integer is outside its range."""
    for key, value in values.items():
        most = _LARGEST_OF.get(key, _LARGEST)
        if type(value) is int and not 0 <= value <= most:
            raise BadInput(f"{name}: {key}={value} is out of range; it can be 0 to {most}")
