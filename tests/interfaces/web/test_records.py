"""Tests of the routes of records."""

import json

import pytest

from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import client_of

TREE = {
    "comment": "A game",
    "children": [
        {
            "move": "c3",
            "name": "The middle",
            "comment": "good, {it} is",
            "mark": "!",
            "value": 0.25,
            "children": [{"move": "b2", "children": []}, {"move": "pass", "comment": "", "children": []}],
        },
        {"move": "a1", "mark": "?!", "children": []},
    ],
}
GAME = {"game": "go(size=5)", "tags": {"First": "Ann", "Second": "Bob"}}


def plain(node: dict) -> dict:
    """Returns a node with all of its fields."""
    named = {key: node.get(key) or "" for key in ("comment", "mark", "name")}
    move = (
        {"move": node["move"], "value": node.get("value"), **named} if "move" in node else {"comment": named["comment"]}
    )
    return {**move, "children": [plain(child) for child in node["children"]]}


@pytest.mark.parametrize("form", ["azero", "sgf"])
def test_a_tree_is_written_and_read_again(client, form):
    text = client.ask("records/write", format=form, **GAME, root=TREE)["text"]
    (game,) = client.ask("records/read", text=text)["games"]
    assert game["game"] == "go(size=5)" and game["tags"] == GAME["tags"] and game["result"] == "*"
    assert plain(game["root"]) == plain(TREE) and game["start"] is None


def test_moves_alone_are_a_tree(client):
    text = client.ask("records/write", game="connect_four", moves="1122334", tags={})["text"]
    assert text.endswith("1 1 2 2 3 3 4 1-0\n\n")
    assert client.ask("records/read", text=text, game="connect_four")["games"][0]["result"] == "1-0"


def test_a_position_may_be_the_beginning(client):
    start = client.ask("positions", game="connect_four", moves="44")["position"]
    text = client.ask("records/write", game="connect_four", position=start, moves="4")["text"]
    assert client.ask("records/read", text=text)["games"][0]["start"] == start


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"text": '[Game "connect_four"]\n\n4 4 5'}, "cut short"),
        ({"text": '[Game "hex"]\n\na1 *', "game": "connect_four"}, "not of connect_four"),
        ({"text": '[Game "x.py:Nim"]\n\n1 *'}, "user's game"),
        ({"text": '[Game "connect_four"]\n\n9 *'}, "move 1"),
        ({"text": "(;GM[1]SZ[5];B[aa"}, "SGF"),
        ({"text": "(;GM[1]SZ[5];B[aa];W[aa])", "format": "sgf"}, "not legal"),
        ({"text": ""}, "no games"),
        ({"text": "\x00\x01"}, "line 1"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(client, asked, says):
    error = client.ask("records/read", 422, **asked)["error"]
    assert says in error["message"] and "\n" not in error["message"]


@pytest.mark.parametrize(
    "root",
    [
        {"children": [{"move": "9"}]},
        {"children": [{"children": []}]},
        {"children": [3]},
        {"children": {"move": "4"}},
        {"children": [{"move": "4", "mark": "<b>"}]},
        {"children": [{"move": "4", "value": 2}]},
        {"children": [{"move": "4", "value": True, "comment": 3}]},
    ],
)
def test_what_is_no_tree_is_told(client, root):
    client.ask("records/write", 422, game="connect_four", root=root)


@pytest.mark.parametrize("form", ["azero", "sgf"])
@pytest.mark.parametrize("name", ["comment", "name"])
def test_half_a_character_is_told(client, form, name):
    body = json.dumps({"game": "gomoku", "format": form, "root": {name: "a\ud800"}})  # escaped, so that it can be sent
    response = client.post("/api/v1/records/write", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 422 and name in response.json()["error"]["message"]


def test_a_tree_may_be_too_large(client):
    with client_of(ServeSettings(most_record_moves=2)) as small:
        assert small.ask("records/write", 422, game="go", root=TREE)["error"]["code"] == "too_long"
        assert small.ask("records/read", 422, text='[Game "hex"]\n\na1 a2 a3 *')["error"]["code"] == "too_long"
    deep = '{"children":[' + '{"move":"4","children":[' * 450 + "]}" * 450 + "]}"
    body = f'{{"game": "connect_four", "root": {deep}}}'
    response = client.post("/api/v1/records/write", content=body, headers={"content-type": "application/json"})
    assert response.status_code in (400, 422) and "error" in json.loads(response.text)
