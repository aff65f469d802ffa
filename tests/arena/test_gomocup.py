"""Tests of programs that speak Gomocup's protocol, as agents."""

import sys

import pytest

from azero.arena.agents.clock import Clock, TimeControl
from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.errors import BadInput, EngineFailed
from azero.games import make_game

GAME = make_game("gomoku(rows=6,columns=7)")

ENGINE = '''
"""Plays the first free cell, and records its commands in a file. `manner` is its fault."""
import sys

log, manner = open(sys.argv[1], "a"), sys.argv[2]
board, reads = {}, False
for line in sys.stdin:
    line = line.strip()
    log.write(line + "\\n")
    log.flush()
    if line.startswith(("START", "RECTSTART")):
        print("ERROR unsupported size" if manner == "refuses" else "MESSAGE hello\\nOK")
    elif line.startswith("BOARD"):
        board, reads = {}, True
    elif line in ("BEGIN", "DONE"):
        reads = False
        if manner == "dies":
            sys.exit(1)
        free = [f"{x},{y}" for y in range(6) for x in range(7) if f"{x},{y}" not in board]
        print("DEBUG thinking")
        print(manner[5:] if manner.startswith("says:") else free[0])
    elif reads:
        board[line.rpartition(",")[0]] = True
    elif line.startswith("INFO game_type"):
        print("UNKNOWN game_type")
    sys.stdout.flush()
'''


def told(folder):
    return (folder / "told").read_text().splitlines()


@pytest.fixture
def engine(tmp_path):
    """Returns a function that makes the agent of an engine of some manner; closes them afterwards."""
    (tmp_path / "engine.py").write_text(ENGINE)
    agents = []

    def start(manner="plays", options="", game=GAME):
        name = f"gomocup{options}:{sys.executable} {tmp_path / 'engine.py'} {tmp_path / 'told'} '{manner}'"
        agents.append(make_agent(name, game))
        return agents[-1]

    yield start
    for agent in agents:
        agent.close()


def test_an_engine_is_told_the_board_and_its_limits(engine, tmp_path):
    agent = engine(options="(nodes=500,memory=64)")
    state = GAME.new_initial_state()
    assert agent.suggest(state).best == "a6"
    state.apply_action(0), state.apply_action(8), state.apply_action(1)
    assert agent.suggest(state).best == "c6"
    lines = told(tmp_path)
    assert lines[:4] == ["RECTSTART 7,6", "INFO rule 0", f"INFO max_memory {64 << 20}", "INFO game_type 1"]
    assert lines[4:8] == ["INFO max_node 500", "INFO timeout_match 0", "INFO time_left 2147483647", "BEGIN"]
    assert lines[-5:] == ["BOARD", "0,0,2", "1,1,1", "1,0,2", "DONE"], "in the order of the moves"


def test_times_of_moves_and_of_clocks(engine, tmp_path):
    agent = engine(options="(seconds=0.5)", game=make_game("gomoku(rows=7,columns=7,exact=true)"))
    agent.suggest(agent.game.new_initial_state())
    clock = Clock(TimeControl(9.0))
    clock.spend(4.0)
    agent.player.play(agent.game.new_initial_state(), clock)
    assert told(tmp_path)[:2] == ["START 7", "INFO rule 1"] and "INFO timeout_turn 500" in told(tmp_path)
    assert {"INFO timeout_match 9000", "INFO time_left 5000"} <= set(told(tmp_path))


def test_a_suggestion_is_played(engine):
    assert engine("says:SUGGEST 1,0").suggest(GAME.new_initial_state()).best == "b6"


def test_a_match(engine):
    match = play_match(make_agent("random", GAME), engine(), GAME, 4, seed=1)
    assert match.tally.games == 4


@pytest.mark.parametrize(
    ("manner", "what"),
    [
        ("dies", "the engine ended before 'BEGIN' was answered"),
        ("refuses", "answered 'RECTSTART 7,6' with 'ERROR unsupported size'"),
        ("says:9,9", "answered with '9,9', which is no legal move"),
        ("says:hello", "no legal move"),
        ("says:ERROR no", "answered 'BEGIN' with 'ERROR no'"),
    ],
)
def test_an_engine_that_breaks_the_protocol_fails(engine, manner, what):
    with pytest.raises(EngineFailed, match=what):
        engine(manner).suggest(GAME.new_initial_state())


@pytest.mark.parametrize(
    ("name", "game", "what"),
    [
        ("gomocup:rapfi", "go", "is for gomoku with five in a row, not go"),
        ("gomocup:rapfi", "gomoku(k=4)", "five in a row"),
        ("gomocup:no-such-engine", "gomoku", "there is no program 'no-such-engine'"),
        ("gomocup:", "gomoku", "names no command, e.g. gomocup:rapfi"),
        ("gomocup(resign=-0.9):rapfi", "gomoku", "resign has no effect"),
        ("gomocup(node=9):rapfi", "gomoku", "unknown option 'node'"),
    ],
)
def test_what_cannot_be_started_is_bad_input(name, game, what):
    with pytest.raises(BadInput, match=what):
        make_agent(name, make_game(game))
