"""Tests of games in the terminal that are saved as records."""

import pytest

from azero.records import read_records
from interfaces.script import GAME, Scripted, play, run


def test_a_game_is_saved_once_as_it_is(tmp_path):
    file = tmp_path / "games.txt"
    again = [f"SAVE {file}", f"save {file}", "a2", f"save {file}", "undo", "resign"]
    shown = run(Scripted("b1 b2", GAME), 0, "a1", *again, file=file).shown
    assert shown.count(f"The game was added to {file}.") == 3 and shown.count(f"The game is in {file} already.") == 1
    begun, longer, resigned = read_records(file)
    assert [begun.actions(), longer.actions(), resigned.actions()] == [[0, 1], [0, 1, 3, 4], [0, 1]]
    assert (begun.result, resigned.result, resigned.tags["Termination"]) == ("*", "0-1", "resignation")
    assert resigned.tags["First"] == "person" and resigned.tags["Second"] == "scripted"
    mine, theirs = resigned.line()
    assert (theirs.value, theirs.simulations, theirs.seconds) == (0.5, 1, 0.0) and mine.seconds is not None


def test_a_game_is_saved_after_ctrl_c_and_with_the_moves_before_it(tmp_path):
    def press():
        raise KeyboardInterrupt

    file = tmp_path / "games.txt"
    with pytest.raises(KeyboardInterrupt):
        run(Scripted("c1", GAME), 0, "a2", press, moves=GAME.state_from_moves("a1 b1").history(), file=file)
    assert [record.actions() for record in read_records(file)] == [[0, 1, 3, 2]]
    run(Scripted("", GAME), 0, "quit", moves=[0, 1], file=tmp_path / "none.txt")
    assert not (tmp_path / "none.txt").exists()


def test_a_file_that_cannot_have_the_game_is_told_and_the_game_goes_on(tmp_path):
    (tmp_path / "other.txt").write_text("something else")
    shown = play(0, "b1 b2", "a1", "save", f"save {tmp_path}", f"save {tmp_path}/other.txt", "a2", "a3")
    assert "save needs the name of a file, e.g. save game.txt" in shown
    assert any("is a folder" in text for text in shown) and any("is no record of games" in text for text in shown)
    assert shown[-1] == "You win." and (tmp_path / "other.txt").read_text() == "something else"
