"""Records of self-play games."""

from collections.abc import Sequence

import numpy as np

from azero.records import Record
from azero.selfplay.data.games import Games


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
