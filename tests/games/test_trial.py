"""Tests of the trial of a user's rules: a broken contract is reported in one line, in the terms of the rules."""

import re
import signal
import threading
import time

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.errors import NO_ACTION, BadInput
from azero.games import make_game
from azero.games.user import timeouts, trial

from .user_games import NIM, TIC_TAC_TOE, added, write_file

pytestmark = pytest.mark.usefixtures("folder")

PLAY = "        state.left -= action + 1\n"
KEY = "np.uint64(2 * state.left + (state.ply & 1))"
DTYPE = 'np.dtype([("left", np.int32), ("ply", np.int32)])'


def refusal(folder, *changes, source=NIM, name="Nim") -> str:
    """Returns the error, one line, with which a copy of a game is refused, without the names of file and class."""
    write_file(folder / "my.py", source, *changes)
    with pytest.raises(BadInput) as error:
        make_game(f"my.py:{name}")
    message = str(error.value)
    assert len(message.splitlines()) == 1 and message.startswith(f"my.py:{name}")
    return message.removeprefix(f"my.py:{name}")


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_file_may_begin_with_a_byte_order_mark(folder, mark):
    """Editors on Windows write one. Mistakes are found behind it, too."""
    path = write_file(folder / "my.py", NIM)
    path.write_bytes(mark + path.read_bytes())
    make_game("my.py:Nim")
    path = write_file(folder / "wrong.py", NIM, (PLAY, PLAY + "        print(action)\n"))
    path.write_bytes(mark + path.read_bytes())
    with pytest.raises(BadInput, match="print.* would print millions of times"):
        make_game("wrong.py:Nim")


def actions_of(message: str) -> list[int]:
    """Returns the actions at the end of a message."""
    return [int(action) for action in re.search(r"(; actions so far:((?: \d+)+))?$", message)[2].split()]


COUNT = "it should be an integer from 1 to"
SIZES = "it should be three sizes, (planes, height, width)"
STRUCTURED = "it should be a structured np.dtype with named fields"
OUTCOMES = "it should be WIN, DRAW, LOSS or ONGOING"
WRITTEN = "it should be the number of actions that it has written"
GOES_ON = "while the game goes on; it should find 1 to 3"
ASCEND = "they should ascend, from 0 to 2"
UNWRITTEN = "does not write a finite number to planes"
CHANGES = "changes the state; only reset and apply_action should"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # attributes
        ("return 3", "return 'three'", f"num_actions is 'three'; {COUNT} 32767"),
        ("return 3", "return 0", f"num_actions is 0; {COUNT} 32767"),
        ("return 3", "return 32768", f"num_actions is 32768; {COUNT} 32767"),
        ("return 3", "return game.n", "num_actions fails, line 50: AttributeError: 'Nim' object has no attribute 'n'"),
        ("return game.heap\n", "return None\n", f"max_plies is None; {COUNT} 100000"),
        ("return game.heap\n", "return 10**9\n", f"max_plies is 1000000000; {COUNT} 100000"),
        ("1, 1, game.heap", "game.heap", f"planes_shape is 21; {SIZES}"),
        ("1, 1, game.heap", "1, 21", f"planes_shape is (1, 21); {SIZES}"),
        ("1, 1, game.heap", "1, 0, 21", f"planes_shape is (1, 0, 21); {SIZES}"),
        ("1, 1, game.heap", "np.int64(1), np.uint8(2)", f"planes_shape is (1, 2); {SIZES}"),
        ("1, 1, game.heap", "10**6, 10**3, 10**3", "planes_shape is (1000000, 1000, 1000); at most 1,048,576 numbers"),
        (DTYPE, "int", f"state_dtype is <class 'int'>; {STRUCTURED}"),
        (DTYPE, "np.dtype(int)", f"state_dtype is dtype('int64'); {STRUCTURED}"),
        (
            DTYPE,
            "np.dtype([('cells', np.bool_, (9,))])",
            "state_dtype has a field 'cells' of dtype bool; fields should be integers, np.float32 or np.float64, "
            "in this machine's byte order",
        ),
        (
            DTYPE,
            "np.dtype([('cells', object), ('ply', np.int8)])",
            "state_dtype has a field 'cells' of dtype object; fields should be integers, np.float32 or np.float64, "
            "in this machine's byte order",
        ),
        (
            DTYPE,
            "np.dtype([('left', '>i4')])",
            "state_dtype has a field 'left' of dtype >i4; fields should be integers, np.float32 or np.float64, "
            "in this machine's byte order",
        ),
        (
            DTYPE,
            "np.dtype([('cells', np.int8, (300_000_000,))])",
            "state_dtype takes 300,000,000 bytes; at most 16,777,216 are possible",
        ),
        (DTYPE, "np.dtype('quark')", "state_dtype fails, line 46: TypeError: data type 'quark' not understood"),
        # returned values
        ("return ONGOING", "return 'on'", f"outcome returns 'on'; {OUTCOMES}"),
        ("return ONGOING", "return 3", f"outcome returns 3; {OUTCOMES}"),
        ("return ONGOING", "return 0.5", f"outcome returns 0.5; {OUTCOMES}"),
        ("return ONGOING", "return np.uint64(3)", f"outcome returns 3; {OUTCOMES}"),
        ("return ONGOING", "return", f"outcome returns None; {OUTCOMES}"),
        ("return ONGOING", "return WIN", "outcome returns 1 after reset; it should be ONGOING"),
        ("return state.ply & 1", "return 2", "current_player returns 2; it should be 0 or 1"),
        ("return state.ply & 1", "return 'me'", "current_player returns 'me'; it should be 0 or 1"),
        ("return count", "return", f"legal_actions returns None; {WRITTEN}"),
        ("return count", "return out", f"legal_actions returns array([0, 1, 2]); {WRITTEN}"),
        ("return count", "return 0", f"legal_actions finds 0 actions {GOES_ON}"),
        ("return count", "return -1", f"legal_actions finds -1 actions {GOES_ON}"),
        ("return count", "return 4", f"legal_actions finds 4 actions {GOES_ON}"),
        ("out[action] = action", "out[action] = 2 - action", f"legal_actions writes [2, 1, 0]; {ASCEND}"),
        ("out[action] = action", "out[action] = 1", f"legal_actions writes [1, 1, 1]; {ASCEND}"),
        ("out[action] = action", "out[action] = action + 1", f"legal_actions writes [1, 2, 3]; {ASCEND}"),
        ("out[action] = action", "out[action] = action - 1", f"legal_actions writes [-1, 0, 1]; {ASCEND}"),
        (KEY, "state.left / 2", "hash_key returns 10.5; it should be a 64-bit integer"),
        (KEY, "None", "hash_key returns None; it should be a 64-bit integer"),
        (KEY, "np.uint64(1) + state.left", "hash_key returns 22.0; it should be a 64-bit integer; "),
        (KEY, "[0] * 99", f"hash_key returns [{32 * '0, '}...; it should be a 64-bit integer"),
        # written values
        ("planes[0, 0, k] =", "planes[0, 0, 0] =", f"encode {UNWRITTEN}[0, 0, 1]"),
        ("= k < state.left", "= np.inf if k == 5 else 0", f"encode {UNWRITTEN}[0, 0, 5]"),
        ("planes[0, 0, k] =", "state.left =", f"encode {CHANGES}"),
        ("return count", "state.ply += 1; return count", f"legal_actions {CHANGES}"),
        # exceptions
        ("return count", "return counted", "legal_actions fails, line 23: NameError: name 'counted' is not defined"),
        ("planes[0, 0, k] =", "planes[0, 1, k] =", "encode fails, line 39: IndexError: index 1 is out of bounds"),
        ("state.left = game.heap", "state.left = 2**40", "reset fails, line 16: state.left becomes 1099511627776, "),
        (KEY, "np.uint64(1) ^ state.left", "hash_key fails, line 42: TypeError: ufunc 'bitwise_xor' not supported for"),
        ("return count", "exit(3)", "legal_actions fails, line 23: SystemExit; rules must not end the process"),
        (KEY, "np.int64(1) // np.int64(state.ply)", "hash_key fails, line 42: ZeroDivisionError: a number is"),
        (KEY, "np.int8(5) * 300", "hash_key fails, line 42: OverflowError: Python integer 300 out of bounds for int"),
        ("state.ply = 0", "state.plies = 0", "reset fails, line 17: AttributeError: 'record' object has no attribute"),
        ("planes[0, 0, k] =", "raise BadInput('no'); x =", "encode fails, line 39: BadInput: no"),
        (KEY, "{}[state.left]", "hash_key fails, line 42: KeyError: 21"),
        (KEY, "int('many\\n' * 9)", "hash_key fails, line 42: ValueError: invalid literal for int() with base 10"),
    ],
)  # fmt: skip
def test_what_breaks_the_contract_is_told_by_method(folder, old, new, message):
    imports = ("import LOSS", "import BadInput, LOSS")
    assert refusal(folder, imports, (old, new)).startswith(f".{message}")


@pytest.mark.parametrize(
    ("change", "message", "left"),
    [
        (("return ONGOING", "return ONGOING if state.left != 2 else 7"), "outcome returns 7", [2]),
        (("state.ply & 1\n\n", "state.ply & 1 if state.left > 3 else 9\n\n"), "current_player returns 9", [1, 2, 3]),
        (("min(3, state.left)", "3 if state.left > 1 else 0"), "legal_actions finds 0 actions", [1]),
        ((PLAY, f"        assert state.left > 9\n{PLAY}"), "apply_action fails, line 26: AssertionError", [7, 8, 9]),
        (("= k < state.left", "= np.nan if state.left == 1 else 0"), f"encode {UNWRITTEN}[0, 0, 0]", [1]),
        ((KEY, f"{KEY} if state.left > 1 else 'last'"), "hash_key returns 'last'", [0, 1]),
        (added("final_score(game, state):\n        return 1 // int(state.left)"), "final_score fails, line 16", [0]),
    ],
)
def test_the_actions_that_lead_there_are_told(folder, change, message, left):
    told = refusal(folder, change)
    assert told.startswith(f".{message}")
    assert 21 - sum(action + 1 for action in actions_of(told)) in left


@pytest.mark.parametrize("score", ["'won'", "None", "float('nan')", "np.inf"])
def test_a_score_is_a_finite_number(folder, score):
    told = refusal(folder, added(f"final_score(game, state):\n        return {score}"))
    assert re.fullmatch(r"\.final_score returns \S+; it should be a finite number", told)


def test_a_game_that_does_not_end_in_its_plies_is_told_with_its_actions(folder):
    told = refusal(folder, ("return game.heap\n", "return 8\n"))
    assert told.startswith(".max_plies is 8, but a game goes on; actions so far: ") and len(actions_of(told)) == 9


def test_of_many_actions_the_first_are_told(folder):
    told = refusal(folder, (PLAY, ""), ("return game.heap\n", "return 999\n"))
    start, _, actions = told.partition("; actions so far: ")
    assert start == ".max_plies is 999, but a game goes on"
    assert re.fullmatch(r"([012] ){100}\.\.\. \(1000 in all\)", actions)


FOREVER = "while True:\n            pass"
STUBBORN = (
    "while True:\n            try:\n                while True: state.left = 1\n            except Exception: pass"
)


@pytest.mark.parametrize(
    ("change", "method"),
    [
        (("state.left -= action + 1", FOREVER), "apply_action"),
        (("state.left -= action + 1", STUBBORN), "apply_action"),
        (("state.left = game.heap", FOREVER), "reset"),
        (("return 3", FOREVER), "num_actions"),
        (("return count", FOREVER), "legal_actions"),
        (added(f"final_score(game, state):\n        {FOREVER}"), "final_score"),
        (added(f"rollout_action(game, state, legal, rng):\n        {FOREVER}"), "rollout_action"),
        (added(f"rollout(game, state, legal, rng, max_plies):\n        {FOREVER}"), "rollout"),
        (added(f"target(game, state, action):\n        {FOREVER}"), "target"),
    ],
)
def test_an_endless_loop_is_told(folder, monkeypatch, change, method):
    monkeypatch.setattr(timeouts, "COMPUTE_S", 0.2)
    begin = time.monotonic()
    assert refusal(folder, change) == f".{method} has not ended within 0.2 s"
    assert time.monotonic() - begin < 5


def test_a_loop_that_is_endless_later_is_told_with_its_actions(folder, monkeypatch):
    monkeypatch.setattr(timeouts, "COMPUTE_S", 0.2)
    told = refusal(folder, (PLAY, f"        while state.left < 4:\n            pass\n{PLAY}"))
    assert told.startswith(".apply_action has not ended within 0.2 s; actions so far: ")
    assert 0 < 21 - sum(action + 1 for action in actions_of(told)) < 4


def test_a_method_that_waits_is_told(folder, monkeypatch):
    monkeypatch.setattr(timeouts, "ELAPSED_S", 0.2)
    imports = ("import numpy as np", "import time; import numpy as np")
    told = refusal(folder, imports, ("state.left = game.heap", "time.sleep(30)"))
    assert told == ".reset has not ended within 0.2 s"


def test_handlers_of_signals_are_as_they_were(folder):
    handlers = {each: signal.getsignal(each) for each in signal.valid_signals()}
    timer = signal.getitimer(signal.ITIMER_REAL)
    write_file(folder / "my.py", NIM)
    make_game("my.py:Nim")
    assert {each: signal.getsignal(each) for each in signal.valid_signals()} == handlers
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0, 0)
    assert signal.getitimer(signal.ITIMER_REAL) == pytest.approx(timer, abs=60)  # a test timeout runs it


def test_rules_are_tried_out_where_there_are_no_signals(folder):
    messages = []
    thread = threading.Thread(target=lambda: messages.append(refusal(folder, ("return count", "return 0"))))
    thread.start()
    thread.join()
    assert messages == [f".{NO_ACTION}; it should find 1 to 3"]


ACTION, WHOLE = "rollout_action(game, state, legal, rng)", "rollout(game, state, legal, rng, max_plies)"
TARGET = "target(game, state, action)"


@pytest.mark.parametrize(
    ("method", "value", "message"),
    [
        (ACTION, "'x'", "rollout_action returns 'x'; it should be one of the legal actions [0, 1, 2]"),
        (ACTION, "3", "rollout_action returns 3; it should be one of the legal actions [0, 1, 2]"),
        (ACTION, "legal[5]", "rollout_action fails, line 16: IndexError: index 5 is out of bounds"),
        (WHOLE, "ONGOING", "rollout returns 2; it should be WIN, DRAW or LOSS"),
        (WHOLE, "state", "rollout returns (21, 0); it should be WIN, DRAW or LOSS"),
        (TARGET, "'a1'", "target returns 'a1'; it should be the number of a cell"),
        (TARGET, "0.5", "target returns 0.5; it should be the number of a cell"),
    ],
)
def test_rollouts_of_a_game_s_own_are_tried_out(folder, method, value, message):
    assert refusal(folder, added(f"{method}:\n        return {value}")).startswith(f".{message}")


def test_ownership_is_tried_out(folder):
    head = "ownership(game, state, owners):\n        "
    message = ".ownership does not write 1, 0 or -1 to owners[0, 0]"
    for body in ("return", "owners[0, 0] = 3"):
        assert refusal(folder, added(head + body)).startswith(message)
    assert ".ownership fails, line 16: IndexError" in refusal(folder, added(head + "owners[9, 9] = 1"))
    write_file(folder / "my.py", NIM, added(f"{head}owners[:] = 1 - 2 * (state.ply & 1)"))
    assert (make_game("my.py:Nim").state_from_moves("2 2").ownership() == 1).all()


def test_a_rollout_may_use_up_its_state(folder):
    bodies = (
        f"{ACTION}:\n        state.left = 0\n        return 0",
        f"{WHOLE}:\n        state.left = 0\n        return WIN",
    )
    write_file(folder / "my.py", NIM, added("\n\n    def ".join(bodies)))
    assert make_game("my.py:Nim").state_from_moves("2 2").record.left == 15


def test_rules_in_order_are_looked_at_and_come_to_an_end(folder):
    write_file(folder / "my.py", TIC_TAC_TOE)
    game = make_game("my.py:TicTacToe")
    tried = trial.Interpreted(game.rules, game.name)
    tried.reset()
    assert tried.look() == (2, list(range(9))) and tried.planes().shape == (3, 3, 3)
    for action in (0, 3, 1, 4, 2):
        tried.apply_action(action)
    assert tried.look() == (1, []) and tried.final_score() == 1 and tried.moves == [0, 3, 1, 4, 2]
    state = game.state_from_moves("a1 a2 b1 b2 c1")
    assert tried.hash_key() == state.hash_key() and tried.state.tobytes() == state.record.tobytes()


HELPER = ("class Nim", "def take(action):\n    return action + 1\n\n\nclass Nim")
SUBROUTINE = ("class Nim", "@subroutine\ndef take(action):\n    return {}\n\n\nclass Nim")
SUBROUTINE_THAT_LOOPS = ("class Nim", SUBROUTINE[1].format("take(action - 1) + 1 if action else 1"))
IMPORT = ("import numpy as np", "import numpy as np; from azero.authoring import subroutine")
OWN = "write your own functions outside the class, with @subroutine of azero.authoring above them"


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("changes", "place", "reason"),
    [
        (
            [HELPER, ("-= action + 1", "-= take(action)")],
            ".apply_action, line 30,",
            f"take is a function of plain Python: {OWN}",
        ),
        (
            [added("take(game, action):\n        return action + 1"), ("-= action + 1", "-= game.take(action)")],
            ".apply_action, line 29,",
            f"take is neither a parameter nor a compiled method of game: {OWN}",
        ),
        (
            [("-= action + 1", "-= np.array([action]).tolist()[0] + 1")],
            ".apply_action, line 26,",
            "np.array([action]).tolist() allocates an array, bytes or a list: write a loop",
        ),
        (
            [("class Nim", "TAKES = [1, 2, 3]\n\n\nclass Nim"), ("-= action + 1", "-= TAKES[action]")],
            ".apply_action, line 29,",
            "TAKES is a list: write a tuple, or np.array(...) outside the class",
        ),
        (
            [(PLAY, "        with open('/dev/null') as file:\n    " + PLAY)],
            ".apply_action, line 26,",
            "with open('/dev/null') as file: the compiler does not support this in a method",
        ),
        (
            [(KEY, "hash(state.tobytes())")],
            ".hash_key, line 42,",
            "state.tobytes() allocates an array, bytes or",
        ),
        ([(KEY, "2**64 + 5")], ".hash_key, line 42,", "Int value is too large: 18446744073709551621"),
        (
            [("return WIN if", "return WIN if {0: 0, 1: '1'} and")],
            ".outcome, line 35,",
            "{0: 0, 1: '1'} makes a dict: write a tuple, or np.array(...) outside the class",
        ),
        (
            [added(f"{ACTION}:\n        return legal.tolist()[0]")],
            ".rollout_action, line 16,",
            "legal.tolist() allocates an array, bytes or a list: write a loop, or keep it in the state",
        ),
        (
            [
                (
                    "return " + KEY,
                    "key = 0\n        if state.ply:\n            key = np.uint64(5)\n        return key ^ np.uint64(3)",
                )
            ],
            ".hash_key, line 45,",
            "np.uint64 with a signed integer gives a float: write np.uint64(...) around it, and start",
        ),
        (
            [IMPORT, SUBROUTINE_THAT_LOOPS, ("-= action + 1", "-= take(action)")],
            ".apply_action, line 12,",
            "take calls itself: write a loop",
        ),
    ],
)
def test_what_cannot_be_compiled_is_told_by_method_line_and_reason(folder, changes, place, reason):
    told = refusal(folder, *changes)
    assert told.startswith(f"{place} cannot be compiled: {reason}"), told
    assert len(told) < 400 and "numba" not in told and "method_of_class" not in told and "^" not in told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            ("return count", "print(count)\n        return count"),
            "legal_actions, line 23: print(count) would print mil",
        ),
        (
            ("return state.ply & 1\n", "if state.ply < 99:\n            return state.ply & 1\n"),
            "current_player, line 29: it can end without returning a value: write a `return` at its end",
        ),
        (
            ("        return WIN if", "        if state.left == 0:\n            return WIN if"),
            "outcome, line 32: it can end without returning a value: write a `return` at its end",
        ),
    ],
)
def test_what_the_compiler_lets_pass_is_told_before_anything_is_played(folder, capsys, change, told):
    assert refusal(folder, change).startswith(f".{told}")
    assert capsys.readouterr().out == ""


BOARD = (
    ('("ply", np.int32)', '("ply", np.int32), ("board", np.int8, (4,))'),
    ("state.ply = 0", "state.ply = 0; state.board[:] = 0"),
)
LISTS = ("class Nim", SUBROUTINE[1].format("len([action] * action) + 1"))


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    ("changes", "place", "reason"),
    [
        (
            [("return count", "found = np.zeros(count + 1); return count + int(found[0])")],
            "legal_actions, line 23",
            "np.zeros(count + 1) allocates an array, bytes or a list: write a loop, or keep it in the state",
        ),
        (
            [*BOARD, (KEY, "np.uint64((state.board + 1)[:3].max())")],
            "hash_key, line 42",
            "state.board + 1 makes an array: loop over its cells, or keep what you need in a field of the state",
        ),
        (
            [(PLAY, "        if action > 5:\n            raise ValueError(f'bad {action}')\n" + PLAY)],
            "apply_action, line 27",
            "f'bad {action}' makes text: rules can use numbers only",
        ),
        (
            [IMPORT, LISTS, ("-= action + 1", "-= take(action)")],
            "apply_action, line 12",
            "[action] makes a list: write a tuple, (action,)",
        ),
        (
            [*BOARD, ("state.ply += 1", "b = state.board; state.ply += 1 + 0 * (b == 1)[0]")],
            "apply_action",
            "it allocates memory (an array, list, set, dict or text); rules should fill given arrays",
        ),
    ],
)
def test_rules_that_allocate_are_told_by_method_and_line(folder, changes, place, reason):
    comma = "," if "line" in place else ""
    for _ in range(2):
        assert refusal(folder, *changes) == f".{place}{comma} cannot be compiled: {reason}"


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(
    "changes",
    [
        [("-= action + 1", "-= (1, 2, 3)[action]")],
        [(PLAY, "        for k in (1, 2, action):\n            state.ply += k - k\n" + PLAY)],
        [("planes[0, 0, k] =", "planes[0, 0, k : k + 1] =")],
        [*BOARD, (PLAY, "        board = state.board\n        board[1:] = board[:-1]\n" + PLAY)],
        [(PLAY, "        assert action < 3, 'out of range'\n" + PLAY)],
    ],
)  # fmt: skip
def test_tuples_and_views_are_no_memory_of_their_own(folder, changes):
    write_file(folder / "my.py", NIM, *changes)
    assert make_game("my.py:Nim(heap=4)").state_from_moves("2 0").is_terminal()


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_functions_beside_the_rules_are_subroutines(folder):
    body = ("class Nim", SUBROUTINE[1].format("action + 1"))
    write_file(folder / "my.py", NIM, IMPORT, body, ("-= action + 1", "-= take(action)"))
    assert make_game("my.py:Nim(heap=4)").state_from_moves("2 0").returns() == [-1, 1]
    body = ("class Nim", SUBROUTINE[1].format("action + 'one'"))
    told = refusal(folder, IMPORT, body, ("-= action + 1", "-= take(action)"))
    assert told.startswith(
        ".apply_action, line 12, cannot be compiled: No implementation of function Function(<built-in"
    )


def test_hashes_may_wrap_around_without_a_warning(folder):
    write_file(folder / "my.py", NIM, (KEY, f"{KEY} * np.uint64(0x9E3779B97F4A7C15) + np.uint64(2**64 - 1)"))
    game = make_game("my.py:Nim")
    with np.errstate(all="raise"):
        assert trial.Interpreted(game.rules, game.name).call("hash_key", game.new_initial_state().record) >= 0
