"""The course of a match: its finished games, in whatever order they finish, and when an SPRT has decided.

Games have numbers. Games 2p and 2p + 1 are pair p; the first agent moves first in even games. A match is a sequence of
blocks, ranges of these numbers. An SPRT looks at whole blocks, in order. So its decision, and the games that count, do
not depend on who has played which games.
"""

from collections.abc import Iterable, Iterator, Sequence

from azero.arena.matches.results import GameResult, pair_scores, tally_of, without_repeats
from azero.arena.matches.statistics import Sprt, Tally


class Course:
    """The games of a match that are to be played, and those that are finished.

    Args:
      numbers: of the games to play.
      block: number of games in a block.

    Attributes:
      decision: "accept" or "reject"; None without an SPRT or while it is undecided.
    """

    def __init__(self, numbers: range, block: int, sprt: Sprt | None):
        self.decision: str | None = None
        self._numbers, self._block, self._sprt = numbers, block, sprt
        self._waiting = list(self.blocks())[::-1]  # whose games have not all finished, the first one last
        self._results: dict[int, GameResult] = {}  # by number

    def blocks(self) -> Iterator[range]:
        """Yields the numbers of each block."""
        for first in self._numbers[:: self._block]:
            yield range(first, min(first + self._block, self._numbers.stop))

    @property
    def results(self) -> list[GameResult]:
        """The finished games, in order. After a decision, those of the blocks on which it rests."""
        return [result for _, result in sorted(self._results.items())]

    @property
    def tally(self) -> Tally:
        return tally_of(list(self._results.values()))

    @property
    def is_over(self) -> bool:
        """Whether all games are finished, or the rest need not be played."""
        return not self._waiting

    def add(self, results: Iterable[GameResult]) -> None:
        """Adds finished games. Others than those to play, and games that a decision has made needless, are left out."""
        if self.decision:
            return
        self._results |= {result.number: result for result in results if result.number in self._numbers}
        while self._waiting and all(number in self._results for number in self._waiting[-1]):
            stop = self._waiting.pop().stop
            if self._sprt and (stop % 2 == 0 or stop == self._numbers.stop):  # only whole pairs count
                so_far = [result for number, result in sorted(self._results.items()) if number < stop]
                self.decision = _first_decision(self._sprt, pair_scores(without_repeats(so_far)))
            if self.decision:
                self._waiting.clear()
                self._results = {number: result for number, result in self._results.items() if number < stop}


def _first_decision(sprt: Sprt, scores: Sequence[float]) -> str | None:
    """Returns the test's first decision, when the pairs are added one by one."""
    decisions = (sprt.decide(scores[:num]) for num in range(1, len(scores) + 1))
    return next((decision for decision in decisions if decision), None)
