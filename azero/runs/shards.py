"""Files of self-play games, and the games of a run.

What is read back is whole: it has its digest, its layout, and games that follow the rules.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from azero.config.schema import GameConfig, SelfPlayConfig
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.names import contrast, source_digest_of, without_folder
from azero.runs.folder import REPLAY, check_is_run, check_no_links, files_in, shards_in
from azero.runs.settings import find_settings, game_of_run
from azero.selfplay.data.games import Games
from azero.selfplay.data.legality import check_games, check_lengths
from azero.selfplay.data.shard import Shard, SizedShard, bytes_of_states
from azero.system.formats import check_names
from azero.system.tensor_files import LARGEST, Tensors, read_signed, write_tensors

FORMAT = 2
"""Format version of shards."""

_POSITION_BYTES, _VISITED_BYTES = 16, 4  # of a position without its state; of a move in a policy target


def save_shard(path: Path, shard: Shard, game: Game, task: str = "") -> None:
    """Writes a shard atomically. States are stored as bytes. Starts are left out if all are the initial position.

    Args:
      task: what has made the shard. By it a run knows its shards before its state names them.
    """
    tensors = shard._asdict() | {"states": bytes_of_states(shard.states)}
    if not len(shard.starts):
        del tensors["starts"], tensors["start_lengths"]
    write_tensors(path, tensors, {"format": FORMAT, "game": str(game)} | ({"task": task} if task else {}))


def check_largest(game: Game, play: SelfPlayConfig, num_sizes: int = 1) -> None:
    """Raises BadInput if the file of a shard, of several games of the greatest length, could be too large.

    Args:
      game: the largest of the sizes.
    """
    position = game.rules.state_dtype.itemsize + _POSITION_BYTES + _VISITED_BYTES * game.num_actions
    num_games = min(play.games_per_shard, -(-play.games_per_iteration // num_sizes))
    fitting = max(1, LARGEST // (game.max_plies * position))
    if num_games > fitting:
        raise BadInput(
            f"selfplay.games_per_shard = {play.games_per_shard}: the file of {num_games} games of {game} may exceed "
            f"{LARGEST >> 20} MiB; with --set selfplay.games_per_shard={fitting} it cannot"
        )


def game_of_shard(path: Path) -> str:
    """Returns the name of a shard's game; raises BadInput if the file is not one of azero's."""
    return str(_read(path)[0]["game"])


def _is_shard_of(path: Path, game: Game) -> bool:
    """Returns whether a shard has games of `game`; raises BadInput if the file is not one of azero's."""
    return without_folder(game_of_shard(path)) == without_folder(str(game))


def load_sized_shard(path: Path, games: Sequence[Game]) -> SizedShard:
    """Reads a shard of one of a game's sizes, as `load_shard`."""
    if len(games) == 1:
        return SizedShard(0, load_shard(path, games[0]))
    for size, game in enumerate(games):
        if _is_shard_of(path, game):
            return SizedShard(size, load_shard(path, game))
    known = ", ".join(map(str, games))
    raise Damaged(f"replay file {str(path)!r} holds games of {game_of_shard(path)}; the run plays {known}")


def load_shard(path: Path, game: Game) -> Shard:
    """Reads a shard.

    Raises Damaged if it is damaged or of another game, BadInput if its games break the rules, OtherFormat if it is of
    another version of azero.
    """
    what = f"replay file {str(path)!r}"
    card, tensors = _read(path)
    name = card["game"]
    if without_folder(name) != without_folder(str(game)):
        raise Damaged(f"{what} holds games of {contrast(name, game.rules)}")
    check_names(what, tensors, Shard._fields, optional=("starts", "start_lengths"))
    try:
        shard = _shard_of(_without_starts(tensors) | tensors, game)
        check_lengths(shard, game)
        check_games(shard, game)
    except BadInput as error:
        advice = "; if the rules have changed, begin another run" if source_digest_of(game.rules) else ""
        raise BadInput(f"{what} cannot be used: {error}{advice}") from None
    return shard


def _read(path: Path) -> tuple[dict, Tensors]:
    """Returns the card of a shard, and its arrays as they are in the file."""
    return read_signed(path, f"replay file {str(path)!r}", FORMAT, _is_of_shard)


def _is_of_shard(card: dict) -> bool:
    return {*card} - {"format", "task"} == {"game"} and isinstance(card["game"], str)


def _without_starts(tensors: Tensors) -> Tensors:
    """Returns the starts of games that began at the initial position."""
    return {"starts": np.zeros(0, np.uint8), "start_lengths": np.zeros(tensors["lengths"].size, np.int32)}


def _shard_of(tensors: Tensors, game: Game) -> Shard:
    """Returns the shard that these arrays make; raises BadInput if a dtype or shape is wrong."""
    sizes = {"n": tensors["players"].size, "G": tensors["lengths"].size, "m": tensors["openings"].size}
    sizes |= {"v": tensors["visited"].size, "b": tensors["starts"].size, "1": 1, "S": game.rules.state_dtype.itemsize}
    for name, (dtype, axes) in _LAYOUT.items():
        _check_layout(name, tensors[name], dtype, tuple(sizes[axis] for axis in axes))
    states = tensors["states"].reshape(-1).view(game.rules.state_dtype)
    return Shard(**tensors | {"states": states})


def _check_layout(name: str, array: np.ndarray, dtype: type, shape: tuple[int, ...]) -> None:
    """Raises BadInput unless an array has this dtype and shape."""
    if array.dtype != dtype or array.shape != shape:
        found, wanted = f"{array.dtype} {list(array.shape)}", f"{np.dtype(dtype)} {list(shape)}"
        raise BadInput(f"its {name} are {found}; they should be {wanted}")


_LAYOUT: dict[str, tuple[type, str]] = {
    "states": (np.uint8, "nS"),
    "players": (np.int8, "n"),
    "actions": (np.int16, "n"),
    "visited": (np.int16, "v"),
    "visits": (np.uint16, "v"),
    "num_visited": (np.int16, "n"),
    "root_values": (np.float32, "n"),
    "proven": (np.int8, "n"),
    "weights": (np.float32, "n"),
    "outcomes": (np.int8, "n"),
    "lengths": (np.int32, "G"),
    "evaluations": (np.int64, "1"),
    "cache_hits": (np.int64, "1"),
    "simulations": (np.int64, "1"),
    "full_trees": (np.int64, "1"),
    "openings": (np.int16, "m"),
    "opening_lengths": (np.int32, "G"),
    "starts": (np.uint8, "b"),
    "start_lengths": (np.int32, "G"),
}
"""Dtype and shape of each array in a file. The axes are those of `Shard`; S is the bytes of a state."""


def load_games(folder: str | Path, iteration: int | None = None, game: Game | None = None) -> Games:
    """Returns the self-play games in a run's folder: those in the replay window, and those of the current iteration.

    All games are replayed by the rules and compared with what was stored.

    Args:
      folder: the run's folder.
      iteration: only games of this iteration.
      game: the run's game; in a run of several sizes, the one whose games are wanted. The file of a user's own game
        must be named, here or before (docs/decisions/0017-trust-in-code.md).

    Raises BadInput if there is no run, no such game, or a file is damaged, of another game, or not one of azero's.
    """
    folder = Path(folder)
    check_is_run(folder)
    config = find_settings(folder).game
    if game is None and not config.sizes:
        game = game_of_run(folder, config)
    return read_games(folder, config, game, iteration)


def read_games(folder: Path, config: GameConfig, game: Game | None, iteration: int | None) -> Games:
    """Returns the games in a run's folder, as `load_games`; raises BadInput if no game is given."""
    if game is None:
        raise BadInput(f"run {str(folder)!r} has games of sizes {list(config.sizes)}; say which with game=...")
    check_no_links(folder)
    files = shards_in(folder)
    if strange := {*files_in(folder, REPLAY)} - {each.path for each in files}:
        raise BadInput(f"{str(min(strange))!r} is not a replay file of azero; their names are like 00001-0000")
    shards: dict[int, list[Shard]] = {}
    for each in files:
        if iteration in (None, each.iteration) and (not config.sizes or _is_shard_of(each.path, game)):
            shards.setdefault(each.iteration, []).append(load_shard(each.path, game))
    if not shards:
        of_which = "" if iteration is None else f" of iteration {iteration}"
        raise BadInput(f"run {str(folder)!r} has no games{of_which} in its replay folder")
    return Games.from_shards(game, shards)
