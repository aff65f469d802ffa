"""Games as data: the shards that self-play returns and replay keeps, and their files."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from azero.errors import BadInput
from azero.games import Game
from azero.games.contract import sign_of
from azero.games.names import contrast, without_folder
from azero.mcts.tree import UNPROVEN
from azero.system.files import write_whole
from azero.system.formats import check_format

FORMAT = 1
"""Format version of shards. Files without a version have this one, too."""


class Shard(NamedTuple):
    """The n positions of G whole games, one game after another."""

    states: np.ndarray  # [n] the game's state dtype
    players: np.ndarray  # [n] int8, the player to move
    actions: np.ndarray  # [n] int16, the action played; the last one of a resigned game was chosen but not played
    visits: np.ndarray  # [n, A] uint16, the policy target as counts; one move only if proofs decided it
    root_values: np.ndarray  # [n] float32 in [-1, 1], the search's value, for the player to move
    resign_values: np.ndarray  # [n] float32, greater of root_values and the best move's value; see resignation.py
    proven: np.ndarray  # [n] int8, proven result for the player to move: 1 win, 0 draw, -1 loss, or UNPROVEN
    weights: np.ndarray  # [n] float32, relative sampling frequency; 0 after a fast search
    outcomes: np.ndarray  # [n] int8, the game's result for the first player
    lengths: np.ndarray  # [G] int32, plies
    played_on: np.ndarray  # [G] bool, whether resignation was switched off in this game
    resigned: np.ndarray  # [G] bool, whether the last player to move has resigned
    evaluations: np.ndarray  # [1] int64, positions that the net evaluated for these searches
    cache_hits: np.ndarray  # [1] int64, leaves that were evaluated without the net
    simulations: np.ndarray  # [1] int64
    searched: np.ndarray  # [G] int32, the iteration of the last reanalysis of the game's positions; 0: none

    @property
    def num_positions(self) -> int:
        return len(self.states)

    @property
    def num_learnt(self) -> int:
        """Number of training positions: the sum of the weights."""
        return round(float(self.weights.sum(dtype=np.float64)))

    def results(self) -> np.ndarray:
        """Returns the game's result for the player to move at each position: [n] int8, 1 win, 0 draw, -1 loss."""
        return self.outcomes * sign_of(self.players)

    def game_outcomes(self) -> np.ndarray:
        """Returns the result of each game for the first player, [G] int8."""
        return self.outcomes[np.cumsum(self.lengths) - 1]


_COUNTS = "evaluations", "cache_hits", "simulations"
PER_POSITION = "states", "players", "actions", "visits", "root_values", "resign_values", "proven", "weights", "outcomes"


def join_shards(shards: list[Shard]) -> Shard:
    """Returns one shard with the games of all shards."""
    joined = Shard(*(np.concatenate(arrays) for arrays in zip(*shards, strict=True)))
    return joined._replace(**{name: getattr(joined, name).sum(keepdims=True) for name in _COUNTS})


def save_shard(path: Path, shard: Shard, game: Game) -> None:
    """Writes a shard atomically. States are stored as bytes."""
    arrays = {name: np.ascontiguousarray(array) for name, array in shard._asdict().items()}
    arrays["states"] = arrays["states"].view(np.uint8).reshape(len(shard.states), -1)
    write_whole(path, save(arrays, {"azero": json.dumps({"format": FORMAT, "game": str(game)})}))


def game_of_shard(path: Path) -> str:
    """Returns the name of a shard's game; raises BadInput if the file is not one of azero's."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            return str(json.loads((file.metadata() or {})["azero"])["game"])
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"replay file {str(path)!r} cannot be read: {error}") from None


def load_shard(path: Path, game: Game) -> Shard:
    """Reads a shard; raises BadInput if it is damaged or of another game."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            card = json.loads((file.metadata() or {})["azero"])
            check_format(f"replay file {str(path)!r}", card.pop("format", 1), FORMAT)
            if set(card) != {"game"}:
                raise BadInput(
                    f"replay file {str(path)!r} is damaged: its card has {', '.join(sorted(card))}, not just game"
                )
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, not a dict
        num_positions = len(arrays["players"])
        arrays.setdefault("cache_hits", np.zeros(1, np.int64))  # older files lack this and the following
        arrays.setdefault("proven", np.full(num_positions, UNPROVEN, np.int8))
        arrays.setdefault("weights", np.ones(num_positions, np.float32))
        arrays.setdefault("resign_values", arrays["root_values"])
        for name in ("played_on", "resigned"):
            arrays.setdefault(name, np.zeros(len(arrays["lengths"]), np.bool_))
        arrays.setdefault("searched", np.zeros(len(arrays["lengths"]), np.int32))
        if without_folder(str(card["game"])) != without_folder(str(game)):
            raise BadInput(f"replay file {str(path)!r} holds games of {contrast(str(card['game']), game.rules)}")
        arrays["states"] = arrays["states"].reshape(-1).view(game.rules.state_dtype)
        return Shard(**arrays)
    except BadInput:
        raise
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadInput(f"replay file {str(path)!r} cannot be read: {error}") from None
