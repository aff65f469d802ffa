"""Tests of records as text: round trips, and texts that are wrong."""

import numpy as np
import pytest

from azero.errors import BadInput
from azero.games import make_game
from azero.records import Node, Record
from azero.records.text import record_to_text, text_to_records

from .games import GAMES, TEXTS, random_game, random_record


def read(text, game=None):
    (record,) = text_to_records(text, game)
    return record


def assert_equal(record, other):
    assert record.root == other.root
    assert (record.game, record.start, record.result, record.tags) == (
        other.game,
        other.start,
        other.result,
        other.tags,
    )


@pytest.mark.parametrize("name", GAMES)
def test_round_trip(name):
    for seed in range(5):
        record = random_record(name, seed)
        assert_equal(read(record_to_text(record)), record)


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_thousand_games_survive_the_round_trip(name):
    game, rng = make_game(name), np.random.default_rng(0)
    games = [random_game(game, rng) for _ in range(1000)]
    text = "".join(record_to_text(Record.of_game(game.new_initial_state(), actions)) for actions in games)
    assert [record.actions() for record in text_to_records(text)] == games


def test_a_record_reads_as_the_docs_show_it():
    record = Record.of_game(make_game("tic_tac_toe").new_initial_state(), [4, 0, 8], First="me")
    record.line()[1].comment, record.line()[1].mark, record.line()[1].value = "in the corner", "!", 0.25
    record.root.children[0].add_line([1, 2])
    assert record_to_text(record).split("\n") == [
        '[Format "1"]',
        '[Game "tic_tac_toe"]',
        '[First "me"]',
        '[Result "*"]',
        "",
        "b2 a1! {+0.250, in the corner} (b1 c1) c3 *",
        "",
        "",
    ]


@pytest.mark.parametrize("text", TEXTS)
def test_any_comment_survives(text):
    for thought in ({}, {"value": -0.5}, {"seconds": 1.25}, {"value": 1.0, "simulations": 3, "seconds": 0.5}):
        record = Record(make_game("tic_tac_toe").new_initial_state())
        record.root.children.append(Node(4, comment=text, **thought))
        assert_equal(read(record_to_text(record)), record)


def test_turns_are_written_as_one_move_and_read_as_several():
    game = make_game("amazons(size=6)")
    state = game.state_from_moves("a2-a4/c6")
    record = Record.of_game(game.new_initial_state(), state.history())
    assert "a2-a4/c6 *" in record_to_text(record)
    record.line()[0].comment = "this one"
    assert "a2 {this one} -a4/c6 *" in record_to_text(record)
    assert_equal(read(record_to_text(record)), record)


def test_moves_may_stand_side_by_side_with_numbers_and_with_glyphs_of_pgn():
    record = read('[Game "connect_four"] 1. 4453 $4 ; to the end\n 2... 3 (5 {why not}) {a remark} *')
    assert [action + 1 for action in record.actions()] == [4, 4, 5, 3, 3]
    assert record.line()[3].mark == "??" and record.line()[3].comment == "to the end"
    assert record.line()[4].comment == "a remark"
    assert record.line()[3].children[1].comment == "why not"


def test_a_position_and_an_opening_are_kept():
    game = make_game("connect_four")
    start = game.state_from_text("7/7/7/7/7/3X3 O")
    record = Record.of_game(start, [3], OpeningPlies="1")
    back = read(record_to_text(record))
    assert_equal(back, record)
    assert back.num_opening_plies == 1


def test_odd_moves_of_a_users_game_are_quoted():
    from azero.records.text import _is_plain

    for odd in ("1-0", "*", "12.", "a b", "(x)", "{x}", "really?", "good!", '"', "[a]", "x;y", "$1", ""):
        assert not _is_plain(odd)
    for plain in ("e4", "-d7", "/g7", "d1-d7/g7", "pass", "12", "a+b"):
        assert _is_plain(plain)


WRONG = {
    "cut short": ('[Game "connect_four"]\n\n4 4', "line 3", "cut short"),
    "a comment without an end": ('[Game "connect_four"]\n4 {a', "line 2", "a comment is not complete"),
    "a tag without an end": ('[Game "connect_four"', "line 1", "a tag is not complete"),
    "an illegal move": ('[Game "connect_four"]\n4 4 4\n4 4 4 4 *', "line 3", "move 7", "'4' is not legal here"),
    "no such move": ('[Game "connect_four"] 4 9 *', "move 2", "columns 1 to 7"),
    "no game": ("4 4 *", "does not name its game"),
    "an unknown game": ('[Game "chess"] e4 *', "unknown game 'chess'"),
    "another version": ('[Format "7"] [Game "connect_four"] *', "format '7'", "reads format 1"),
    "a user's game": ('[Game "mine.py:Mine"] *', "a user's game", "'mine.py:Mine'"),
    "results that differ": ('[Game "connect_four"] [Result "1-0"] 4 0-1', "contradict"),
    "a result against the rules": ('[Game "tic_tac_toe"] b2 a1 b1 a2 b3 0-1', "contradict", "1-0"),
    "a strange result": ('[Game "tic_tac_toe"] [Result "2-0"] b2 *', "'2-0'"),
    "a tag twice": ('[Game "tic_tac_toe"] [Game "hex"] *', "given twice"),
    "brackets": ('[Game "tic_tac_toe"] b2 ) *', "ends no variation"),
    "an empty variation": ('[Game "tic_tac_toe"] b2 () *', "has no move"),
    "a variation of nothing": ('[Game "tic_tac_toe"] (b2) *', "no move before it"),
    "a variation without an end": ('[Game "tic_tac_toe"] b2 (b1 *', "not complete"),
    "deep variations": ('[Game "connect_four"]' + " 4" + " (5" * 200, "more than 100"),
    "a wrong position": ('[Game "connect_four"] [Position "7/7"] *', "rows"),
}


@pytest.mark.parametrize("text, parts", [(each[0], each[1:]) for each in WRONG.values()], ids=list(WRONG))
def test_wrong_text_is_refused_with_its_place(text, parts):
    with pytest.raises(BadInput) as caught:
        list(text_to_records(text))
    message = str(caught.value)
    assert message.startswith("line ")
    for part in parts:
        assert part in message


def test_another_game_than_the_one_asked_for():
    with pytest.raises(BadInput, match="of tic_tac_toe, not of connect_four"):
        list(text_to_records('[Game "tic_tac_toe"] b2 *', make_game("connect_four")))


def test_another_komi_than_the_one_asked_for():
    game = make_game("go(size=5)")
    (record,) = text_to_records('[Game "go(size=5,komi=6.5)"] c3 *', game, keeps_komi=True)
    assert record.game == make_game("go(size=5,komi=6.5)")
    with pytest.raises(BadInput, match=r"of go\(size=5,komi=6.5\), not of go\(size=5\)"):
        list(text_to_records('[Game "go(size=5,komi=6.5)"] c3 *', game))
    with pytest.raises(BadInput, match=r"of go\(komi=6.5\), not of go\(size=5\)"):
        list(text_to_records('[Game "go(komi=6.5)"] c3 *', game, keeps_komi=True))


def test_records_before_a_damaged_one_are_read():
    records = text_to_records('[Game "tic_tac_toe"] b2 *\n\n[Game "tic_tac_toe"] z9 *')
    assert next(records).actions() == [4]
    with pytest.raises(BadInput, match="line 3: move 1"):
        next(records)


def test_a_result_that_the_rules_contradict_needs_a_tag():
    text = '[Game "tic_tac_toe"] [Termination "adjudication"] b2 a1 b1 a2 b3 0-1'
    assert read(text).result == "0-1"
    assert_equal(read(record_to_text(read(text))), read(text))


def test_long_games_compare_and_many_comments_join():
    game = make_game("go(size=9)")
    state, rng = game.new_initial_state(), np.random.default_rng(0)
    while len(state.history()) < 240 and not state.is_terminal():
        state.apply_action(int(rng.choice(state.legal_actions()[:-1] or state.legal_actions())))
    one, other = (Record.of_game(game.new_initial_state(), state.history()) for _ in range(2))
    for _ in range(6):  # deeper than Python's stack
        for record in (one, other):
            record.line()[-1].add_line([0] * 240)
    assert one == other and "Node" in repr(one)
    other.line()[-1].comment = "different"
    assert one != other
    many = read('[Game "tic_tac_toe"] b2 ' + "{a}" * 200_000 + " *")
    assert len(many.line()[0].comment) == 399_999


def test_moves_have_names():
    record = Record.of_game(make_game("tic_tac_toe").new_initial_state(), [4, 0, 8])
    first, second, third = record.line()
    first.name, second.name, second.comment, third.comment = "Main  line", "b", "a remark", "name: none"
    text = record_to_text(record)
    assert "b2 {name: Main line} a1 {name: b} {a remark} c3 {, name: none} *" in text
    again = read(text)
    assert [node.name for node in again.line()] == ["Main line", "b", ""]
    assert [node.comment for node in again.line()] == ["", "a remark", "name: none"]


def test_glyphs_before_a_move_mark_nothing():
    record = read('[Game "tic_tac_toe"] $1 b2 ($2 b1 $4) $6 *')
    assert [node.mark for node in record.root.children] == ["?!", "??"] and record.root.mark == ""


def test_records_of_a_file_share_their_start():
    one, other = text_to_records('[Game "tic_tac_toe"] b2 *\n' * 2)
    assert one.start is other.start and not one.start.history()


def test_backslashes_are_read_in_linear_memory():
    with pytest.raises(BadInput, match="a comment is not complete"):
        list(text_to_records('[Game "tic_tac_toe"] {' + "\\a" * 1_000_000))
