"""Tests of the cache on disk: a damaged entry counts as a missing one; a cache that others can write is refused."""

import hashlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from cases import long

from azero.compiler.jit import IS_COMPILED
from azero.system.files import PACKAGE

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")]

PROGRAM = """
import sys
from azero.compiler.jit import kernel
@kernel
def triple(number):
    return 3 * number
print(triple(5), sum(triple.by_numba._cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a program with a kernel; it returns whether the kernel came from the cache."""
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}

    def run_program() -> bool:
        command = [sys.executable, str(tmp_path / "program.py")]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=100, text=True)
        assert done.returncode == 0, done.stderr
        result, hits = done.stdout.split()
        assert result == "15" and done.stderr == ""
        return hits == "1"

    return run_program


def entries(folder: Path, suffix: str) -> list[Path]:
    return [path for path in (folder / "cache").rglob(f"*{suffix}") if "program" in path.name]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".nbi", "garbage"),
        (".nbc", "cut"),
        *long(*((".nbi", damage) for damage in ("cut", "empty", "flipped"))),
        *long(*((".nbc", damage) for damage in ("empty", "flipped", "garbage"))),
    ],
)
def test_a_damaged_entry_is_compiled_again(run, tmp_path, suffix, damage):
    assert (run(), run()) == (False, True)
    (path,) = entries(tmp_path, suffix)
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]
    path.write_bytes({"empty": b"", "cut": data[:middle], "garbage": b"\x00garbage" * 9, "flipped": flipped}[damage])
    assert (run(), run()) == (False, True)


CLASSES = """
from typing import NamedTuple
from azero.compiler.jit import kernel
@kernel
def times(strategy, number):
    return strategy[0] * number
class Two(NamedTuple):
    two: int = 2
first = times(Two(), 5), sum(times.by_numba._cache_hits.values())
class Three(NamedTuple):
    three: int = 3
print(*first, times(Three(), 5), sum(times.by_numba._cache_hits.values()))
"""


def test_classes_of_one_file_are_defined_one_after_the_other(tmp_path):
    """Also if the file becomes a module of another name: the cache must not need what is not, or no longer, there."""
    (tmp_path / "package").mkdir()
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": f"{PACKAGE.parent}{os.pathsep}{tmp_path}"}

    def output(statement: str) -> str:
        command = [sys.executable, "-c", statement]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=100, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tmp_path / "strategies.py").write_text(CLASSES)
    assert output("import strategies") == "10 0 15 0\n"
    assert output("import strategies") == "10 1 15 2\n"
    (tmp_path / "strategies.py").rename(tmp_path / "package" / "strategies.py")
    assert output("import package.strategies").startswith("10 0 15")


def test_an_entry_whose_class_is_gone_counts_as_missing(run, tmp_path):
    assert (run(), run()) == (False, True)
    (path,) = entries(tmp_path, ".nbi")
    gone = pickle.dumps(os.getcwd).replace(b"getcwd", b"gotcwd")
    path.write_bytes(hashlib.sha256(gone).digest() + gone)
    assert (run(), run()) == (False, True)


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows gives each user a folder of his own")
def test_a_cache_that_others_can_write_is_refused(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    command = [sys.executable, "-c", "import azero.cli; azero.cli.main()", "games"]

    def refusal() -> str:
        settings = {"AZERO_CACHE_DIR": str(cache), "PYTHONPATH": str(PACKAGE.parent)}
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=100, text=True)
        assert (done.returncode, done.stdout) == (2, "") or done.stderr == ""
        return done.stderr

    cache.chmod(0o777)
    assert f"compiled kernels are not read from {str(cache)!r}, because other users can write there" in refusal()
    cache.chmod(0o1777)  # as /tmp: others can add folders, but not replace this one
    assert refusal() == ""
    (own,) = cache.iterdir()
    own.chmod(0o707)
    assert f"compiled kernels are not read from {str(own)!r}" in refusal()
    own.chmod(0o700)
    if os.getuid() == 0:
        os.chown(own, 1234, 1234)
        assert f"compiled kernels are not read from {str(own)!r}" in refusal()
