"""Tests of compilation: methods by class, a disk cache that notices every edit, equal results compiled or not."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import azero
import azero.compiler.jit
from azero.compiler.cache import _digest_of_place, cache_root, digest_of_sources
from azero.compiler.jit import IS_COMPILED, bind_methods, kernel, strategies_compiled, subroutine
from azero.errors import BadInput

PACKAGE = Path(azero.__file__).parent

bind_methods(twice_plus=("addend",), first_of_all=())


class Nine(NamedTuple):
    """A class with two methods. One calls the other."""

    x: int = 9

    def first_of_all(rules):
        return rules.x

    def twice_plus(rules, addend):
        return 2 * rules.first_of_all() + addend


class Minus(NamedTuple):
    """A class with the same fields and method names, but other code."""

    x: int = 9

    def first_of_all(rules):
        return -rules.x

    def twice_plus(rules, addend):
        return rules.first_of_all() - addend


@kernel
def _twice_plus(rules, addend):
    return rules.twice_plus(addend)


def test_a_method_is_that_of_the_argument_s_class():
    assert [_twice_plus(Nine(), 1), _twice_plus(Minus(), 1), _twice_plus(Nine(4), 1)] == [19, -10, 9]


@subroutine
def _tripled(number):
    return 3 * number


@subroutine
def _tripled_and_one(number):
    return _tripled(number) + 1


@kernel
def _inner(number):
    return _tripled_and_one(number)


@kernel
def _outer(number):
    return _inner(number) + _tripled_and_one(number)


def test_a_kernel_calls_another_and_a_part_of_it():
    """Libraries must be linked callers first. Otherwise the linker omits symbols that nothing references yet."""
    assert (_inner(2), _outer(2)) == (7, 14)


@subroutine
def _flipped(mask):
    return ~mask, mask


def test_what_a_subroutine_returns_as_uint64_can_be_handed_to_the_next():
    mask = _flipped(np.uint64(1))[0]
    assert isinstance(mask, np.uint64) and mask == 2**64 - 2
    assert _flipped(mask) == (1, mask) == _flipped(mask=mask)


def test_a_subroutine_called_with_other_types_returns_others():
    assert [_flipped(np.uint64(1))[0], _flipped(1)[0], _flipped(np.uint64(1))[0]] == [2**64 - 2, -2, 2**64 - 2]
    assert isinstance(_flipped(np.uint64(5))[1], np.uint64) and isinstance(_flipped(5)[1], int)


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_missing_method_is_an_error_that_names_it():
    class Bare(NamedTuple):
        x: int = 1

    with pytest.raises(Exception, match="twice_plus"):
        _twice_plus(Bare(), 1)


def test_a_kernel_of_a_type_is_compiled_once_for_all_its_sizes():
    if IS_COMPILED:
        assert _twice_plus(Nine(1), 1) == 3 and _twice_plus(Nine(2), 1) == 5
        assert len([each for each in _twice_plus.by_numba.signatures if "Nine" in str(each)]) == 1


def test_cache_root_is_the_chosen_folder_or_the_user_s(monkeypatch, tmp_path):
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path / "own"))
    assert cache_root() == tmp_path / "own"
    monkeypatch.delenv("AZERO_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_root() == tmp_path / "xdg" / "azero"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_root() == tmp_path / ".cache" / "azero"


def test_digest_knows_every_source_that_kernels_contain(tmp_path):
    rooms = ("compiler", "exact", "games", "games/hex", "mcts", "mcts/search", "selfplay", "selfplay/data")
    for path in ("errors.py", "authoring/__init__.py", *(f"{room}/rules.py" for room in rooms)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    digest = digest_of_sources.__wrapped__
    digests = [digest(tmp_path)]
    assert digest(tmp_path) == digests[0]
    for path in sorted(tmp_path.rglob("*.py")):
        path.write_text("x = 2\n")
        digests.append(digest(tmp_path))
    (tmp_path / "games" / "c.py").write_text("")
    digests.append(digest(tmp_path))
    (tmp_path / "games" / "c.py").rename(tmp_path / "mcts" / "c.py")
    digests.append(digest(tmp_path))
    assert len(set(digests)) == len(digests) == 13
    (tmp_path / "interrupt.py").write_text("")  # never compiled
    assert digest(tmp_path) == digests[-1]


PLAY = """
from azero.games import make_game
state = make_game("tic_tac_toe").state_from_moves("a1 b1 a2 b2 a3")
print(state.returns(), state.hash_key())
"""


def run_python(code: str, folder: Path, **environment: str) -> str:
    """Returns what `code` prints in a new process that imports from `folder`."""
    settings = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=folder, env=os.environ | settings, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


FOREIGN = """
import numba
import numpy as np

@numba.njit
def ones(size):
    return np.ones(size).sum()

ones(1)
import azero
import azero.compiler.jit

@numba.njit
def more(size):
    return ones(size) + np.ones(2).sum()

print(more(3))
"""


@pytest.mark.thorough
def test_kernels_of_others_that_were_compiled_before_may_be_called_from_new_ones(tmp_path):
    assert run_python(FOREIGN, PACKAGE.parent, AZERO_CACHE_DIR=str(tmp_path)) == "5.0\n"


def copy_package(folder: Path) -> Path:
    """Copies the part of the package that games need into `folder`; returns the path of the copy."""
    package = folder / "azero"
    for name in ("compiler", "games", "system"):
        shutil.copytree(PACKAGE / name, package / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(PACKAGE / "errors.py", package)
    (package / "__init__.py").touch()
    return package


def edit(path: Path, old: str, new: str) -> None:
    """Replaces `old` by a text of the same length, so that the file's size does not change."""
    text = path.read_text()
    assert text.count(old) == 1 and len(old) == len(new)
    path.write_text(text.replace(old, new))


USE_CACHE = "from azero.compiler.cache import cache_directory; cache_directory()"

USE_BAD_CACHE = """
import sys
sys.stderr = sys.stdout
from azero.compiler.cache import cache_directory, cache_root
from pathlib import Path
assert cache_directory().is_dir() and cache_directory().parent == cache_root()
Path({path!r}).write_text(str(cache_root()))
"""


@pytest.fixture
def old_caches(tmp_path) -> Path:
    """Returns a folder with caches 0 (the newest) to 11; those from 5 on are unused for eight days."""
    cache = tmp_path / "cache"
    for age in range(12):
        folder = cache / f"kernels-{age:02}"
        folder.mkdir(parents=True)
        (folder / "kernel.nbc").touch()
        used = time.time() - 60 * (age + 1) - (8 * 24 * 3600 if age >= 5 else 0)
        os.utime(folder, (used, used))
    (cache / "another's").mkdir()
    return cache


def caches(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("kernels-*")}


def files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_cache_is_hit_by_unchanged_sources_and_missed_by_edited_ones(tmp_path):
    package, cache = copy_package(tmp_path), tmp_path / "cache"

    def play() -> tuple[str, str]:
        returns, _, key = run_python(PLAY, tmp_path, AZERO_CACHE_DIR=str(cache)).strip().rpartition(" ")
        return returns, key

    sources = files(package)
    won, key = play()
    compiled = files(cache)
    assert won == "[1.0, -1.0]" and len(compiled) > 0 and len(caches(cache)) == 1

    assert play() == (won, key)
    assert files(cache) == compiled, "the second process should not compile"
    assert files(package) == sources, "the cache should not be beside the sources"

    edit(
        package / "games" / "tic_tac_toe" / "rules.py",
        "return WIN if state.ply & 1 else LOSS",
        "return LOSS if state.ply & 1 else WIN",
    )
    assert play() == ("[-1.0, 1.0]", key)

    edit(package / "compiler" / "rng.py", "word >> 27", "word >> 26")
    lost, other_key = play()
    assert lost == "[-1.0, 1.0]" and other_key != key
    assert len(caches(cache)) == 3
    assert {path: time_ns for path, time_ns in files(cache).items() if path in compiled} == compiled


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_rules_that_are_edited_after_their_import_are_not_kept_as_the_new_ones(tmp_path):
    package, settings = copy_package(tmp_path), {"AZERO_CACHE_DIR": str(tmp_path / "cache")}
    begin, edited = PLAY.split("state =", 1), "return LOSS if state.ply & 1 else WIN"
    edit_rules = f"""
from pathlib import Path
rules = Path({str(package / "games" / "tic_tac_toe" / "rules.py")!r})
rules.write_text(rules.read_text().replace("return WIN if state.ply & 1 else LOSS", {edited!r}))
"""
    old = run_python(f"{begin[0]}make_game('tic_tac_toe'){edit_rules}state ={begin[1]}", tmp_path, **settings)
    new = run_python(PLAY, tmp_path, **settings)
    assert old.startswith("[1.0, -1.0]") and new.startswith("[-1.0, 1.0]")


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_old_caches_are_removed(old_caches):
    run_python(USE_CACHE, PACKAGE.parent, AZERO_CACHE_DIR=str(old_caches))
    assert caches(old_caches) == {f"kernels-{age:02}" for age in range(5)} | {f"kernels-{_digest_of_place()}"}
    assert (old_caches / "another's").exists()


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is cached")
def test_only_the_newest_caches_are_kept(old_caches):
    for age in range(12):
        used = time.time() - 60 * (age + 1)
        os.utime(old_caches / f"kernels-{age:02}", (used, used))
    run_python(USE_CACHE, PACKAGE.parent, AZERO_CACHE_DIR=str(old_caches))
    assert caches(old_caches) == {f"kernels-{age:02}" for age in range(8)} | {f"kernels-{_digest_of_place()}"}


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/azero"])
def test_a_cache_that_cannot_be_kept_is_a_temporary_one(place, tmp_path):
    (tmp_path / "file").touch()
    script = USE_BAD_CACHE.format(path=str(tmp_path / "used"))
    told = run_python(script, PACKAGE.parent, AZERO_CACHE_DIR=str(tmp_path / place))
    assert told.startswith(f"azero: warning: compiled kernels cannot be kept in {str(tmp_path / place)!r}: ")
    assert told.count("\n") == 1 and told.endswith("; set AZERO_CACHE_DIR to a folder that can be written\n")
    assert not Path((tmp_path / "used").read_text()).exists()


def test_the_compiler_s_advice_is_kept_to_itself():
    warn = "import azero.compiler.jit, azero.compiler.by_numba, warnings; from numba.core.errors import NumbaWarning"
    warn += "\nwarnings.warn('', NumbaWarning)"
    assert run_python(warn, PACKAGE.parent) == ""


FIRST_USE = """
import numpy as np
from azero.compiler.jit import kernel
@kernel
def add(numbers):
    return numbers[0] + numbers[1]
add(np.ones(2)), add(np.ones(2, np.int64))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED or os.name != "posix", reason="nothing is compiled, or there is no such terminal")
def test_compiling_is_told_once_on_a_terminal_and_where_nothing_was_compiled_before(tmp_path):
    (tmp_path / "first_use.py").write_text(FIRST_USE)
    command = [sys.executable, str(tmp_path / "first_use.py")]
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}

    def told():
        reader, terminal = os.openpty()
        subprocess.run(command, env=os.environ | settings, stderr=terminal, check=True, timeout=300)
        os.set_blocking(reader, False)
        os.write(terminal, b".")  # so that there is something to read
        text = os.read(reader, 10_000).decode()
        os.close(terminal), os.close(reader)
        return text.count("azero: compiling kernels")

    assert (told(), told()) == (1, 0)


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
@pytest.mark.parametrize(("patience_s", "times"), [(0, 1), (1000, 0)])
def test_where_there_is_no_terminal_compiling_is_told_if_it_takes_long(tmp_path, patience_s, times):
    begin = f"from azero.compiler import notice\nnotice.PATIENCE_S = {patience_s}\n"
    (tmp_path / "first_use.py").write_text(begin + FIRST_USE)
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, str(tmp_path / "first_use.py")]
    for expected in (times, 0):
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=300, text=True)
        assert done.stdout == "" and done.stderr.count("azero: compiling kernels") == expected
        assert len(done.stderr.splitlines()) == expected


IN_A_WORKER = """
import multiprocessing
import numpy as np
from azero.compiler import notice
from azero.compiler.jit import kernel
notice.PATIENCE_S = 0
@kernel
def add(numbers):
    return numbers[0] + numbers[1]
def work():
    print(add(np.ones(2)))
if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=work)
    worker.start()
    worker.join()
"""


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_workers_print_no_notice(tmp_path):
    (tmp_path / "first_use.py").write_text(IN_A_WORKER)
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, str(tmp_path / "first_use.py")]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=300, text=True)
    assert (done.stdout, done.stderr) == ("2.0\n", "")


LENGTHS = """
import sys

import numpy as np

from azero.compiler.jit import kernel


@kernel
def stir(state):
    for i in range(len(state.cells)):  # enough to be called, by its symbol, and not inlined
        for j in range(len(state.cells)):
            state.cells[i] += state.cells[j] // (1 + j) + state.cells[j] % (2 + i)
            state.cells[j] -= state.cells[i] // (3 + i) - state.cells[i] % (4 + j)
    return len(state.cells)


@kernel
def length(state):
    return (stir(state) + stir(state)) // 2


for size in map(int, sys.argv[1:]):
    print(length(np.zeros(1, [("cells", np.int8, (size,))])[0]))
"""


@pytest.mark.thorough
@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_what_two_processes_compiled_is_told_apart_by_a_third(tmp_path):
    (tmp_path / "lengths.py").write_text(LENGTHS)
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}
    for sizes in (["3"], ["5"], ["3", "5"]):
        command = [sys.executable, str(tmp_path / "lengths.py"), *sizes]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=300, text=True)
        assert done.stdout.split() == sizes, done.stderr


PLAY_AT_RANDOM = """
import random, zlib
from azero.games import make_game
chooser = random.Random(1)
for name in ("tic_tac_toe", "connect_four", "connect_four(rows=8,columns=4)"):
    for _ in range(5):
        state = make_game(name).new_initial_state()
        while not state.is_terminal():
            state.apply_action(chooser.choice(state.legal_actions()))
            planes = zlib.crc32(state.planes().tobytes())
            print(state.record, state.legal_actions(), state.returns(), state.hash_key(), planes)
"""


@pytest.mark.thorough
def test_games_are_the_same_compiled_and_not():
    here, there = (run_python(PLAY_AT_RANDOM, PACKAGE.parent, NUMBA_DISABLE_JIT=disable) for disable in ("0", "1"))
    assert len(here.splitlines()) > 100
    assert here == there


def test_a_reason_is_found_in_a_coloured_message():
    """With colorama installed, Numba colours its messages."""
    resolving = (
        "\x1b[0m\x1b[1mDuring: resolving callee type: BoundFunction((<class 'X'>, 'score') for Slip(float64 x 1))"
    )
    coloured = f"Failed\n  \x1b[1m\x1b[1mNameError: name 'nonsense' is not defined\x1b[0m\n{resolving}\x1b[0m"
    with (
        pytest.raises(BadInput, match=r"^Slip\.score cannot be compiled: NameError: name 'nonsense' is not defined$"),
        strategies_compiled(),
    ):
        raise numba.core.errors.TypingError(coloured)
