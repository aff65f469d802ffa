"""Tests of time management, resignation, and matches with clocks."""

import itertools
import json
import time

import pytest
from cases import long

from azero import make_agent, make_game
from azero.arena.agents import time_management
from azero.arena.agents.agent import Agent
from azero.arena.agents.analysis import Ponderer
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.position_search import Standing
from azero.arena.agents.suggestion import lone_move
from azero.arena.agents.time_management import TimeManager
from azero.arena.matches.match import play_match
from azero.arena.matches.timed import play_timed_match

pytestmark = pytest.mark.slow  # its games have clocks

GAME = make_game("connect_four")
START = GAME.new_initial_state()


class Sleeper(Agent):
    """Plays the first legal move after some seconds."""

    def __init__(self, game, seconds):
        super().__init__(f"sleeper of {seconds:g} s", game)
        self._sleep_s = seconds

    def suggest(self, state, simulations=None, seconds=None):
        time.sleep(self._sleep_s)
        return lone_move(state, state.legal_actions()[0])


def clock_of(text):
    return Clock(TimeControl.parse(text))


def test_the_time_suffices_for_all_moves():
    """Even if every move takes all that it may."""
    for control in ("10s", "10s+1s", "2s+3x1s", "+1x2s"):
        clock, manager, state = clock_of(control), TimeManager(), START.clone()
        while not state.is_terminal():
            share = manager.share(state, clock)
            assert 0 <= share.planned_s <= share.most_s < clock.left_s
            clock.spend(share.most_s)
            manager.note(share, share.most_s, share.most_s)
            assert not clock.has_fallen
            state.apply_action(state.legal_actions()[len(state.history()) % len(state.legal_actions())])


def test_saved_time_goes_to_later_moves():
    thrifty, plain = TimeManager(), TimeManager()
    clock = clock_of("60s")
    for _ in range(3):
        thrifty.note(thrifty.share(START, clock), 0.1, 0.1)
        plain.note(plain.share(START, clock), plain.share(START, clock).planned_s, 0.1)
    assert thrifty.share(START, clock).planned_s > 1.5 * plain.share(START, clock).planned_s


def play_late(control, lags, games=1):
    """Plays games on a clock that nobody waits for. Each move takes all that it may, and ends late by these seconds.

    Yields the clock and the share of each move.
    """
    manager, lags = TimeManager(), itertools.cycle(lags)
    for _ in range(games):
        clock, state = clock_of(control), START.clone()
        manager.begin_game()
        while not state.is_terminal() and not clock.has_fallen:
            manager.look_at(clock)
            share = manager.share(state, clock)
            manager.note(share, share.most_s, share.most_s)
            clock.spend(share.most_s + next(lags))
            yield clock, share
            state.apply_action(state.legal_actions()[len(state.history()) % len(state.legal_actions())])


@pytest.mark.parametrize("control", ["+1x0.1s", "+3x0.09s", "0.2s", "0.1s+0.1s", "0.2s+1x0.1s", "1s"])
def test_moves_that_end_late_by_up_to_40_ms_lose_no_game(control):
    for clock, _ in play_late(control, [0.0, 0.003, 0.0, 0.039, 0.001] if "x" in control else [0.0, 0.002], games=3):
        assert not clock.has_fallen


def test_a_longer_lag_is_remembered_for_many_moves_and_games():
    moves = list(play_late("+3x0.2s", [0.0, 0.09, *[0.0] * 998], games=2))
    shares = [share.most_s for _, share in moves[1:]]
    assert shares[0] == pytest.approx(0.97 * 0.2 - 0.04) and shares[1] == pytest.approx(0.97 * 0.2 - 0.09)
    assert shares[20] < 0.97 * 0.2 - 0.045 < shares[30] and len(shares) > 42


def test_a_search_that_ends_late_is_seen_by_the_clock(monkeypatch):
    """All time is that of the test. Each slice of the search takes 30 ms more than it should."""
    now = [100.0]
    monkeypatch.setattr(time_management.time, "perf_counter", lambda: now[0])

    class Late:
        visits = 0

        def go_to(self, state):
            now[0] += 0.001

        def standing(self):
            return Standing(self.visits, 0.0, 1, 1, False)

        def is_done(self, most_visits, stops_when_full):
            return False

        def go_on(self, most_visits, deadline, stops_when_full):
            now[0] = max(now[0], deadline.time_s) + 0.03
            self.visits += 10

    clock, manager = clock_of("+2x0.2s"), TimeManager()
    for _ in range(20):
        begin = now[0]
        manager.look_at(clock)
        manager.think(Late(), START, clock, 10**9, float("inf"))
        now[0] += 0.02  # to tell the move
        clock.spend(now[0] - begin)
        assert not clock.has_fallen and clock.periods == 1, "the first move alone has used up a period"
    assert manager.share(START, clock).most_s == pytest.approx(0.97 * 0.2 - 0.05)


def test_a_clear_move_takes_less_time_than_an_open_one():
    agent = make_agent("uct", GAME)
    agent.player.start_clock()
    forced = GAME.state_from_moves("41414")  # the second player has to answer at 4
    begin = time.perf_counter()
    suggestion = agent.player.play(forced, clock_of("6s"))
    assert (
        suggestion.best == "4"
        and time.perf_counter() - begin < agent.player.time_manager.share(forced, clock_of("6s")).planned_s
    )
    agent.close()


def test_a_limit_in_the_name_holds_beside_a_clock():
    agent = make_agent("uct@300", GAME)
    agent.player.start_clock()
    suggestion = agent.player.play(START, clock_of("60s"))
    assert suggestion.simulations <= 300 and suggestion.elapsed_s < 2
    agent = make_agent("uct@0.05s", GAME)
    agent.player.start_clock()
    assert agent.player.play(START, clock_of("1h")).elapsed_s < 2


@pytest.mark.parametrize("is_pondering", [True, *long(False)])
def test_a_match_with_clocks(is_pondering):
    a, b = make_agent("connect_four", seed=1), make_agent("uct", GAME, seed=2)
    control = TimeControl.parse("0.8s+0.1s")
    match = play_timed_match(a, b, GAME, 2, control, opening_plies=2, is_pondering=is_pondering)
    use = match.time_use
    assert match.tally.games == 2 and use.losses_on_time == [0, 0]
    assert all(0.1 < used < 0.8 + 0.1 * 21 for side in use.used_s for used in side)
    assert min(use.least_left_s) > 0
    fields = json.loads(json.dumps(match.to_json(), allow_nan=False))
    assert fields["clock"]["control"] == "0.8s+0.1s" and len(fields["clock"]["used_s"]) == 2
    for agent in (a, b):
        agent.close()


def test_who_has_no_time_left_loses():
    slow, quick = Sleeper(GAME, 0.1), Sleeper(GAME, 0.0)
    match = play_timed_match(slow, quick, GAME, 2, TimeControl.parse("0.25s"))
    assert match.time_use.losses_on_time == [2, 0] and match.tally.losses == 2
    assert match.time_use.least_left_s[0] == 0.0
    kept = play_timed_match(slow, quick, GAME, 1, TimeControl.parse("0.2s+1s"), opening_plies=0)
    assert kept.time_use.losses_on_time == [0, 0]


def test_whole_turns_are_played_on_a_clock():
    game = make_game("amazons(size=4)")
    agents = make_agent("uct(root=turns)", game, seed=1), make_agent("alphabeta(rollouts=0)", game, seed=2)
    match = play_timed_match(*agents, game, 1, TimeControl.parse("0.5s+0.1s"), opening_plies=0)
    assert match.time_use.losses_on_time == [0, 0] and len(match.results[0].actions) % 3 == 0


def test_thinking_on_the_opponents_time_serves_the_next_move():
    agent = make_agent("uct", GAME)
    agent.player.start_clock()
    ponderer = Ponderer(agent, START)
    time.sleep(0.3)
    ponderer.stop()
    search = agent.position_search()
    assert search.visits > 10_000
    after = GAME.state_from_moves("4")
    search.go_to(after)
    assert search.visits > 1000
    idle = Ponderer(make_agent("random", GAME), START)
    idle.stop()
    agent.close()


@pytest.mark.parametrize("name", ["uct(resign=-0.5)@400", "connect_four(resign=-0.5)@50"])
def test_an_agent_resigns_below_its_setting(name):
    agent = make_agent(name, None if name.startswith("c") else GAME)
    assert agent.resign_below == -0.5
    agent.player.start_clock()
    assert agent.player.play(START, clock_of("5s")).best != "resign"
    behind = GAME.state_from_moves("22334")  # the opponent threatens on both sides
    assert agent.player.play(behind, clock_of("5s")).best == "resign"
    agent.player.start(1, [behind], 0)
    assert agent.player.choose([0]) == [-1]
    agent.close()


def test_a_match_ends_with_a_resignation():
    hopeless, other = make_agent("uct(resign=1)@50", GAME), make_agent("uct@50", GAME)
    match = play_match(hopeless, other, GAME, 2, opening_plies=0)
    assert match.tally.losses == 2 and [len(each.actions) for each in match.results] == [0, 1]
