"""Tests of the routes of runs, on a tiny run."""

import json
import os
import shutil

import pytest
from training.runs import TINY

import azero
from azero.config.reading import check_config
from azero.games import make_game
from azero.interfaces.web.offered.offered import Offered
from azero.interfaces.web.runs.folder import RunFolder
from azero.system.files import LOCK

from .conftest import client_of

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = azero.train(check_config(TINY), tmp_path_factory.mktemp("runs") / "tiny")
    return run.folder


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "tiny")


@pytest.fixture(scope="module")
def client(folder):
    with client_of(offered=Offered(runs=[folder])) as client:
        yield client


def look(folder, route, status=200):
    with client_of(offered=Offered(runs=[folder])) as client:
        return client.look(route, status)


def test_a_run_is_listed_with_its_state(client):
    [run] = client.look("runs")
    assert (run["id"], run["game"], run["state"], run["iteration"]) == ("tiny", "tic_tac_toe", "finished", 3)


def test_metrics_are_the_run_s_own_lines(client, folder):
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert client.look("runs/tiny/metrics")["rows"] == lines
    assert client.look("runs/tiny/metrics?after=2")["rows"] == lines[2:]


def test_games_are_those_of_replay(client, folder):
    games = azero.load_games(folder)
    listed = client.look("runs/tiny/games?limit=200")
    assert len(listed) == len(games.lengths)
    assert [each["plies"] - each["opening_plies"] for each in reversed(listed)] == games.lengths.tolist()
    assert {each["iteration"] for each in client.look("runs/tiny/games?iteration=2")} == {2}


def test_a_game_has_what_search_and_net_thought(client, folder):
    brief = client.look("runs/tiny/games")[0]
    game = client.look(f"runs/tiny/games/{brief['id']}")
    end = GAME.state_from_moves(" ".join(game["moves"]))
    assert end.is_terminal() and len(game["plies"]) == len(game["moves"]) - game["opening_plies"]
    state = GAME.state_from_moves(" ".join(game["moves"][: game["opening_plies"]]))
    for ply in game["plies"]:
        assert ply["player"] == state.current_player()
        assert -1 <= ply["value"] <= 1 and -1 <= ply["net_value"] <= 1
        assert sum(ply["prior"].values()) == pytest.approx(1, abs=0.01)
        legal = {GAME.action_to_text(state, action) for action in state.legal_actions()}
        assert set(ply["prior"]) == legal
        if ply["policy"]:
            assert set(ply["policy"]) <= legal and sum(ply["policy"].values()) == pytest.approx(1, abs=0.01)
        state.apply_action(GAME.text_to_action(state, ply["move"]))


def test_opinions_are_those_of_the_nets_alone(client, folder):
    opinions = client.ask("runs/tiny/opinions", moves="b2")
    state = GAME.state_from_moves("b2")
    assert [each["iteration"] for each in opinions] == [n for n, _ in RunFolder("tiny", folder).nets()]
    file = folder / "checkpoints" / f"{opinions[-1]['iteration']:05d}.safetensors"
    logits, results = azero.make_agent(str(file)).net_alone(state.planes()[None])
    chances = [float(each) for each in azero_softmax(results[0])]
    assert opinions[-1]["value"] == pytest.approx(chances[2] - chances[0], abs=1e-3)  # the second player is to move
    favourite = max(state.legal_actions(), key=lambda action: logits[0, action])
    assert max(opinions[-1]["prior"], key=opinions[-1]["prior"].get) == GAME.action_to_text(state, favourite)


def azero_softmax(logits):
    weights = [2.718281828459045 ** float(each) for each in logits]
    return [each / sum(weights) for each in weights]


def test_a_run_that_trains_is_read_between_two_writes(copy):
    with (copy / "metrics.jsonl").open("a") as file:
        file.write('{"iteration": 4, "positions": 12')  # the rest is on its way
    (copy / "replay" / "00003-0002.safetensors").write_bytes(b"half a file")
    assert [row["iteration"] for row in look(copy, "runs/tiny/metrics")["rows"]] == [1, 2, 3]
    assert all(not each["id"].startswith("00003-0002") for each in look(copy, "runs/tiny/games?limit=200"))


def test_a_run_trains_while_it_is_locked_and_its_files_are_young(copy):
    (copy / "metrics.jsonl").write_text('{"iteration": 1, "time/play_s": 10.0}\n')
    assert look(copy, "runs")[0]["state"] == "stopped"
    (copy / LOCK).touch()
    assert look(copy, "runs")[0]["state"] == "training"
    for path in [*copy.glob("replay/*"), copy / "metrics.jsonl", copy / "config.toml"]:
        os.utime(path, (1e9, 1e9))
    assert look(copy, "runs")[0]["state"] == "stopped"


@pytest.mark.parametrize(
    "line", ["\x00\xff", "[1]", '{"iteration": "2"}', '{"iteration": 2, "x": NaN}', "[" * 10_000, '{"iteration": true}']
)
def test_what_is_no_line_of_metrics_is_left_out_or_empty(copy, line):
    with (copy / "metrics.jsonl").open("a", encoding="latin-1") as file:
        file.write(f"{line}\n")
    rows = look(copy, "runs/tiny/metrics")["rows"]
    assert [row["iteration"] for row in rows][:3] == [1, 2, 3]
    assert all(row.get("x") is None for row in rows)


def test_links_out_of_the_folder_are_not_followed(copy, tmp_path):
    secret = tmp_path / "secret.jsonl"
    secret.write_text('{"iteration": 9, "secret": 1}\n')
    (copy / "metrics.jsonl").unlink()
    (copy / "metrics.jsonl").symlink_to(secret)
    assert look(copy, "runs/tiny/metrics", 409)["error"]["code"] == "bad_run"
    assert "link out of" in look(copy, "runs")[0]["problem"]


@pytest.mark.parametrize(
    "route, status",
    [
        ("runs/other/metrics", 404),
        ("runs/tiny/games/00001-0000.999", 404),
        ("runs/tiny/games/..%2F..%2Fbest", 404),
        ("runs/tiny/games?limit=0", 422),
        ("runs/tiny/metrics?after=x", 422),
    ],
)
def test_what_is_not_there_is_one_error(client, route, status):
    assert set(client.look(route, status)["error"]) >= {"code", "message"}
