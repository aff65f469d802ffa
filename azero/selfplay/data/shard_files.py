"""Files of shards. What is read back is whole: it has its digest, its layout, and games that follow the rules."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from azero.config.selfplay import SelfPlayConfig
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.names import contrast, source_digest_of, without_folder
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.legality import check_games, check_lengths
from azero.selfplay.data.policies import pack_rows
from azero.selfplay.data.records import PER_GAME, PER_POSITION, PER_VISITED, Shard, SizedShard, bytes_of_states
from azero.system.formats import warn_once
from azero.system.tensor_files import LARGEST, Tensors, read_signed, write_tensors

FORMAT = 2
"""Format version of shards. Format 1, which files without a version have, had no digest, no openings, and counts of all
actions in its policy targets.
"""

_DELETED = "resign_values", "played_on", "resigned", "searched"
"""Fields that older files have: those of resignation and of reanalysis, which no longer exist."""


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


def is_shard_of(path: Path, game: Game) -> bool:
    """Returns whether a shard has games of `game`; raises BadInput if the file is not one of azero's."""
    return without_folder(game_of_shard(path)) == without_folder(str(game))


def load_sized_shard(path: Path, games: Sequence[Game]) -> SizedShard:
    """Reads a shard of one of a game's sizes, as `load_shard`."""
    if len(games) == 1:
        return SizedShard(0, load_shard(path, games[0]))
    for size, game in enumerate(games):
        if is_shard_of(path, game):
            return SizedShard(size, load_shard(path, game))
    known = ", ".join(map(str, games))
    raise Damaged(f"replay file {str(path)!r} holds games of {game_of_shard(path)}; the run plays {known}")


def load_shard(path: Path, game: Game) -> Shard:
    """Reads a shard; raises Damaged if it is damaged or of another game, BadInput if its games break the rules.

    Files of format 1 lack the openings. Games that do not begin at the initial position are left out of these, with a
    notice on stderr, because they cannot be replayed. So are resigned games, which do not end by the rules.
    """
    what = f"replay file {str(path)!r}"
    card, tensors = _read(path)
    name = card["game"]
    if without_folder(name) != without_folder(str(game)):
        raise Damaged(f"{what} holds games of {contrast(name, game.rules)}")
    resigned = tensors.get("resigned")
    tensors = {name: array for name, array in tensors.items() if name not in _DELETED}
    try:
        if card["format"] == FORMAT:
            younger = _without_starts(tensors) | {"full_trees": np.zeros(1, np.int64)}
            shard = _shard_of(_packed(younger | tensors, game), game)
        else:
            shard = _shard_of(_packed(_completed(tensors), game), game)
        check_lengths(shard, game)
        if resigned is not None:
            shard = _games_to_the_end(what, shard, resigned)
        if card["format"] != FORMAT:
            shard = _games_from_the_start(what, shard, game)
        check_games(shard, game)
    except BadInput as error:
        advice = "; if the rules have changed, begin another run" if source_digest_of(game.rules) else ""
        raise BadInput(f"{what} cannot be used: {error}{advice}") from None
    return shard


def _read(path: Path) -> tuple[dict, Tensors]:
    """Returns the format and the game of a shard, and its arrays as they are in the file."""
    what = f"replay file {str(path)!r}"
    card, tensors = read_signed(path, what, FORMAT)
    if {*card} - {"task"} != {"format", "game"} or not isinstance(card["game"], str):
        raise Damaged(f"{what} is not one of azero's: its card should have the name of a game and of a task alone")
    return card, tensors


def _without_starts(tensors: Tensors) -> Tensors:
    """Returns the starts of games that began at the initial position."""
    num_games = tensors["lengths"].size if "lengths" in tensors else 0
    return {"starts": np.zeros(0, np.uint8), "start_lengths": np.zeros(num_games, np.int32)}


def _completed(tensors: Tensors) -> Tensors:
    """Returns the arrays with what files of format 1 lack: each of these fields is younger than the format."""
    num_positions, num_games = (tensors[name].size if name in tensors else 0 for name in ("players", "lengths"))
    younger: Tensors = {
        "cache_hits": np.zeros(1, np.int64),
        "full_trees": np.zeros(1, np.int64),
        "proven": np.full(num_positions, UNPROVEN, np.int8),
        "weights": np.ones(num_positions, np.float32),
        "openings": np.zeros(0, np.int16),
        "opening_lengths": np.zeros(num_games, np.int32),
    }
    own = {name: array for name, array in tensors.items() if not name.startswith("opening")}
    return younger | own | _without_starts(tensors)


def _packed(tensors: Tensors, game: Game) -> Tensors:
    """Returns the arrays with policy targets as they are now, instead of the counts of all actions, [n, A].

    Raises BadInput if these counts have another dtype or shape.
    """
    if tensors.keys() & {"visited", "num_visited"} or not {"visits", "players"} <= tensors.keys():
        return tensors
    _check_layout("visits", tensors["visits"], np.uint16, (tensors["players"].size, game.num_actions))
    policies = pack_rows(tensors["visits"])
    lengths = np.diff(policies.starts).astype(np.int16)
    return tensors | {"visited": policies.actions, "visits": policies.counts, "num_visited": lengths}


def _games_from_the_start(what: str, shard: Shard, game: Game) -> Shard:
    """Returns the shard with only the games that begin at the initial position; raises BadInput if there is none."""
    first = shard.states[np.cumsum(shard.lengths) - shard.lengths]
    initial = np.asarray(game.new_initial_state().record)
    kept = np.array([record == initial for record in first], np.bool_)
    if not kept.any():
        raise BadInput(
            "an earlier version wrote it, and none of its games begins at the initial position; begin another run"
        )
    return _games_at(what, shard, kept, "they have openings")


def _games_to_the_end(what: str, shard: Shard, resigned: np.ndarray) -> Shard:
    """Returns the shard without the games that were resigned ([G] bool); raises BadInput if there is no other."""
    _check_layout("resigned", resigned, np.bool_, shard.lengths.shape)
    if len(resigned) and resigned.all():
        raise BadInput("an earlier version wrote it, and all of its games were resigned; begin another run")
    return _games_at(what, shard, ~resigned, "they were resigned")


def _games_at(what: str, shard: Shard, kept: np.ndarray, why: str) -> Shard:
    """Returns the shard with the games of a mask ([G] bool); prints a notice, with the reason, if some are left out."""
    if not kept.all():
        warn_once(
            f"{what} was written by an earlier version; {np.sum(~kept)} of its {len(kept)} games are not used: {why}"
        )
    positions = np.repeat(kept, shard.lengths)
    parts = [(PER_GAME, kept), (PER_POSITION, positions), (PER_VISITED, np.repeat(positions, shard.num_visited))]
    parts += [(("openings",), np.repeat(kept, shard.opening_lengths))]
    parts += [(("starts",), np.repeat(kept, shard.start_lengths))]
    return shard._replace(**{name: getattr(shard, name)[own] for names, own in parts for name in names})


def _shard_of(tensors: Tensors, game: Game) -> Shard:
    """Returns the shard that these arrays make; raises BadInput if a dtype or shape is wrong."""
    if set(tensors) != set(Shard._fields):
        wrong = ", ".join(sorted(set(tensors) ^ set(Shard._fields)))
        raise BadInput(f"it lacks or should not have {wrong}")
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
