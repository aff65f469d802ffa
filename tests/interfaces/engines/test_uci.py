"""Tests of UCI: what GUIs send, limits and clocks, and input that comes in a search."""

import contextlib
import re
import sys
import time

import pytest

from azero.arena.agents.engines.uci import value_of
from azero.arena.agents.engines.variants import Variant, known_variants
from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import Move
from azero.arena.matches.match import play_match
from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.interfaces.engines.uci import Uci, _score

from .controller import Controller, malformed, stand_malformed

GAME = "breakthrough(rows=5,columns=4)"
SMALL = "amazons(rows=4,columns=4)"
INFO = (
    r"info depth \d+ seldepth \d+ multipv \d+ score (cp|mate) -?\d+ wdl \d+ \d+ \d+ "
    r"nodes \d+ nps \d+ time \d+ pv( [a-d]\d[a-d]\d)+"
)
needs_speed = pytest.mark.skipif(not IS_COMPILED, reason="plain Python is slow")


@pytest.fixture
def controller():
    """Returns a function that starts an engine. All of them have to end."""
    with contextlib.ExitStack() as stack:

        def start(name="uct@60", game=GAME):
            return stack.enter_context(contextlib.closing(Controller(Uci, name, game and make_game(game))))

        yield start


def test_a_gui_introduces_itself_and_plays_a_game(controller):
    """As cutechess does, with moves from the start position."""
    gui, game = controller(), make_game(GAME)
    gui.send("uci")
    head = gui.until("uciok")
    assert head[0].startswith("id name azero") and any("option name UCI_Variant type combo" in line for line in head)
    gui.send("setoption name Ponder value false", "ucinewgame", "isready")
    assert gui.until("readyok") == ["readyok"]
    state, moves, notation = game.new_initial_state(), [], Variant(game).notation
    while not state.is_terminal():
        gui.send(f"position startpos moves {' '.join(moves)}" if moves else "position startpos", "go nodes 40")
        *infos, best = gui.until("bestmove")
        assert infos and all(re.fullmatch(INFO, line) for line in infos), infos
        moves.append(best.split()[1])
        state.apply_action(notation.read(state, moves[-1])[0])
    gui.send(f"position startpos moves {' '.join(moves)}", "go infinite")
    assert gui.line() == "bestmove (none)"


@pytest.mark.parametrize(
    "name", ["othello(size=4)", "tic_tac_toe", "connect_four(rows=4,columns=5)", "amazons(rows=4,columns=4)"]
)
def test_positions_as_fen_and_whole_turns(controller, name):
    game = make_game(name)
    gui, variant, state = controller("uct@30", name), Variant(game), game.new_initial_state()
    for _ in range(6):
        gui.send(f"position fen {variant.fen(state)}", "go nodes 20")
        turn = variant.notation.read(state, gui.until("bestmove")[-1].split()[1])
        for action in turn:
            state.apply_action(action)
        if state.is_terminal():
            break
        assert variant.state(variant.fen(state)) == state


def test_variants_and_several_lines(controller):
    gui = controller("uct@200", "tic_tac_toe")
    gui.send("setoption name UCI_Variant value clobber", "setoption name MultiPV value 3", "position startpos", "go")
    assert gui.line().startswith("info string variant clobber files 5 ranks 6 ")
    lines = gui.until("bestmove")
    assert [re.search(r"multipv (\d)", line)[1] for line in lines[-4:-1]] == ["1", "2", "3"]
    gui.send("setoption name UCI_ShowWDL value false", "go nodes 300 searchmoves b1a1 b1c1")
    assert "wdl" not in (text := " ".join(gui.until("bestmove"))) and re.search(r"bestmove (b1a1|b1c1)", text)
    gui.send("setoption name UCI_Variant value chess")
    assert gui.line().startswith("info string this agent does not play 'chess'; it plays amazons, ")


STARTS = {
    "clobber": "PpPpP/pPpPp/PpPpP/pPpPp/PpPpP/pPpPp",
    "flipello": "8/8/8/3pP3/3Pp3/8/8/8",
    "breakthrough": "pppppppp/pppppppp/8/8/8/8/PPPPPPPP/PPPPPPPP",
    "amazons": "3q2q3/10/10/q8q/10/10/Q8Q/10/10/3Q2Q3",
}
"""The boards with which Fairy-Stockfish begins, by its `variant.cpp`."""


@pytest.mark.parametrize("variant", STARTS)
def test_a_variant_begins_as_guis_know_it(variant):
    game = Variant(make_game(known_variants()[variant]))
    assert re.sub(r"\[.*", "", game.fen(game.start()).split()[0]) == STARTS[variant]


def test_azero_drives_itself_in_a_size_of_its_own(tmp_path):
    command = f"{sys.executable} -m azero.cli uci uct@30 --game '{GAME}'"
    agent = make_agent(f"uci(nodes=30):{command}", make_game(GAME))
    match = play_match(agent, make_agent("random", make_game(GAME)), make_game(GAME), 2, seed=1)
    assert match.tally.games == 2
    agent.close()


@needs_speed
def test_stop_isready_and_pondering(controller):
    gui = controller("uct")
    gui.send("go infinite")
    assert re.fullmatch(INFO, gui.line()) and gui.came_s < 1.0
    gui.send("isready")
    gui.until("readyok")
    assert gui.came_s < 0.5
    gui.send("stop")
    assert " ponder " in gui.until("bestmove")[-1] and gui.came_s < 0.5
    gui.send("go ponder wtime 1000 btime 1000")
    time.sleep(0.2)
    gui.send("ponderhit")
    gui.until("bestmove")
    assert gui.came_s < 1.0
    gui.send("go infinite", "position startpos moves a2a3", "d")
    assert [line for line in gui.until("Fen:") if line.startswith("bestmove")], "a search ends before its position"


@needs_speed
def test_times_are_kept(controller):
    gui = controller("uct")
    for arguments, most_s in (("movetime 200", 0.3), ("wtime 600 btime 60000", 0.6), ("btime 9 wtime 100 winc 1", 0.2)):
        gui.send(f"go {arguments}")
        gui.until("bestmove")
        assert gui.came_s < most_s + 0.3, arguments
    for arguments in (
        "nodes 100 movetime 5000",
        "nodes 100 wtime 1000.5",
        "btime 100000",
        "wtime 3000 btime 3000 searchmoves b1b2 c1c2",
    ):
        gui.send(f"go {arguments}")
        best = gui.until("bestmove")[-1]
        assert gui.came_s < 2.0, "White has no clock where Black's alone is told"
    assert best.split()[1] in ("b1b2", "c1c2")
    assert gui.engine._engine.clocks[0].used_s > 0.0


@needs_speed
def test_a_turn_whose_end_was_not_searched_gets_one(controller):
    gui, variant = controller("uct", SMALL), Variant(make_game(SMALL))
    for arguments in ("wtime 30 btime 30", "movetime 1"):
        gui.send(f"go {arguments}")
        best = gui.until("bestmove")[-1].split()[1]
        assert gui.came_s < 1.0 and len(variant.notation.read(variant.start(), best)) == 3


def test_an_agent_that_cannot_be_interrupted(controller):
    gui = controller("alphabeta@200")
    gui.send("go infinite", "isready", "stop")
    assert gui.until("bestmove")[-1].startswith("bestmove ")


@pytest.mark.parametrize("value", [-0.9, -0.3, 0.0, 0.5, 0.99])
def test_centipawns_are_those_that_azero_reads(value):
    kind, number = _score(Move(0, "", 5, value, 0.1, None, None, [])).split()
    assert value_of(kind, int(number)) == pytest.approx(value, abs=0.01)
    assert _score(Move(0, "", 5, -1.0, 0.1, "loss", 4, [])) == "mate -2"


COMMANDS = [
    *("uci", "isready", "position startpos moves a2a3 a4a3", "go nodes 3", "go movetime 1", "stop", "ponderhit", "d"),
    *("position fen pppp/pppp/4/PPPP/PPPP w - - 0 1", "setoption name MultiPV value 2", "go wtime 1 btime 1 winc 1"),
    *("setoption name UCI_Variant value othello", "ucinewgame", "go nodes 2 searchmoves a2a3"),
]
FORM = r"id .*|option .*|uciok|readyok|bestmove \S+( ponder \S+)?|info .*|Fen: .*|[ 0-9a-d.XO]*"


def answer_all(gui, lines):
    for line in lines:
        if not line.split() or line.split()[0] != "quit":
            gui.send(line, "stop", "isready")
            said = gui.until("readyok")
            assert all(re.fullmatch(FORM, each) for each in said), (line, said)


def test_malformed_lines_end_nothing(controller):
    answer_all(controller("uct@3"), malformed(1, 300, COMMANDS))


def test_a_line_of_words_is_read_in_linear_time(controller):
    gui = controller("uct@3")
    gui.send("a " * 500_000 + "isready")
    gui.until("readyok")
    assert gui.came_s < 5.0


@pytest.mark.long
def test_ten_thousand_malformed_lines_cost_no_memory(controller):
    stand_malformed(answer_all, controller("uct@3"), COMMANDS)


@needs_speed
def test_the_end_of_input_and_quit_end_a_search(controller):
    for ending in ("hang up", "quit", "quit after others"):
        gui = controller("uct")
        gui.send(*(["go nodes 1000000000", "d"] if "others" in ending else ["go infinite"]))
        gui.line()
        begin = time.perf_counter()
        gui.hang_up() if ending == "hang up" else gui.send("quit")
        gui.thread.join(10.0)
        assert not gui.thread.is_alive() and time.perf_counter() - begin < 1.5
