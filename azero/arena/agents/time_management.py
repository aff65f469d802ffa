"""Time management: how long a move may take, and when a search has seen enough.

A move gets a share of the time that is left, by the number of moves that random games still need. The search ends
before its share is over if no other move can overtake the best one. It goes on beyond its share while the choice is
open: the two most visited moves are close, the most visited move is not the one with the best value, or its value has
fallen. What is saved goes to later moves, as their shares are of what is left then.

Source: Baudis and Gailly, Pachi: state of the art open source Go program (2011), and Baier and Winands, Time management
for Monte-Carlo tree search applied to the game of Go (2012), for these three rules; the constants are ours.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

from azero.arena.agents.clock import Clock
from azero.arena.agents.position_search import PositionSearch, Standing
from azero.games import State
from azero.mcts.rollouts.playing import plies_to_end
from azero.mcts.search.deadline import Deadline

_FEWEST_MOVES = 3.0  # own moves that the time has to suffice for, however near the end seems,
_MOST_MOVES = 12.0  # and however far: a share of what is left never runs out
_OPEN_PART = 0.8  # the part of a game in which its result is still open
_MOST_SHARES = 3.0  # of an open choice,
_MOST_PART = 0.3  # and the largest part of the main time left, unless the share without a boost is larger
_CLOSE = 0.6  # the second most visited move has at least this part of the visits of the first
_FALL = 0.05  # of the value
_CHECKS = 24  # of a share
_SHORTEST_CHECK_S = 0.004
_LONGEST_CHECK_S = 0.025  # where somebody may end the search
_RESERVE = 0.03  # part of the main time left that is never planned,
_RESERVE_AT_END = 0.06  # part of the whole main time,
_MOST_RESERVE_AT_END_S = 2.0
_RESERVE_PER_MOVE_S = 0.003  # and time for each own move: to start and end a search takes some milliseconds;
_LEAST_RESERVE_S = 0.04  # together at least this: on a busy machine, a move may end so much later than it should
_FIRST_BOOST = 2.0
_MOST_BOOST = 3.0
_EXPECTED = 2  # moves that use what the first boost expects, so that single moves do not change the boost much
_FORGET = 0.97  # of the longest lag, at each move: the next one as long may come many moves later
_LEARN = 0.1  # of the usual lag


class Share(NamedTuple):
    """The time of a move, in seconds."""

    planned_s: float
    most_s: float


class TimeManager:
    """Shares out the time of one player's games. The lag of this machine is known from one game to the next."""

    def __init__(self) -> None:
        self._longest_lag_s = self._usual_lag_s = 0.0  # by which the clock took more for a move than was meant
        self.begin_game()

    def begin_game(self) -> None:
        """Begins a game with a new clock."""
        self._planned_s = self._used_s = 0.0
        self._meant_s: float | None = None  # what the search of the last move was to take
        self._before_s = 0.0  # what the clock had taken before that move

    def look_at(self, clock: Clock) -> None:
        """Begins a move. What the clock has taken for the last one tells its lag."""
        if self._meant_s is not None:
            lag_s = max(0.0, clock.used_s - self._before_s - self._meant_s)
            self._longest_lag_s = max(_FORGET * self._longest_lag_s, lag_s)
            self._usual_lag_s += _LEARN * (lag_s - self._usual_lag_s)
        self._before_s, self._meant_s = clock.used_s, None

    def share(self, state: State, clock: Clock) -> Share:
        """Returns the time for the next move of the player to move."""
        own_moves = max(_FEWEST_MOVES, _OPEN_PART * plies_to_end(state) / 2)
        at_end_s = min(_RESERVE_AT_END * clock.control.main_s, _MOST_RESERVE_AT_END_S)
        reserve_s = at_end_s + own_moves * max(self._usual_lag_s, _RESERVE_PER_MOVE_S)
        reserve_s = max(reserve_s, _LEAST_RESERVE_S, self._longest_lag_s)
        free_s = max(0.0, (1.0 - _RESERVE) * clock.main_s - reserve_s)
        planned_s = free_s / min(own_moves, _MOST_MOVES) + clock.control.increment_s
        most_s = free_s
        if clock.periods:  # a move within its period keeps it
            period_s = clock.period_left_s
            reserve_s = max(min(_LEAST_RESERVE_S, period_s / 2), self._longest_lag_s)
            most_s = free_s + (1.0 - _RESERVE) * period_s - reserve_s
            planned_s = max(planned_s, most_s if free_s == 0.0 else period_s)
        most_s = max(most_s, 0.0)
        most_s = min(most_s, max(_MOST_PART * most_s, planned_s))
        planned_s = min(planned_s * self._boost(), most_s)
        return Share(planned_s, min(_MOST_SHARES * planned_s, most_s))

    def note(self, share: Share, used_s: float, meant_s: float) -> None:
        """Notes how long a search took, and how long it was to take. If moves are cheap, later ones get more."""
        if self._used_s == 0.0:  # what to expect of the moves to come
            self._planned_s, self._used_s = _EXPECTED * _FIRST_BOOST * share.planned_s, _EXPECTED * share.planned_s
        self._planned_s += share.planned_s / self._boost()
        self._used_s += used_s
        self._meant_s = meant_s

    def _boost(self) -> float:
        """Returns the factor by which moves so far were cheaper than their shares without a boost."""
        boost = self._planned_s / self._used_s if self._used_s else _FIRST_BOOST
        return min(max(boost, 1.0), _MOST_BOOST)

    def think(
        self,
        search: PositionSearch,
        state: State,
        clock: Clock,
        most_visits: int,
        most_s: float,
        goes_on: Callable[[], bool] | None = None,
    ) -> int:
        """Searches a position as long as the choice is worth, within clock and limits; returns the simulations.

        Args:
          goes_on: asked some 40 times a second whether the search may go on; None: nobody ends it.
        """
        begin = time.perf_counter()
        share = self.share(state, clock)
        share = Share(min(share.planned_s, most_s), min(share.most_s, most_s))
        search.go_to(state)
        if len(state.legal_actions()) == 1:
            return 0
        before, first = search.visits, search.standing()
        searching = elapsed = time.perf_counter() - begin
        step_s, meant_s = max(share.planned_s / _CHECKS, _SHORTEST_CHECK_S), min(elapsed, share.most_s)
        step_s = min(step_s, _LONGEST_CHECK_S) if goes_on else step_s
        while elapsed < share.most_s and not search.is_done(most_visits, stops_when_full=False):
            meant_s = min(elapsed + step_s, share.most_s)
            search.go_on(most_visits, Deadline(begin + meant_s), stops_when_full=False)
            elapsed = time.perf_counter() - begin
            standing = search.standing()
            rate = (standing.visits - before) / (elapsed - searching)
            if self.has_seen_enough(standing, first, share, elapsed, rate) or (goes_on and not goes_on()):
                break
        self.note(share, time.perf_counter() - begin, meant_s)
        return search.visits - before

    def has_seen_enough(self, standing: Standing, first: Standing, share: Share, elapsed: float, rate: float) -> bool:
        """Returns whether the search may end.

        Args:
          standing: how it stands now.
          first: how it stood at its beginning.
          elapsed: seconds since the move began.
          rate: its simulations a second.
        """
        lead = standing.most - standing.second
        if elapsed < share.planned_s:
            return lead > rate * (share.planned_s - elapsed)
        if lead > rate * (share.most_s - elapsed):
            return True
        is_close = standing.second >= _CLOSE * standing.most
        return not is_close and standing.is_best_valued and standing.value >= first.value - _FALL
