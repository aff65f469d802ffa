"""Games as data: what self-play gives back, what replay keeps, and the file they lie in."""

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
"""Of shards; those from before they said so are of it, too."""


class Shard(NamedTuple):
    """The positions of G whole games, n in all, one game after the other."""

    states: np.ndarray  # [n] the game's state dtype
    players: np.ndarray  # [n] int8, who moves
    actions: np.ndarray  # [n] int16, what was played; at the end of a game that was resigned, what would have been
    visits: np.ndarray  # [n, A] uint16, the policy to learn, as counts: all on one move where proofs decided
    root_values: np.ndarray  # [n] float32 in [-1, 1], the search's, for the player to move
    resign_values: np.ndarray  # [n] float32, the better of that and its best move's, when played: see resignation.py
    proven: np.ndarray  # [n] int8, what the search proved: 1 the player to move wins, 0 draws, -1 loses, or UNPROVEN
    weights: np.ndarray  # [n] float32, how often the position is drawn beside others: 0 after a fast search
    outcomes: np.ndarray  # [n] int8, how the game ended, for the first player
    lengths: np.ndarray  # [G] int32, plies
    played_on: np.ndarray  # [G] bool, whether nobody would have resigned, whatever the values
    resigned: np.ndarray  # [G] bool, whether the last player to move has resigned
    evaluations: np.ndarray  # [1] int64, positions that the net judged for these searches
    cache_hits: np.ndarray  # [1] int64, positions that it need not judge, since it had judged them before
    simulations: np.ndarray  # [1] int64
    searched: np.ndarray  # [G] int32, the iteration in which reanalysis searched the game's positions last; 0: none has

    @property
    def num_positions(self) -> int:
        return len(self.states)

    @property
    def num_learnt(self) -> int:
        """Positions to learn from: the sum of the weights."""
        return round(float(self.weights.sum(dtype=np.float64)))

    def results(self) -> np.ndarray:
        """Returns how the games ended for the player to move at each position: [n] int8, 1 win, 0 draw, -1 loss."""
        return self.outcomes * sign_of(self.players)

    def game_outcomes(self) -> np.ndarray:
        """Returns how each game ended for the first player, [G] int8."""
        return self.outcomes[np.cumsum(self.lengths) - 1]


_COUNTS = "evaluations", "cache_hits", "simulations"
PER_POSITION = "states", "players", "actions", "visits", "root_values", "resign_values", "proven", "weights", "outcomes"


def join_shards(shards: list[Shard]) -> Shard:
    """Returns one shard with the games of all."""
    joined = Shard(*(np.concatenate(arrays) for arrays in zip(*shards, strict=True)))
    return joined._replace(**{name: getattr(joined, name).sum(keepdims=True) for name in _COUNTS})


def save_shard(path: Path, shard: Shard, game: Game) -> None:
    """Writes a shard, whole or not at all; states as bytes."""
    arrays = {name: np.ascontiguousarray(array) for name, array in shard._asdict().items()}
    arrays["states"] = arrays["states"].view(np.uint8).reshape(len(shard.states), -1)
    write_whole(path, save(arrays, {"azero": json.dumps({"format": FORMAT, "game": str(game)})}))


def game_of_shard(path: Path) -> str:
    """Returns the name of the game that a shard is of; raises BadInput where the file is none of ours."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            return str(json.loads((file.metadata() or {})["azero"])["game"])
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadInput(f"replay file {str(path)!r} cannot be read: {error}") from None


def load_shard(path: Path, game: Game) -> Shard:
    """Reads a shard; raises BadInput where it is damaged or of another game."""
    try:
        with safe_open(str(path), framework="numpy") as file:
            card = json.loads((file.metadata() or {})["azero"])
            check_format(f"replay file {str(path)!r}", card.pop("format", 1), FORMAT)
            if set(card) != {"game"}:
                raise BadInput(f"replay file {str(path)!r} is damaged: it says {', '.join(sorted(card))} of itself")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118, it is no dict
        num_positions = len(arrays["players"])
        arrays.setdefault("cache_hits", np.zeros(1, np.int64))  # of a run from before there were these
        arrays.setdefault("proven", np.full(num_positions, UNPROVEN, np.int8))
        arrays.setdefault("weights", np.ones(num_positions, np.float32))
        arrays.setdefault("resign_values", arrays["root_values"])  # and of games that tell nothing of resignation
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
