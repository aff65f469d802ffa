"""Matches of a pool that workers play, all at the same time."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from azero.arena.agents.specs import AgentSpec
from azero.arena.matches.meetings import Meeting, play_meetings
from azero.arena.matches.results import MatchResult
from azero.arena.matches.statistics import Tally
from azero.system.pool import Pool


class Match(NamedTuple):
    """Pairs of games that two agents are to play."""

    sides: list[tuple[str, int]]  # names and seeds of A and B
    seed: int
    first: int  # number of the first pair
    num_pairs: int


class MatchWorkers(NamedTuple):
    """Workers, and what they make agents from."""

    pool: Pool
    spec: Callable[[str, int], AgentSpec]  # by an agent's name and seed

    def play(self, matches: Sequence[Match], on_games: Callable[[int, Tally], None]) -> Sequence[MatchResult]:
        """Returns the results of several matches; raises as `play_meetings`."""
        meetings = []
        for sides, seed, first, num_pairs in matches:
            a, b = (self.spec(*side) for side in sides)
            meetings.append(Meeting(a, b, 2 * num_pairs, seed, first_pair=first))
        return play_meetings(meetings, self.pool, on_games)
