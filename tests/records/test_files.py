"""Tests of files of records."""

import pytest

from azero.errors import BadInput
from azero.games import make_game
from azero.records import Record, files, read_records, save_records
from azero.system import files as system_files


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


@pytest.mark.parametrize(
    "name, text",
    [
        ("a.txt", "[hello] this is an INI file\nx=1"),
        ("a.txt", '[Game "tic_tac_toe"]\n\nb2 {half a comm'),
        ("a.sgf", "(define x 1)"),
        ("a.sgf", "(;GM[1]SZ[9]C[half"),
    ],
)
def test_other_and_damaged_files_are_refused_and_kept(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput, match="no record of games or is cut short"):
        save_records(path, [record_of() if name == "a.txt" else record_of("go(size=5)", "c3")])
    assert path.read_text() == text


def test_a_link_and_its_permissions_stay(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    save_records(target, [record_of()])
    target.chmod(0o600)
    link.symlink_to(target)
    save_records(link, [record_of()])
    assert link.is_symlink() and len(list(read_records(target))) == 2
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    save_records(path, [record_of()])
    before = path.read_bytes()

    class Full(system_files.Disk):
        def write(self, file, data):
            file.write(data[: len(data) // 2])
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(system_files, "DISK", Full())
    with pytest.raises(OSError, match="No space left"):
        save_records(path, [record_of()])
    assert path.read_bytes() == before


def test_a_file_does_not_grow_beyond_what_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.txt"
    save_records(path, [record_of()])
    monkeypatch.setattr(files, "LARGEST", path.stat().st_size + 10)
    with pytest.raises(BadInput, match="name another file"):
        save_records(path, [record_of()])
    assert len(list(read_records(path))) == 1


def test_what_a_reader_would_not_understand_is_not_written(tmp_path):
    path = tmp_path / "a.txt"
    for name in ("White-Elo", "Position", ""):
        record = record_of()
        record.tags[name] = "1500"
        with pytest.raises(BadInput, match="tag"):
            save_records(path, [record])
    record = record_of()
    record.line()[0].mark = "e4"
    with pytest.raises(BadInput, match="mark 'e4'"):
        save_records(path, [record])
    save_records(path, [])
    assert not path.exists()


def test_the_past_of_a_start_is_kept_where_it_matters(tmp_path):
    game = make_game("go(size=5)")
    start = game.state_from_moves("c3 pass")
    record = Record.of_game(start, game.state_from_moves("a1", start).history()[2:])
    for name in ("a.txt", "a.sgf"):
        save_records(tmp_path / name, [record])
        (back,) = read_records(tmp_path / name)
        assert back.start == start and back.root == record.root


@pytest.mark.parametrize("begin", ["\ufeff", "; my games\n", "\n ; one\n; two\n", "; a note\n" * 1000])
def test_games_are_added_to_files_that_begin_with_notes(tmp_path, begin):
    path = tmp_path / "a.txt"
    path.write_text(begin + '[Game "tic_tac_toe"]\n\nb2 *\n')
    save_records(path, [record_of()])
    assert [len(each.actions()) for each in read_records(path)] == [1, 2]


def test_files_of_two_games_are_not_mixed(tmp_path):
    paths = [tmp_path / name for name in ("a.txt", "b.txt", "c.sgf")]
    save_records(paths[0], [record_of(), record_of()])
    save_records(paths[1], [record_of(), record_of("connect_four", "4 4")])
    paths[2].write_text("(;GM[1]SZ[5]KM[0.5];B[aa])(;GM[1]SZ[5]KM[6.5];B[aa])")
    assert len(files.read_records_of_one_game(paths[:1] * 2)) == 4
    with pytest.raises(BadInput, match=r"b.txt: a game of connect_four cannot be beside one of tic_tac_toe"):
        files.read_records_of_one_game(paths[1:2])
    with pytest.raises(BadInput, match=r"c.sgf: a game of go\(size=5,komi=6.5\) cannot be beside"):
        files.read_records_of_one_game(paths[2:])
