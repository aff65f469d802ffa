"""Tests of workers: games do not depend on the worker that plays them."""

import pytest
import torch

from azero.selfplay.pool import Pool, count_workers
from azero.selfplay.tasks import PlayTask, play_task

from .games import assert_same, config_with, save_new_net


@pytest.fixture(scope="module")
def tasks(tmp_path_factory) -> list[PlayTask]:
    path, config = tmp_path_factory.mktemp("pool") / "net.safetensors", config_with()
    save_new_net(path, config)
    return [PlayTask(str(path), config, "", tuple(range(k, k + 3))) for k in (0, 3, 6)]


@pytest.fixture(autouse=True)
def threads():
    """Restores the number of torch's threads."""
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


def test_a_pool_is_used_again(tasks):
    with Pool(2) as pool:
        rounds = [dict(pool.run(play_task, tasks[:2], lambda num: None)) for _ in range(2)]
    for place in (0, 1):
        assert_same(rounds[0][place], rounds[1][place])


def test_an_error_in_a_worker_is_an_error_here(tasks):
    with pytest.raises(Exception, match="nowhere"), Pool(2) as pool:
        list(pool.run(play_task, [PlayTask("nowhere", tasks[0].config, "", (1,))], lambda num: None))


def test_workers_are_counted(monkeypatch):
    monkeypatch.setattr("azero.selfplay.pool.count_cores", lambda: 12)
    assert count_workers(config_with(num_workers=3)) == 3
    assert count_workers(config_with(num_workers=0)) == 12
    for count in (1, 4):
        gpus = [torch.device("cuda", k) for k in range(count)]
        monkeypatch.setattr("azero.selfplay.pool.pick_devices", lambda name, gpus=gpus: gpus)
        assert count_workers(config_with(num_workers=0)) == count
