"""What a UCI engine tells while it searches: its `info` lines. They come from outside, so each part may be wrong."""

import re
from typing import NamedTuple

from azero.arena.agents.analysis import UNLIMITED

_MOST_MOVES = 500
_MOST_PLIES = 30  # of a principal variation that are read
_SCORE = re.compile(r"\bscore (cp|mate) (-?[0-9]{1,7})\b(?: (upperbound|lowerbound)\b)?")


class Info(NamedTuple):
    """The last lines about one of the engine's moves.

    Attributes:
      value: in [-1, 1], for the player to move.
      is_bound: whether `value` is only an upper bound.
      pv: principal variation, one text per turn.
    """

    value: float
    is_bound: bool
    pv: list[str]


class Infos:
    """Collects the lines of one search.

    Attributes:
      nodes: the number of searched positions.
    """

    def __init__(self) -> None:
        self.nodes = 0
        self._by_rank: dict[int, Info] = {}  # by `multipv`, 1 for the best

    def add(self, line: str) -> None:
        """Reads a line. What is not understood is left out."""
        facts, _, moves = line.partition(" pv ")
        if not facts.startswith("info ") or facts.startswith("info string"):
            return
        self.nodes = min(max(self.nodes, _number(facts, "nodes")), UNLIMITED)
        score, pv = _SCORE.search(facts), moves.split(maxsplit=_MOST_PLIES)[:_MOST_PLIES]
        if score is None or not pv:
            return
        rank = min(_number(facts, "multipv"), _MOST_MOVES)
        known = self._by_rank.get(rank)
        if score[3] and known and known.pv[0] == pv[0]:
            return  # a bound tells less than the value that the move has already
        self._by_rank[rank] = Info(value_of(score[1], int(score[2])), score[3] == "upperbound", pv)

    def ranked(self) -> list[Info]:
        """Returns the last line about each of the engine's moves, the best first."""
        return [self._by_rank[rank] for rank in sorted(self._by_rank)]


def value_of(kind: str, number: int) -> float:
    """Returns the value in [-1, 1] of a score in centipawns, "cp", or in moves to the end, "mate".

        value = 2 / (1 + 10^(-cp / 400)) - 1                                                   [1]

    A mate is 1 for the player to move, -1 if the number is 0 or less.

    Source:
      [1] Chess Programming Wiki, Pawn Advantage, Win Percentage, and Elo: an advantage of four pawns is as good as 400
          Elo. It was measured in chess, so in other games the values have the right order and sign only.
    """
    if kind == "mate":
        return 1.0 if number > 0 else -1.0
    exponent = min(max(-number / 400.0, -300.0), 300.0)
    return 2.0 / (1.0 + 10.0**exponent) - 1.0


def _number(facts: str, name: str) -> int:
    match = re.search(rf"\b{name} ([0-9]{{1,15}})\b", facts)
    return int(match[1]) if match else 0
