"""Tests of games from users' files: they work like azero's own, files are kept apart, and errors are reported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import azero
from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import make_game, names, registered_games
from azero.games.user import loading, timeouts

from .user_games import NIM, added, write_file

pytestmark = pytest.mark.usefixtures("folder")

IMPORT_GAME = ("import numpy as np\n", "import numpy as np\nfrom azero.games import game\n")
FUTURE = ("from typing import", "from __future__ import annotations\n\nfrom typing import")
LAST_LOSES = ("return WIN if state.ply & 1 else LOSS", "return LOSS if state.ply & 1 else WIN")


def refusal(name: str) -> str:
    """Returns the error, one line, with which a game is refused."""
    with pytest.raises(BadInput) as error:
        make_game(name)
    assert len(str(error.value).splitlines()) == 1
    return str(error.value)


def test_a_game_from_a_file_is_like_any_other(folder):
    write_file(folder / "nim.py", NIM)
    game = make_game("nim.py:Nim(heap=4)")
    assert (game.name, game.num_actions, game.max_plies, game.planes_shape) == ("nim.py:Nim(heap=4)", 3, 4, (1, 1, 4))
    state = game.state_from_moves("2 0")
    assert state.returns() == [-1, 1] and str(state) == "left: 0\nply: 2"
    with pytest.raises(BadInput, match="^move 2: '2' is not legal here; legal moves: 0$"):
        game.state_from_moves("2 2")
    assert make_game(game.name) == game and make_game(game.name) is not game


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("nim.py:Nim", "nim.py:Nim"),
        ("nim.py:Nim(heap=5)", "nim.py:Nim(heap=5)"),
        (" nim.py : Nim ( heap = 5 ) ", "nim.py:Nim(heap=5)"),
        ("nim.py:Nim(heap=21)", "nim.py:Nim"),
        ("./nim.py:Nim", "./nim.py:Nim"),
        ("sub dir/my nim.py:Nim()", "sub dir/my nim.py:Nim"),
        ("{folder}/nim.py:Nim(heap=5)", "{folder}/nim.py:Nim(heap=5)"),
    ],
)
def test_its_name_is_its_path_its_class_and_what_differs_from_the_defaults(uncompiled, folder, text, name):
    (folder / "sub dir").mkdir()
    for path in ("nim.py", "sub dir/my nim.py"):
        write_file(folder / path, NIM)
    text, name = text.format(folder=folder), name.format(folder=folder)
    assert make_game(text).name == name == make_game(name).name


def test_parameters_of_every_type_are_read_and_written(uncompiled, folder):
    write_file(folder / "nim.py", NIM, ("heap: int = 21", "heap: int\n    komi: float = 7\n    swap: bool = False"))
    game = make_game("nim.py:Nim(swap=true,komi=0.00001,heap=5)")
    assert game.rules == (5, 0.00001, True) and [type(value) for value in game.rules] == [int, float, bool]
    assert game.name == "nim.py:Nim(heap=5,komi=0.00001,swap=true)" and make_game(game.name) == game
    assert make_game("nim.py:Nim(heap=5)").name == "nim.py:Nim(heap=5)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("heap=x", "Nim: heap='x' should be an integer of at most 9 digits"),
        ("heap=2.5", "Nim: heap='2.5' should be an integer of at most 9 digits"),
        ("heaps=2", "Nim has no parameter 'heaps'; did you mean 'heap'? known: heap"),
        ("heap=2,heap=3", "Nim: heap is given twice"),
        ("heap=0", "nim.py:Nim.max_plies is 0; it should be an integer from 1 to 100000"),
    ],
)
def test_parameters_that_will_not_do_are_told(folder, arguments, message):
    write_file(folder / "nim.py", NIM)
    assert refusal(f"nim.py:Nim({arguments})") == message


BAD_INPUT = "for bad parameters it should raise azero.authoring.BadInput"


@pytest.mark.parametrize(
    ("does", "message"),
    [
        ("raise BadInput(f'a heap of {game.heap}')", "a heap of 0"),
        ("raise ValueError('too small')", f"nim.py:Nim.check fails, line 16: ValueError: too small; {BAD_INPUT}"),
        ("return game.heap > 0", f"nim.py:Nim.check returns False; it should be None; {BAD_INPUT}"),
    ],
)
def test_what_check_says_of_parameters_is_told(folder, does, message):
    imports = ("import numpy as np", "import numpy as np; from azero.authoring import BadInput")
    write_file(folder / "nim.py", NIM, imports, added(f"check(game):\n        {does}"))
    assert refusal("nim.py:Nim(heap=0)") == message


def test_a_missing_file():
    assert refusal("none.py:Nim") == "game file 'none.py' cannot be read: No such file or directory"


def test_a_folder_in_place_of_a_file(folder):
    (folder / "nim.py").mkdir()
    assert refusal("nim.py:Nim") == "game file 'nim.py' cannot be read: Is a directory"


FEW = "2,000 names or modules of 524,288 bytes together"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("#\n" * 70_000, "cannot be read: it has more than 131,072 bytes"),
        (f"import {'a.' * 1000}a", "has a line of more than 2,000 bytes"),
        (f"import {chr(92).join(['a.'] * 1000)}a".replace("\\", "\\\r"), "has a line of more than 2,000 bytes"),
        ("\n".join(f"import a{k}" for k in range(2001)), f"imports more than {FEW}"),
        ("# coding: latin-1\n", "is written in iso-8859-1; it should be UTF-8"),
        ("# coding: none\n", "cannot be read: unknown encoding: none"),
    ],
)
def test_a_file_that_python_would_parse_for_long_is_not_parsed(folder, text, fault):
    (folder / "nim.py").write_text(text, newline="")
    assert refusal("nim.py:Nim") == f"game file 'nim.py' {fault}"


def test_modules_have_a_size_together(folder):
    (folder / "nim.py").write_text("import a0, a1, a2, a3, a4\n")
    for k in range(5):
        (folder / f"a{k}.py").write_text("#\n" * 60_000)
    assert refusal("nim.py:Nim") == f"game file 'nim.py' imports more than {FEW}"


def test_a_file_without_the_name_of_a_class(folder):
    write_file(folder / "nim.py", NIM)
    form = "is not of the form name or name(parameter=value,...), e.g. nim.py:MyGame"
    assert refusal("nim.py") == f"game 'nim.py' {form}"


def with_ranges(ranges):
    """Returns the change that gives the game these ranges."""
    return added(f"ranges(game):\n        return {ranges}")


IS_NO_GAME = "is not a game: rules are a class Nim(NamedTuple)"
IS_NO_PROPERTY = "should be a property: write @property above it"
IS_OF_INT = "nim.py:Nim: its parameter 'heap' has type int"
IS_NO_PARAMETER = "its parameter 'heap' should be of type int, float or bool"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        # classes
        ([("class Nim", "class Nom")], "game file 'nim.py' has no class 'Nim'; it has Nom"),
        ([("class Nim(NamedTuple)", "Nim = 5\n\n\nclass Nom")], f"nim.py:Nim {IS_NO_GAME}"),
        ([("class Nim(NamedTuple)", "class Nim")], f"nim.py:Nim {IS_NO_GAME}"),
        (
            [("import numpy as np", "from azero.games.hex.rules import Hex as Nim, np"), ("class Nim", "class Nom")],
            "nim.py:Nim is imported from azero.games.hex.rules; name the file that has it",
        ),
        # methods
        ([("def hash_key", "def hash_kei")], "nim.py:Nim lacks hash_key(game, state)"),
        (
            [("def encode", "def encod"), ("def legal_actions", "def legal"), ("def num_actions", "def actions")],
            "nim.py:Nim lacks legal_actions(game, state, out), encode(game, state, planes), num_actions",
        ),
        (
            [("apply_action(game, state, action)", "apply_action(game, state)")],
            "nim.py:Nim.apply_action should take (game, state, action), not (game, state)",
        ),
        ([("reset(game, state)", "reset(state)")], "nim.py:Nim.reset should take (game, state), not (state)"),
        (
            [added("draw(game, state):\n        return 'drawn'")],
            "nim.py:Nim.draw should take (game, state, marks), not (game, state)",
        ),
        (
            [added("rollout_action(game, state, legal):\n        return 0")],
            "nim.py:Nim.rollout_action should take (game, state, legal, rng), not (game, state, legal)",
        ),
        (
            [("    def current_player", "    @property\n    def current_player")],
            "nim.py:Nim.current_player should be a method (game, state), without decorator or `async`",
        ),
        (
            [("    def encode", "    @staticmethod\n    def encode")],
            "nim.py:Nim.encode should be a method (game, state, planes), without decorator or `async`",
        ),
        ([("    @property\n    def num_actions", "    def num_actions")], f"nim.py:Nim.num_actions {IS_NO_PROPERTY}"),
        ([added("is_history_free(game):\n        return False")], f"nim.py:Nim.is_history_free {IS_NO_PROPERTY}"),
        # parameters
        ([with_ranges("7")], "nim.py:Nim.ranges returns 7; it should be pairs by name, e.g. {'size': (2, 8)}"),
        (
            [with_ranges("{'heap': 7}")],
            "nim.py:Nim.ranges returns {'heap': 7}; it should be pairs by name, e.g. {'size': (2, 8)}",
        ),
        ([with_ranges("{'size': (2, 8)}")], "Nim.ranges names 'size'; the parameters are heap"),
        ([("heap: int", "heap: list")], f"nim.py:Nim: {IS_NO_PARAMETER}"),
        ([("heap: int", "heap: int | None")], f"nim.py:Nim: {IS_NO_PARAMETER}"),
        (
            [("heap: int", "heap: 'integer'")],
            "nim.py:Nim: the types of its parameters cannot be read: NameError: name 'integer' is not defined",
        ),
        ([("int = 21", "int = 21.0")], f"{IS_OF_INT}, its default 21.0 has type float"),
        ([("int = 21", "int = None")], f"{IS_OF_INT}, its default None has type NoneType"),
        ([("int = 21", "int")], "Nim needs heap, e.g. Nim(heap=...)"),
        # the file
        ([("int = 21", "int = ")], "game file 'nim.py', line 13: invalid syntax"),
        ([("        return 3", "return 3")], "game file 'nim.py', line 50: expected an indented block after function definition on line 49"),  # noqa: E501
        ([("int = 21", "int = 21\0")], "game file 'nim.py': source code string cannot contain null bytes"),
        ([("import numpy", "import nump")], "game file 'nim.py', line 5: ModuleNotFoundError: No module named 'nump'"),
        (
            [("import numpy", "raise SystemExit(0)\nimport numpy")],
            "game file 'nim.py', line 5: SystemExit; rules must not end the process",
        ),
        (
            [("import numpy", "raise ValueError('of\\nmany\\nlines')\nimport numpy")],
            "game file 'nim.py', line 5: ValueError: of many lines",
        ),
        (
            [IMPORT_GAME, ("class Nim", "@game('connect_four')\nclass Nim")],
            "game file 'nim.py', line 11: ValueError: two games are named 'connect_four'; "
            "a file of your own needs no @game(...)",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_named_in_one_line(folder, changes, message):
    write_file(folder / "nim.py", NIM, *changes)
    assert refusal("nim.py:Nim") == message


@pytest.mark.thorough
@pytest.mark.parametrize(
    "line",
    ["while True: pass", "import time; time.sleep(30)", "while True:\n    try: x = 1\n    except Exception: pass"],
)
def test_a_file_that_does_not_come_to_an_end_is_told(folder, monkeypatch, line):
    monkeypatch.setattr(loading, "ELAPSED_S", 1.0)  # long enough for a busy machine to start the file
    monkeypatch.setattr(timeouts, "ELAPSED_S", 1.0)
    write_file(folder / "nim.py", NIM, ("class Nim", f"{line}\n\n\nclass Nim"))
    for _ in range(2):
        assert re.fullmatch(r"game file 'nim.py', line \d+ has not ended within 1 s", refusal("nim.py:Nim"))


def test_files_may_register_their_games_and_be_edited_again(uncompiled, folder):
    before = registered_games()
    registered = IMPORT_GAME, ("class Nim", "@game('nim')\nclass Nim")
    write_file(folder / "nim.py", NIM, *registered)
    assert make_game("nim.py:Nim").name == "nim.py:Nim"
    write_file(folder / "nim.py", NIM, *registered, ("return 1, 1, game.heap", "return 1, 1, game.heap\n\n\n1 / 0"))
    assert refusal("nim.py:Nim") == "game file 'nim.py', line 63: ZeroDivisionError: division by zero"
    write_file(folder / "nim.py", NIM, *registered, ("21", "22"))
    assert make_game("nim.py:Nim").rules == (22,)
    assert registered_games() == before


def test_ctrl_c_while_a_file_runs_leaves_nothing_behind(uncompiled, folder, monkeypatch):
    def interrupted(self, module):
        raise KeyboardInterrupt

    write_file(folder / "nim.py", NIM)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(loading._Reader, "exec_module", interrupted)
        make_game("nim.py:Nim")
    assert make_game("nim.py:Nim").num_actions == 3


def test_ranges_hold_for_a_user_s_own_game(uncompiled, folder):
    write_file(folder / "nim.py", NIM, with_ranges("{'heap': (1, 30)}"))
    assert make_game("nim.py:Nim(heap=30)").name == "nim.py:Nim(heap=30)"
    assert refusal("nim.py:Nim(heap=31)") == "Nim: heap=31 is out of range; it can be 1 to 30"


def test_the_annotations_of_the_future(uncompiled, folder):
    write_file(folder / "nim.py", NIM, FUTURE)
    assert make_game("nim.py:Nim(heap=5)").name == "nim.py:Nim(heap=5)"
    with pytest.raises(BadInput, match="heap='x' should be an integer of at most 9 digits"):
        make_game("nim.py:Nim(heap=x)")
    write_file(folder / "list.py", NIM, FUTURE, ("heap: int", "heap: list"))
    assert refusal("list.py:Nim") == "list.py:Nim: its parameter 'heap' should be of type int, float or bool"


def test_a_game_without_parameters(folder):
    text = write_file(folder / "bare.py", NIM, ("    heap: int = 21\n\n", "")).read_text()
    (folder / "bare.py").write_text(text.replace("game.heap", "4"))
    game = make_game("bare.py:Nim")
    assert game.name == "bare.py:Nim" and game.state_from_moves("2 0").returns() == [-1, 1]
    assert refusal("bare.py:Nim(unused=1)") == "Nim has no parameter 'unused'; it takes none"


def test_the_same_file_under_two_paths_is_run_once(uncompiled, folder):
    for path in ("nim.py", "copy.py"):
        text = write_file(folder / path, NIM).read_text()
        (folder / path).write_text(f"{text}\n\nwith open('runs', 'a') as file:\n    file.write('.')\n")
    game, copy = make_game("nim.py:Nim"), make_game("copy.py:Nim")
    assert game == copy and copy.name == "nim.py:Nim"
    assert (folder / "runs").read_text() == "."


def test_a_file_that_was_run_elsewhere_may_be_gone_there(uncompiled, folder, monkeypatch):
    for place in ("here", "there"):
        (folder / place).mkdir()
        write_file(folder / place / "nim.py", NIM)
    assert make_game("here/nim.py:Nim(heap=5)").rules.heap == 5
    monkeypatch.chdir(folder / "there")
    assert make_game("nim.py:Nim(heap=6)").rules.heap == 6


def test_files_with_classes_of_one_name_keep_their_own_rules(folder):
    """Numba distinguishes NamedTuples only by the names of class and fields."""
    write_file(folder / "last_wins.py", NIM)
    write_file(folder / "last_loses.py", NIM, LAST_LOSES)
    games = [make_game(f"{each}.py:Nim(heap=4)") for each in ("last_wins", "last_loses")]
    for _ in range(2):
        assert [game.state_from_moves("2 0").returns()[0] for game in games] == [-1, 1]
    assert games[0] != games[1]


def test_each_class_is_tried_out(folder):
    """The rules of two classes with the same parameters are equal tuples, but both are tried."""
    write_file(folder / "nim.py", NIM)
    make_game("nim.py:Nim")
    write_file(
        folder / "bad.py",
        NIM,
        ("return game.heap\n\n    @property\n    def planes", "return 2\n\n    @property\n    def planes"),
    )
    assert refusal("bad.py:Nim").startswith("bad.py:Nim.max_plies is 2, but a game goes on; actions so far: ")


def test_a_file_s_digest_is_that_of_its_text(uncompiled, folder):
    digests = []
    for name, changes in [("a.py", []), ("b.py", []), ("c.py", [LAST_LOSES])]:
        write_file(folder / name, NIM, *changes)
        digests.append(names.source_digest_of(make_game(f"{name}:Nim").rules))
    assert digests[0] == digests[1] != digests[2] and len(digests[0]) == 16
    assert names.source_digest_of(make_game("tic_tac_toe").rules) == ""


PLAY = """
from azero.games import make_game
for name in {names!r}:
    moves = "a1 b1 a2 b2 a3" if name == "tic_tac_toe" else "2 2 2 2 2 2 2"
    print(make_game(name).state_from_moves(moves).returns()[0])
"""


def play(folder: Path, *names: str) -> list[float]:
    """Returns the first player's result in each game, played in a new process."""
    return printed(folder, PLAY.format(names=names))


def printed(folder: Path, code: str, *path: Path) -> list[float]:
    """Returns the numbers that `code` prints in a new process, which also imports from the folders in `path`."""
    places = os.pathsep.join(map(str, (Path(azero.__file__).parents[1], *path)))
    settings = {"PYTHONPATH": places, "AZERO_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, timeout=300)
    errors = [line for line in done.stderr.splitlines() if "compiling kernels" not in line]  # it may take long
    assert (done.returncode, errors) == (0, [])
    return [float(line) for line in done.stdout.split()]


def kernels(folder: Path) -> dict[Path, int]:
    """Returns the times at which the files of compiled kernels were written, by file."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nb?")}


def test_an_edited_file_has_new_rules_in_the_same_process(folder):
    results = []
    for changes in ([], [LAST_LOSES], []):
        write_file(folder / "nim.py", NIM, *changes)
        results.append(make_game("nim.py:Nim(heap=4)").state_from_moves("2 0").returns()[0])
    assert results == [-1, 1, -1]


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_kernels_on_disk_are_kept_apart_by_file(folder):
    """An edit that does not change the file's size is noticed. Kernels of azero's own games are kept apart."""
    write_file(folder / "nim.py", NIM)
    size = (folder / "nim.py").stat().st_size
    assert play(folder, "tic_tac_toe", "nim.py:Nim") == [1, 1]
    compiled = kernels(folder)
    assert play(folder, "tic_tac_toe") == [1]
    assert kernels(folder) == compiled, "azero's own games should not be compiled again"

    write_file(folder / "nim.py", NIM, LAST_LOSES)
    assert (folder / "nim.py").stat().st_size == size
    assert play(folder, "nim.py:Nim") == [-1]
    added = {path: time for path, time in kernels(folder).items() if path not in compiled}
    assert added and kernels(folder) == compiled | added

    write_file(folder / "nim.py", NIM)
    assert play(folder, "nim.py:Nim") == [1]
    assert kernels(folder) == compiled | added, "a restored file should not be compiled again"
