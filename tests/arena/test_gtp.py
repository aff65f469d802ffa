"""Tests of GTP engines: one that plays, and others that die, cheat, complain, resign, hang or do not exist."""

import errno
import gc
import itertools
import os
import shutil
import subprocess
import sys
import threading
import time

import pytest

from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.engines import engine as engine_module
from azero.arena.agents.engines.engine import split_command
from azero.arena.agents.engines.gtp import GtpAgent
from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.match import play_match
from azero.arena.matches.results import Interrupted, Unfinished
from azero.arena.matches.statistics import Sprt, Tally
from azero.errors import BadInput, EngineFailed
from azero.games import make_game

from .agents import write_engine

GAME = make_game("tic_tac_toe")


@pytest.fixture
def engine(tmp_path):
    """Returns a function that starts an engine with the given behaviour. All engines are closed after the test."""
    started = []

    def start(manner="plays", game=GAME):
        started.append(make_agent(write_engine(tmp_path, manner), game))
        return started[-1]

    yield start
    for agent in started:
        agent.close()


def told(tmp_path):
    return (tmp_path / "told").read_text().splitlines()


def test_an_engine_suggests_its_move(engine):
    suggestion = engine().suggest(GAME.state_from_moves("a1 b1"))
    assert (suggestion.best, suggestion.action, suggestion.to_move) == ("c1", 2, 0)
    assert suggestion.to_json()["moves"][0]["pv"] == ["c1"]


def test_an_engine_is_told_the_position_and_then_only_what_is_new(engine, tmp_path):
    agent = engine()
    agent.suggest(GAME.state_from_moves("a1 b1"))
    expected = ["boardsize 3", "clear_board", "play black a1", "play white b1", "genmove black"]
    assert told(tmp_path) == expected
    agent.suggest(GAME.state_from_moves("a1 b1 c1 a2"))  # c1 was its answer
    assert told(tmp_path) == [*expected, "play white a2", "genmove black"]
    agent.suggest(GAME.state_from_moves("c3"))
    assert told(tmp_path)[7:] == ["boardsize 3", "clear_board", "play black c3", "genmove white"]


def test_no_board_size_is_told_of_a_board_that_is_not_square(engine, tmp_path):
    game = make_game("connect_four")
    with pytest.raises(BadInput):  # the engine knows only tic_tac_toe
        engine(game=game).suggest(game.new_initial_state())
    assert told(tmp_path) == ["clear_board", "genmove black"]


def test_an_engine_plays_a_match(engine):
    agent = engine()
    match = play_match(agent, make_agent("random", GAME), GAME, 6, seed=1)
    assert match.tally.games == 6 and {result.a_is_first for result in match.results} == {True, False}
    for result in match.results:
        state = GAME.new_initial_state()
        for ply, action in enumerate(result.actions):
            if ply >= 4 and (state.current_player() == 0) == result.a_is_first:
                assert action == state.legal_actions()[0]  # the engine plays the first legal action
            state.apply_action(action)


@pytest.mark.parametrize("is_a", [True, False])
def test_an_engine_plays_its_games_one_after_another(engine, tmp_path, is_a):
    agents = [engine(), make_agent("random", GAME)]
    play_match(*(agents if is_a else agents[::-1]), GAME, 6, seed=1)
    games = "\n".join(told(tmp_path)).split("boardsize 3\nclear_board\n")
    assert games[0] == "" and len(games) == 1 + 6
    for lines in (game.splitlines() for game in games[1:]):
        assert [line.split()[1] for line in lines] == (["black", "white"] * 5)[: len(lines)]  # every ply exactly once


def test_threads_play_games_with_engines_at_the_same_time(engine):
    """Each engine waits at its first move until two others have been asked for one. The games are the same."""
    match = play_match(engine("meets"), make_agent("uct@9", GAME, 1), GAME, 9, seed=1, threads=3)
    alone = play_match(engine("plays"), make_agent("uct@9", GAME, 1), GAME, 9, seed=1)
    assert match.results == alone.results and match.simulations_b == alone.simulations_b


def test_where_one_of_several_engines_dies_the_others_are_not_waited_for(engine):
    """They would wait for a minute."""
    agent, begin = engine("meets and dies"), time.monotonic()
    with pytest.raises(Unfinished, match="ended after 0 of 9 games: .* the engine ended before 'genmove") as end:
        play_match(agent, make_agent("random", GAME), GAME, 9, threads=3)
    assert end.value.result is None
    assert time.monotonic() - begin < 30 and not agent.has_failed


def test_ctrl_c_ends_all_engines(engine):
    def press(num, tally):
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(Interrupted, match=r"stopped after \d of 9 games") as end:
        play_match(engine("waits@2"), make_agent("random", GAME), GAME, 9, threads=3, on_games=press)
    assert time.monotonic() - begin < 30 and len(end.value.result.results) >= 1


def test_games_with_a_limit_in_seconds_have_the_machine_alone(engine, tmp_path):
    agents, processes = [engine(), make_agent("uct@0.01s", GAME)], lambda: len(list(tmp_path.glob("told.*")))
    play_match(*agents, GAME, 3, threads=3)
    assert processes() == 1
    play_match(agents[0], make_agent("random", GAME), GAME, 3, threads=3)
    assert processes() == 1 + 3


PASSES = "c4 b4 a3 d2 a4"  # from here White's only legal action is to pass


@pytest.mark.slow
def test_a_forced_pass_that_an_engine_refuses_is_left_out(engine, tmp_path):
    game = make_game("othello(size=4)")
    agent = engine("refuses passes", game)
    assert agent.suggest(game.state_from_moves(PASSES)).best == "pass"
    assert told(tmp_path)[-1] == "play white pass"  # it is not asked for a forced move
    other = engine("refuses passes", game)
    with pytest.raises(EngineFailed, match="'a1' is not legal"):  # its answer to genmove, in tic_tac_toe
        other.suggest(game.state_from_moves(f"{PASSES} pass"))
    assert told(tmp_path)[-2:] == ["play white pass", "genmove black"]


@pytest.mark.slow
def test_a_pass_that_is_a_choice_may_not_be_refused(engine):
    game = make_game("go(size=3)")
    with pytest.raises(EngineFailed, match=r"answered 'play white pass' with '\? syntax error'"):
        engine("refuses passes", game).suggest(game.state_from_moves("b2 pass"))


@pytest.mark.parametrize("is_a", [True, False])
@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("dies", "the engine ended before 'genmove"),
        ("illegal", "is not legal here"),
        ("complains", r"with '\? I would rather not'"),
        ("babbles", r"with 'tic tac toe .{,100}\.\.\.'$"),
        ("says:%", "answered genmove with '%': '%' is not a move of tic_tac_toe"),
        ("rambles", r"answered genmove with 'x{97}\.\.\.'$"),
    ],
)
def test_a_match_that_cannot_go_on_keeps_the_games_that_were_finished(engine, manner, message, is_a):
    agents = [engine(f"{manner}@3"), make_agent("random", GAME)]
    with pytest.raises(Unfinished, match=message) as end:
        play_match(*(agents if is_a else agents[::-1]), GAME, 6, seed=1)
    assert str(end.value).startswith(f"the match ended after 2 of 6 games: agent {agents[0].name!r}")
    assert "\n" not in str(end.value)
    match = end.value.result
    assert match.tally.games == 2 and match.to_json()["failure"] == str(end.value)


def test_an_sprt_with_an_engine_decides_by_whole_pairs(engine):
    match = play_match(engine("resigns"), make_agent("random", GAME), GAME, 200, sprt=Sprt(0, 200))
    assert match.sprt == "reject" and match.tally.games < 100 and match.tally.games % 2 == 0


@pytest.mark.parametrize("manner", ["floods", "floods a line"])
def test_an_engine_that_floods_is_ended(engine, manner):
    agent = engine(manner)
    with pytest.raises(BadInput, match=r"^agent .*: the engine answered 'genmove white' with more than 100,000 char"):
        agent.suggest(GAME.state_from_moves("a1"))
    assert agent.process.returncode is not None
    agent.close()


KILLED = """
import os, signal, sys
from azero.arena.agents.make import make_agent
from azero.games import make_game
agent = make_agent(sys.argv[1], make_game("tic_tac_toe"))
agent.ask("name")
print(agent.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it sends SIGKILL")
def test_an_engine_ends_with_a_killed_azero(tmp_path):
    command = [sys.executable, "-c", KILLED, write_engine(tmp_path)]
    group = int(subprocess.run(command, stdout=subprocess.PIPE, timeout=100).stdout)
    deadline = time.monotonic() + 5
    with pytest.raises(ProcessLookupError):
        while time.monotonic() < deadline:
            os.killpg(group, 0)
            time.sleep(0.02)


@pytest.mark.parametrize("manner", ["waits", "stops"])
def test_an_engine_is_not_waited_for_without_end(engine, manner, monkeypatch):
    agent, begin = engine(manner), time.monotonic()
    agent.ask("clear_board")  # the process takes a moment to start
    monkeypatch.setattr(GtpAgent, "most_seconds", 0.3)
    with pytest.raises(BadInput, match=r"^agent .*: the engine did not answer 'genmove white' within 0.3 s$"):
        agent.suggest(GAME.state_from_moves("a1"))
    with pytest.raises(BadInput, match="the engine ended before"):  # a late answer is not taken for another command's
        agent.suggest(GAME.state_from_moves("a1"))
    assert time.monotonic() - begin < 30


def test_time_in_which_azero_is_stopped_is_not_held_against_an_engine(engine, monkeypatch):
    agent, pauses = engine(), itertools.count(step=1000)
    agent.ask("clear_board")
    monkeypatch.setattr(GtpAgent, "most_seconds", 30)
    monkeypatch.setattr(engine_module.time, "monotonic", lambda: float(next(pauses)))
    assert agent.suggest(GAME.state_from_moves("a1 b1")).best == "c1"


def test_an_engine_that_resigns_says_so_and_the_next_position_is_set_up_anew(engine, tmp_path):
    agent = engine("resigns")
    for _ in range(2):
        suggestion = agent.suggest(GAME.state_from_moves("a1"))
        assert (suggestion.best, suggestion.action, suggestion.value) == ("resign", RESIGN, -1)
        assert suggestion.to_json()["moves"] == []
    assert told(tmp_path) == 2 * ["boardsize 3", "clear_board", "play black a1", "genmove white"]


@pytest.mark.parametrize("is_a", [True, False])
def test_a_game_that_is_resigned_is_lost_where_it_stands(engine, is_a):
    agents = [engine("resigns"), make_agent("random", GAME)]
    match = play_match(*(agents if is_a else agents[::-1]), GAME, 6, seed=1)
    assert match.tally == (Tally(0, 0, 6) if is_a else Tally(6, 0, 0))
    assert {len(result.actions) for result in match.results} <= {3, 4, 5}  # opening, perhaps one move more


def test_komi_is_told_where_the_game_has_one(engine, tmp_path):
    game = make_game("go(size=3,komi=2.5)")
    engine(game=game).suggest(game.state_from_moves("b2"))
    assert told(tmp_path) == ["boardsize 3", "clear_board", "komi 2.5", "play black b2", "genmove white"]


PATH = f"{os.environ['PATH']}:/usr/games"
GNUGO, RHINO = shutil.which("gnugo", path=PATH), shutil.which("gtp-rhino", path=PATH)


@pytest.mark.skipif(RHINO is None, reason="there is no gtp-rhino here")
def test_rhino_plays_othello_with_its_forced_passes():
    game = make_game("othello")
    agent = make_agent(f"gtp:{RHINO}", game)
    match = play_match(make_agent("random", game), agent, game, 10, seed=1)
    assert match.tally.losses > 8 and any(64 in result.actions for result in match.results)
    agent.close()


@pytest.mark.skipif(GNUGO is None, reason="there is no GNU Go here")
def test_gnu_go_plays_on_until_the_winner_by_our_rules_is_its_own():
    game = make_game("go(size=5,komi=1.5)")
    options = "--mode gtp --level 0 --chinese-rules --positional-superko --capture-all-dead --never-resign"
    agent = make_agent(f"gtp:{GNUGO} {options}", game)
    match = play_match(agent, make_agent("random", game), game, 4, seed=2)
    for result in match.results:
        state = game.new_initial_state()
        for action in result.actions:
            state.apply_action(action)
        agent._show(state)
        assert (state.final_score() > 0) == agent.ask("final_score").startswith("B+")
    agent.close()


@pytest.mark.parametrize("manner", ["dies", "is gone"])
def test_an_engine_that_ended_stays_bad_input_and_is_closed_without_a_fuss(tmp_path, manner):
    agent = make_agent(write_engine(tmp_path, "dies") if manner == "dies" else f"gtp:{sys.executable} -c pass", GAME)
    if manner == "is gone":
        agent.process.wait()
    for _ in range(2):
        with pytest.raises(BadInput, match=r"the engine ended before '.*' was answered$"):
            agent.suggest(GAME.new_initial_state())
    agent.close()


@pytest.mark.parametrize("command", ["no-such-engine", "'", "", "/"])
def test_a_command_that_cannot_be_started_is_bad_input(command):
    with pytest.raises(BadInput, match="the engine cannot be started|names no command") as error:
        make_agent(f"gtp:{command}", GAME)
    assert "\n" not in str(error.value) and "list index" not in str(error.value)


def test_closing_ends_the_engine_and_what_it_has_started():
    before = threading.active_count()
    agent = make_agent("gtp:sh -c 'sleep 60 & sleep 60'", GAME)
    agent.close()
    assert agent.process.returncode is not None and threading.active_count() == before  # nothing reads any more


def test_an_engine_ends_with_its_agent(tmp_path):
    agent = make_agent(write_engine(tmp_path), GAME)
    process = agent.process
    del agent
    gc.collect()
    assert process.returncode is not None
    process.stdin.close()


def test_what_an_engine_complains_of_is_shown_without_its_escape_sequences(capfd):
    complaint = r"import sys; sys.stderr.write('\033]0;mine\007\ta\r\033[2Jno licence\n'); sys.exit(1)"
    agent = make_agent(f'gtp:{sys.executable} -c "{complaint}"', GAME)
    with pytest.raises(BadInput, match="the engine ended"):
        agent.suggest(GAME.new_initial_state())
    assert capfd.readouterr().err.splitlines() == [r"\x1b]0;mine\x07       a", r"\x1b[2Jno licence"]
    agent.close()


def test_what_does_not_speak_gtp_is_not_waited_for():
    agent = make_agent("gtp:cat", GAME)
    with pytest.raises(BadInput, match="the engine answered 'boardsize 3' with 'boardsize 3'"):
        agent.suggest(GAME.new_initial_state())
    agent.close()


def test_a_command_is_split_as_its_system_does(monkeypatch):
    assert split_command(r"gnugo --infile 'my game.sgf'") == ["gnugo", "--infile", "my game.sgf"]
    monkeypatch.setattr(sys, "platform", "win32")
    assert split_command(r" C:\gnugo\gnugo.exe --mode gtp") == r"C:\gnugo\gnugo.exe --mode gtp"


def test_an_engine_that_ended_on_windows_is_bad_input(engine, monkeypatch):
    def fail(text):
        raise OSError(errno.EINVAL, "Invalid argument")  # Windows raises this for a broken pipe

    agent = engine()
    with monkeypatch.context() as context:
        context.setattr(agent.process.stdin, "write", fail)
        with pytest.raises(BadInput, match="the engine ended before 'boardsize 3' was answered"):
            agent.suggest(GAME.new_initial_state())


@pytest.mark.parametrize("manner", ["plays", "refuses time"])
def test_an_engine_is_told_the_time_and_may_know_no_clocks(engine, tmp_path, manner):
    agent, clock = engine(manner), Clock(TimeControl.parse("1m+2x0.5s"))
    agent.player.start_clock()
    assert agent.player.play(GAME.state_from_moves("a1 b1"), clock).best == "c1"
    next_line = "time_left black 60 0" if manner == "plays" else "boardsize 3"
    assert told(tmp_path)[:2] == ["time_settings 60 1 1", next_line]
    clock.spend(60.2)
    agent.player.play(GAME.state_from_moves("a1 b1 c1"), clock)
    assert ("time_left white 1 1" in told(tmp_path)) == (manner == "plays")  # the last period, in whole seconds
