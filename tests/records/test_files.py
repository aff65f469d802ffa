"""Tests of files of records."""

import pytest

from azero.errors import BadInput
from azero.games import make_game
from azero.records import Record, files, read_records, save_records


def record_of(name="tic_tac_toe", moves="b2 a1"):
    game = make_game(name)
    return Record.of_game(game.new_initial_state(), game.state_from_moves(moves).history())


@pytest.mark.parametrize("file, name, moves", [("a.txt", "tic_tac_toe", "b2 a1"), ("a.SGF", "go(size=5)", "c3 a1")])
def test_records_are_added_to_a_file(tmp_path, file, name, moves):
    path = tmp_path / "new" / file
    save_records(path, [record_of(name, moves)])
    save_records(path, [record_of(name, ""), record_of(name, moves)])
    assert [len(each.actions()) for each in read_records(path)] == [2, 0, 2]


def test_a_file_of_something_else_is_kept(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("Chapter 1")
    with pytest.raises(BadInput, match="no record"):
        save_records(path, [record_of()])
    assert path.read_text() == "Chapter 1"
    with pytest.raises(BadInput, match="is a folder"):
        save_records(tmp_path, [record_of()])


def test_files_that_cannot_be_read(tmp_path, monkeypatch):
    with pytest.raises(BadInput, match="No such file"):
        list(read_records(tmp_path / "none.txt"))
    with pytest.raises(BadInput, match="cannot be read"):
        list(read_records(tmp_path))
    path = tmp_path / "a.txt"
    path.write_text("")
    with pytest.raises(BadInput, match="has no games"):
        list(read_records(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"a.txt, it is not a text file"):
        list(read_records(path))
    path.write_text('[Game "tic_tac_toe"] z9 *')
    with pytest.raises(BadInput, match=r"a.txt, line 1: move 1: 'z9'"):
        list(read_records(path))
    monkeypatch.setattr(files, "LARGEST", 10)
    with pytest.raises(BadInput, match="more than 10 bytes"):
        list(read_records(path))
