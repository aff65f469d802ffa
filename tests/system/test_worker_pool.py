"""Tests of a cluster's pool, without Ray: one whole answer to each task counts, whatever becomes of workers."""

import pickle
import time

import pytest
from cluster.works import square

from azero.config.schema import Config, DeviceConfig, GameConfig, SelfPlayConfig
from azero.errors import BadInput
from azero.selfplay.workers import settings_of_workers
from azero.system import worker_pool as module
from azero.system.process_backend import Death, Refused
from azero.system.worker_pool import Workers
from azero.system.worker_side import do_task, seal

from .fake import FakeCluster, damaged

TASKS = [1, 2, 3, 4]
RESULTS = {0: 1, 1: 4, 2: 9, 3: 16}


@pytest.fixture(autouse=True)
def late(monkeypatch):
    """An attempt that takes longer than the others is late at once."""
    monkeypatch.setattr(module, "_LATE_S", 0.0)


def run(cluster, tasks=TASKS, **settings):
    """Returns the results by place, what was told, the sum of reports, and the pool; each place only once."""
    told, reports = [], []
    with Workers(cluster, told.append, **settings) as pool:
        found = list(pool.run(square, tasks, reports.append, "shared"))
    assert len({place for place, _ in found}) == len(found)
    return dict(found), told, sum(reports), pool


def test_tasks_are_done_once_each():
    cluster = FakeCluster()
    found, told, reported, pool = run(cluster)
    assert found == RESULTS and reported == 10 and told == [] and len(cluster.attempts) == 4
    figures = pool.figures()
    assert figures["cluster/workers"] == figures["cluster/nodes"] == 2 and figures["cluster/tasks_again"] == 0
    assert figures["cluster/received_bytes"] == sum(len(pickle.dumps(each, protocol=5)) for each in RESULTS.values())


def test_figures_tell_how_long_tasks_and_workers_waited():
    """A worker begins each task after 0.1 s, and does it in 0.2 s; the other one does nothing."""
    cluster = FakeCluster(nodes="ab", begins_after_s=0.1, takes_s=0.2)
    pool = run(cluster, [1])[-1]
    figures = pool.figures()
    assert figures["cluster/queue_s"] >= 0.1 and 0.5 <= figures["cluster/waiting_share"] < 1
    time.sleep(0.01)
    idle = pool.figures()
    assert idle["cluster/queue_s"] == 0 and idle["cluster/waiting_share"] == 1


def test_no_tasks_need_no_worker():
    assert run(FakeCluster(), [])[0] == {}


def test_what_work_raises_is_raised_here():
    with pytest.raises(ValueError, match="shared"):
        run(FakeCluster(), ["wrong", 1])


@pytest.mark.parametrize("is_of_node", [False, True])
def test_a_task_whose_worker_dies_is_done_again(is_of_node):
    cluster = FakeCluster(lambda before, node, answer: answer if before else Death("was killed", is_of_node))
    found, told, reported, pool = run(cluster)
    assert found == RESULTS and reported == 10
    assert told == ["a worker was killed; another one does its task again"] * 4
    assert pool.num_deaths == 4 and pool.figures()["cluster/tasks_again"] == 4 and len(cluster.attempts) == 8


@pytest.mark.parametrize(("is_of_node", "most"), [(False, 3), (True, 20)])
def test_a_task_that_no_worker_survives_ends_in_a_line(is_of_node, most):
    cluster = FakeCluster(lambda before, node, answer: Death("was killed", is_of_node))
    with pytest.raises(BadInput, match=f"^{most} workers have died at the same task, the last one was killed; "):
        run(cluster, [1])
    assert len(cluster.attempts) == most


def test_damaged_and_foreign_answers_are_dropped():
    other = seal("another call", 0, "a", "result", 10**6, 0)
    wrong = {
        0: damaged,
        1: lambda answer: other,
        2: lambda answer: answer._replace(place=3),
        3: lambda answer: answer._replace(kind="error"),
    }
    cluster = FakeCluster(lambda before, node, answer: answer if before else wrong[answer.place](answer))
    found, told, reported, pool = run(cluster)
    assert found == RESULTS and reported == 10 and pool.figures()["cluster/tasks_again"] == 4
    assert sorted(told) == [
        "the answer to task 1/4 is damaged; another worker does it again",
        "the answer to task 2/4 is that to another task; another worker does it again",
        "the answer to task 3/4 is that to another task; another worker does it again",
        "the answer to task 4/4 is damaged; another worker does it again",
    ]


def test_a_late_task_is_given_to_an_idle_node_and_the_first_answer_counts():
    cluster = FakeCluster(lambda before, node, answer: answer if before or answer.place != 3 else None)
    found, told, reported, pool = run(cluster)
    assert found == RESULTS and reported == 10 and told == []
    assert [node for place, node in cluster.attempts if place == 3] == ["b", "a"]  # the other node
    assert cluster.cancelled == [4] and pool.figures()["cluster/tasks_again"] == 1


def test_a_late_task_stays_where_it_is_while_no_other_node_idles(monkeypatch):
    cluster = FakeCluster(lambda before, node, answer: answer if before or answer.place != 3 else None, nodes="aa")
    monkeypatch.setattr(cluster, "slots", lambda: {"a": 2})
    assert run(cluster, deadline_s=0.1)[0] == RESULTS  # the deadline ends it


def test_of_two_answers_at_once_one_counts(monkeypatch):
    cluster = FakeCluster(lambda before, node, answer: answer if before or answer.place != 3 else None)
    submit = cluster.submit

    def submit_and_answer_the_first(shared, place, task, title, avoided):
        attempt = submit(shared, place, task, title, avoided)
        if cluster.attempts.count((3, "b")) and attempt > 4:
            cluster.events[4] = [do_task(*shared, place, task, "b")]
            cluster.events[attempt].pop(0)
        return attempt

    monkeypatch.setattr(cluster, "submit", submit_and_answer_the_first)
    found, _, reported, pool = run(cluster)
    assert found == RESULTS and reported == 10 and pool.figures()["cluster/tasks_again"] == 1


def test_a_task_beyond_the_deadline_is_given_to_another_worker(monkeypatch):
    monkeypatch.setattr(module, "_LATE_S", 1e9)
    cluster = FakeCluster(lambda before, node, answer: answer if before or answer.place != 3 else None)
    found, told, reported, _ = run(cluster, deadline_s=0.1)
    assert found == RESULTS and reported == 10 and cluster.cancelled == [4]
    assert told == ["task 4/4 has taken 0.1 s; another worker does it"]


def test_a_task_that_is_always_beyond_the_deadline_ends_in_a_line(monkeypatch):
    monkeypatch.setattr(module, "_LATE_S", 1e9)
    cluster = FakeCluster(lambda before, node, answer: answer if answer.place != 3 else None)
    with pytest.raises(
        BadInput, match=r"^task 4/4 has taken 0\.1 s on each of 3 workers; set a larger cluster.deadline_s$"
    ):
        run(cluster, deadline_s=0.1)
    assert [place for place, _ in cluster.attempts].count(3) == 3


def test_a_copy_that_never_begins_does_not_hold_its_task(monkeypatch):
    """The copy of a late task waits for a node that has gone; then the first attempt dies."""
    cluster = FakeCluster(lambda before, node, answer: None if answer.place == 3 and before < 2 else answer)
    submit = cluster.submit

    def submit_a_copy_for_a_node_that_goes(*arguments):
        attempt = submit(*arguments)
        if [place for place, _ in cluster.attempts].count(3) == 2 and cluster.attempts[-1][0] == 3:
            cluster.events[attempt] = []
            cluster.events[4].append(Death("was killed", False))
        return attempt

    monkeypatch.setattr(cluster, "submit", submit_a_copy_for_a_node_that_goes)
    found, _, reported, _ = run(cluster)
    assert found == RESULTS and reported == 10 and cluster.cancelled == [5] and len(cluster.attempts) == 6


def test_a_run_waits_for_another_node_while_those_left_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_NODES_EVERY_S", 0)
    living = {"a": 1, "b": 1}

    def fate(before, node, answer):
        if node == "b":
            return Refused("b", "host-b", "has azero 1, not 2")
        if before < 2:
            living.pop("a", None)
            return Death("was lost with its node", True)
        living["a"] = 1
        return answer

    cluster = FakeCluster(fate)
    monkeypatch.setattr(cluster, "slots", lambda: dict(living))
    found, told, *_ = run(cluster)
    waiting = "the cluster has no node with a CPU or GPU for a worker; waiting for one"
    assert found == RESULTS and "node host-b is refused: it has azero 1, not 2" in told and waiting in told


def test_that_a_run_waits_is_told_each_time(monkeypatch):
    monkeypatch.setattr(module, "_NODES_EVERY_S", 0)
    cluster, living, told = FakeCluster(), {}, []
    monkeypatch.setattr(cluster, "slots", lambda: dict(living))
    with Workers(cluster, told.append) as pool:
        for each in ({}, {}, {"a": 1}, {}, {}):
            living.clear()
            living.update(each)
            pool.figures()
    assert len(told) == 2


def test_a_refused_node_gets_no_more_tasks():
    cluster = FakeCluster(
        lambda before, node, answer: Refused("a", "host-a", "has numpy 1.0, not 2.0") if node == "a" else answer
    )
    found, told, _, pool = run(cluster)
    assert found == RESULTS and told == ["node host-a is refused: it has numpy 1.0, not 2.0"]
    assert pool.num_deaths == 0 and pool.figures()["cluster/refused_nodes"] == pool.figures()["cluster/nodes"] == 1
    before = len(cluster.attempts)
    assert dict(pool.run(square, TASKS)) == RESULTS
    assert {node for _, node in cluster.attempts[before:]} == {"b"}


def test_a_cluster_of_refused_nodes_ends_in_a_line():
    cluster = FakeCluster(lambda before, node, answer: Refused(node, f"host-{node}", "has azero 1, not 2"))
    with pytest.raises(BadInput, match="^all nodes of the cluster are refused; one of them has azero 1, not 2$"):
        run(cluster)


def test_workers_have_all_cores_that_they_see_and_in_a_mixed_cluster_their_own_arithmetic():
    config = Config(game=GameConfig(name="tic_tac_toe"), selfplay=SelfPlayConfig(num_workers=5))
    config = config.model_copy(update={"device": DeviceConfig(runtime="openvino", precision="int8")})
    same, mixed = (settings_of_workers(Workers(FakeCluster(is_mixed=each)), config) for each in (False, True))
    assert same.selfplay.num_workers == mixed.selfplay.num_workers == 1
    assert same.device == config.device and mixed.device == DeviceConfig()
