"""Tests of metrics.jsonl: its lines, and incomplete lines."""

import pytest

from azero.errors import BadInput
from azero.runs.metrics import mend_metrics, read_metrics, write_metrics

FIRST, SECOND = {"iteration": 1, "loss": 0.9}, {"iteration": 2, "loss": 0.75}


@pytest.fixture
def path(tmp_path):
    """A file with two lines."""
    path = tmp_path / "metrics.jsonl"
    write_metrics(path, FIRST)
    write_metrics(path, SECOND)
    return path


def test_they_are_a_line_an_iteration_rewritten_not_repeated(path):
    assert read_metrics(path.with_name("none")) == []
    write_metrics(path, {"iteration": 3, "loss": 0.7})
    write_metrics(path, SECOND)
    assert read_metrics(path) == [FIRST, SECOND] and path.read_bytes().count(b"\n") == 2


@pytest.mark.parametrize("size", [1, 5, -3, -2])
def test_a_last_line_that_was_cut_short_is_dropped_and_told(path, capsys, size):
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + second[:size])
    mend_metrics(path)
    assert path.read_bytes() == first
    assert capsys.readouterr().err == f"azero: line 2 of {str(path)!r}, the last, was cut short, and is dropped\n"
    mend_metrics(path)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
def test_whole_lines_stay_however_the_file_ends(path, capsys, end):
    path.write_text(path.read_text().rstrip() + end)
    mend_metrics(path)
    assert read_metrics(path) == [FIRST, SECOND] and capsys.readouterr().err == ""


def test_there_is_nothing_to_mend_where_there_is_no_file(tmp_path):
    mend_metrics(tmp_path / "none")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    "broken", [b"", b'{"iteration": 2, "lo', b"3", b"{}", b'{"iteration": null}', b"\xff", b"[" * 9999]
)
def test_other_broken_lines_are_named(path, broken):
    first, second = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([first, broken, second]))
    for read in (read_metrics, mend_metrics):
        with pytest.raises(BadInput, match=r"^line 2 of '.*metrics.jsonl' is broken; "):
            read(path)
