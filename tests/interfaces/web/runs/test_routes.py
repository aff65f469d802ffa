"""Tests of the routes of runs, on a run that is over."""

import json

import numpy as np
import pytest

from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint
from azero.runs.shards import load_games

GAME = make_game("tic_tac_toe")


def opinions_of(client, run_id="tiny", **fields):
    """Returns the whole answer of the nets."""
    for _ in range(20):
        answer = client.ask(f"runs/{run_id}/opinions", **fields)
        if answer["is_whole"]:
            return answer
    raise AssertionError("the answer is never whole")


def test_runs_are_listed(watcher):
    (found,) = watcher.look("runs")
    assert found["id"] == found["name"] == "tiny" and found["game"] == "tic_tac_toe" and found["problem"] is None
    assert found["state"] == "finished" and found["iteration"] == found["iterations"] == 3


def test_metrics_are_those_of_the_file(watcher, trained):
    lines = [json.loads(line) for line in (trained / "metrics.jsonl").read_text().splitlines()]
    found = watcher.look("runs/tiny/metrics")
    assert found["rows"] == lines and found["last"] == 3
    assert watcher.look("runs/tiny/metrics?after=2")["rows"] == lines[2:]
    assert watcher.look("runs/tiny/metrics?after=9")["rows"] == []
    assert found["resume"] == f"azero train --run {trained} --resume"


def test_nets_are_agents(watcher):
    nets = watcher.look("runs/tiny/metrics")["nets"]
    assert [net["iteration"] for net in nets] == sorted({net["iteration"] for net in nets}) and nets[0][
        "iteration"
    ] == 0
    assert watcher.ask("suggestions", agent=nets[0]["agent"], game="tic_tac_toe", simulations=8)["best"]
    assert "run:tiny" in [each["id"] for each in watcher.look("agents?game=tic_tac_toe")]
    watcher.ask("suggestions", 404, agent="run:tiny:99", game="tic_tac_toe")


def test_games_are_the_newest_first(watcher, trained):
    games = load_games(trained)
    found = watcher.look("runs/tiny/games?limit=200")
    assert len(found["games"]) == len(games.lengths) and found["problems"] == []
    assert [each["iteration"] for each in found["games"]] == games.iterations[::-1].tolist()
    winners = {1: 0, 0: None, -1: 1}
    assert [each["result"]["winner"] for each in found["games"]] == [winners[z] for z in games.outcomes[::-1].tolist()]
    assert watcher.look("runs/tiny/games?limit=2")["games"] == found["games"][:2]
    newest = [each for each in found["games"] if each["iteration"] == 3]
    assert watcher.look("runs/tiny/games?iteration=3")["games"] == newest
    assert found["noise"]["is_random"] and "30% of the games begin with random moves" in found["noise"]["text"]


def test_a_game_has_what_search_and_net_thought(watcher, trained):
    games = load_games(trained)
    listed = watcher.look("runs/tiny/games?limit=200")["games"]
    openings = set()
    for back, number in enumerate(reversed(range(len(games.lengths)))):
        found = watcher.look(f"runs/tiny/games/{listed[back]['id']}")
        begin = int(games.lengths[:number].sum())
        length, opening = int(games.lengths[number]), found["opening_plies"]
        openings.add(opening)
        assert len(found["moves"]) == opening + length and len(found["plies"]) == length
        assert [ply["move"] for ply in found["plies"]] == found["moves"][opening:]
        for k, ply in enumerate(found["plies"]):
            assert_ply(ply, games, begin + k)
    assert len(openings) > 1


def assert_ply(ply, games, position):
    """Checks a move against the games as `azero.load_games` has them."""
    sign = 1 - 2 * int(games.players[position])
    assert ply["value"] == pytest.approx(sign * games.values[position], abs=1e-4)
    policy, state = games.policies[position], games.state(position)
    texts = {GAME.action_to_text(state, action): float(policy[action]) for action in state.legal_actions()}
    assert ply["policy"] == (pytest.approx({m: p for m, p in texts.items() if p}, abs=1e-4) if policy.any() else None)
    assert set(ply["prior"]) == set(texts) and sum(ply["prior"].values()) == pytest.approx(1, abs=1e-3)
    assert ply["is_learned"] == (games.weights[position] > 0)


def test_the_prior_of_a_game_is_that_of_the_net_that_played_it(watcher, trained):
    nets = [each["iteration"] for each in watcher.look("runs/tiny/metrics")["nets"]]
    for brief in watcher.look("runs/tiny/games?limit=200")["games"][::9]:
        found = watcher.look(f"runs/tiny/games/{brief['id']}")
        assert found["net"] == max(each for each in nets if each < brief["iteration"])
        state = GAME.state_from_moves(" ".join(found["moves"][: found["opening_plies"]]))
        net = load_checkpoint(trained / "checkpoints" / f"{found['net']:05d}.safetensors", GAME)
        policies, values = net.evaluate([state])
        sign = 1 - 2 * state.current_player()
        assert found["plies"][0]["net_value"] == pytest.approx(sign * values[0], abs=2e-4)
        wanted = {GAME.action_to_text(state, action): policies[0, action] for action in state.legal_actions()}
        assert found["plies"][0]["prior"] == pytest.approx(wanted, abs=2e-4)


def test_opinions_are_those_of_each_net(watcher, trained):
    found = opinions_of(watcher, moves="b2 a1", game="tic_tac_toe")
    nets = [each["iteration"] for each in watcher.look("runs/tiny/metrics")["nets"]]
    assert [each["iteration"] for each in found["opinions"]] == nets and found["problems"] == []
    state = GAME.state_from_moves("b2 a1")
    for each in found["opinions"]:
        _, values = load_checkpoint(trained / "checkpoints" / f"{each['iteration']:05d}.safetensors").evaluate([state])
        assert each["value"] == pytest.approx(float(values[0]), abs=2e-4) and "b2" not in each["prior"]
    values = {each["value"] for each in found["opinions"]}
    assert len(values) > 1 or np.isclose(len(nets), 1)


def test_opinions_of_more_nets_than_are_kept_open_come_to_an_end(watcher, monkeypatch):
    monkeypatch.setattr("azero.interfaces.web.runs.nets._MOST_OPEN_BYTES", 1)
    monkeypatch.setattr("azero.interfaces.web.runs.nets._PATIENCE_S", -1.0)  # a net for each request
    watcher.app.state.context.nets.opened.close()
    found = opinions_of(watcher, moves="c3", game="tic_tac_toe")
    assert len(found["opinions"]) == found["nets"] > 1


def test_opinions_name_what_is_wrong(watcher):
    ask = "runs/tiny/opinions"
    assert watcher.ask(ask, 422, moves="b2 b2")["error"]["at"] == 1
    assert watcher.ask(ask, 409, moves="a1 b1 a2 b2 a3")["error"]["code"] == "game_over"
    assert watcher.ask(ask, 409, game="hex(size=7)")["error"]["code"] == "other_game"
    assert watcher.ask(ask, 404, game="")["error"]["code"] == "unknown_game"
    assert watcher.ask(ask, 404, game="../x")["error"]["code"] == "unknown_game"


@pytest.mark.parametrize(
    "route", ["x/metrics", "..%2ftiny/metrics", "tiny/games/x", "tiny/games/3.0.99", "tiny/games/9.0.1"]
)
def test_what_is_not_there_is_404(watcher, route):
    assert watcher.look(f"runs/{route}", 404)["error"]["message"]


@pytest.mark.parametrize("query", ["games?limit=0", "games?limit=201", "games?iteration=-1", "metrics?after=x"])
def test_numbers_are_checked(watcher, query):
    watcher.look(f"runs/tiny/{query}", 422)
