"""Tests of reviews as pages, without a browser."""

import base64
import json
import re
import shutil
import zlib

import pytest

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
