"""Tests of a user's modules beside a game's file: they are imported from there, and their edits are noticed."""

import importlib
import sys
from pathlib import Path

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.errors import BadInput
from azero.games import make_game
from azero.games.user.sources import Sources

from .test_loading import kernels, play, printed
from .user_games import NIM, added, write_file

pytestmark = pytest.mark.slow  # it compiles kernels of its own

WINNER = (
    "from azero.authoring import subroutine\n\n\n@subroutine\ndef last_mover(ply):\n    return {} if ply & 1 else {}\n"
)
LAST_WINS, LAST_LOSES = WINNER.format(1, -1), WINNER.format(-1, 1)


@pytest.fixture(autouse=True)
def path(monkeypatch, folder):
    """Changes of the module search path last for one test."""
    monkeypatch.setattr(sys, "path", list(sys.path))


def write_nim(path: Path, imports: str = "from result import last_mover", call: str = "last_mover") -> Path:
    """Writes Nim that calls a user's module for the winner."""
    return write_file(
        path,
        NIM,
        ("import numpy as np", f"import numpy as np\n{imports}"),
        ("return WIN if state.ply & 1 else LOSS", f"return {call}(state.ply)"),
    )


def first_wins(name: str) -> bool:
    return make_game(name).state_from_moves("2 0").returns()[0] > 0


def first_text(game) -> str:
    return game.action_to_text(game.new_initial_state(), 0)


def write_both(folder: Path, *texts: str) -> None:
    """Writes Nim into two folders, each with its own module `result`."""
    for each, text in zip(("wins", "loses"), texts or (LAST_WINS, LAST_LOSES), strict=True):
        (folder / each).mkdir()
        write_nim(folder / each / "nim.py")
        (folder / each / "result.py").write_text(text)


def test_modules_are_imported_from_beside_the_file_wherever_one_is(folder):
    """By their own names, as Python imports any module."""
    write_both(folder)
    before = list(sys.path)
    for _ in range(2):
        assert not first_wins("wins/nim.py:Nim(heap=4)")
    assert sys.modules["result"].__file__ == str(folder / "wins" / "result.py") and sys.path == before


def test_modules_of_one_name_are_refused_in_one_process(uncompiled, folder):
    write_both(folder)
    assert not first_wins("wins/nim.py:Nim(heap=4)")
    for _ in range(2):
        with pytest.raises(BadInput) as error:
            make_game("loses/nim.py:Nim")
        assert str(error.value) == (
            f"game file 'loses/nim.py' imports 'result' from '{folder}/loses/result.py', but this process has another "
            f"module of that name, '{folder}/wins/result.py'; rename one of them"
        )
    assert not first_wins("wins/nim.py:Nim(heap=4)")


def test_modules_of_one_name_may_have_one_text(uncompiled, folder):
    """As on a machine to which a game and a net have travelled, each with its copy of a module."""
    write_both(folder, LAST_WINS, LAST_WINS)
    (folder / "loses" / "nim.py").write_text((folder / "loses" / "nim.py").read_text() + "\n# another text\n")
    assert [first_wins(f"{each}/nim.py:Nim(heap=4)") for each in ("wins", "loses")] == [False, False]


def test_a_module_of_the_program_s_is_not_replaced_by_another(uncompiled, folder, monkeypatch):
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "result.py").write_text(LAST_WINS)
    monkeypatch.syspath_prepend(folder / "elsewhere")
    monkeypatch.setitem(sys.modules, "result", importlib.import_module("result"))
    write_nim(folder / "nim.py")
    (folder / "result.py").write_text(LAST_LOSES)
    with pytest.raises(BadInput, match="but this process has another module of that name, '.*/elsewhere/result.py'; "):
        make_game("nim.py:Nim")


def test_what_the_program_has_imported_from_beside_the_file_is_imported_anew(uncompiled, folder, monkeypatch):
    monkeypatch.syspath_prepend(folder)
    (folder / "result.py").write_text(LAST_WINS)
    result = importlib.import_module("result")
    monkeypatch.setitem(sys.modules, "result", result)
    write_nim(folder / "nim.py")
    (folder / "result.py").write_text(LAST_LOSES)
    assert first_wins("nim.py:Nim(heap=4)") and result.last_mover(1) == 1


@pytest.mark.parametrize("is_package", [True, False])
def test_the_program_still_imports_its_own_package(uncompiled, folder, monkeypatch, is_package):
    (folder / "project").mkdir()
    if is_package:
        (folder / "project" / "__init__.py").write_text("")
    for name, text in (("helpers", LAST_WINS), ("more", "NAME = 'more'\n")):
        (folder / "project" / f"{name}.py").write_text(text)
    write_nim(folder / "project" / "nim.py", "from project.helpers import last_mover")
    monkeypatch.syspath_prepend(folder)
    assert not first_wins("project/nim.py:Nim(heap=4)")
    assert importlib.import_module("project.more").NAME == "more"
    for name in [each for each in sys.modules if each.partition(".")[0] == "project"]:
        del sys.modules[name]


@pytest.mark.slow
def test_modules_of_one_name_are_kept_apart_on_disk(folder):
    write_both(folder)
    assert [play(folder, f"{each}/nim.py:Nim") for each in ("wins", "loses", "wins")] == [[1], [-1], [1]]


def test_a_module_may_be_imported_late(uncompiled, folder):
    """By a method. An edit takes effect when the game is made again."""
    lazy = "action_to_text(game, state, action):\n        import lazy.texts\n        return lazy.texts.NAME"
    (folder / "lazy").mkdir()
    write_file(folder / "nim.py", NIM, added(lazy))
    for text in ("one", "other"):
        (folder / "lazy" / "texts.py").write_text(f"NAME = {text!r}\n")
        game = make_game("nim.py:Nim")
        (folder / "lazy" / "texts.py").write_text("NAME = 'later'\n")
        assert first_text(game) == text


def test_a_module_that_failed_is_run_anew(uncompiled, folder, monkeypatch):
    write_nim(folder / "nim.py")
    (folder / "result.py").write_text(f"from between import NUMBER\n{LAST_WINS}\nint(NUMBER)\n")
    (folder / "between.py").write_text("import os\nNUMBER = os.environ.get('AZERO_TEST')\n")
    with pytest.raises(BadInput, match="NoneType"):
        make_game("nim.py:Nim")
    monkeypatch.setenv("AZERO_TEST", "1")
    assert not first_wins("nim.py:Nim(heap=4)")
    assert [each.NUMBER for name, each in sys.modules.items() if name == "between"] == ["1"]


def test_an_edit_of_a_module_is_noticed_in_the_same_process(folder):
    write_nim(folder / "nim.py")
    results = []
    for text in (LAST_WINS, LAST_LOSES, LAST_WINS):
        (folder / "result.py").write_text(text)
        results.append(first_wins("nim.py:Nim(heap=4)"))
    assert results == [False, True, False]


@pytest.mark.thorough
def test_an_edit_of_a_module_is_noticed_in_a_new_process(folder):
    """The game's own file does not change, and the module keeps its size."""
    write_nim(folder / "nim.py")
    assert len(LAST_WINS) == len(LAST_LOSES)
    (folder / "result.py").write_text(LAST_WINS)
    assert play(folder, "nim.py:Nim") == [1]
    compiled = kernels(folder)
    (folder / "result.py").write_text(LAST_LOSES)
    assert play(folder, "nim.py:Nim") == [-1]
    (folder / "result.py").write_text(LAST_WINS)
    added = kernels(folder)
    assert play(folder, "nim.py:Nim") == [1]
    assert kernels(folder) == added and compiled.items() <= added.items()
    assert bool(added) == IS_COMPILED


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("imports", "call", "place"),
    [
        ("import result", "result.last_mover", "result.py"),
        ("from rules import last_mover", "last_mover", "rules/__init__.py"),
        ("import rules.ends", "rules.ends.last_mover", "rules/ends.py"),
        ("from rules import ends", "ends.last_mover", "rules/ends.py"),
        ("from rules.ends import last_mover as won", "won", "rules/ends.py"),
        ("import json, rules.ends as won", "won.last_mover", "rules/ends.py"),
        ("import plain.ends, json", "plain.ends.last_mover", "plain/ends.py"),
        ("from plain import ends", "ends.last_mover", "plain/ends.py"),
        ("from between import last_mover", "last_mover", "result.py"),
        ("from around import last_mover", "last_mover", "around/within/ends.py"),
    ],
)
def test_modules_are_found_however_they_are_imported(uncompiled, folder, imports, call, place):
    for package in ("around", "around/within", "plain", "rules"):
        (folder / package).mkdir()
    (folder / "around" / "__init__.py").write_text("from .within.ends import last_mover\n")
    (folder / "between.py").write_text("import between\nfrom result import last_mover\n")
    write_nim(folder / "nim.py", imports, call)
    digests = set()
    for text, is_won in ((LAST_WINS, False), (LAST_LOSES, True)):
        (folder / place).write_text(text)
        assert first_wins("nim.py:Nim(heap=4)") == is_won
        digests.add(Sources("nim.py").digest)
    assert len(digests) == 2


def test_what_is_not_the_user_s_is_not_followed(folder, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # recognised before anything imports it
    imports = "import json, torch, numba.core\nimport azero.games.hex.rules\nfrom . import nothing\nfrom .. import more"
    for name in ("json.py", "torch.py"):
        (folder / name).write_text("")
    path = write_nim(folder / "nim.py", imports)
    assert Sources("nim.py").modules == {} and Sources("nim.py").text == path.read_bytes()


def test_modules_elsewhere_on_the_path_are_followed_too(uncompiled, folder, monkeypatch):
    for name in ("elsewhere", "site-packages"):
        (folder / name).mkdir()
        monkeypatch.syspath_prepend(folder / name)
    (folder / "site-packages" / "result_installed.py").write_text(LAST_WINS)
    (folder / "elsewhere" / "result_elsewhere.py").write_text(LAST_WINS)
    write_nim(folder / "nim.py", "import result_installed\nfrom result_elsewhere import last_mover")
    assert list(Sources("nim.py").modules) == ["result_elsewhere"]
    assert not first_wins("nim.py:Nim(heap=4)")


EDIT_ELSEWHERE = """
from pathlib import Path
from azero.games import make_game
for text in {texts!r}:
    Path("elsewhere/result.py").write_text(text)
    print(make_game("nim.py:Nim(heap=4)").state_from_moves("2 0").returns()[0])
"""


@pytest.mark.slow
def test_an_edit_of_a_module_elsewhere_is_noticed(folder):
    """In the same process, and in a new one that uses kernels of the first."""
    (folder / "elsewhere").mkdir()
    write_nim(folder / "nim.py")
    for texts in ([LAST_WINS, LAST_LOSES], [LAST_LOSES], [LAST_WINS]):
        results = printed(folder, EDIT_ELSEWHERE.format(texts=texts), folder / "elsewhere")
        assert results == [-1 if text == LAST_WINS else 1 for text in texts]


def test_the_digest_knows_no_places_but_names(folder):
    (folder / "sub").mkdir()
    for each in (folder, folder / "sub"):
        write_nim(each / "nim.py")
        (each / "result.py").write_text(LAST_WINS)
    assert Sources("nim.py").digest == Sources("sub/nim.py").digest
    (folder / "result.py").rename("other.py")
    assert Sources("nim.py").digest != Sources("sub/nim.py").digest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "game file 'nim.py', line 6: ModuleNotFoundError: No module named 'result'"),
        ("def last_mover(", "game file 'nim.py', line 6: SyntaxError: '(' was never closed (result.py, line 1)"),
        ("1 / 0", "game file 'nim.py', line 6: ZeroDivisionError: division by zero"),
        (
            "import result.no",
            "game file 'nim.py', line 6: ModuleNotFoundError: No module named 'result.no'; 'result' is not a package",
        ),
    ],
)
def test_what_is_wrong_with_a_module_is_told_in_one_line(folder, text, message):
    write_nim(folder / "nim.py")
    if text is not None:
        (folder / "result.py").write_text(text)
    with pytest.raises(BadInput) as error:
        make_game("nim.py:Nim")
    assert str(error.value) == message


def test_a_game_written_in_a_module_is_told_by_the_module_s_name(folder):
    (folder / "rules").mkdir()
    write_file(folder / "rules" / "heaps.py", NIM)
    (folder / "nim.py").write_text("from rules.heaps import Nim\n")
    with pytest.raises(BadInput, match="nim.py:Nim is imported from rules.heaps; name the file that has it$"):
        make_game("nim.py:Nim")
