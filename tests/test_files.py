"""Tests of atomic writes, with all kinds of interruptions, and of locked folders."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time

import pytest

import azero.system.files
from azero.errors import BadInput
from azero.system.files import DISK, LOCK, PACKAGE, append, held, remove_temporaries, write_whole


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_written_and_replaced(tmp_path):
    path = tmp_path / "file.bin"
    for data in (b"old", b"", b"new" * 100_000):
        write_whole(path, data)
        assert path.read_bytes() == data and names(tmp_path) == ["file.bin"]


def test_links_at_places_of_temporaries_lead_nowhere(tmp_path, monkeypatch):
    (tmp_path / "victim").write_bytes(b"whole")
    monkeypatch.setattr(azero.system.files.secrets, "token_hex", lambda count: "foreseen")
    (tmp_path / ".file.foreseen.tmp").symlink_to(tmp_path / "victim")
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "file", b"data")
    assert (tmp_path / "victim").read_bytes() == b"whole"


def test_folders_are_made(tmp_path):
    write_whole(tmp_path / "a" / "b" / "file", b"data")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"data"


class Full:
    """A file on a disk that is full after half of the data."""

    def __init__(self, file):
        self._file = file

    def __getattr__(self, name):
        return getattr(self._file, name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._file.close()

    def write(self, data):
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        raise OSError(28, "No space left on device")


@pytest.mark.parametrize("error", [OSError("broken"), KeyboardInterrupt(), SystemExit(1)])
@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("is_new", [True, False])
def test_a_failure_on_the_way_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, step, error, is_new):
    path = tmp_path / "file"
    if not is_new:
        write_whole(path, b"old")

    def fail(*arguments):
        raise error

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_whole(path, b"new")
    assert names(tmp_path) == ([] if is_new else ["file"])
    assert is_new or path.read_bytes() == b"old"


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")
    monkeypatch.setattr("builtins.open", lambda *arguments, open=open: Full(open(*arguments)))
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new" * 1000)
    monkeypatch.undo()
    assert path.read_bytes() == b"old" and names(tmp_path) == ["file"]


WRITES_TOO_MUCH = """
import resource, sys
from pathlib import Path
from azero.system.files import append
path = Path(sys.argv[1])
append(path, b"a" * 50)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
try:
    append(path, b"b" * 150)
except OSError as error:
    print(error.strerror)
print(len(path.read_bytes()))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no limit on the size of a file")
def test_what_is_added_in_part_is_an_error_and_is_taken_back(tmp_path):
    command = [sys.executable, "-c", WRITES_TOO_MUCH, str(tmp_path / "file")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)})
    assert (done.stdout, done.stderr) == ("File too large\n50\n", "")


def test_what_another_process_has_added_stays(tmp_path, monkeypatch):
    path = tmp_path / "file"
    append(path, b"first\n")

    def write(file, data):
        with open(path, "ab") as other:
            other.write(b"other\n")
        file.write(data[:3])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(DISK, "write", write)
    with pytest.raises(OSError, match="No space"):
        append(path, b"second\n")
    assert path.read_bytes() == b"first\nother\nsec"


def test_the_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    """The data is flushed, the file is renamed, and the folder is flushed. The old file exists until the rename."""
    steps, path = [], tmp_path / "file"
    write_whole(path, b"old")
    fsync, replace = os.fsync, os.replace

    def note_fsync(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        steps.append(("fsync", kind, path.read_bytes()))
        fsync(descriptor)

    def note_replace(source, target):
        assert os.stat(source).st_size == 3
        steps.append(("replace", os.path.basename(target), path.read_bytes()))
        replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "replace", note_replace)
    write_whole(path, b"new")
    assert steps == [("fsync", "file", b"old"), ("replace", "file", b"old"), ("fsync", "folder", b"new")]


WRITE_FOREVER = """
import sys
from pathlib import Path
from azero.system.files import write_whole
while True:
    for byte in (b"a", b"b"):
        write_whole(Path(sys.argv[1]), byte * 1_000_000)
        print(flush=True)
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "file"
    for delay_s in (0.0, 0.003, 0.01):
        command = [sys.executable, "-c", WRITE_FOREVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(delay_s)
            process.send_signal(signal.SIGKILL)
        assert path.read_bytes() in (b"a" * 1_000_000, b"b" * 1_000_000)
    remove_temporaries(tmp_path)
    assert names(tmp_path) == ["file"]


def test_temporaries_are_removed_and_nothing_else(tmp_path):
    (tmp_path / "folder").mkdir()
    kept = ["file", ".hidden", "notes.tmp", "folder"]
    for name in [".file.12.tmp", "folder/.net.safetensors.7.tmp", *kept[:3], "folder/file.tmp"]:
        (tmp_path / name).touch()
    remove_temporaries(tmp_path)
    assert names(tmp_path) == sorted(kept) and names(tmp_path / "folder") == ["file.tmp"]


HOLD_FOREVER = """
import sys, time
from pathlib import Path
from azero.system.files import held
with held(Path(sys.argv[1]), "busy"):
    print(flush=True)
    time.sleep(600)
"""


def test_a_held_folder_is_refused_to_others_until_its_process_is_killed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD_FOREVER, str(tmp_path)], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        with pytest.raises(BadInput, match="^busy$"), held(tmp_path, "busy"):
            pass
        process.kill()
    assert names(tmp_path) == [LOCK], "the file that is left should lock nothing"
    with held(tmp_path, "busy"):
        pass
    assert names(tmp_path) == []


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_folder_is_let_go_after_an_error(tmp_path, error):
    for _ in range(2):
        with pytest.raises(error), held(tmp_path, "busy"):
            assert names(tmp_path) == [LOCK]
            raise error
        assert names(tmp_path) == []


def test_a_lock_may_nest_where_it_is_asked_to(tmp_path):
    with held(tmp_path, "busy", may_nest=True):
        with held(tmp_path, "busy", may_nest=True):
            assert names(tmp_path) == [".lock"]
        assert names(tmp_path) == [".lock"]
    assert names(tmp_path) == []
    with held(tmp_path, "busy"), pytest.raises(BadInput, match="busy"), held(tmp_path, "busy"):
        pass
