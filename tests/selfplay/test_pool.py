"""Workers: the same games whoever plays them, and settings that reach the search."""

from dataclasses import replace

import pytest
import torch

from azero.config import Config
from azero.config_files import check_config
from azero.games import make_game
from azero.mcts import Settings
from azero.nets.card import Card
from azero.nets.checkpoint import save_checkpoint
from azero.nets.tower import ResidualTower
from azero.selfplay.pool import Pool, Task, count_workers, play_settings_of, play_task, settings_of
from azero.selfplay.resignation import NOBODY
from azero.selfplay.slots import PlaySettings

from .games import assert_same


def config_with(**selfplay) -> Config:
    net = {"blocks": 1, "channels": 4, "policy_channels": 4, "value_channels": 4, "value_hidden": 4}
    device = {"device": "cpu", "precision": "fp32"}
    played = {"num_simulations": 8, "parallel_games": 4} | selfplay
    return check_config({"game": {"name": "tic_tac_toe"}, "net": net, "device": device, "selfplay": played})


@pytest.fixture(scope="module")
def tasks(tmp_path_factory) -> list[Task]:
    path, config = tmp_path_factory.mktemp("pool") / "net.safetensors", config_with()
    torch.manual_seed(0)
    net = ResidualTower(config.net, make_game("tic_tac_toe"))
    torch.nn.init.normal_(net.policy.weight)
    save_checkpoint(path, net, Card("tic_tac_toe", config.net.model_dump(), config.search.model_dump()))
    return [Task(str(path), config, tuple(range(k, k + 3)), "") for k in (0, 3, 6)]


@pytest.fixture(autouse=True)
def threads():
    """Leaves torch with the threads that it had."""
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("num_workers", [1, 2])
def test_workers_play_what_their_tasks_say(tasks, num_workers):
    reports, shards = [], {}
    with Pool(num_workers) as pool:
        for place, shard in pool.run(play_task, tasks, reports.append):
            shards[place] = shard
    assert sorted(shards) == [0, 1, 2]
    for place, task in enumerate(tasks):
        assert_same(shards[place], play_task(task, lambda num: None))
    assert sum(reports) == 9


@pytest.mark.parametrize("parallel_games", [1, 2, 100])
def test_games_are_the_same_however_many_are_played_at_once(tasks, parallel_games):
    other = Task(tasks[0].checkpoint, config_with(parallel_games=parallel_games), tasks[0].seeds, "")
    assert_same(play_task(other, lambda num: None), play_task(tasks[0], lambda num: None))


def test_a_task_tells_where_to_resign(tasks):
    task = replace(tasks[0], config=config_with(resign_error=0.05, resign_played_on_share=0.01))
    assert not play_task(task, lambda num: None).resigned.any()
    assert play_task(replace(task, resign_threshold=0.0), lambda num: None).resigned.any()


def test_a_pool_is_used_again(tasks):
    with Pool(2) as pool:
        rounds = [dict(pool.run(play_task, tasks[:2], lambda num: None)) for _ in range(2)]
    for place in (0, 1):
        assert_same(rounds[0][place], rounds[1][place])


def test_an_error_in_a_worker_is_an_error_here(tasks):
    with pytest.raises(Exception, match="nowhere"), Pool(2) as pool:
        list(pool.run(play_task, [Task("nowhere", tasks[0].config, (1,), "")], lambda num: None))


def test_settings_reach_the_search():
    config = config_with(
        random_symmetry=False, dirichlet_alpha=0.3, dirichlet_epsilon=0.5, temperature=2.0, temperature_plies=7,
        final_temperature=0.1, keep_tree=False, full_search_share=0.5, fast_simulations=5, random_opening_share=0.7,
        random_opening_plies=6, resign_error=0.05, resign_played_on_share=0.2,
    )  # fmt: skip
    assert settings_of(config) == Settings(
        is_looking_ahead=True, is_rollout_only=False, dirichlet_alpha=0.3, dirichlet_epsilon=0.5, cache_mib=64
    )
    assert settings_of(config_with()).has_random_symmetry
    gumbel = settings_of(config_with(root="gumbel", gumbel_considered=5, gumbel_visit=20, gumbel_scale=0.5))
    assert (gumbel.gumbel_considered, gumbel.gumbel_visit, gumbel.gumbel_scale) == (5, 20.0, 0.5)
    assert gumbel.dirichlet_epsilon == 0
    assert settings_of(config_with()).gumbel_considered == 0
    assert settings_of(config_with(forced_playouts=2)).forced_playouts == 2
    assert settings_of(config_with(forced_playouts=2, root="gumbel")).forced_playouts == 0
    assert play_settings_of(config, -0.9) == PlaySettings(8, 2.0, 7, 0.1, False, 0.5, 5, 0.7, 6, -0.9, 0.2)
    assert play_settings_of(config).resign_threshold == NOBODY


def test_workers_are_counted(monkeypatch):
    monkeypatch.setattr("azero.selfplay.pool.count_cores", lambda: 12)
    assert count_workers(config_with(num_workers=3)) == 3
    assert count_workers(config_with(num_workers=0)) == 12
    for count in (1, 4):
        gpus = [torch.device("cuda", k) for k in range(count)]
        monkeypatch.setattr("azero.selfplay.pool.pick_devices", lambda name, gpus=gpus: gpus)
        assert count_workers(config_with(num_workers=0)) == count


def test_a_worker_weighs_by_surprise_where_it_is_asked_to(tasks):
    plain = play_task(tasks[0], lambda num: None)
    task = Task(tasks[0].checkpoint, config_with(policy_surprise_share=0.5), tasks[0].seeds, "")
    weighed = play_task(task, lambda num: None)
    assert_same(weighed._replace(weights=plain.weights, evaluations=plain.evaluations), plain)
    assert (plain.weights == 1).all() and len(set(weighed.weights)) > 3
    assert weighed.num_learnt == plain.num_learnt
