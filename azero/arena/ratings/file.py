"""The file of a pool's games, in JSON, from which a rating goes on where it stopped.

    {"format": 1, "game": "connect_four", "matches": [{"a": ID, "b": ID, "seed": 0, "pairs": [[0, 1.0, 0.5, KEY]]}]}

A and B are identities of agents (`identity_of_agent`), `a` before `b` in the alphabet. A pair has its number in the
match, the scores of A in the game that A began and in the other game, and a digest of the moves of both. Each seed has
games of its own. The file may have games of agents that are not in the pool now; they stay there.
"""

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from azero.arena.matches.results import GameResult
from azero.errors import BadInput
from azero.system.files import read_regular, write_whole
from azero.system.formats import check_format

FORMAT = 1
"""Format version of the file."""

_LARGEST = 1 << 26  # bytes
_LONGEST = 4096  # characters of an identity
_MOST_PAIRS = 10**6  # numbers of pairs are less
_SCORES = (0.0, 0.5, 1.0)


class Pair(NamedTuple):
    """Two finished games from one opening, with colours swapped."""

    number: int  # in the match
    begun: float  # A's score in the game that A began: 1 win, 0.5 draw, 0 loss
    answered: float  # A's score in the other game
    key: str  # 16 hexadecimal digits; equal if all moves of both games are

    @property
    def score(self) -> float:
        """A's mean score."""
        return (self.begun + self.answered) / 2


class MatchId(NamedTuple):
    """Names a match: two identities in alphabetic order, and a seed."""

    a: str
    b: str
    seed: int


Matches = dict[MatchId, list[Pair]]


def pairs_of(results: list[GameResult]) -> list[Pair]:
    """Returns the pairs of which both games are finished."""
    games: dict[int, dict[bool, GameResult]] = {}
    for result in results:
        games.setdefault(result.pair, {})[result.a_is_first] = result
    whole = {number: (both[True], both[False]) for number, both in sorted(games.items()) if len(both) == 2}
    return [Pair(number, one.score, other.score, _key(one, other)) for number, (one, other) in whole.items()]


def _key(one: GameResult, other: GameResult) -> str:
    return hashlib.blake2b(repr((one.actions, other.actions)).encode(), digest_size=8).hexdigest()


def write_matches(path: Path, game: str, matches: Matches) -> None:
    """Writes the file; if interrupted, it is the old one or the new one."""
    listed = [{**match_id._asdict(), "pairs": sorted(pairs)} for match_id, pairs in sorted(matches.items())]
    write_whole(path, f"{json.dumps({'format': FORMAT, 'game': game, 'matches': listed})}\n".encode())


def read_matches(path: Path, game: str) -> Matches:
    """Returns the matches in a file; none if there is no file.

    Raises BadInput if it cannot be read, is damaged or no file of ratings, or is of another game.
    """
    what = f"ratings {str(path)!r}"
    advice = "move the file away, or name another with --out"
    try:
        data = json.loads(read_regular(path, _LARGEST))
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise BadInput(f"{what} cannot be read: {error.strerror or error}; name another file with --out") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{what} is damaged, or no file of ratings: it is not JSON; {advice}") from None
    if not isinstance(data, dict) or not {"format", "game", "matches"} <= data.keys():
        raise BadInput(f"{what} is no file of ratings: it should have a format, a game and matches; {advice}")
    check_format(what, data["format"], FORMAT)
    if not isinstance(data["game"], str) or not isinstance(data["matches"], list):
        raise BadInput(f"{what} is damaged; {advice}")
    if data["game"] != game:
        raise BadInput(f"{what} has games of {data['game'][:100]}, not of {game}; name another file with --out")
    matches: Matches = {}
    for number, each in enumerate(data["matches"]):
        match_id, pairs = (_match_id(each), _pairs(each)) if isinstance(each, dict) else (None, None)
        if match_id is None or pairs is None or match_id in matches:
            raise BadInput(f"{what} is damaged: match {number}; {advice}")
        matches[match_id] = pairs
    return matches


def _match_id(each: dict) -> MatchId | None:
    """Returns what a match in the file says of its agents; None if that is not valid."""
    a, b, seed = (each.get(name) for name in MatchId._fields)
    if not isinstance(a, str) or not isinstance(b, str) or type(seed) is not int:
        return None
    is_right = a < b and max(len(a), len(b)) <= _LONGEST and 0 <= seed < 1 << 64
    return MatchId(a, b, seed) if is_right else None


def _pairs(each: dict) -> list[Pair] | None:
    """Returns the pairs of a match in the file; None if they are not valid."""
    listed = each.get("pairs")
    if not isinstance(listed, list) or not all(isinstance(fields, list) and len(fields) == 4 for fields in listed):
        return None
    pairs = [Pair(*fields) for fields in listed]
    are_right = all(
        type(pair.number) is int
        and 0 <= pair.number < _MOST_PAIRS
        and all(isinstance(score, int | float) and score in _SCORES for score in (pair.begun, pair.answered))
        and isinstance(pair.key, str)
        and len(pair.key) == 16
        for pair in pairs
    )
    return pairs if are_right and len({pair.number for pair in pairs}) == len(pairs) else None
