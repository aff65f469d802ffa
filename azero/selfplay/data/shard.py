"""Games as data: the shards that self-play returns and replay keeps."""

from typing import NamedTuple

import numpy as np

from azero.games.contract import sign_of
from azero.selfplay.data.policies import Policies, policies_of


class Shard(NamedTuple):
    """The n positions of G whole games, one game after another."""

    states: np.ndarray  # [n] the game's state dtype
    players: np.ndarray  # [n] int8, the player to move
    actions: np.ndarray  # [n] int16, the action played
    visited: np.ndarray  # [v] int16, the actions of the policy targets, position after position
    visits: np.ndarray  # [v] uint16, their counts, 1 or more; one move only if proofs decided it
    num_visited: np.ndarray  # [n] int16, the number of these actions at each position
    root_values: np.ndarray  # [n] float32 in [-1, 1], the search's value, for the player to move
    proven: np.ndarray  # [n] int8, proven result for the player to move: 1 win, 0 draw, -1 loss, or UNPROVEN
    weights: np.ndarray  # [n] float32, relative sampling frequency; 0 after a fast search
    outcomes: np.ndarray  # [n] int8, the game's result for the first player
    lengths: np.ndarray  # [G] int32, plies
    evaluations: np.ndarray  # [1] int64, positions that the net evaluated for these searches
    cache_hits: np.ndarray  # [1] int64, leaves that were evaluated without the net
    simulations: np.ndarray  # [1] int64
    full_trees: np.ndarray  # [1] int64, searches whose tree had no room to grow
    openings: np.ndarray  # [m] int16, the random moves before the first positions of all games, game after game
    opening_lengths: np.ndarray  # [G] int32, plies of these
    starts: np.ndarray  # [b] uint8, UTF-8 texts of the positions before all openings, game after game
    start_lengths: np.ndarray  # [G] int32, bytes of these; 0: the initial position

    @property
    def num_positions(self) -> int:
        return len(self.states)

    @property
    def num_learnt(self) -> int:
        """Number of training positions: the sum of the weights."""
        return round(float(self.weights.sum(dtype=np.float64)))

    def policies(self) -> Policies:
        """Returns the policy targets, without a copy of their counts."""
        return policies_of(self.num_visited, self.visited, self.visits)

    def start_texts(self) -> list[str]:
        """Returns the text of the position at which each game began; empty for the initial position."""
        ends = np.cumsum(self.start_lengths)
        pairs = zip(ends - self.start_lengths, ends, strict=True)
        return [self.starts[begin:end].tobytes().decode(errors="replace") for begin, end in pairs]

    def results(self) -> np.ndarray:
        """Returns the game's result for the player to move at each position: [n] int8, 1 win, 0 draw, -1 loss."""
        return self.outcomes * sign_of(self.players)

    def game_outcomes(self) -> np.ndarray:
        """Returns the result of each game for the first player, [G] int8."""
        return self.outcomes[np.cumsum(self.lengths) - 1]


class SizedShard(NamedTuple):
    """A shard, and the place of its game among the sizes of a run."""

    size: int
    shard: Shard


def bytes_of_states(states: np.ndarray) -> np.ndarray:
    """Returns states ([n] a structured dtype) as bytes, [n, S] uint8, with zeros in the gaps between fields."""
    clean = np.zeros(states.shape, states.dtype)
    for name in states.dtype.names or ():
        clean[name] = states[name]
    return clean.view(np.uint8).reshape(len(states), -1)


_COUNTS = "evaluations", "cache_hits", "simulations", "full_trees"
PER_POSITION = "states", "players", "actions", "num_visited", "root_values", "proven", "weights", "outcomes"
PER_VISITED = "visited", "visits"


def join_shards(shards: list[Shard]) -> Shard:
    """Returns one shard with the games of all shards."""
    joined = Shard(*(np.concatenate(arrays) for arrays in zip(*shards, strict=True)))
    return joined._replace(**{name: getattr(joined, name).sum(keepdims=True) for name in _COUNTS})
