"""Tests of the routes of games and positions."""

import threading
from pathlib import Path

import pytest

from azero.compiler import plain
from azero.games import kernels, make_game, registered_games
from azero.interfaces.web.offered.catalogue import Catalogue
from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import client_of

ROOT = Path(__file__).parents[3]


def test_all_games_are_offered_with_their_boards(client):
    games = client.look("games")
    assert set(registered_games()) <= {each["id"] for each in games}
    assert {"othello(size=6)"} <= {each["id"] for each in games}, "that of a shipped net"
    for each in games:
        game = client.look(f"games/{each['id']}")
        assert {key: game[key] for key in each} == each
        assert game["board"]["actions"] and game["rules"] and each["id"] in game["sizes"]
        assert [player["name"] for player in each["players"]] == [p["name"] for p in game["board"]["players"]]


def test_lists_do_not_wait_for_the_compiler(monkeypatch):
    """A compilation takes seconds, and the page shows its first board after these lists."""
    calls, ask = [], plain.is_plain

    def is_plain():
        if not threading.current_thread().name.startswith("compile"):  # the threads of other servers may be at work
            calls.append(ask())
        return True

    monkeypatch.setattr(kernels, "is_compiled", lambda rules: False)
    monkeypatch.setattr(plain, "is_plain", is_plain)
    with client_of(catalogue=Catalogue(games=[make_game("hex(size=6)", compiles=False)])) as client:
        client.look("games")
        client.look("agents?game=hex(size=6)")
    assert calls and all(calls)


def test_a_game_tells_its_sizes_and_its_formats(client):
    go, four = client.look("games/go"), client.look("games/connect_four")
    assert go["ranges"]["size"] == [2, 19] and go["ranges"]["komi"] == [-361, 361] and go["has_sgf"]
    assert four["ranges"] == {"rows": [4, 8], "columns": [4, 8]} and not four["has_sgf"]
    assert client.look("games/go(size=13,komi=6.5)")["parameters"]["size"] == 13
    error = client.look("games/go(size=20)", 422)["error"]
    assert error["code"] == "bad_game" and "2 to 19" in error["message"]


def test_titles_are_for_people(client):
    named = {each["id"]: (each["title"], each["subtitle"]) for each in client.look("games")}
    assert named["connect_four"] == ("Connect Four", "7 × 6")
    assert named["tic_tac_toe"][0] == "Tic-tac-toe"
    assert named["go"][1].startswith("9 × 9, komi")
    assert client.look("games/hex(size=6,swap=true)")["subtitle"] == "6 × 6, swap"


def test_a_position_is_its_moves(client):
    found = client.ask("positions", game="connect_four", moves="4453")
    assert found["moves"] == ["4", "4", "5", "3"] and found["text"] == "4 4 5 3" and found["ply"] == 4
    assert found["to_move"] == 0 and found["result"] is None
    assert len(found["picture"]["pieces"]) == 4 and len(found["picture"]["actions"]) == 7
    assert [found["picture"]["cells"][cell]["name"] for cell in found["last"]]
    assert client.ask("positions", game="connect_four", moves=["4", "4", "5", "3"]) == found
    again = client.ask("positions", game="connect_four", position=found["position"])
    assert again["picture"]["pieces"] == found["picture"]["pieces"] and again["last"] == []


def test_a_game_that_is_over_has_a_result_and_no_moves(client):
    found = client.ask("positions", game="connect_four", moves="1122334")
    assert found["result"]["winner"] == 0 and found["result"]["text"].startswith(found["picture"]["players"][0]["name"])
    assert found["to_move"] is None and found["picture"]["actions"] == [] and len(found["picture"]["winning"]) == 4
    drawn = client.ask("positions", game="tic_tac_toe", moves="b2 a1 c1 a3 a2 c2 b1 b3 c3")
    assert drawn["result"] == {"winner": None, "text": "Draw"}


def test_points_are_told_where_a_game_has_them(client):
    found = client.ask("positions", game="go(size=5,komi=0.5)", moves="c3 pass pass")
    assert found["result"]["winner"] == 0 and found["result"]["text"].endswith("wins by 24.5")


def test_an_illegal_move_is_named(client):
    error = client.ask("positions", 422, game="connect_four", moves="449")["error"]
    assert error["code"] == "illegal_move" and error["at"] == 2 and error["value"] == "9"
    error = client.ask("positions", 422, game="connect_four", moves="11223344")["error"]
    assert error["at"] == 7 and "over" in error["message"]


@pytest.mark.parametrize(
    ("game", "status"),
    [
        ("go(size=5,komi=0.5)", 200),
        ("go(size=99)", 422),
        ("go(colour=red)", 422),
        ("chess", 404),
        ("go(size=5", 404),
        ("tests/data/nim.py:Nim", 404),
        ("nim.py:Nim(size=3)", 404),
        ("../../etc/passwd", 404),
        ("go(size=5)\n", 404),
        ("", 404),
    ],
)
def test_other_games_are_built_in_ones_with_parameters_alone(client, game, status):
    client.ask("positions", status, game=game)


def test_a_game_of_ones_own_is_offered_by_a_short_id():
    own = make_game("tests/data/nim.py:Nim")
    with client_of(catalogue=Catalogue(games=[own])) as client:
        game = next(each for each in client.look("games") if each["is_own"])
        assert game["id"] == "own:Nim"
        board = client.ask("positions", game="own:Nim")["picture"]
        assert client.ask("positions", game="own:Nim", moves=[board["actions"][0]["move"]])["ply"] == 1


def test_a_game_may_be_too_long():
    with client_of(ServeSettings(most_plies=3)) as client:
        for moves in ("4444", ["44", "44"]):
            assert client.ask("positions", 422, game="connect_four", moves=moves)["error"]["code"] == "too_long"


def test_cells_of_a_users_picture_may_be_numbers_of_numpy():
    own = make_game("tests/data/carry.py:Carry")
    with client_of(catalogue=Catalogue(games=[own])) as client:
        assert client.ask("positions", game="own:Carry", moves="-a +c")["last"] == [2]


@pytest.mark.parametrize(
    ("game", "given", "moves", "counts"),
    [
        ("amazons", ["j4-e4/e2", "D10-D5/D3"], "j4 -e4 /e2 d10 -d5 /d3", [3, 3]),
        ("othello", ["F5D6", "c3"], "f5 d6 c3", [2, 1]),
        ("connect_four", ["4453", "4"], "4 4 5 3 4", [4, 1]),
        ("clobber", ["A1A2", "b1c1"], "a1a2 b1c1", [1, 1]),
        ("go(size=5)", ["D4", "PASS"], "d4 pass", [1, 1]),
    ],
)
def test_a_word_of_a_list_may_be_several_moves(client, game, given, moves, counts):
    found = client.ask("positions", game=game, moves=given)
    assert found["text"] == moves and found["counts"] == counts
    assert client.ask("positions", game=game, moves=" ".join(given))["moves"] == found["moves"]


def test_a_wrong_word_is_named_by_its_place_in_the_list(client):
    error = client.ask("positions", 422, game="amazons", moves=["j4-e4/e2", "d10-d5/d11"])["error"]
    assert (error["code"], error["at"], error["value"]) == ("illegal_move", 1, "d10-d5/d11")


@pytest.mark.parametrize("name", registered_games())
def test_each_game_says_how_it_is_played_with_pictures_of_its_own_moves(client, name):
    sheet = client.look(f"games/{name}")["sheet"]
    assert {"text", "heading", "picture"} <= {block["kind"] for block in sheet}
    assert sheet[-2] == {"kind": "heading", "text": "How moves are written"}
    for block in sheet:
        if block["kind"] != "picture":
            continue
        assert block["game"].partition("(")[0] == name
        found = client.ask("positions", game=block["game"], moves=block["moves"])
        picture, result, text = found["picture"], found["result"], block["text"]
        assert (result is not None) == ("win" in text or "draw" in text)
        if result and result["winner"] is not None:
            assert f"{picture['players'][result['winner']]['name']}" in text.partition("wins")[0]
        begins = [picture["cells"][action["cells"][0]]["name"] for action in picture["actions"] if action["cells"]]
        assert not block["from"] or block["from"] in begins


OWN = '''
class Own(NamedTuple):
    """Take <b>stones</b>.

    ## The end

    - The last one wins.
    - Nobody
      draws.

    Like this:
        o o o

    ```position
    moves: 0 1
    text: Two moves.
    ```
    """

    heap: int = 5
'''


def test_a_game_of_ones_own_says_what_its_docstring_says(tmp_path):
    text = (ROOT / "tests/data/nim.py").read_text("utf-8")
    begin, end = text.index("class Nim"), text.index("    def reset")
    games = []
    for name, header in {"Own": OWN, "Mute": "class Mute(NamedTuple):\n    heap: int = 5\n"}.items():
        (tmp_path / f"{name}.py").write_text(f"{text[:begin]}{header}\n{text[end:]}", "utf-8")
        games.append(make_game(f"{tmp_path / name}.py:{name}", compiles=False))
    with client_of(catalogue=Catalogue(games=games)) as client:
        assert client.look("games/own:Own")["sheet"] == [
            {"kind": "text", "text": "Take <b>stones</b>."},
            {"kind": "heading", "text": "The end"},
            {"kind": "list", "items": ["The last one wins.", "Nobody draws."]},
            {"kind": "plain", "text": "Like this:\n    o o o"},
            {"kind": "picture", "game": "", "moves": "0 1", "from": "", "text": "Two moves."},
        ]
        mute = client.look("games/own:Mute")
        assert mute["sheet"] == [] and mute["rules"] == ""
