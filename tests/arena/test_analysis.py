"""Tests of analyses: what they report, what ends them, and what is kept between positions."""

import itertools
import threading
import time

import pytest

from azero import make_agent, make_game
from azero.arena.agents.clock import Clock, TimeControl
from azero.errors import BadInput
from azero.mcts.tree import NODE_DTYPE

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("connect_four")
START = GAME.new_initial_state()
AGENTS = ["uct", "connect_four"]


def agent_of(name, **options):
    return make_agent(name, None if name == "connect_four" else GAME, **options)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", AGENTS)
def test_reports_come_while_the_search_runs(name, threads):
    agent = agent_of(name, threads=threads)
    with agent.analyse(START, interval=0.1) as analysis:
        reports = list(itertools.islice(analysis, 4))
    visits = [each.simulations for each in reports]
    assert visits == sorted(visits) and visits[0] < visits[-1]
    for each in reports:
        assert each.simulations - sum(move.visits for move in each.moves) in range(2 * threads + 1)
        assert each.simulations_per_s > 0 and each.moves[0].pv[0] == each.best
    assert [round(each.elapsed_s, 1) for each in reports][1:] == pytest.approx([0.1, 0.2, 0.3], abs=0.15)
    assert list(analysis) == []
    agent.close()


@pytest.mark.parametrize("name", AGENTS)
def test_any_thread_may_stop_it(name):
    agent = agent_of(name, threads=2)
    analysis = agent.analyse(START, interval=60.0)
    next(analysis)
    stopped = []

    def stop():
        time.sleep(0.2)
        stopped.append(time.perf_counter())
        analysis.stop()

    thread = threading.Thread(target=stop)
    thread.start()
    last = list(analysis)
    assert len(last) == 1 and last[0].simulations > 100
    assert time.perf_counter() - stopped[0] < 1.0  # 50 ms are asked of a machine that is not busy
    thread.join()
    agent.close()


@pytest.mark.parametrize("name", AGENTS)
def test_simulations_and_seconds_end_it(name):
    agent = agent_of(name, threads=2)
    *_, last = agent.analyse(START, simulations=3000)
    assert last.simulations == 3000
    *_, last = agent.analyse(START, seconds=0.2)
    assert 0.15 <= last.elapsed_s < 2 and last.simulations > 3000  # it leaves time for its last report
    again = list(agent.analyse(START, simulations=3000))
    assert len(again) == 1 and again[0].simulations == last.simulations  # nothing is left to do
    agent.close()


def test_the_last_report_is_within_the_limit(monkeypatch):
    """A report of a large board takes long on a busy machine."""
    agent = agent_of("uct")
    search = agent.position_search()
    usual = search.suggestion

    def slow():
        time.sleep(0.15)
        return usual()

    monkeypatch.setattr(search, "suggestion", slow)
    assert list(agent.analyse(START, interval=60.0, seconds=0.6))[-1].elapsed_s < 0.7
    agent.close()


def test_what_an_answer_needs_is_compiled_before(monkeypatch):
    """Lines of two moves need a kernel that lines of one do not."""
    lengths = []
    monkeypatch.setattr(
        type(GAME), "lines_to_text", lambda game, state, lines: lengths.extend(map(len, lines)) or [["a1"]] * len(lines)
    )
    agent_of("uct").position_search()
    assert max(lengths) >= 2


def test_a_proof_ends_it():
    *_, last = agent_of("uct").analyse(GAME.state_from_moves("112233"))
    assert (last.best, last.moves[0].proven, last.value) == ("4", "win", 1.0)


@pytest.mark.parametrize("name", ["uct", "tic_tac_toe"])
def test_a_drawn_game_is_solved_and_ends_it(name):
    """A search alone goes to proven draws for ever."""
    game = make_game("tic_tac_toe")
    agent = make_agent(name, game)
    with agent.analyse(game.new_initial_state(), seconds=60.0) as analysis:
        *_, last = analysis
    assert last.proven == "draw" and last.elapsed_s < 60.0
    agent.close()


def test_moves_on_a_clock_are_the_agent_s_own_after_an_analysis():
    game = make_game("tic_tac_toe")
    agent = make_agent("uct", game)
    with agent.analyse(game.new_initial_state(), seconds=60.0) as analysis:
        *_, last = analysis
    assert last.proven == "draw", "it has a solver"
    agent.player.play(game.state_from_moves("b2 a1"), Clock(TimeControl.parse("1s+0.2s")))
    assert not agent.position_search()._may_solve()
    agent.close()


@pytest.mark.parametrize("max_nodes", [None, 1 << 22])
def test_memory_ends_it_whatever_the_agents_limit_on_nodes(max_nodes):
    agent = agent_of("uct", max_nodes=max_nodes)
    *_, last = agent.analyse(START, memory_mib=1)
    assert last.is_tree_full and last.elapsed_s < 5
    assert agent.position_search(1).num_bytes <= 1 << 19, "kept trees have the other half"


def test_too_little_memory_is_refused():
    with pytest.raises(BadInput, match="memory_mib = 0 should be 1 or more for a tree of connect_four"):
        agent_of("uct").analyse(START, memory_mib=0)


@pytest.mark.parametrize("name", AGENTS)
def test_moves_are_allowed_and_avoided(name):
    agent = agent_of(name)
    *_, last = agent.analyse(START, simulations=500, allow=["1", 6])
    assert {move.move for move in last.moves} == {"1", "7"}
    assert sum(move.prior for move in last.moves) == pytest.approx(1.0, abs=1e-5)
    *_, last = agent.analyse(START, simulations=500, avoid="4")
    assert {move.move for move in last.moves} == set("123567")
    *_, last = agent.analyse(START, simulations=500, allow=["1", "2"], avoid=["2"])
    assert [move.move for move in last.moves] == ["1"] and last.moves[0].visits >= 499
    *_, last = agent.analyse(START, simulations=500)
    assert len(last.moves) == 7
    agent.close()


def test_moves_stay_left_out_when_the_position_before_was_searched_further():
    agent, after = agent_of("uct"), GAME.state_from_moves("4")
    list(agent.analyse(after, simulations=100, avoid=["4"]))
    list(agent.analyse(START, simulations=20_000))
    *_, last = agent.analyse(after, simulations=25_000, avoid=["4"])
    assert {move.move for move in last.moves} == set("123567")


def test_a_win_that_is_avoided_proves_nothing():
    state = GAME.state_from_moves("112233")
    agent = agent_of("uct")
    assert list(agent.analyse(state, simulations=500))[-1].value == 1.0
    *_, last = agent.analyse(state, simulations=2000, avoid=["4"])
    assert all(move.proven != "win" or len(move.pv) > 1 for move in last.moves)
    assert "4" not in {move.move for move in last.moves} and last.simulations >= 1000
    assert list(agent.analyse(state, simulations=500))[-1].value == 1.0


@pytest.mark.parametrize("name", AGENTS)
@pytest.mark.parametrize("threads", [1, 2])
def test_trees_are_kept_when_a_move_is_played_or_taken_back(name, threads):
    agent = agent_of(name, threads=threads)
    after = START.clone()
    *_, before = agent.analyse(START, simulations=20_000)
    best = before.moves[0]
    after.apply_action(best.action)
    (played,) = agent.analyse(after, simulations=1)
    assert 0.9 * best.visits <= played.simulations <= best.visits + 2 * threads
    assert played.value == pytest.approx(-best.value, abs=0.02)
    (taken_back,) = agent.analyse(START, simulations=1)
    assert taken_back.simulations == before.simulations
    assert [move.visits for move in taken_back.moves] == [move.visits for move in before.moves]
    agent.close()


def test_a_position_that_comes_again_by_other_moves_is_remembered():
    agent = agent_of("uct")
    *_, first = agent.analyse(GAME.state_from_moves("123"), simulations=3000)
    agent.analyse(START, simulations=10)
    (again,) = agent.analyse(GAME.state_from_moves("321"), simulations=1)
    assert again.simulations == first.simulations


def test_a_new_analysis_ends_the_one_before():
    agent = agent_of("uct")
    first = agent.analyse(START, interval=0.01)
    next(first)
    (report,) = agent.analyse(GAME.state_from_moves("4"), simulations=1)
    assert list(first) == [] and report.to_move == 1


def test_a_move_on_a_clock_ends_an_analysis():
    agent = agent_of("uct")
    analysis = agent.analyse(START, interval=0.01)
    next(analysis)
    agent.player.start_clock()
    agent.player.play(GAME.state_from_moves("4"), Clock(TimeControl(0.2)))
    assert list(analysis) == []


def test_a_large_part_of_a_tree_is_copied_in_part(monkeypatch):
    monkeypatch.setattr("azero.mcts.kept_trees._MOST_COPIED", 100)
    agent, after = agent_of("uct"), GAME.state_from_moves("4")
    *_, before = agent.analyse(START, simulations=5000)
    visits = next(move.visits for move in before.moves if move.move == "4")
    (report,) = agent.analyse(after, simulations=1)
    assert report.simulations == visits
    assert agent.position_search().num_bytes <= 100 * NODE_DTYPE.itemsize
    *_, last = agent.analyse(after, simulations=visits + 5000)
    assert sum(move.visits for move in last.moves) >= visits + 4990


def test_an_agent_without_a_tree_reports_once():
    for name in ("random", "alphabeta(rollouts=0)@500"):
        analysis = agent_of(name).analyse(START, interval=0.01)
        analysis.stop()
        (report,) = analysis
        assert report.best in "1234567"
    for name in ("random", "alphabeta", "mc", "uct(table=1MiB)"):
        with pytest.raises(BadInput, match="cannot leave out moves"):
            agent_of(name).analyse(START, avoid=["4"])
    (report,) = agent_of("uct(table=1MiB)").analyse(START, simulations=500)
    assert report.simulations == 500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"interval": 0}, "interval = 0 should be a number of seconds, 0.001 or more"),
        ({"interval": 1e-320}, "interval = 1e-320 should be"),
        ({"memory_mib": 1 << 40}, "memory_mib = 1099511627776 should be 8192 or less"),
        ({"interval": float("nan")}, "interval = nan should be"),
        ({"simulations": 0}, "simulations = 0 should be from 1 to"),
        ({"seconds": -1}, "seconds = -1 should be a number greater than 0"),
        ({"allow": ["9"]}, "'9' is not a move of connect_four"),
        ({"avoid": [7]}, "action 7 is not legal here"),
        ({"avoid": list(range(7))}, "no move is left"),
        ({"allow": [1], "avoid": [1]}, "no move is left"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(BadInput, match=message):
        agent_of("uct").analyse(START, **options)
