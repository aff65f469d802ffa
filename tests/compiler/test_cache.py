"""Tests of the cache on disk: what is damaged or edited is compiled again; what cannot be written stops nothing."""

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cases import long

from azero.compiler.jit import IS_COMPILED
from azero.compiler.kernel_cache import _Files
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


WARNING = "azero: warning: compiled kernels cannot be kept in "


@pytest.fixture
def run(tmp_path):
    """Returns a function that runs a program with a kernel; it returns whether the kernel came from the cache."""
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}

    def run_program(warns_of: str = "", prepare: Callable[[], object] | None = None) -> bool:
        command = [sys.executable, str(tmp_path / "program.py")]
        done = subprocess.run(
            command, env=os.environ | settings, capture_output=True, timeout=100, text=True, preexec_fn=prepare
        )
        assert done.returncode == 0, done.stderr
        result, hits = done.stdout.split()
        assert result == "15"
        if warns_of:
            assert done.stderr.count("\n") == 1 and done.stderr.startswith(WARNING) and warns_of in done.stderr
        else:
            assert done.stderr == ""
        return hits == "1"

    return run_program


def entry(folder: Path) -> Path:
    """Returns the file of the kernel."""
    (path,) = (folder / "cache").rglob("program*.nbc")
    return path


@pytest.mark.thorough
@pytest.mark.parametrize("damage", ["cut", *long("empty", "flipped", "garbage")])
def test_a_damaged_entry_is_compiled_again(run, tmp_path, damage):
    assert (run(), run()) == (False, True)
    path = entry(tmp_path)
    data = path.read_bytes()
    middle = len(data) // 2
    flipped = data[:middle] + bytes([data[middle] ^ 16]) + data[middle + 1 :]
    path.write_bytes({"empty": b"", "cut": data[:middle], "garbage": b"\x00garbage" * 9, "flipped": flipped}[damage])
    assert (run(), run()) == (False, True)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_full_disk_is_told_once_and_stops_nothing(run):
    import resource

    assert not run("File too large", lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
    assert (run(), run()) == (False, True)


def test_where_there_is_no_folder_nothing_is_kept_beside_the_sources(run, tmp_path):
    """Numba would, and does not see there when rules in other files are edited."""
    run()
    folder = entry(tmp_path).parent
    shutil.rmtree(folder)
    folder.touch()
    before = set(tmp_path.rglob("*"))
    assert not run("File exists")
    assert set(tmp_path.rglob("*")) == before


class Key:
    """A key of the cache that does something when it is written."""

    def __init__(self, name: str, work: Callable[[], object] = lambda: None):
        self.name, self.work = name, work

    def __repr__(self):
        return self.name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)

    def __reduce__(self):
        self.work()
        return Key, (self.name,)


def test_two_processes_that_write_at_the_same_time_do_not_take_each_other_s_places(tmp_path):
    one, other = (_Files(str(tmp_path), "advance", "stamp") for _ in range(2))
    one.save(Key("go", lambda: other.save(Key("hex"), "code of hex")), "code of go")
    assert [each.load(Key(name)) for each in (one, other) for name in ("go", "hex")] == 2 * [
        "code of go",
        "code of hex",
    ]
    Path(one.path_of(Key("hex"))).write_bytes(Path(one.path_of(Key("go"))).read_bytes())
    assert one.load(Key("hex")) is None, "the file has the code of another key"


KERNEL = """
from azero.compiler.jit import bind_methods, kernel
bind_methods(factor=())
@kernel
def times(strategy, number):
    return strategy.factor() * number
"""

AROUND = """
from typing import NamedTuple
class Around(NamedTuple):
    inner: NamedTuple
    def factor(self):
        return 10 + self.inner.factor()
"""

INNER = """
from typing import NamedTuple
class Inner(NamedTuple):
    x: int = 0
    {digest}
    def factor(self):
        return {factor}
"""


def test_a_strategy_that_is_edited_is_compiled_again(tmp_path):
    """Also one within another, and one whose class has a digest of all its files."""
    settings = {"AZERO_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(PACKAGE.parent)}
    (tmp_path / "kernels.py").write_text(KERNEL)
    (tmp_path / "main.py").write_text(
        "from kernels import times\nfrom around import Around\nfrom inner import Inner\n"
        "print(times(Around(Inner()), 1), times((Inner(),)[0], 1), *times.by_numba._cache_hits.values())"
    )

    def output(factor: int, around: str = AROUND, digest: str = "") -> str:
        (tmp_path / "around.py").write_text(around)
        (tmp_path / "inner.py").write_text(INNER.format(factor=factor, digest=digest))
        command = [sys.executable, "-B", str(tmp_path / "main.py")]
        done = subprocess.run(command, env=os.environ | settings, capture_output=True, timeout=100, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert [output(2), output(2), output(3)] == ["12 2\n", "12 2 1 1\n", "13 3\n"]
    assert output(3, AROUND.replace("10", "20")) == "23 3 1\n"
    digests = [f"source_digest = {each!r}" for each in ("one", "two")]
    assert [output(3, AROUND, each) for each in digests] == ["13 3\n", "13 3\n"]


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
    path = entry(tmp_path)
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
