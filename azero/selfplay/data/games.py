"""Games of self-play as plain arrays, for analysis and for training loops of one's own, and as records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from azero.errors import BadInput
from azero.games import Game, State
from azero.records import Record
from azero.selfplay.data.policies import Policies
from azero.selfplay.data.samples import encode_as_played
from azero.selfplay.data.shard import Shard, join_shards

Indices = Sequence[int] | np.ndarray | slice


@dataclass(frozen=True)
class Games:
    """G games with n positions in all, one game after another, the oldest first. Read-only.

    Values and results are for the player to move, except `outcomes`.

    Attributes:
      game: the game.
      lengths: [G] int32, positions of each game. Its random opening, if there is one, is not among them.
      iterations: [G] int32, the iteration in which each game was played.
      outcomes: [G] int8, for the first player: 1 win, 0 draw, -1 loss.
      players: [n] int8, the player to move, 0 or 1.
      actions: [n] int16, the action played.
      values: [n] float32 in [-1, 1], the search's value.
      results: [n] int8, the result of the game: 1 win, 0 draw, -1 loss.
      weights: [n] float32, how often training draws the position, relative to others; 0 after a fast search.
    """

    game: Game
    lengths: np.ndarray
    iterations: np.ndarray
    outcomes: np.ndarray
    players: np.ndarray
    actions: np.ndarray
    values: np.ndarray
    results: np.ndarray
    weights: np.ndarray
    _shard: Shard = field(repr=False, compare=False)

    @classmethod
    def from_shards(cls, game: Game, shards: Mapping[int, Sequence[Shard]]) -> "Games":
        """Returns the games of shards, by iteration; there is at least one shard."""
        shard = join_shards([each for some in shards.values() for each in some])
        counts = [sum(len(each.lengths) for each in some) for some in shards.values()]
        return cls(
            game=game,
            lengths=shard.lengths,
            iterations=np.repeat(np.array(list(shards), np.int32), counts),
            outcomes=shard.game_outcomes(),
            players=shard.players,
            actions=shard.actions,
            values=shard.root_values,
            results=shard.results(),
            weights=shard.weights,
            _shard=shard,
        )

    @cached_property
    def policies(self) -> np.ndarray:
        """The searches' policies, [n, A] float32. A row sums to 1, or to 0 after a fast search that left none."""
        everything = np.arange(len(self.players))
        policies = self._policies.probabilities(self.game, everything, np.zeros_like(everything))
        policies.flags.writeable = False
        return policies

    def policy_counts(self, position: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the actions [k] int16 of the search's policy at a position, and their counts [k] uint16."""
        return self._policies.row(position)

    @cached_property
    def _policies(self) -> Policies:
        return self._shard.policies()

    def proven(self, position: int) -> int:
        """Returns the result that was proven at a position, for the player to move: 1, 0, -1; ONGOING without one."""
        return int(self._shard.proven[position])

    def planes(self, positions: Indices = slice(None)) -> np.ndarray:
        """Returns the net's input for some positions, or all: [k, C, H, W] float32.

        Args:
          positions: numbers from 0 to n - 1, a slice, or a mask [n] bool.

        Raises BadInput if there is no such position.
        """
        try:
            chosen = np.arange(len(self.players))[positions]
        except (IndexError, TypeError) as error:
            raise BadInput(f"positions: {error}; they are numbered from 0 to {len(self.players) - 1}") from None
        return encode_as_played(self.game, self._shard.states, chosen)

    def start(self, number: int) -> State:
        """Returns the position in which a game began, before its random opening."""
        text = self._shard.start_texts()[number]
        return self.game.state_from_text(text) if text else self.game.new_initial_state()

    def state(self, position: int) -> State:
        """Returns a position with the actions that led to it; raises BadInput if there is none of this number."""
        if not 0 <= position < len(self.players):
            raise BadInput(f"there is no position {position}; they are numbered from 0 to {len(self.players) - 1}")
        ends, openings = np.cumsum(self.lengths), np.cumsum(self._shard.opening_lengths)
        number = int(np.searchsorted(ends, position, side="right"))
        opening = self._shard.openings[openings[number] - self._shard.opening_lengths[number] : openings[number]]
        played = self.actions[ends[number] - self.lengths[number] : position]
        history = [*opening.tolist(), *played.tolist()]
        return State.from_record(self.game, self._shard.states[position], history)


def records_of(games: Games, numbers: Sequence[int], run: str) -> list[Record]:
    """Returns the records of some games. The values are those of the searches; random openings have none.

    Args:
      numbers: of the games, from 0 to G - 1.
      run: the name of the run.
    """
    ends = np.cumsum(games.lengths)
    return [_record_of(games, number, int(ends[number] - games.lengths[number]), run) for number in numbers]


def _record_of(games: Games, number: int, begin: int, run: str) -> Record:
    """Returns the record of a game whose first position is `begin`."""
    positions = range(begin, begin + int(games.lengths[number]))
    start, first = games.start(number), games.state(begin)
    opening = first.history()
    iteration = int(games.iterations[number])
    tags = {"First": "self-play", "Second": "self-play", "Event": run, "Round": f"{iteration}.{number + 1}"}
    if opening:
        tags["OpeningPlies"] = str(len(opening))
    record = Record.of_game(start, [*opening, *games.actions[positions].tolist()], **tags)
    for node, position in zip(record.line()[len(opening) :], positions, strict=True):
        node.value = float(games.values[position])
    return record


def sample_games(games: Games, most: int, seed: int) -> list[int]:
    """Returns the numbers of at most `most` games, drawn at random, in ascending order."""
    num_games = len(games.lengths)
    drawn = np.random.default_rng(seed).permutation(num_games)[:most]
    return sorted(drawn.tolist())
