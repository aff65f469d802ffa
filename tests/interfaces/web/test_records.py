"""Tests of the routes of records."""

import json

import pytest

from azero.games import make_game
from azero.interfaces.web.settings import ServeSettings
from tests.interfaces.web.conftest import client_of

NODES = [
    {"comment": "A game", "name": "Opening"},
    {"parent": 0, "move": "c3", "name": "The middle", "comment": "good, {it} is", "mark": "!", "value": 0.25},
    {"parent": 1, "move": "b2", "simulations": 200, "seconds": 0.012},
    {"parent": 1, "move": "pass", "comment": ""},
    {"parent": 0, "move": "a1", "mark": "?!"},
]
GAME = {"game": "go(size=5)", "tags": {"First": "Ann", "Second": "Bob"}}
EMPTY = {"comment": "", "mark": "", "name": "", "value": None, "simulations": None, "seconds": None}


def passes(num_moves: int) -> list[dict]:
    """Returns so many variations of the first move of Go."""
    return [{}, *({"parent": 0, "move": "pass"} for _ in range(num_moves))]


@pytest.mark.parametrize("form", ["azero", "sgf"])
def test_a_tree_is_written_and_read_again(client, form):
    text = client.ask("records/write", format=form, **GAME, nodes=NODES)["text"]
    (game,) = client.ask("records/read", text=text)["games"]
    assert game["game"] == "go(size=5)" and game["tags"] == GAME["tags"] and game["result"] == "*"
    assert game["nodes"] == [NODES[0], *({**EMPTY, **node} for node in NODES[1:])] and game["start"] is None


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
        ({"text": '[Game "x.py:Nim"]\n\n1 *'}, "user's game"),
        ({"text": "(;GM[1]SZ[5];B[aa"}, "SGF"),
        ({"text": "(;GM[1]SZ[5];B[aa];W[aa])", "format": "sgf"}, "not legal"),
        ({"text": ""}, "no games"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(client, asked, says):
    error = client.ask("records/read", 422, **asked)["error"]
    assert says in error["message"] and "\n" not in error["message"]


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        [{}, {"parent": 0, "move": "9"}],
        [{}, {"parent": 0}],
        [{}, {"move": "4"}],
        [{}, {"parent": 1, "move": "4"}],
        [{}, {"parent": -1, "move": "4"}],
        [{}, {"parent": True, "move": "4"}],
        [{}, 3],
        {"comment": "no list"},
        [{}, {"parent": 0, "move": "4", "mark": "<b>"}],
        [{}, {"parent": 0, "move": "4", "value": 2}],
        [{}, {"parent": 0, "move": "4", "simulations": 0.5}],
        [{}, {"parent": 0, "move": "4", "seconds": -1}],
        [{}, {"parent": 0, "move": "4", "value": True}],
        [{}, {"parent": 0, "move": "4", "seconds": False}],
        [{}, {"parent": 0, "move": "4", "comment": []}],
    ],
)
def test_what_is_no_tree_is_told(client, nodes):
    client.ask("records/write", 422, game="connect_four", nodes=nodes)


@pytest.mark.parametrize("form", ["azero", "sgf"])
@pytest.mark.parametrize("name", ["comment", "name"])
def test_half_a_character_is_told(client, form, name):
    asked = {"game": "gomoku", "format": form, "nodes": [{name: "a\ud800"}]}
    body = json.dumps(asked)  # escaped, so that it can be sent
    response = client.post("/api/v1/records/write", content=body, headers={"content-type": "application/json"})
    assert response.status_code == 422 and name in response.json()["error"]["message"]


def test_records_may_be_too_large():
    with client_of(ServeSettings(most_record_moves=3)) as small:
        assert small.ask("records/write", 422, game="go", nodes=passes(4))["error"]["code"] == "too_long"
        small.ask("records/write", game="go", nodes=passes(3))
        for text in (
            '[Game "hex"]\n\na1 a2 (a3) a4 *',
            '[Game "hex"]\n\na1 a2 *\n\n[Game "hex"]\n\na1 a2 *',
            "(;GM[11];B[a1](;W[a2])(;W[a3];C[x]))",
        ):
            error = small.ask("records/read", 422, text=text)["error"]
            assert error["code"] == "too_long" and "3 moves" in error["message"]
        small.ask("records/read", text="(;GM[11]C[; ; \\] ;];B[a1];W[a2])")


@pytest.mark.slow
def test_a_line_may_be_as_long_as_the_game(client):
    """Go on 9x9 has 243 moves and more, and the page shows a game of any length."""
    game = make_game("go(size=19)", compiles=False)
    moves = [f"{column}{row}" for column in "abcdefghjk" for row in range(1, 20)]
    line = [move for pair in zip(moves[:190], ["pass"] * 190, strict=True) for move in pair]
    line += [f"{column}{row}" for column in "mnopq" for row in range(1, 20)]
    assert 400 < len(line) <= game.max_plies
    text = client.ask("records/write", game="go(size=19)", format="sgf", moves=line)["text"]
    (found,) = client.ask("records/read", text=text)["games"]
    assert [node["move"] for node in found["nodes"][1:]] == line


def test_a_result_that_the_rules_contradict_is_not_written(client):
    """The record that was loaded had another end than the line that is now its main line."""
    asked = {"game": "connect_four", "moves": "1122334", "result": "0-1"}
    assert client.ask("records/write", **asked, tags={})["text"].endswith(" 1-0\n\n")
    text = client.ask("records/write", **asked, tags={"Termination": "time forfeit"})["text"]
    assert client.ask("records/read", text=text)["games"][0]["result"] == "0-1"


def test_a_record_keeps_its_komi_and_nets_play_it(client):
    text = "(;GM[1]SZ[9]KM[6.5];B[ee])"
    for asked in ({}, {"game": "go"}):
        (found,) = client.ask("records/read", text=text, **asked)["games"]
        assert found["game"] == "go(komi=6.5)"
    titles = {each["id"]: each["title"] for each in client.look("agents?game=go(komi=6.5)")}
    assert titles["go_9x9"] == "azero Go 9x9 (trained with komi 7.5)" and titles["uct@1000"] == "uct@1000"
    assert {each["id"]: each["title"] for each in client.look("agents?game=go")}["go_9x9"] == "azero Go 9x9"
    assert "go_7x7" not in titles


def test_the_first_of_many_errors_is_enough(client):
    """Errors by the hundred thousand take seconds to be listed, though only one is told."""
    error = client.ask("records/write", 422, game="go", nodes=[1] * 100_000)["error"]
    assert error["code"] == "invalid" and error["value"].startswith("nodes.0")
