"""Tests of `azero check-game`: laws and speed of a right game, reports on broken games, and prototypes."""

import json
import re
import subprocess
import sys
import time

import pytest
from cases import long
from games.user_games import NIM, SLOW_NIM, added, forget_files, write_file

from azero import cli
from azero.authoring import check_game
from azero.compiler.jit import IS_COMPILED
from azero.errors import BrokenRules
from azero.games.laws.findings import Notes
from azero.games.laws.laws import LAWS

pytestmark = pytest.mark.slow  # it compiles kernels of its own

needs_compiler = pytest.mark.skipif(not IS_COMPILED, reason="it is about compiled rules")
KEY = ("2 * state.left + (state.ply & 1)", "state.left")
COUNTING_KEY = (KEY[0], "64 * state.left + state.ply")
"""The change of the key for rules whose outcome depends on the ply."""
TEXT = added("action_to_text(game, state, action):\n        return str(action // 2)")


@pytest.fixture
def check(monkeypatch, capsys, tmp_path):
    """Returns a function that runs check-game in an empty folder, and returns exit code, stdout and stderr."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(check_game, "_LAW_S", 60.0)  # it includes compilation

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["azero", "check-game", *map(str, words)])
        code = cli.run()
        output, errors = capsys.readouterr()
        return code, output, errors.rpartition("\r")[2]  # after the progress

    return run


def laws_of(output: str) -> dict[str, str]:
    """Returns the report on each law, the prototype and the speed, by name."""
    lines = [re.fullmatch(r"  (\S.{15}) (.*)", line) for line in output.splitlines()[1:]]
    return {line[1].strip(): line[2] for line in lines if line}


OK = {"ok", "ok: the rules have none"}

KEPT = ["contract", *LAWS]
TOLD = [name for law in KEPT for name in (law, *["planes"] * (law == "keys"))]
FIGURES = ["random play", "speed", "moves/s", "ns per call"]


def test_a_good_game_keeps_every_law_and_its_speed_is_told(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM)
    write_file(tmp_path / "slow.py", SLOW_NIM)
    code, output, errors = check("nim.py:Nim(heap=9)", "--positions", 200, "--against", "slow.py:SlowNim")
    assert (code, errors) == (0, "")
    header = r"nim\.py:Nim\(heap=9\): (\d+) positions of (\d+) random games, 3 to \d plies long"
    positions, games = map(int, re.fullmatch(header, output.splitlines()[0]).groups())
    assert 200 <= positions < 210 and 200 / 10 <= games <= 200 / 4
    told = laws_of(output)
    assert list(told) == [*TOLD, "prototype", *FIGURES]
    assert {told[law] for law in TOLD} == OK
    same = r"ok: the same as slow.py:SlowNim in 18 positions of 1,0\d\d random games"
    assert re.fullmatch(same, told["prototype"])
    play = r"mean \d\.\d plies and \d\.\d legal moves, at most 3; the first player wins \d+%, the second \d+%, draws 0%"
    assert re.fullmatch(play, told["random play"])
    assert re.fullmatch(r"\S+( M)? at random; connect_four .*, othello .*, go\(size=9\) .*", told["moves/s"])
    assert re.fullmatch(r"[\d,.]+( M)? random games/s, [\d,.]+( M)? UCT simulations/s on one thread", told["speed"])


@pytest.mark.thorough
@pytest.mark.parametrize(("mover", "idle"), [(0, "second"), *long((1, "first"))])
def test_a_player_who_never_moves_is_remarked_upon(check, tmp_path, mover, idle):
    write_file(tmp_path / "nim.py", NIM, ("return state.ply & 1", f"return {mover}"))
    _, output, _ = check("nim.py:Nim", "--positions", 200)
    remark = f"the {idle} player never moves in these games"
    assert laws_of(output)["contract"] == f"ok: {remark}"
    _, output, _ = check("nim.py:Nim", "--positions", 200, "--json")
    told = json.loads(output)
    assert told["remark"] == remark and told["laws"]["contract"] is None


def test_a_game_of_azero_s_is_checked_like_any_other(check):
    code, output, errors = check("tic_tac_toe", "--positions", 1, "--seed", 5)
    assert (code, errors) == (0, "")
    assert re.match(r"tic_tac_toe: (\d+) positions of 1 random games, \d plies long\n", output)
    assert list(laws_of(output)) == [*TOLD, *FIGURES]


def test_a_law_is_not_kept_where_nothing_was_checked(check, monkeypatch, tmp_path):
    """However little time there is, each law that looks at positions has looked at one."""
    monkeypatch.setattr(check_game, "_LAW_S", -1.0)
    write_file(tmp_path / "nim.py", NIM)
    _, output, _ = check("nim.py:Nim", "--positions", 200)
    looked = [told for told in laws_of(output).values() if "of these positions checked" in told]
    assert looked and all(told.startswith("ok: 1 of these positions checked") for told in looked)


def test_laws_that_are_broken_are_told_with_the_moves_and_the_others_are_ok(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, KEY, TEXT)
    code, output, errors = check("nim.py:Nim", "--positions", 300)
    assert (code, errors) == (2, "azero: nim.py:Nim breaks 2 of the laws: keys, text\n")
    told = laws_of(output)
    assert list(told) == KEPT, "the speed, and the planes behind wrong keys, of a broken game should not be reported"
    assert told.pop("text") == "BROKEN: action 1 is written '0', but '0' is read as 0, after no move"
    assert re.fullmatch(r"BROKEN: hash_key is equal, but .*, after [\d ]+ and after [\d ]+", told.pop("keys"))
    assert "left: 21\n" in output and re.search(r"\n {19}left: \d+ +left: \d+\n {19}ply: \d+ +ply: \d+\n", output)
    assert set(told.values()) == OK


def test_rules_that_break_their_contract_are_told_in_a_line(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, ("return count", "return 0"))
    message = "nim.py:Nim.legal_actions finds 0 actions while the game goes on; it should find 1 to 3"
    assert check("nim.py:Nim") == (2, "", f"azero: {message}\n")


def test_rules_that_break_their_contract_late_are_told_with_the_actions(check, tmp_path):
    """The rules break it so late that the trial does not notice."""
    write_file(tmp_path / "nim.py", NIM, ("return ONGOING", "return ONGOING if state.ply < 19 else 7"), COUNTING_KEY)
    code, output, errors = check("nim.py:Nim(heap=30)", "--positions", 100, "--seed", 110)
    assert (code, errors) == (2, "azero: nim.py:Nim(heap=30) breaks 1 of the laws: contract\n")
    told = laws_of(output)
    assert re.fullmatch(
        r"BROKEN: nim\.py:Nim\(heap=30\)\.outcome returns 7; it should be WIN, DRAW, LOSS or ONGOING"
        r"; actions so far:( [012]){19}",
        told.pop("contract"),
    )
    assert set(told) == set(LAWS) and set(told.values()) == OK, "the other games should be checked"


MISSPELT = "simmetries(game):\n        return 1\n\n    def action_to_txt(game, state, action):\n        return ''"


def test_misspelt_optional_methods_are_warned_of_and_break_no_law(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, added(MISSPELT))
    meant = {"simmetries": "symmetries", "action_to_txt": "action_to_text"}
    warnings = [f"azero never uses {name}: did you mean {right}?" for name, right in meant.items()]
    code, output, errors = check("nim.py:Nim", "--positions", 50)
    assert (code, errors) == (0, "")
    assert output.splitlines()[1:3] == [f"  warning          {each}" for each in warnings]
    code, output, _ = check("nim.py:Nim", "--positions", 50, "--json")
    assert code == 0 and json.loads(output)["warnings"] == warnings


RARE = [
    (("return game.heap\n\n    @property\n    def planes", "return 24\n\n    @property\n    def planes"), 25),
    (("return count\n", "return count if state.left != 1 or state.ply < 24 else 0\n"), None),
]


@needs_compiler
@pytest.mark.parametrize(("change", "num_plies"), RARE)
def test_what_only_one_game_in_many_shows_is_found_at_compiled_speed(check, tmp_path, change, num_plies):
    write_file(tmp_path / "nim.py", NIM, change, COUNTING_KEY)
    code, output, errors = check("nim.py:Nim(heap=36)", "--positions", 100, "--json")
    assert (code, errors) == (2, "azero: nim.py:Nim(heap=36) breaks 1 of the laws: contract\n")
    told = json.loads(output)
    fields = "game", "errors", "games", "positions", "laws", "boards", "remark", "planes", "warnings", "figures"
    assert tuple(told) == fields
    assert told["game"] == "nim.py:Nim(heap=36)" and told["figures"] is None
    assert {law for law, finding in told["laws"].items() if finding is None} == set(LAWS)
    actions = [int(each) for each in told["laws"]["contract"].partition("; actions so far: ")[2].split()]
    if num_plies:
        assert len(actions) == num_plies and sum(actions) + num_plies < 36
    else:
        assert len(actions) >= 24 and sum(actions) + len(actions) == 35


@needs_compiler
def test_rules_that_raise_in_few_games_are_named_with_method_line_and_actions(check, tmp_path):
    take = "        state.left -= action + 1\n"
    write_file(tmp_path / "nim.py", NIM, (take, f"        if state.ply == 24: raise ValueError('oops')\n{take}"))
    code, output, _ = check("nim.py:Nim(heap=36)", "--positions", 20)
    assert code == 2
    finding = (
        r"BROKEN: nim.py:Nim\(heap=36\).apply_action fails, line 26: ValueError: oops; actions so far:( [012]){25}"
    )
    assert re.fullmatch(finding, laws_of(output)["contract"])


def test_rules_that_fail_only_in_a_search_break_a_law(check, monkeypatch):
    def fail(*arguments):
        raise BrokenRules("tic_tac_toe.outcome fails")

    monkeypatch.setattr(check_game, "uct_simulations", fail)
    code, output, errors = check("tic_tac_toe", "--positions", 20)
    assert (code, errors) == (2, "azero: tic_tac_toe breaks 1 of the laws: search\n")
    told = laws_of(output)
    assert list(told) == [*TOLD, "search"] and told["search"] == "BROKEN: tic_tac_toe.outcome fails"


def test_json_of_a_good_game(check):
    code, output, errors = check("tic_tac_toe", "--positions", 20, "--json")
    told = json.loads(output)
    assert (code, errors) == (0, "") and told["positions"] >= 20 > told["games"] >= 2
    assert told["laws"] == dict.fromkeys(KEPT) and told["warnings"] == [] and told["remark"] is None
    figures = told["figures"]
    assert min(figures[name] for name in ("random_games_per_s", "uct_simulations_per_s", "random_moves_per_s")) > 0
    assert 5 <= figures["plies"] <= 9 and figures["most_moves"] == 9 and "connect_four" in figures["others"]
    assert set(figures["ns_per_call"]) >= {"encode", "apply_action"} and 0.5 < figures["first_wins"] < 0.65


ENDLESS = """from numba.extending import overload


def is_compiled():
    return False


@overload(is_compiled)
def _is_compiled():
    return lambda: True


class Nim"""


@pytest.mark.thorough
@needs_compiler
@pytest.mark.parametrize(
    ("change", "what"),
    [
        (
            ("state.left = game.heap\n", "state.left = game.heap\n        while is_compiled(): state.ply = 0\n"),
            "first call",
        ),
        (
            ("if state.left > 0", "while is_compiled() and state.ply > 24: state.ply += 0\n        if state.left > 0"),
            "game",
        ),
    ],
)
def test_compiled_rules_that_do_not_end_are_cut_off(tmp_path, change, what):
    old, new = change
    write_file(tmp_path / "nim.py", NIM, ("class Nim", ENDLESS), (old, new.replace(": state", ":\n            state")))
    program = (
        "import azero.authoring.check_game, azero.cli; azero.authoring.check_game._ENDLESS_S = 5.0; azero.cli.main()"
    )
    words = [sys.executable, "-c", program, "check-game", "nim.py:Nim(heap=36)", "--positions", "50"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    told = done.stderr.rpartition("\r")[2]
    assert done.returncode == 2 and told.count("\n") == 1 and what in told
    assert told.endswith("has not ended within 5 s; is there an endless loop in the rules?\n")


def test_other_programs_take_no_time_from_the_laws():
    notes = Notes(num_positions=3, seconds=0.1)
    assert notes.has_time()
    time.sleep(0.2)
    assert notes.has_time() and notes.num_looked == 2


def test_waiting_beside_other_programs_is_no_endless_loop(monkeypatch):
    given_up = []
    monkeypatch.setattr(check_game, "_ENDLESS_S", 0.2)
    monkeypatch.setattr(check_game, "_give_up", lambda what, where: given_up.append(what))
    with check_game._cut_off("a process that waits"):
        time.sleep(0.5)
    with check_game._cut_off("a process that computes"):
        began = time.process_time()
        while time.process_time() - began < 0.5:
            pass
    assert given_up == ["a process that computes"]


def test_a_prototype_of_another_game_is_told_after_the_laws(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM)
    write_file(tmp_path / "slow.py", SLOW_NIM, ('"0", "1", "2"', '"0", "1"'))
    code, output, errors = check("nim.py:Nim", "--positions", 100, "--against", "slow.py:SlowNim")
    assert (code, errors) == (2, "azero: nim.py:Nim breaks 1 of the laws: prototype\n")
    told = laws_of(output)
    wrong = "2 is legal by the rules, not by the prototype; legal by both: 0 1"
    assert told.pop("prototype") == f"BROKEN: {wrong}, after no move"
    assert list(told) == TOLD and set(told.values()) == OK


ERRORS = [
    ("        count = min(3, state.left)\n", "        count = len([k for k in range(min(3, state.left))])\n"),
    ("planes[0, 0, k] = k < state.left", "planes[0, 0, k] = k < state.lef"),
    ("return np.uint64(2 * state.left + (state.ply & 1))", "return np.uint64({1: 2}[1] * state.left)"),
]
TEXT_ERROR = added("draw(game, state, marks):\n        return state.left")


@needs_compiler
def test_the_errors_of_all_methods_are_told_at_once(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, *ERRORS, TEXT_ERROR)
    code, output, errors = check("nim.py:Nim")
    assert (code, errors) == (2, "azero: nim.py:Nim has errors in 4 methods\n")
    told = [
        "encode fails, line 42: AttributeError: 'record' object has no attribute 'lef'",
        "draw returns 21; it should be text",
        "legal_actions, line 23, cannot be compiled: [k for k in range(min(3, state.left))] makes a list: write a loop",
        "hash_key, line 45, cannot be compiled: {1: 2} makes a dict: write a tuple, or np.array(...) outside the class",
    ]
    assert [line.partition(".py:Nim.")[2] for line in output.splitlines()] == told
    code, output, _ = check("nim.py:Nim", "--json")
    assert [line.partition(".py:Nim.")[2] for line in json.loads(output)["errors"]] == told


def test_an_error_in_one_method_is_told_alone(check, tmp_path):
    write_file(tmp_path / "nim.py", NIM, ERRORS[1])
    error = "nim.py:Nim.encode fails, line 39: AttributeError: 'record' object has no attribute 'lef'"
    assert check("nim.py:Nim") == (2, "", f"azero: {error}\n")


def test_planes_that_lack_the_limit_of_plies_cause_a_notice(check, tmp_path):
    """The game is lost by the first player after 9 plies, which the planes do not show."""
    limit = ("if state.left > 0:\n", "if state.ply >= 9:\n            return LOSS\n        if state.left > 0:\n")
    write_file(tmp_path / "nim.py", NIM, limit, COUNTING_KEY)
    code, output, _ = check("nim.py:Nim", "--positions", 200, "--json")
    report = json.loads(output)
    assert code == 0 and set(report["laws"].values()) == {None}
    found = re.fullmatch(r"the planes are the same after ([\d ]+) and after ([\d ]+), but (.*)", report["planes"])
    lines = [list(map(int, line.split())) for line in found.groups()[:2]]
    assert sum(lines[0]) + len(lines[0]) == sum(lines[1]) + len(lines[1])
    assert found[3].startswith("the mover's result ")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["conect_four"], "unknown game 'conect_four'; did you mean 'connect_four'? known: "),
        (["nim.py"], "game 'nim.py' is not of the form name or name(parameter=value,...), e.g. nim.py:MyGame"),
        (["nim.py:Nom"], "game file 'nim.py' has no class 'Nom'; it has Nim"),
        (["none.py:Nim"], "game file 'none.py' cannot be read: No such file or directory"),
        (["tic_tac_toe", "--against", "none.py:Slow"], "game file 'none.py' cannot be read: No such file"),
        (["tic_tac_toe", "--against", "slow"], "prototype 'slow' is not of the form FILE.py:NAME"),
        (["tic_tac_toe", "--against", "nim.py:Nim"], "nim.py:Nim is not a prototype: it should be a class Nim(Pro"),
        (["tic_tac_toe", "--positions", "0"], "--positions 0 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "-5"], "--positions -5 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "1000001"], "--positions 1000001 should be from 1 to 1,000,000"),
        (["tic_tac_toe", "--positions", "many"], "Invalid value for '--positions': "),
        (["tic_tac_toe", "--seed", "-1"], "Invalid value for '--seed': "),
        ([], "Missing argument 'GAME'."),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_checked(check, tmp_path, words, message):
    write_file(tmp_path / "nim.py", NIM)
    code, output, errors = check(*words)
    assert (code, output) == (2, "") and errors.count("\n") == 1
    assert errors.startswith(f"azero: {message}"), errors
