"""A run is watched while it trains."""

import threading

import pytest

from azero.interfaces.web.runs.run import ShownRun
from azero.runs.settings import write_settings
from azero.training.train import train
from tests.interfaces.web.runs.conftest import serving
from tests.training.runs import tiny_config


def test_before_it_begins_there_is_nothing_to_see(watched):
    _, before, _ = watched
    assert before["rows"] == before["nets"] == [] and before["state"] == "stopped"
    assert before["activity"] == {"iteration": 1, "stage": "play", "games": 0, "games_wanted": 12}


def test_each_stage_is_seen(watched):
    *_, seen = watched
    found = [each["activity"] for each, *_ in seen]
    stages = [each and (each["iteration"], each["stage"]) for each in found]
    assert stages[:6] == [(1, "train"), (1, "gate"), (2, "play"), (2, "train"), (2, "gate"), (3, "play")]
    assert stages[6:] == [(3, "train"), (3, "gate"), None]


def test_rows_and_games_come_one_by_one(watched):
    *_, seen = watched
    assert [found["last"] for found, *_ in seen] == [0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert [games["games"][0]["iteration"] for _, games, _ in seen] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert {found["state"] for found, *_ in seen[:-1]} == {"training"} and seen[-1][0]["state"] == "finished"


def test_games_are_whole_at_any_time(watched):
    for _, games, newest in watched[2]:
        assert games["problems"] == [] and newest["net_problem"] is None
        assert newest["net"] < newest["iteration"] and all(ply["prior"] for ply in newest["plies"])


@pytest.mark.slow
def test_requests_at_any_moment_are_answered(tmp_path):
    folder, is_over, statuses = tmp_path / "tiny", threading.Event(), []
    folder.mkdir()
    write_settings(folder, tiny_config())
    with serving(folder) as client:
        (folder / "config.toml").unlink()

        def poll():
            while not is_over.is_set() or len(statuses) <= 50:  # however short the training is
                for route in ("runs", "runs/tiny/metrics", "runs/tiny/games?limit=5", "agents"):
                    statuses.append(client.get(f"/api/v1/{route}").status_code)
                statuses.append(client.post("/api/v1/runs/tiny/opinions", json={"moves": ""}).status_code)

        thread = threading.Thread(target=poll)
        thread.start()
        train(tiny_config(), folder)
        is_over.set()
        thread.join()
    assert len(statuses) > 50 and set(statuses) <= {200, 409}  # 409: before it has its settings


@pytest.mark.parametrize(
    ("play_ahead", "first_games", "iteration", "player"),
    [
        (0, "none", 3, 2),
        (1, "none", 3, 1),  # its games began before the gate of iteration 2
        (1, "none", 2, 0),
        (1, "other", 2, 1),  # random weights do not play on
        (1, "none", 1, 0),
    ],
)
def test_a_game_is_of_the_net_that_was_best_when_it_began(tmp_path, play_ahead, first_games, iteration, player):
    config = tiny_config(training={"play_ahead": play_ahead})
    replay = config.replay.model_copy(update={"first_games": first_games})
    (tmp_path / "checkpoints").mkdir()
    for number in range(4):
        (tmp_path / "checkpoints" / f"{number:05}.safetensors").touch()
    run = ShownRun("run", tmp_path)
    run.__dict__["config"] = config.model_copy(update={"replay": replay})
    assert run.player_of(iteration).iteration == player
