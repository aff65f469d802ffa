"""Tests of UCI engines: one that plays, and others that die, cheat, hang, flood or do not know the game."""

import math
import sys

import pytest

from azero.arena.agents.checkpoints import game_of
from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.engines.uci import Infos, UciAgent, value_of
from azero.arena.agents.make import make_agent
from azero.arena.agents.names import parse_name
from azero.arena.agents.suggestion import RESIGN
from azero.arena.matches.match import play_match
from azero.arena.matches.timed import play_timed_match
from azero.errors import BadInput, EngineFailed
from azero.games import make_game

from .agents import write_uci_engine

GAME = make_game("breakthrough(rows=4,columns=3)")


@pytest.fixture
def engine(tmp_path):
    """Returns a function that starts an engine with the given behaviour. All engines are closed after the test."""
    started = []

    def start(manner="plays", options="", game=GAME):
        started.append(make_agent(write_uci_engine(tmp_path, manner, options), game))
        return started[-1]

    yield start
    for agent in started:
        agent.close()


def told(tmp_path, *first_words):
    """Returns the commands that the engine got, only those that begin with these words if there are any."""
    lines = (tmp_path / "told").read_text().splitlines()
    return [line for line in lines if not first_words or line.split()[0] in first_words]


def test_an_engine_is_introduced_to_the_game(engine, tmp_path):
    agent = engine(options="(nodes=50,Skill Level=3)")
    agent.suggest(GAME.state_from_moves("a1-a2"))
    lines = told(tmp_path)
    assert lines[0] == "uci" and lines[1].startswith("setoption name VariantPath value ") and lines[2] == "uci"
    assert lines[3:] == [
        "setoption name Skill Level value 3",
        "setoption name UCI_Variant value azero_breakthrough",
        *("isready", "ucinewgame", "isready"),
        "position fen ppp/3/P2/1PP b - - 0 1",
        *("isready", "go nodes 50"),
    ]


def test_a_suggestion_has_what_the_engine_tells(engine):
    lines = [
        "info string azero",
        "info depth 1 seldepth 2 multipv 1 score cp 400 nodes 900 nps 5 time 3 pv a1a2 a4a3 c1c2 nonsense c4c3",
        "info depth 1 multipv 2 score mate -3 upperbound nodes 1000 pv b1b2",
        "info depth 2 multipv 3 score cp 0 nodes 1000 pv z9z9",
        "bestmove a1a2 ponder a4a3",
    ]
    suggestion = engine(f"says:{'|'.join(lines)}").suggest(GAME.new_initial_state())
    first, second = suggestion.moves
    assert (suggestion.best, suggestion.simulations, suggestion.value) == ("a1-a2", 1000, first.value)
    assert (first.visits, first.pv, first.is_bound) == (500, ["a1-a2", "a4-a3", "c1-c2"], False)
    assert first.value == pytest.approx(2 / (1 + 10**-1) - 1)
    assert (second.move, second.value, second.is_bound, second.proven) == ("b1-b2", -1.0, True, None)


@pytest.mark.parametrize(
    "lines", ["bestmove b1c2", "info depth 3 score cp 90 pv a1a2|info pv|info|info score cp x pv b1c2|bestmove b1c2"]
)
def test_a_move_without_a_line_has_no_value(engine, lines):
    suggestion = engine(f"says:{lines}").suggest(GAME.new_initial_state())
    best = suggestion.moves[0]
    assert (best.move, best.visits, best.value, best.pv) == ("b1-c2", 0, 0.0, ["b1-c2"])


def test_scores_are_values():
    values = [value_of("cp", number) for number in (-(10**7), -400, 0, 100, 400, 10**7)]
    assert values == sorted(values) and values[0] == -1.0 and values[2] == 0.0 and values[-1] == 1.0
    assert value_of("cp", 100) == pytest.approx(math.tanh(100 * math.log(10) / 800))
    assert [value_of("mate", number) for number in (3, 1, 0, -2)] == [1.0, 1.0, -1.0, -1.0]


def test_a_bound_does_not_replace_the_value_of_the_same_move():
    infos = Infos()
    infos.add("info depth 5 score cp 30 nodes 10 pv a1a2 a4a3")
    infos.add("info depth 6 score cp 10 upperbound nodes 20 pv a1a2")
    assert infos.ranked()[0].pv == ["a1a2", "a4a3"] and infos.nodes == 20
    infos.add("info depth 6 score cp 50 lowerbound nodes 30 pv b1b2")
    assert infos.ranked()[0].pv == ["b1b2"]


@pytest.mark.parametrize("is_a", [True, False])
def test_an_engine_plays_a_match(engine, tmp_path, is_a):
    agents = [engine(), make_agent("random", GAME)]
    match = play_match(*(agents if is_a else agents[::-1]), GAME, 6, seed=1, keeps_thoughts=True)
    thoughts = [
        result.thoughts[0] for result in match.results if result.a_is_first == (is_a == (result.opening_plies % 2 == 0))
    ]
    assert len(thoughts) == 3 and all(thought.simulations == 7 for thought in thoughts), "random has no thoughts"
    assert match.tally.games == 6 and told(tmp_path).count("ucinewgame") == 1 + 6  # one prepares the match
    assert agents[0].player.simulations == 7 * agents[0].player.moves


def test_an_engine_is_told_the_time(engine, tmp_path):
    agent, clock = engine(), Clock(TimeControl.parse("1m+2x0.5s"))
    agent.player.start_clock()
    agent.player.play(GAME.new_initial_state(), clock)
    clock.spend(60.2)
    agent.player.play(GAME.new_initial_state(), clock)
    assert told(tmp_path, "go") == ["go wtime 60000 btime 60000 winc 0 binc 0", "go movetime 450"]


def test_the_limit_of_the_name_holds_beside_a_clock(engine, tmp_path):
    match = play_timed_match(engine(options="(nodes=9)"), make_agent("random", GAME), GAME, 2, TimeControl(50.0, 1.0))
    assert match.tally.games == 2
    assert all(line.endswith("winc 1000 binc 1000 nodes 9") for line in told(tmp_path, "go"))


def test_limits(engine, tmp_path):
    agent = engine()
    for limits in ({}, {"seconds": 0.5}, {"simulations": 30}, {"simulations": 30, "seconds": 2.0}):
        agent.suggest(GAME.new_initial_state(), **limits)
    engine(options="(seconds=0.25)").suggest(GAME.new_initial_state())
    expected = ["movetime 1000", "movetime 500", "nodes 30", "nodes 30 movetime 2000", "movetime 250"]
    assert told(tmp_path, "go") == [f"go {each}" for each in expected]


@pytest.mark.parametrize(
    ("manner", "message"),
    [
        ("dies", "the engine ended before 'go movetime 1000' was answered"),
        ("says:bestmove a1b4", "answered 'bestmove a1b4': 'a1b4' is not a move of breakthrough here"),
        ("says:bestmove a2a3", "answered 'bestmove a2a3': 'a2a3' is not legal here"),
        ("says:bestmove (none)", r"answered 'bestmove \(none\)': '\(none\)' is not a move of"),
        ("says:bestmove", "answered 'bestmove': '' is not a move of"),
        (f"says:bestmove {'x' * 5000}", r"answered 'bestmove x{85,}\.\.\.': 'x{90,}\.\.\.' is not a move of"),
        ("floods", "answered 'go movetime 1000' with more than 300,000 characters"),
        ("floods ", "answered 'go movetime 1000' with more than 300,000 characters"),  # without a line's end
        ("knows nothing", r"the engine does not know breakthrough\(rows=4,columns=3\)"),
        ("reads them not", r"the engine does not know breakthrough\(rows=4,columns=3\)"),
        ("reads no files", r"the engine does not know breakthrough\(rows=4,columns=3\)"),
        ("has a small board", "the engine plays on 2 x 2 cells"),
    ],
)
def test_an_engine_that_fails_is_named_in_one_line(engine, monkeypatch, manner, message):
    monkeypatch.setattr(UciAgent, "longest_answer", 300_000)
    agent = engine(manner)
    with pytest.raises(BadInput, match=message) as error:
        agent.suggest(GAME.new_initial_state())
    assert "\n" not in str(error.value) and repr(agent.name) in str(error.value) and len(str(error.value)) < 6000


@pytest.mark.parametrize(
    ("manner", "command"),
    [
        ("never ends", "go nodes 5"),
        ("hangs at uci", "uci"),
        ("hangs at isready", "isready"),
        ("hangs at go", "go nodes 5"),
    ],
)
def test_an_engine_is_not_waited_for_without_end(engine, monkeypatch, manner, command):
    agent = engine(manner)
    if command != "uci":
        agent.ask("uci", "uciok")  # the process takes a moment to start
    monkeypatch.setattr(UciAgent, "most_seconds", 0.3)
    with pytest.raises(EngineFailed, match=f"the engine did not answer {command!r} within 0.3 s$"):
        agent.suggest(GAME.new_initial_state(), simulations=5)
    assert agent.process.returncode is not None


def test_patience_is_an_option(engine):
    for options, seconds in (("(patience=2.5)", 2.5), ("", 60.0)):
        assert engine(options=options).most_seconds == seconds
    other = make_agent(f"gtp(patience=7):{sys.executable} -c pass", GAME)
    assert other.most_seconds == 7.0
    other.close()


def test_it_resigns_if_its_name_says_so(engine):
    agents = [engine("says:info score cp -500 pv a2a3|info score cp -500 pv b4a3|bestmove b4a3", "(resign=-0.5)")]
    agents[0].player.start(1, [GAME.state_from_moves("b1-a2")], 0)
    agents[0].player.states[0] = GAME.state_from_moves("a1-a2 c4-c3 a2-a3")
    assert agents[0].player.choose([0]) == [RESIGN]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("uci(nodes=0):engine", "nodes = 0 should be a whole number from 1"),
        ("uci(seconds=x):engine", "seconds = x should be a number from 0.001"),
        ("uci(patience=0):engine", "patience = 0 should be a number from 0.1"),
        ("uci(nodes):engine", "should be written key=value"),
        ("uci:", "names no command, e.g. uci:fairy-stockfish"),
        ("uci:no-such-engine", "the engine cannot be started: there is no program 'no-such-engine'"),
        ("gtp(nodes=5):engine", "unknown option 'nodes'"),
        ("gtp(resign=0):engine", "resign has no effect"),
    ],
)
def test_a_name_that_is_wrong_starts_nothing(name, message):
    with pytest.raises(BadInput, match=message) as error:
        make_agent(name, GAME)
    assert repr(name.partition(":")[0])[1:-1] in str(error.value)


def test_an_option_that_the_engine_does_not_have_is_named(engine):
    with pytest.raises(BadInput, match="unknown option 'Skil Level'; did you mean 'Skill Level'"):
        engine(options="(Skil Level=3)").suggest(GAME.new_initial_state())


@pytest.mark.parametrize("name", ["hex", "go", "gomoku(exact=true)", "p_game(branching=2,depth=3)"])
def test_a_game_that_is_no_variant_is_named(name):
    game = make_game(name)
    with pytest.raises(BadInput, match=f"{name.partition('(')[0]}.* is no variant of Fairy-Stockfish"):
        make_agent("uci:engine", game)


def test_a_command_has_no_limit_and_tells_no_game():
    name = "uci(nodes=5):engine me@home"
    assert parse_name(name).kind == "program" and game_of(name) is None


def test_an_engine_without_files_plays_the_variants_that_it_has(engine, tmp_path):
    game = make_game("breakthrough")
    suggestion = engine("reads no files", game=game).suggest(game.new_initial_state())
    assert suggestion.best == "a2-a3" and told(tmp_path, "setoption") == [
        "setoption name UCI_Variant value breakthrough"
    ]
