"""Tests of reviews as pages, without a browser."""

import base64
import json
import re
import shutil
import zlib

import pytest

from azero.arena.reviews.review import GameReview, MoveReview
from azero.games import make_game
from azero.records import Record

GAME = '[Format "1"]\n[Game "tests/data/carry.py:Carry"]\n[First "Ada"]\n\n-a +a -D! +F {why} -B +B *\n'


@pytest.fixture
def record(tmp_path):
    shutil.copy("tests/data/carry.py", tmp_path / "carry.py")
    file = tmp_path / "game.txt"
    file.write_text(GAME)
    return file


def test_a_review_is_a_page_with_all_its_positions(record, run_azero):
    out = record.with_name("review.html")
    asked = ["review", str(record), "uct@20", "--game", f"{record.parent}/carry.py:Carry"]
    code, _, said = run_azero(*asked, "--out", str(out))
    assert code == 0, said
    page = out.read_text()
    about = json.loads(re.search(r'id="published">(.*?)</script>', page)[1])
    packed = re.search(r'id="answers">(.*?)</script>', page)[1]
    answers = zlib.decompress(base64.b64decode(packed)).decode()
    assert record.parent.name not in answers and record.parent.name not in page
    answers = json.loads(answers)
    game, moves = about["game"], ["-a", "+a", "-D", "+F", "-B", "+B"]
    for ply in range(7):
        position = answers["positions"][" ".join([game, *moves[:ply]])]
        assert position["moves"] == moves[:ply] and position["picture"]["pieces"]
    assert [move["move"] for move in about["review"]["review"]["moves"]] == moves
    assert about["review"]["tags"]["First"] == "Ada" and about["review"]["notes"][3][1]["comment"] == "why"
    code, _, said = run_azero(*asked, "--out", str(out))
    assert code == 2 and "--force replaces it" in said


def test_a_page_is_for_the_review_of_one_game(record, run_azero, monkeypatch):
    monkeypatch.setattr("azero.commands.review._review_all", None)
    asked = ["--game", f"{record.parent}/carry.py:Carry", "--out"]
    out = record.with_name("review.html")
    code, _, said = run_azero("review", str(record), str(record), "uct@20", *asked, str(out))
    assert code == 2 and "is for one game; the files have 2" in said and not out.exists()
    code, _, said = run_azero("review", str(record), "uct@20", *asked, str(record.with_name("review")))
    assert code == 2 and "ends in .html" in said


def test_a_level_may_review_and_the_record_is_written_even_if_the_page_is_not(run_azero, monkeypatch, tmp_path):
    game, out, kept = tmp_path / "game.txt", tmp_path / "review.html", tmp_path / "reviewed.txt"
    game.write_text('[Format "1"]\n[Game "tic_tac_toe"]\n\na1 *\n')
    record = Record.of_game(make_game("tic_tac_toe").new_initial_state(), [0])
    move = MoveReview(0, "a3", "b2", ["b2"], 0.0, -0.5, 0.5, "??", False)
    review = GameReview(record, [move], [50.0, None], [0.0, -0.5])
    monkeypatch.setattr("azero.commands.review._review_all", lambda _1, _2, _3, reviews: reviews.append(review))
    asked = ["review", str(game), "uct(level=2)", "--out", str(out)]
    code, _, said = run_azero(*asked)
    assert code == 0, said
    packed = re.search(r'id="answers">(.*?)</script>', out.read_text())[1]
    assert json.loads(zlib.decompress(base64.b64decode(packed)))["agent"]["id"] == "uct"
    monkeypatch.setattr("azero.publishing.review.html_of_review", lambda *_: 1 / 0)
    code, *_ = run_azero(*asked, "--force", "--record", str(kept))
    assert code != 0 and "b2 was better" in kept.read_text()
