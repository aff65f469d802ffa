"""Tests of GTP: the specification's answers, whole games, set-up positions, clocks, analyses, and what clients send."""

import contextlib
import random
import re
import time

import psutil
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.games.state import is_forced_pass
from azero.interfaces.engines.gtp import Gtp
from azero.records import read_records

from .controller import SOON_S, Controller, malformed, stand_malformed

GO = make_game("go(size=5)")
VERTEX = "([A-HJ-Z][0-9]{1,2}|pass|resign)"
needs_speed = pytest.mark.skipif(not IS_COMPILED, reason="plain Python is slow")


@pytest.fixture
def controller():
    """Returns a function that starts an engine. All of them have to end."""
    with contextlib.ExitStack() as stack:

        def start(name="uct@30", game="go(size=5)"):
            return stack.enter_context(contextlib.closing(Controller(Gtp, name, game and make_game(game))))

        yield start


# --- the specification ---


def test_the_form_of_commands_and_answers(controller):
    go = controller()
    assert go.ask("protocol_version") == "= 2"
    assert go.ask("7 name") == "=7 azero"
    assert go.ask("\t 12\tknown_command\tgenmove\r") == "=12 true"
    assert go.ask("known_command gen\x01mov") == "= false"
    assert go.ask("version # and a comment") == f"= {__import__('azero').__version__}"
    go.send("", "   ", "# only a comment", "\r")
    go.silence()
    assert go.ask("5") == "?5 unknown command"
    assert go.ask("3 frobnicate 4") == "?3 unknown command"
    assert go.ask("play") == go.ask("play b") == go.ask("play b z99") == "? syntax error"
    assert go.ask("play purple a1") == "? invalid color"
    assert go.ask("boardsize 99") == "? unacceptable size" and go.ask("boardsize x") == "? syntax error"
    known = go.ask("list_commands").removeprefix("= ").split("\n")
    assert {"undo", "final_score", "lz-analyze", "kgs-time_settings", "gogui-rules_board"} <= set(known)
    assert all(go.ask(f"known_command {name}") == "= true" for name in known)
    assert go.ask("4 quit") == "=4 "


def test_a_game_with_undo_and_the_score(controller):
    go = controller()
    for command in ("boardsize 5", "clear_board", "komi 0.5", "play b c3", "play White D3"):
        assert go.ask(command) == "= "
    assert go.ask("play b c3") == "? illegal move"
    assert go.ask("final_score") == "= W+0.5"
    assert re.fullmatch(f"= {VERTEX}", go.ask("genmove b"))
    assert go.ask("undo") == "= " and go.ask("gg-undo 2") == "= " and go.ask("undo") == "? cannot undo"
    assert go.ask("komi -3.5") == "= " and go.ask("final_score") == "= B+3.5"
    assert go.ask("showboard").splitlines()[1] == "5 . . . . ."
    moves = [go.ask(f"genmove {'bw'[ply % 2]}") for ply in range(80)]
    assert moves.index("= pass") > 5 and moves[-1] == "= pass", "Go ends with passes, and none is refused"
    assert go.ask("final_status_list dead") == go.ask("final_status_list seki") == "= "
    assert re.fullmatch(r"= [A-E][1-5](\s[A-E][1-5])*", go.ask("final_status_list alive"))


def test_reg_genmove_plays_nothing_and_repeats(controller):
    go = controller("uct@60")
    first = go.ask("reg_genmove b")
    assert re.fullmatch(f"= {VERTEX}", first)
    go.ask("genmove b"), go.ask("undo")
    assert go.ask("reg_genmove b") == first


def test_handicap_is_a_position_with_white_to_move(controller):
    go = controller(game="go(size=9)")
    assert go.ask("fixed_handicap 4") == "= C3 G7 C7 G3"
    assert go.ask("gogui-rules_side_to_move") == "= white" and go.ask("fixed_handicap 2") == "? board not empty"
    assert go.ask("printsgf").count("AB[") == 1
    assert go.ask("clear_board") == "= " and go.ask("place_free_handicap 12").count(" ") == 12
    assert go.ask("clear_board") == "= " and go.ask("set_free_handicap d4 D4") == "? bad vertex list"
    assert go.ask("set_free_handicap D4 E5 K1") == "? bad vertex list" and go.ask("set_free_handicap D4 E5") == "= "
    assert go.ask("boardsize 5") == "= " and go.ask("fixed_handicap 2") == "? invalid number of stones"
    assert go.ask("place_free_handicap 100") == "? invalid number of stones"


def test_moves_out_of_turn_set_up_a_position(controller):
    go = controller()
    for command in ("play b a1", "play b b2", "play b c3", "play w d4", "undo", "play w a2"):
        assert go.ask(command) == "= "
    assert go.ask("gogui-rules_board").split() == list("=" + "....." * 2 + "..X.." + "OX..." + "X....")
    assert go.ask("gogui-setup w e5 b e4") == "= " and go.ask("gogui-setup_player w") == "= "
    assert re.fullmatch(f"= {VERTEX}", go.ask("genmove w"))


def test_go_goes_on_after_two_passes(controller):
    go = controller("uct@20")
    for move in ("b c3", "w pass", "b pass"):
        go.ask(f"play {move}")
    assert go.ask("gogui-rules_side_to_move") == "= white"
    go.ask("genmove")
    assert go.engine._engine.past[-1].is_terminal() and go.engine._engine.state.to_text().count("O") == 1


def test_forced_passes_may_be_left_out(controller):
    """Black cannot move in the position after these moves. Some controllers send a pass, others do not."""
    othello, rng = make_game("othello(size=4)"), random.Random(1)
    state = othello.new_initial_state()
    while not is_forced_pass(state):
        state = othello.new_initial_state() if state.is_terminal() else state
        state.apply_action(rng.choice(state.legal_actions()))
    moves, other = othello.lines_to_text(othello.new_initial_state(), [state.history()])[0], 1 - state.current_player()
    for passes in (True, False):
        board = controller(game="othello(size=4)")
        for ply, move in enumerate(moves):
            player = othello.state_from_moves(" ".join(moves[:ply])).current_player()
            assert board.ask(f"play {'bw'[player]} {move}") == "= "
        if passes:
            assert board.ask(f"play {'bw'[1 - other]} pass") == "= "
        assert re.fullmatch(r"= [A-D][1-4]", board.ask(f"genmove {'bw'[other]}"))


def test_records_are_written_and_read_and_never_overwritten(controller, tmp_path):
    go = controller()
    for command in ("play b c3", "play w pass", "play b d4", "komi 3.5"):
        go.ask(command)
    file = tmp_path / "game.sgf"
    assert go.ask(f"printsgf {file}") == "= " and go.ask(f"printsgf {file}") == "? file exists"
    (record,) = read_records(file)
    assert len(record.actions()) == 3 and record.game.rules.komi == 3.5
    assert go.ask(f"loadsgf {tmp_path / 'none.sgf'}") == "? cannot load file"
    assert go.ask(f"loadsgf {file}") == "= white" and go.ask(f"loadsgf {file} 2") == "= white"
    assert go.ask("gogui-rules_board").count("X") == 1 and go.ask("undo") == "= "
    file.write_text("(;GM[1]FF[4]SZ[7]KM[1.5]AB[bb]AB[cc];W[dd])")
    assert go.ask(f"loadsgf {file}") == "= black" and go.ask("gogui-rules_board_size") == "= 7"
    assert "\n\n" not in go.ask("printsgf")
    (spaced := tmp_path / "a game.sgf").write_text("(;GM[1]FF[4]SZ[5];B[cc];W[dd])")
    assert go.ask("komi 2.5") == "= " and go.ask(f"loadsgf {spaced} 2") == "= white"
    assert go.engine._engine.game.rules.komi == 2.5, "the file has none"
    assert go.ask(f"printsgf {tmp_path / 'another game.sgf'}") == "= " and (tmp_path / "another game.sgf").exists()


def clock_of(go):
    return go.engine._engine.clocks[0]


@needs_speed
def test_clocks_are_kept(controller):
    go = controller("uct")
    assert go.ask("time_settings 2 0 0") == "= "
    for ply in range(14):
        go.ask(f"genmove {'bw'[ply % 2]}")
    clocks = go.engine._engine.clocks
    assert all(0 < clock.main_s < 2 for clock in clocks)
    assert go.ask("time_left b 1 0") == "= " and clocks[0].main_s <= 1
    begin = time.perf_counter()
    go.ask("kgs-time_settings byoyomi 0 0.3 5"), go.ask("genmove b")
    go.ask("time_settings 0 1 5"), go.ask("time_left w 1 4"), go.ask("genmove w")
    assert time.perf_counter() - begin < 1.0
    for settings, periods in (("kgs-time_settings byoyomi 0 3 5", 2), ("time_settings 0 3 1", 1)):
        go.ask(settings), go.ask(f"time_left b 0 {periods}")
        assert clock_of(go).period_left_s == 0.0, "this period is over, or nearly so"
    assert go.ask("time_settings 0 0 0") == go.ask("kgs-time_settings none") == "= "
    assert go.ask("time_settings 10 5 5") == "= "
    clock_of(go).spend(12.0)  # more than a fifth of the period, but not more than the period
    assert clock_of(go).period_left_s == 3 / 4, "stones and seconds are counted"
    assert go.ask("time_left b 2 4") == "= " and clock_of(go).period_left_s == 2 / 4
    assert go.ask("time_settings 2 0 0") == "= "
    begin = time.perf_counter()
    go.ask("clear_board")
    assert re.search("play (A1|B2)$", go.ask("lz-genmove_analyze b 5 allow b a1,b2 1"))
    assert time.perf_counter() - begin < 1.8, "a share of the clock"
    assert go.ask("time_settings 1 2") == go.ask("kgs-time_settings slow 3") == "? syntax error"


@needs_speed
def test_gogui_interrupts_a_move(controller):
    go = controller("uct@1000000000")
    for _ in range(2):  # the first time may compile
        go.send("genmove b")
        time.sleep(0.5)
        go.send("# interrupt", "gogui-interrupt")
        assert re.fullmatch(rf"= {VERTEX}", go.line())
        took_s = go.came_s
        assert [go.line() for _ in range(3)] == ["", "= ", ""]
    assert took_s < 0.5
    go.silence()


def test_rules_by_katago_s_names(controller):
    go = controller()
    assert '"ko": "POSITIONAL", "scoring": "AREA"' in go.ask("kata-get-rules")
    for ours in ("chinese", "tromp-taylor", go.ask("kata-get-rules")[2:]):
        assert go.ask(f"kata-set-rules {ours}") == "= "
    assert go.ask("kgs-rules new_zealand") == "= "
    for others in ("kgs-rules japanese", 'kata-set-rules {"scoring": "TERRITORY"}', "kata-set-rules frob"):
        assert "rules are not played here" in go.ask(others)


# --- analyses ---

LEELA = rf"info move {VERTEX} visits \d+ winrate \d+ prior \d+ lcb -?\d+ order 0 pv {VERTEX}.*"
KATAGO = (
    rf"info move {VERTEX} visits \d+ utility -?[01]\.\d+ winrate [01]\.\d+ lcb [01]\.\d+ utilityLcb -?[01]\.\d+ "
    rf"prior [01]\.\d+ order 0 pv {VERTEX}.*"
)


@needs_speed
@pytest.mark.parametrize(("command", "form"), [("lz-analyze", LEELA), ("kata-analyze", KATAGO), ("analyze", LEELA)])
def test_an_analysis_reports_until_input_comes(controller, command, form):
    go = controller("uct")
    go.ask("genmove b")
    for end in ("", "# interrupt", "5 name"):
        go.send(f"4 {command} w 10")
        assert go.line() == "=4" and re.fullmatch(form, go.line()) and go.came_s < 1.0
        first_s = go.came_s
        for number in range(1, 5):
            assert re.fullmatch(form, go.line())
            assert abs(go.came_s - first_s - 0.1 * number) < 0.15
        go.send(end)
        assert go.until("")[-1] == "" and go.came_s < 0.5
        if end == "5 name":
            assert [go.line(), go.line()] == ["=5 azero", ""]
    go.silence()


@needs_speed
def test_an_analysis_that_is_over_is_silent_and_rests_until_input_comes(controller):
    go = controller("uct@2000")
    go.send("lz-analyze b interval 1")
    assert go.line() == "="
    go.engine._engine._search._thread.join(SOON_S)
    time.sleep(0.1)
    while go.output.lines.qsize():
        go.line()
    before = psutil.Process().cpu_times().user
    go.silence(0.3)
    assert psutil.Process().cpu_times().user - before < 0.15
    go.send("")
    assert go.line() == ""
    go.send("lz-analyze b 1")  # what is known of the position is told at once
    go.line()
    assert sum(map(int, re.findall(r"visits (\d+)", go.line()))) >= 1900


def test_arguments_of_analyses(controller):
    go = controller("uct@100")
    arguments = "interval 5 minmoves 3 maxmoves 3 allow b a1,b2,c3,pass 1 rootInfo true pvVisits true"
    line = go.report(f"kata-analyze b {arguments}")
    assert set(re.findall(r"info move (\S+)", line)) <= {"A1", "B2", "C3", "pass"}
    assert re.search(r"rootInfo visits \d+ utility \S+ winrate \S+", line)
    line = go.report("lz-analyze w avoid b a1 1 avoid w b2,c3 3")
    assert line.startswith("info ") and not {"B2", "C3"} & set(re.findall(r"info move (\S+)", line))
    for wrong in ("b allow b a1", "b interval", "b interval x", "b frob 1", "b allow b i9 1", "b 5 7"):
        assert go.ask(f"lz-analyze {wrong}") == "? syntax error", wrong
    assert go.ask("lz-analyze b allow b a1 1 avoid b a1 1") == "? no move is left"
    other = controller("random")
    for command in ("lz-analyze", "lz-genmove_analyze"):
        assert re.fullmatch(r"\? .* cannot leave out moves: .*", other.ask(f"{command} b allow b a1 1"))


@pytest.mark.parametrize("command", ["lz-genmove_analyze", "kata-genmove_analyze", "genmove_analyze"])
def test_a_move_in_view_is_played(controller, command):
    go = controller()
    assert re.fullmatch(rf"=8\n(info .*\n)*play {VERTEX}", go.ask(f"8 {command} b 5"))
    assert go.ask("undo") == "= " and go.ask("undo") == "? cannot undo"


# --- other games, and their programs ---


def test_other_games_by_the_names_of_quarry(controller):
    board = controller("uct@20", "tic_tac_toe")
    assert {"Go", "Othello", "Tic Tac Toe"} <= set(board.ask("list_games").removeprefix("= ").split("\n"))
    assert board.ask("set_game Chess") == "? unsupported game" and board.ask("set_game Tic Tac Toe") == "= "
    while board.ask("gogui-rules_legal_moves") != "= ":
        board.ask(f"genmove {board.ask('gogui-rules_side_to_move').split()[1]}")
    assert re.fullmatch(r"= (Draw|Black wins|White wins)\.", board.ask("gogui-rules_final_result"))
    assert board.ask("genmove b") == "? the game is over" and board.ask("lz-analyze") == "? the game is over"
    assert re.fullmatch(r"= ([BW]\+1|0)", board.ask("final_score"))
    assert board.ask("clear_board") == "= " and board.ask("play b pass") == "? illegal move"
    assert board.ask("gogui-play_sequence b a1 w a1") == "? illegal move" and board.ask("undo") == "? cannot undo"


def test_hex_has_its_sizes_and_its_swap(controller):
    board = controller("uct@20", "hex(size=5,swap=true)")
    for command in ("boardsize 4 4", "play black b3", "play white swap-pieces", "showboard"):
        assert board.ask(command).startswith("= ")
    state = board.engine._engine.state
    assert re.fullmatch(r"= [A-D][1-4]", board.ask("genmove white")), "HexGui's players exchange their colours"
    assert board.ask("play black b3") == "? illegal move", "HexGui leaves the first stone"
    assert board.ask("undo") == "= " and board.ask("play white a4") == "= "
    assert board.engine._engine.state.history()[-1] == 3, "d1, by azero's notation"
    assert board.ask("undo") == "= " and board.engine._engine.state == state
    assert board.ask("play black c2") == "? illegal move", "azero's stone is White's, and mirrored"
    assert board.ask("boardsize 4 5") == "? unacceptable size"
    assert re.fullmatch(r"= [A-D][1-4]", board.ask("genmove black"))
    commands = board.ask("hexgui-analyze_commands")
    assert all(len(line.split("/")) == 3 for line in commands.splitlines()) and "\nvar/" in commands
    assert re.fullmatch(r"= ([A-D][1-4] [+-]\d+ ?)+", board.ask("azero-values white"))
    assert board.ask("gogui-rules_board_size") == "= 4 hex"


def test_a_board_after_a_swap_is_the_controller_s(controller):
    board = controller("uct@20", "hex(size=4,swap=true)")
    for command in ("play black b3", "play white swap-pieces", "play white a1"):
        assert board.ask(command) == "= "
    seen = ["....", ".X..", "....", "O..."]
    assert board.ask("gogui-rules_board").replace(" ", "").split()[1:] == seen, "the first row is the last line"
    assert re.findall(r"^ *\d ([XO. ]+)$", board.ask("showboard"), re.M) == [" ".join(row) for row in seen[::-1]]
    assert board.ask("azero-value").split()[-1] in board.ask("gogui-rules_legal_moves").split()
    assert board.ask("gogui-setup w d4 b c1") == "= " and board.ask("gogui-rules_side_to_move") == "= black"
    assert board.ask("gogui-rules_board").replace(" ", "").split()[1:] == ["...O", ".X..", "....", "O.X."]
    assert board.ask("undo") == "= " and board.ask("gogui-setup_player w") == "= "
    assert board.ask("gogui-rules_board").replace(" ", "").split()[1:] == seen
    assert board.ask("play white d4") == "= " and board.ask("play black b3") == "? illegal move"


def test_hexgui_sets_up_a_board_stone_by_stone(controller):
    """HexGui 0.10 does so after a swap, and for boards of its own. They may have stones of one player alone."""
    board = controller("uct@20", "hex(size=4)")
    for command in ("play black b3", "clear_board", "play white c2"):
        assert board.ask(command) == "= "
    assert board.ask("gogui-rules_side_to_move") == "= black" and re.fullmatch(r"= [A-D][1-4]", board.ask("genmove b"))
    for command in ("clear_board", "play black a1", "play black c1", "play black b2", "play white d4", "undo"):
        assert board.ask(command) == "= "
    assert board.ask("gogui-rules_board").count("X") == 3 and board.ask("gogui-rules_side_to_move") == "= white"
    assert re.fullmatch(r"= [A-D][1-4]", board.ask("genmove black")), "whoever is to move"
    for command in ("clear_board", "play black a1", "play black a2", "play black a3", "play black a4"):
        assert board.ask(command) == "= "
    assert board.ask("gogui-rules_final_result") == "= Black wins." and board.ask("genmove w") == "? the game is over"


def test_gogui_has_no_column_i(controller):
    board = controller("uct@20", "gomoku(rows=10,columns=10)")
    assert board.ask("play b i1") == "= " and board.ask("gogui-rules_game_id") == "= Gomoku"
    assert board.ask("gogui-rules_board").splitlines()[-1] == ". . . . . . . . X ."
    assert "J1" not in board.ask("gogui-rules_legal_moves").split() and board.ask("play w j1") == "? illegal move"
    assert board.ask("play w k1") == "= "
    assert controller("uct@20", "breakthrough(rows=5,columns=4)").ask("gogui-rules_board").startswith("? ")


def test_a_turn_of_several_actions(controller):
    board = controller("uct@20", "amazons(rows=4,columns=4)")
    assert board.ask("play b b1-b2/b1").startswith("? ") or board.ask("undo") == "= "
    assert board.ask("genmove b").startswith("= ") and board.ask("known_command final_status_list") == "= false"


@pytest.mark.parametrize(
    "commands",
    [
        # Sabaki 0.60, enginesyncer.js and @sabaki/gtp
        """name|version|protocol_version|list_commands|boardsize 5|clear_board|komi 6.5|set_free_handicap B2 D4
        play W C3|undo|loadsgf {sgf}|analyze B 50|genmove_analyze W 50|protocol_version|quit""",
        # GoGui 1.6, GtpSynchronizer.java, and gogui-twogtp
        """protocol_version|list_commands|name|version|gogui-analyze_commands|boardsize 5|clear_board|komi 6.5
        time_settings 600 0 0|gogui-play_sequence b C3 w D3|play b B3|time_left w 600 0|genmove w|gg-undo 2
        gogui-setup b A1 w A2|gogui-setup_player b|azero-values b|azero-pv w|final_score|quit""",
        # Lizzie 0.7, Leelaz.java
        """0 name|1 version|2 boardsize 5|3 komi 6.5|4 time_settings 0 1 1|5 lz-analyze 10|6 play B C3|7 undo
        8 lz-analyze 10 avoid b C3,D3 1 avoid w C3,D3 1|9 name|10 fixed_handicap 2
        11 lz-genmove_analyze W 10|12 quit""",
        # kgsGtp
        """list_commands|name|version|boardsize 5|kgs-time_settings byoyomi 1 1 5|komi 0.5|clear_board
        place_free_handicap 2|time_left w 1 0|genmove w|play b E5|kgs-genmove_cleanup w|final_status_list dead|quit""",
        # GNU Go's regression runner
        """1 loadsgf {sgf} 2|2 reg_genmove w|# 2 D3|3 final_score|10000 quit""",
        # HexGui 0.9, HexGui.java
        """name|version|hexgui-analyze_commands|showboard|boardsize 5 5|play black C3|genmove white|undo|quit""",
    ],
    ids=["sabaki", "gogui", "lizzie", "kgs", "gnugo", "hexgui"],
)
def test_what_clients_send_is_answered_in_its_form(controller, tmp_path, commands):
    (tmp_path / "game.sgf").write_text("(;GM[1]FF[4]SZ[5]KM[6.5];B[cc];W[dd])")
    go = controller()
    refused = []
    for command in re.split(r"\||\n\s*", commands.replace("{sgf}", str(tmp_path / "game.sgf"))):
        if command.startswith("#"):
            continue
        number = (re.match(r"\d+ ", command) or [""])[0].strip()
        go.send(command)
        if "analyze" in command and "genmove" not in command and "commands" not in command:
            head = [go.line()]
            if head[0] != "? unknown command":
                go.send("")
        else:
            head = [go.line()]
        lines = head + go.until("")
        assert re.match(rf"[=?]{number}( |$)", lines[0]), (command, lines)
        refused += [command] if lines[0].startswith("?") else []
    assert not refused or refused == ["10 fixed_handicap 2"], "5x5 has no fixed handicap"


# --- what is wrong ---

COMMANDS = """boardsize 5|clear_board|komi 6.5|play b c3|play w pass|genmove b|undo|time_settings 10 0 0
time_left b 5 0|final_score|final_status_list alive|fixed_handicap 2|set_free_handicap a1 b2|loadsgf x.sgf 3|printsgf
showboard|lz-genmove_analyze b 10 avoid b a1 1|kgs-time_settings byoyomi 1 1 1|set_game Go|gogui-setup b a1 w b1
known_command play|gg-undo 1|3 name|kata-set-rules {"ko": 1}|gogui-play_sequence b a1 w b1""".replace("\n", "|").split(
    "|"
)


def answer_all(go, lines):
    """Sends lines; asserts that what is answered has the form of an answer, and that the engine lives on."""
    for line in lines:
        go.send(line)
        go.send("999 protocol_version")
        answer = go.until("=999")
        assert answer[-1] == "=999 2" and go.line() == ""
        text = "\n".join(answer[:-1])
        assert not text or re.fullmatch(r"(?s)[=?][0-9]*[ \n].*\n", text), (line, text)


def test_malformed_lines_get_an_answer(controller, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    answer_all(controller("uct@3"), malformed(1, 300, COMMANDS))


@pytest.mark.long
def test_ten_thousand_malformed_lines_cost_no_memory(controller, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stand_malformed(answer_all, controller("uct@3"), COMMANDS)


@pytest.mark.long
def test_analyses_without_end_one_after_another(controller):
    go = controller("uct")
    go.send(*["lz-analyze b 100"] * 1500, "9 name")
    assert go.until("=9")[-1] == "=9 azero"


def test_a_line_without_end_is_cut(controller):
    go = controller()
    go.send("name " + "x" * 10_000_000)
    assert go.line() == "= azero"


@needs_speed
@pytest.mark.parametrize("command", ["genmove b", "lz-analyze b 10", "genmove_analyze b 10", "reg_genmove b"])
def test_the_end_of_input_ends_a_search(controller, command):
    go = controller("uct@1000000000")
    go.send(command)
    time.sleep(0.1)
    begin = time.perf_counter()
    go.hang_up()
    go.thread.join(10.0)
    assert not go.thread.is_alive() and time.perf_counter() - begin < 3.0
