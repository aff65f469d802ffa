"""Tests of Gomocup's protocol: games, limits, boards that are set up, and what managers send."""

import contextlib
import re
import sys
import time

import pytest

from azero.commands.engines import _Messages
from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import make_game
from azero.interfaces.engines.gomocup import Gomocup
from azero.interfaces.engines.lines import Lines, Log

from .controller import Controller, malformed, stand_malformed

MOVE = r"\d+,\d+"
needs_speed = pytest.mark.skipif(not IS_COMPILED, reason="plain Python is slow")


@pytest.fixture
def controller():
    """Returns a function that starts an engine. All of them have to end."""
    with contextlib.ExitStack() as stack:

        def start(name="uct@30", game="gomoku"):
            return stack.enter_context(contextlib.closing(Controller(Gomocup, name, make_game(game))))

        yield start


def say(manager, *lines):
    """Sends lines; returns the answer to the last one."""
    manager.send(*lines)
    return manager.line()


def test_a_match_as_piskvork_and_c_gomoku_cli_send_it(controller):
    manager = controller()
    assert re.fullmatch(r'name="azero uct@30", version="\S+", author="azero"', say(manager, "ABOUT"))
    assert say(manager, "INFO max_memory 83886080", "INFO timeout_match 0", "INFO game_type 1", "START 7\r") == "OK"
    limits = "INFO rule 0", "INFO timeout_turn 100", "INFO time_left 2147483647", "INFO evaluate 3,3", "INFO folder /x"
    first = say(manager, *limits, "BEGIN\r")
    assert re.fullmatch(MOVE, first)
    taken = {first}
    for x in range(7):
        for y in range(7):
            if f"{x},{y}" not in taken and len(taken) < 12:
                answer = say(manager, "INFO time_left 2147483647", f"TURN {x},{y}")
                if answer.startswith("ERROR"):
                    assert answer == "ERROR the game is over"
                    return
                assert re.fullmatch(MOVE, answer) and answer not in taken
                taken |= {f"{x},{y}", answer}


def test_boards_and_what_is_taken_back(controller):
    manager = controller()
    assert say(manager, "START 6") == "OK"
    assert re.fullmatch(MOVE, say(manager, "BOARD", "1,1,2", "2,2,1", "3,3,2", "DONE"))
    assert say(manager, "TAKEBACK 3,3") == "OK" and say(manager, "TAKEBACK 3,3").startswith("ERROR there is no stone")
    assert say(manager, "TURN 2,2") == "ERROR 2,2 is not an empty cell of the board"
    assert re.fullmatch(f"SUGGEST {MOVE}", say(manager, "RESTART", "SUGGEST").replace("OK", "") or manager.line())
    assert say(manager, "PLAY 4,4") == "4,4" and re.fullmatch(MOVE, say(manager, "TURN 0,0"))
    for wrong in ("9,9,1", "1,1,3", "1,1", "1,1,1\n1,1,2"):
        assert say(manager, "BOARD", *wrong.split("\n"), "DONE").startswith("ERROR BOARD has lines")
    assert say(manager, "BOARD", "1,1,2", "1,2,2", "DONE").startswith("ERROR there are 0 own stones and 2")
    four = [f"{x},0,1" for x in range(4)] + [f"{x},5,2" for x in range(4)]
    assert say(manager, "BOARD", *four, "DONE") in ("4,0", "5,0")
    assert say(manager, "BOARD", "1,1,2", "RESTART") == "OK", "another game begins"
    assert say(manager, "START 20") == "OK" and re.fullmatch(MOVE, say(manager, "TURN 19,19"))
    assert say(manager, "RECTSTART 8,5") == "OK" and re.fullmatch(r"[0-7],[0-4]", say(manager, "BEGIN"))


def test_rules_and_commands_that_are_not_known(controller):
    manager = controller()
    for lines in (["TURN 1,1"], ["BOARD", "1,1,2", "DONE"], ["SWAP2BOARD", "DONE"]):
        assert say(manager, *lines) == "ERROR there is no board yet; START comes first"
    assert say(manager, "FROB") == "UNKNOWN command FROB"
    assert say(manager, "START 99").startswith("ERROR ") and say(manager, "START x").startswith("ERROR START needs")
    assert say(manager, "INFO rule 1", "START 8") == "OK" and manager.engine._engine.game.rules.exact
    manager.send("INFO rule 4", "INFO colour blue")
    manager.silence()
    assert say(manager, "BEGIN").startswith("ERROR rule 4 is not played here")
    assert say(manager, "INFO rule 4", "INFO rule 0", "RESTART") == "OK" and not manager.engine._engine.game.rules.exact
    manager.send("INFO max_memory 1000")
    assert say(manager, "BEGIN") and manager.engine._engine.agent.memory_mib == 1
    with pytest.raises(BadInput, match="is for gomoku, not go"):
        Controller(Gomocup, "uct", make_game("go(size=5)"))


@needs_speed
def test_an_opening_by_swap2(controller):
    manager = controller("uct@200")
    assert say(manager, "INFO timeout_turn 1000", "START 7") == "OK"
    first = say(manager, "SWAP2BOARD", "DONE").split()
    assert len({*first}) == 3 and all(re.fullmatch(r"[0-6],[0-6]", point) for point in first)
    assert re.fullmatch(f"SWAP|{MOVE}", say(manager, "SWAP2BOARD", *first, "DONE"))
    black, white = ["1,3", "2,3", "3,3"], ["0,0", "6,6"]
    mixed = [black[0], white[0], black[1], white[1], black[2]]
    assert say(manager, "SWAP2BOARD", *mixed, "DONE") == "SWAP", "Black has an open three"
    for wrong in (["1,1"], ["1,1", "1,1", "2,2"], ["1,1", "9,9", "2,2"]):
        assert say(manager, "SWAP2BOARD", *wrong, "DONE").startswith("ERROR SWAP2BOARD should have")
    assert re.fullmatch(MOVE, say(manager, "BOARD", "1,1,2", "2,2,1", "3,3,2", "DONE"))


@needs_speed
def test_an_opening_ends_with_stop(controller):
    manager = controller("uct")
    assert say(manager, "START 7") == "OK"
    for ending in ("YXSTOP", "STOP"):
        manager.send("SWAP2BOARD", "DONE")
        time.sleep(0.1)
        assert len(say(manager, ending).split()) == 3 and manager.came_s < 0.4, "eight searches have a second"
    manager.silence()


@needs_speed
def test_a_lost_position_takes_no_longer(controller):
    """A reply that wins at once is shown after each of some 200 moves."""
    manager = controller("uct@50", "gomoku(rows=15,columns=15)")
    say(manager, "START 15", "INFO timeout_turn 200")
    fours = [f"{x},{y},2" for y in (2, 5, 8) for x in range(4)] + [f"{x},{2 * x % 14},1" for x in range(3, 14)]
    assert re.fullmatch(MOVE, say(manager, "BOARD", *fours, "DONE")) and manager.came_s < 0.6


def test_messages_of_azero_are_the_manager_s_messages(tmp_path, capsys):
    """Piskvork and c-gomoku-cli read stderr, too."""
    with contextlib.closing(log := Log(tmp_path / "log")):
        print("azero: compiling\nkernels", file=_Messages(Lines(lambda: b"", sys.stdout, log)))
    assert capsys.readouterr().out == "MESSAGE azero: compiling\nMESSAGE kernels\n"
    assert (tmp_path / "log").read_text().splitlines()[2].endswith("> MESSAGE kernels")


@needs_speed
def test_the_manager_s_times_are_kept(controller):
    manager = controller("uct")
    say(manager, "START 8", "INFO timeout_turn 300", "INFO timeout_match 1000", "INFO time_left 1000", "BEGIN")
    manager.line()
    assert manager.came_s < 0.45
    for left in (600, 100, 20):
        say(manager, f"INFO time_left {left}", "TAKEBACK 0,0", f"TURN {left % 7},{left % 5}")
        if "ERROR" not in (answer := manager.line()) or answer:
            assert manager.came_s < left / 1000 + 0.2
    assert sum(clock.used_s for clock in manager.engine._engine.clocks if clock) > 0.0
    say(manager, "INFO timeout_match 0", "INFO time_left 2147483647", "INFO timeout_turn 0", "RESTART")
    assert re.fullmatch(MOVE, say(manager, "BEGIN")) and manager.came_s < 0.3


@needs_speed
def test_end_and_the_end_of_input_end_a_search(controller):
    for ending in ("END", "hang up"):
        manager = controller("uct")
        say(manager, "START 8", "INFO timeout_turn 60000")
        manager.send("BEGIN")
        time.sleep(0.2)
        begin = time.perf_counter()
        manager.hang_up() if ending == "hang up" else manager.send("END")
        manager.thread.join(10.0)
        assert not manager.thread.is_alive() and time.perf_counter() - begin < 1.5


COMMANDS = [
    *("START 6", "RECTSTART 6,7", "RESTART", "BEGIN", "TURN 1,2", "TAKEBACK 1,2", "PLAY 2,2", "SUGGEST", "ABOUT"),
    *(
        "INFO timeout_turn 1",
        "INFO time_left 3",
        "INFO rule 1",
        "INFO max_memory 9",
        "SWAP2BOARD",
        "BOARD",
        "1,1,1",
        "2,2,2",
        "DONE",
    ),
]
FORM = rf'{MOVE}( {MOVE} {MOVE})?|SWAP|SUGGEST {MOVE}|OK|ERROR .*|UNKNOWN .*|name=".*"'


def answer_all(manager, lines):
    for line in lines:
        if line.strip().upper() != "END":
            manager.send(line, "DONE", "ABOUT")
            said = manager.until('name="')
            assert all(re.fullmatch(FORM, each) for each in said), (line, said)


def test_malformed_lines_end_nothing(controller):
    answer_all(controller("uct@3"), malformed(1, 300, COMMANDS))


@pytest.mark.long
def test_ten_thousand_malformed_lines_cost_no_memory(controller):
    stand_malformed(answer_all, controller("uct@3"), COMMANDS)
