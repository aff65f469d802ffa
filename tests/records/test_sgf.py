"""Tests of SGF: round trips, what another library reads, and files that are wrong."""

import numpy as np
import pytest
import sgf

from azero.errors import BadInput
from azero.games import make_game
from azero.records import Record
from azero.records.sgf import records_to_sgf, sgf_to_records
from azero.records.sgf_games import text_to_move

from .games import GAMES, IN_SGF, random_game, random_record


def read(data, game=None):
    (record,) = sgf_to_records(data.encode() if isinstance(data, str) else data, game)
    return record


@pytest.mark.parametrize("name", IN_SGF)
def test_round_trip(name):
    for seed in range(5):
        record = random_record(name, seed, whole_turns=True)
        back = read(records_to_sgf([record]))
        assert back.root == record.root
        assert (back.game, back.result, back.tags) == (record.game, record.result, record.tags)


def moves_by_another_library(data):
    """Returns the colours and values of the moves in each game, as the library `sgf` reads them."""
    for tree in sgf.parse(data.decode()):
        yield [
            (colour, node.properties[colour][0]) for node in tree.rest for colour in "BW" if colour in node.properties
        ]


def hold_same_as_another_library(name, num_games):
    game, rng = make_game(name), np.random.default_rng(1)
    games = [random_game(game, rng) for _ in range(num_games)]
    data = records_to_sgf(Record.of_game(game.new_initial_state(), actions) for actions in games)
    assert [record.actions() for record in sgf_to_records(data)] == games
    for actions, moves in zip(games, moves_by_another_library(data), strict=True):
        state = game.new_initial_state()
        for colour, value in moves:
            assert colour == "BW"[state.current_player()]
            for action in text_to_move(game, value):
                state.apply_action(action)
        assert state.history() == actions


@pytest.mark.parametrize("name", IN_SGF)
def test_another_library_reads_the_same_moves(name):
    hold_same_as_another_library(name, 5)


@pytest.mark.long
@pytest.mark.parametrize("name", IN_SGF)
def test_a_thousand_games_are_read_back_by_another_library(name):
    hold_same_as_another_library(name, 1000)


def test_a_game_of_go_as_other_programs_write_it():
    record = read("(;GM[1]FF[3]SZ[9]KM[6.5]PB[Shusaku]PW[Gennan]RE[B+2.5]C[Hello];B[ee];W[cc]TE[1](;B[tt])(;B[]))")
    assert str(record.game) == "go(komi=6.5)"
    texts = record.game.lines_to_text(record.start, [record.actions()])[0]
    assert texts == ["e5", "c7", "pass"]
    assert (record.result, record.tags) == ("1-0", {"First": "Shusaku", "Second": "Gennan"})
    assert record.root.comment == "Hello" and record.line()[1].mark == "!" and len(record.line()[1].children) == 2


def test_handicap_stones_make_a_position_with_white_to_move():
    record = read("(;GM[1]SZ[9]KM[0.5]HA[2]AB[cg][gc];W[ee])")
    assert record.start.current_player() == 1
    assert "X" in str(record.start) and record.result == "*"
    assert read(records_to_sgf([record])).root == record.root


def test_forced_passes_that_programs_leave_out_are_added():
    game, rng = make_game("othello(size=6)"), np.random.default_rng(0)
    is_pass = game.num_actions - 1
    games = (random_game(game, rng) for _ in range(100))
    actions = next(each for each in games if is_pass in each[:-2])
    data = records_to_sgf([Record.of_game(game.new_initial_state(), actions)]).decode()
    shortened = data.replace(";B[]", "").replace(";W[]", "")
    assert shortened != data
    assert read(shortened).actions() == actions


def test_how_a_game_ended():
    for text, result, end in (("W+R", "0-1", "resignation"), ("B+T", "1-0", "time forfeit"), ("0", "1/2-1/2", None)):
        record = read(f"(;GM[1]SZ[9]RE[{text}];B[aa])")
        assert (record.result, record.tags.get("Termination")) == (result, end)
        assert f"RE[{text}]" in records_to_sgf([record]).decode()


POINTS = [a + b for a in "abcdefghijklmnopqrs" for b in "abcdefghijklmnopqrs"]
BRANCHES = [f"(;{'BW'[k % 2]}[{POINTS[2 * k]}])(;{'BW'[k % 2]}[{POINTS[2 * k + 1]}]" for k in range(110)]
DEEP = f"(;GM[1]SZ[19]{''.join(BRANCHES)}{')' * 110})"
"""A branch at each move, each in the second line of the one before."""

WRONG = {
    "nothing": ("", "no SGF"),
    "other text": ("hello", "no SGF"),
    "cut short": ("(;GM[1]SZ[9];B[aa];W[b", "cut short"),
    "chess": ("(;GM[3];B[aa])", "game 1", "GM[3]", "11 hex"),
    "a strange size": ("(;GM[1]SZ[big];B[aa])", "SZ[big]"),
    "a huge board": ("(;GM[1]SZ[52];B[aa])", "game 1", "size"),
    "a komi that is no number": ("(;GM[1]SZ[9]KM[nan];B[aa])", "game 1", "KM[nan]"),
    "a komi beyond all points": ("(;GM[1]SZ[9]KM[1e9];B[aa])", "game 1", "KM[1e9]"),
    "off the board": ("(;GM[1]SZ[9];B[zz])", "move 1", "not on the board"),
    "no move": ("(;GM[1]SZ[9];B[hello])", "'hello'"),
    "occupied": ("(;GM[1]SZ[9];B[aa];W[aa])", "move 2", "not legal"),
    "the wrong colour": ("(;GM[1]SZ[9];B[aa];B[bb])", "move 2", "other player's turn"),
    "stones later": ("(;GM[1]SZ[9];B[aa];AW[bb])", "after move 1"),
    "moves after the end": ("(;GM[1]SZ[9];B[];W[];B[aa])", "the game is over"),
    "a user's game": ("(;GM[1]SZ[9]AZ[Game:x.py:X];B[aa])", "a user's game"),
    "no point": ("(;GM[1]SZ[9]AB[tt])", "no point of the board"),
    "a pass as a stone": ("(;GM[1]SZ[9]AW[])", "no point of the board"),
    "too many stones": (f"(;GM[1]SZ[9]AB{'[aa]' * 82};W[bb])", "82 stones"),
    "two stones on a point": ("(;GM[1]SZ[9]AB[aa][ca:cb]AW[cb];B[dd])", "AB and AW", "on cb"),
    "a swap as a stone": ("(;GM[11]SZ[5]AB[a1:swap-pieces])", "no point of the board"),
    "deep variations": (DEEP, "more than 100"),
    "deep brackets": ("(;GM[1]" * 5000, "no SGF"),
}


@pytest.mark.parametrize("data, parts", [(each[0], each[1:]) for each in WRONG.values()], ids=list(WRONG))
def test_wrong_files_are_refused(data, parts):
    with pytest.raises(BadInput) as caught:
        list(sgf_to_records(data.encode()))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("text, komi", [("6.5", 6.5), ("+0.50", 0.5), ("5,5", 5.5), ("0", 0), (" ", 7.5)])
def test_komi(text, komi):
    assert read(f"(;GM[1]SZ[9]KM[{text}];B[aa])").start.game.rules.komi == komi


def test_another_game_than_the_one_asked_for():
    with pytest.raises(BadInput, match="of go on 9x9, not of go"):
        read("(;GM[1]SZ[9];B[aa])", make_game("go(size=7)"))


def test_games_without_a_number_are_refused():
    for name in set(GAMES) - set(IN_SGF):
        with pytest.raises(BadInput, match="SGF does not know"):
            records_to_sgf([Record(make_game(name).new_initial_state())])


@pytest.mark.parametrize("encoding", ["undefined", "punycode", "utf-7", "unicode_escape", "idna", "\0", "x" * 1000])
def test_strange_encodings_are_not_followed(encoding):
    record = read(f"(;GM[1]SZ[9]CA[{encoding}]C[+2AA- a-\xff];B[aa])".encode("latin-1"))
    assert record.actions() == [0]
    assert read(records_to_sgf([record])).root == record.root


def test_a_result_by_other_rules_survives_as_text():
    from azero.records.text import record_to_text, text_to_records

    record = read("(;GM[1]SZ[9]RE[0]AZ[a b:c][Result:1-0][:x][own:y];B[aa];W[];B[])")
    assert record.result == "1/2-1/2" and record.tags == {"Termination": "adjudication", "own": "y"}
    (back,) = text_to_records(record_to_text(record))
    assert (back.result, back.tags, back.root) == (record.result, record.tags, record.root)


def test_comments_within_a_turn_of_amazons_move_to_its_end():
    game = make_game("amazons(size=6)")
    record = Record.of_game(game.new_initial_state(), game.state_from_moves("a2-a4/c6").history())
    for node, text in zip(record.line(), ("first", "second", "third"), strict=True):
        node.comment = text
    assert read(records_to_sgf([record])).line()[2].comment == "third\nfirst\nsecond"
    within = Record(game.state_from_moves("a2"))
    within.root.add_line(game.state_from_moves("a2-a4/c6").history()[1:])
    with pytest.raises(BadInput, match="begins within"):
        records_to_sgf([within])


def test_a_margin_that_nobody_scored_is_not_written():
    for text, written in (("W+5.5", "RE[W+]"), ("W+T", "RE[W+T]")):
        record = read(f"(;GM[1]SZ[9]RE[{text}];B[aa];W[];B[])")
        assert written in records_to_sgf([record]).decode()


def test_a_swap_tells_the_rules_of_hex():
    record = read("(;GM[11]SZ[5];B[a2];W[swap-pieces];B[c3])")
    assert str(record.game) == "hex(size=5,swap=true)" and len(record.actions()) == 3
    assert str(read("(;GM[11]SZ[5];B[a2];W[c3])").game) == "hex(size=5)"


def test_a_komi_that_is_taken_for_another_is_told(capsys):
    for komi in ("5.5", "7.0625"):
        record = Record(make_game(f"go(size=7,komi={komi})").new_initial_state())
        assert read(records_to_sgf([record])).game == read(records_to_sgf([record]), record.game).game == record.game
    assert capsys.readouterr().err == ""
    read("(;GM[1]SZ[7]KM[4.75];B[aa])", make_game("go(size=7,komi=8.5)"))
    line = "a record has komi 4.75; it is read as of go(size=7,komi=8.5), with komi 8.5"
    assert capsys.readouterr().err == f"azero: {line}\n"


def test_a_komi_is_kept_beside_what_the_file_cannot_tell(capsys):
    game = make_game("go(size=7,komi=8.5,superko=false)")
    (record,) = sgf_to_records("(;GM[1]SZ[7]KM[6.5];B[aa])", game, keeps_komi=True)
    assert record.game == make_game("go(size=7,komi=6.5,superko=false)")
    (record,) = sgf_to_records("(;GM[1]SZ[7];B[aa])", game, keeps_komi=True)
    assert record.game == game and capsys.readouterr().err == ""
    with pytest.raises(BadInput, match="game 1: go: komi=999"):
        list(sgf_to_records("(;GM[1]SZ[7]KM[999];B[aa])", game, keeps_komi=True))


def test_a_text_is_read_as_it_is_whatever_encoding_it_tells():
    (record,) = sgf_to_records("(;GM[1]SZ[9]CA[ISO-8859-1]PB[José];B[aa])")
    assert record.tags["First"] == "José"
    assert read("(;GM[1]SZ[9]CA[ISO-8859-1]PB[José];B[aa])".encode("latin-1")).tags["First"] == "José"


TWO_BYTES = {
    ("Shift_JIS", "shift_jis"): "表ソ転",
    ("shift-jis", "cp932"): "表Ⅸ転",
    ("Big5", "big5"): "功許因",
    ("GBK", "gbk"): "乗乚",
    ("GB2312", "gbk"): "乗乚",  # wider than what it tells
    ("gb18030", "gb18030"): "乗乚䶮",
}
"""Texts by the encoding that is told, and the true one. Second bytes are backslashes and closing brackets."""


@pytest.mark.parametrize(("told", "codec"), TWO_BYTES)
def test_characters_of_two_bytes_hide_no_moves(told, codec):
    text = TWO_BYTES[told, codec]
    game = f"(;GM[1]SZ[9]C[{text}]CA[{told}]PB[{text}];B[aa]C[a\\]{text}];W[bb](;B[cc])(;B[dd]))\n".encode(codec)
    utf_8 = "(;GM[1]SZ[9]CA[UTF-8]PB[表];B[aa];W[bb])".encode()
    *records, last = sgf_to_records(game * 2 + utf_8)
    for record in records:
        assert len(record.actions()) == 3 and len(record.line()[1].children) == 2
        assert (record.root.comment, record.tags["First"], record.line()[0].comment) == (text, text, f"a]{text}")
    assert len(records) == 2 and last.tags["First"] == "表" and len(last.actions()) == 2


@pytest.mark.parametrize("told", ["Shift_JIS", "Big5", "GBK"])
def test_an_encoding_that_a_file_tells_wrongly_hides_no_moves(told):
    record = read(f"(;GM[1]SZ[9]CA[{told}]PB[中];B[aa]C[国];W[bb])".encode())
    assert len(record.actions()) == 2 and record.tags["First"] == "中"
    broken = read(f"(;GM[1]SZ[9]CA[{told}]PB[中];B[aa]C[".encode(told) + b"\xff];W[bb])")
    assert len(broken.actions()) == 2 and broken.tags["First"] == "中"
