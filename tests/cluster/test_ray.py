"""Tests with Ray, on a cluster of this machine: a run ends with the same bytes as on the local pool, whoever dies."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from training.runs import TINY, needs_proc, nets_of, tiny_config, wait_until, write_config

from azero.cluster.connection import connected
from azero.cluster.fingerprint import Fingerprint
from azero.config.reading import check_config
from azero.errors import BadInput
from azero.selfplay.workers import local_pool
from azero.system.worker_pool import Workers
from azero.training.train import train

from .shared import TRAINING, config_of, with_tests
from .works import die, fail, hang_once, interrupt, killed_twice, large, square, surroundings, work_once

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]  # Ray's own code warns


def pool_of(cluster, told=None, **settings):
    return cluster.pool(check_config(TINY | {"cluster": settings}), (told if told is not None else []).append)


def test_a_run_on_a_cluster_ends_with_the_same_bytes(cluster, whole, tmp_path, capsys):
    config = config_of(selfplay={"num_workers": 2})
    done = train(config, tmp_path / "cluster", make_pool=cluster.pool)
    assert nets_of(tmp_path / "cluster") == whole
    row = capsys.readouterr().out.splitlines()[-1]
    assert row.endswith("  2 workers") and done.metrics["cluster/workers"] == 2
    assert done.metrics["cluster/tasks_again"] == 0 and done.metrics["cluster/received_bytes"] > 1000
    train(config, tmp_path / "pool", make_pool=local_pool)
    assert nets_of(tmp_path / "pool") == whole


def test_a_run_whose_workers_are_killed_ends_with_the_same_bytes(cluster, whole, tmp_path, capsys, monkeypatch):
    """Two workers are killed when they have played their games."""
    run = Workers.run

    def run_with_deaths(pool, work, tasks, on_done, shared, title):
        yield from run(pool, killed_twice, tasks, on_done, (tmp_path, work, shared), title)

    monkeypatch.setattr(Workers, "run", run_with_deaths)
    train(config_of(selfplay={"num_workers": 2}), tmp_path / "run", make_pool=cluster.pool)
    assert nets_of(tmp_path / "run") == whole
    out, err = capsys.readouterr()
    assert err.count("a worker was killed; another one does its task again") == 2
    assert "  2 workers, 2 tasks again, 2 workers died\n" in out


@pytest.mark.slow
def test_a_user_s_game_travels_to_workers_that_lack_it(cluster, tmp_path, monkeypatch):
    """The workers have another working folder, in which there is no such file."""
    monkeypatch.chdir(tmp_path)
    Path("pieces.py").write_text("HEAP = 6\n")
    text = (Path(__file__).parents[1] / "data" / "nim.py").read_text()
    Path("nim.py").write_text(
        text.replace("import numpy", "import pieces\nimport numpy").replace("= 21", "= pieces.HEAP")
    )
    settings = {"name": "nim.py:Nim"}
    config = tiny_config(training={"iterations": 1}, game=settings, evaluation={"every": 0})
    for name, make_pool in (("local", local_pool), ("cluster", cluster.pool)):
        train(config, name, make_pool=make_pool)
    assert nets_of(Path("cluster")) == nets_of(Path("local"))


@pytest.mark.slow
def test_a_killed_worker_is_replaced(cluster, tmp_path):
    told = []
    with pool_of(cluster, told) as pool:
        assert dict(pool.run(work_once, [10, 20], shared=tmp_path)) == {0: 10, 1: 20}
        assert pool.num_deaths == 2 and set(told) == {"a worker was killed; another one does its task again"}
        with pytest.raises(BadInput, match="^3 workers have died at the same task, the last one was killed; "):
            list(pool.run(die, [1]))
        assert dict(pool.run(square, [3])) == {0: 9}


def test_a_task_that_hangs_is_given_to_another_worker(cluster, tmp_path):
    told = []
    with pool_of(cluster, told, deadline_s=5) as pool:  # a new worker has to import azero meanwhile
        assert list(pool.run(hang_once, [1], shared=tmp_path)) == [(0, 1)]
    assert told == ["task 1/1 has taken 5 s; another worker does it"]


def test_an_interrupt_ends_all_attempts(cluster):
    with pool_of(cluster) as pool:
        with pytest.raises(KeyboardInterrupt):
            list(pool.run(interrupt, [1, 2], shared=os.getpid()))
        assert dict(pool.run(square, [3])) == {0: 9}  # with the CPUs of those that were ended


@needs_proc
def test_no_process_sends_statistics(cluster):
    with pool_of(cluster) as pool:
        ((_, (of_worker, _)),) = pool.run(surroundings, [0])
    found = [
        (folder / "environ").read_bytes().split(b"\0")
        for name in (b"gcs/gcs_server", b"raylet/raylet")
        for folder in (Path("/proc") / each for each in processes_of(os.getsid(0), name))
    ]
    assert of_worker == "0" and len(found) >= 2 and all(b"RAY_USAGE_STATS_ENABLED=0" in each for each in found)


@pytest.mark.slow
def test_workers_import_nothing_from_the_working_folder(tmp_path):
    """In a process of its own, since Ray takes the working folder at the beginning."""
    for name in ("numba", "json", "azero"):
        (tmp_path / f"{name}.py").write_text("import pathlib; pathlib.Path('ran').touch()\n")
    script = "from cluster.test_ray import show_path; show_path()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, env=without_ray(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) not in done.stdout.splitlines() and not (tmp_path / "ran").exists()


def show_path():
    """Prints the path from which a worker of a new cluster imports."""
    with connected("local") as cluster, pool_of(cluster) as pool:
        ((_, (_, path)),) = pool.run(surroundings, [0])
    print(*path, sep="\n")


def without_ray():
    """Returns the environment without what this process has set for Ray, and with the tests on Python's path."""
    variables = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")}
    return variables | {"PYTHONPATH": with_tests()}


def test_a_node_with_another_azero_is_refused(cluster, monkeypatch):
    here, told = Fingerprint.here(), []
    monkeypatch.setattr(Fingerprint, "here", classmethod(lambda cls: here._replace(code="other")))
    with pool_of(cluster, told) as pool, pytest.raises(BadInput, match="^all nodes of the cluster are refused; "):
        list(pool.run(square, [1]))
    assert len(told) == 1 and "is refused: it has another code of azero" in told[0]


def test_what_a_worker_raises_is_raised_here(cluster):
    with pool_of(cluster) as pool, pytest.raises(ValueError, match="shared"):
        list(pool.run(fail, [1], shared="shared"))


def test_nothing_stays_in_the_object_store(cluster):
    with pool_of(cluster) as pool:
        for _ in range(3):
            assert len(list(pool.run(large, range(4), shared=bytes(5 << 20)))) == 4
    wait_until(lambda: used_bytes() < 1 << 20, timeout_s=30)


def used_bytes():
    import ray  # not before a cluster has been started, with its settings

    names = "object_store_memory"
    return ray.cluster_resources()[names] - ray.available_resources().get(names, 0)


def start_train(folder, config, home):
    """Starts a run on a local cluster, in a session of its own; returns the process."""
    command = [sys.executable, "-m", "azero.cli", "train", str(config), "--run", str(folder), "--cluster", "local"]
    caches = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))  # of compiled kernels
    return subprocess.Popen(
        command,
        env=without_ray() | {"HOME": str(home), "XDG_CACHE_HOME": caches},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.slow
@needs_proc
def test_a_run_whose_head_dies_ends_with_a_line_and_goes_on(cluster, whole, tmp_path):
    run = tmp_path / "run"
    process = start_train(run, write_config(tmp_path, training=TRAINING), tmp_path)
    wait_until(lambda: list(run.glob("replay/0*")) or process.poll() is not None)
    os.kill(int(processes_of(process.pid, b"gcs/gcs_server")[0]), signal.SIGKILL)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert re.fullmatch(r"azero: the Ray cluster's head, at [\d.:]+, has ended; a run's files are whole; .*\n", err)
    wait_until(lambda: not processes_of(process.pid), timeout_s=30)
    train(None, run, resume=True, make_pool=cluster.pool)
    assert nets_of(run) == whole


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize(
    ("sign", "times"), [(signal.SIGINT, 1), (signal.SIGINT, 2), (signal.SIGTERM, 1), (signal.SIGKILL, 1)]
)
def test_a_command_that_is_stopped_leaves_no_process_and_nothing_at_home(tmp_path, sign, times):
    home = tmp_path / "home"
    process = start_train(tmp_path / "run", write_config(tmp_path, training={"iterations": 1000}), home)
    wait_until(lambda: (tmp_path / "run" / "metrics.jsonl").exists() or process.poll() is not None)
    head = processes_of(process.pid, b"gcs/gcs_server")[0]
    folder = Path(re.search(r"/tmp/azero-ray-\w+", Path("/proc", head, "cmdline").read_text())[0])
    for _ in range(times):
        os.killpg(process.pid, sign) if sign == signal.SIGINT else process.send_signal(sign)
        time.sleep(0.2)
    _, err = process.communicate(timeout=60)
    if sign == signal.SIGINT:
        go_on = f"go on with: azero train --run {tmp_path / 'run'} --resume --cluster local"
        assert process.returncode == 130 and err == f"azero: stopped; {go_on}\n"
    else:
        assert process.returncode == -sign and err == ""
    wait_until(lambda: not processes_of(process.pid), timeout_s=10)
    wait_until(lambda: not folder.exists(), timeout_s=10)
    assert not (home / ".ray").exists()


@pytest.mark.slow
@needs_proc
@pytest.mark.parametrize("name", [b"gcs/gcs_server", b"raylet/raylet"])
def test_ctrl_c_while_the_cluster_starts_leaves_nothing(tmp_path, name):
    process = start_train(tmp_path / "run", write_config(tmp_path, training={"iterations": 1000}), tmp_path / "home")
    wait_until(lambda: processes_of(process.pid, name) or process.poll() is not None)
    words = Path("/proc", processes_of(process.pid, name)[0], "cmdline").read_text()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err.startswith("azero: stopped") and err.count("\n") == 1
    wait_until(lambda: not processes_of(process.pid), timeout_s=30)
    assert not Path(re.search(r"/tmp/azero-ray-\w+", words)[0]).exists()


def processes_of(session, name=b""):
    """Returns the processes of a session, without zombies.

    Args:
      name: a part of their command lines.
    """
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            status, _, _, own = stat.read_text().rpartition(")")[2].split()[:4]
            command = (stat.parent / "cmdline").read_bytes()
            if status != "Z" and int(own) == session and name in command:
                found.append(stat.parent.name)
    return found


@pytest.mark.slow
def test_a_run_that_plays_ahead_ends_with_the_same_bytes(cluster, tmp_path):
    """The gate's matches are played by the same workers at the same time."""
    for name, num_workers, make_pool in (("turns", 1, local_pool), ("cluster", 2, cluster.pool)):
        config = tiny_config(training={"iterations": 3, "play_ahead": 1}, selfplay={"num_workers": num_workers})
        done = train(config, tmp_path / name, make_pool=make_pool)
    assert nets_of(tmp_path / "cluster") == nets_of(tmp_path / "turns")
    assert 0 < done.metrics["time/overlap"] <= 1


@pytest.mark.long
@needs_proc
def test_a_run_of_30_iterations_leaves_nothing_behind(tmp_path):
    """No object, trainer or task while its cluster lives, and afterwards no process."""
    script = f"from cluster.test_ray import train_long; train_long({str(tmp_path / 'run')!r})"
    command, pipes = [sys.executable, "-P", "-c", script], {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, env=without_ray(), text=True, start_new_session=True, **pipes)
    out, err = process.communicate()
    assert process.returncode == 0 and out.splitlines()[-1] == "0 bytes, 0 processes of a trainer, 0 tasks", out + err
    wait_until(lambda: not processes_of(process.pid), timeout_s=30)
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 30


def train_long(folder):
    """Trains on a new cluster, and prints what is left in it."""
    config = config_of(2, training=TRAINING | {"iterations": 30}, selfplay={"num_workers": 2})
    with connected("local") as cluster:
        train(config, Path(folder), make_pool=cluster.pool)
        with contextlib.suppress(AssertionError):
            wait_until(lambda: not used_bytes() and not left(b"ray::azero_trainer"), timeout_s=10)
        num_tasks = left(b"ray::self-play") + left(b"ray::match")
        print(f"{used_bytes():.0f} bytes, {left(b'ray::azero_trainer')} processes of a trainer, {num_tasks} tasks")


def left(name):
    return len(processes_of(os.getsid(0), name))


def test_processes_with_a_gpu_share_the_cores_that_they_may_use(monkeypatch):
    from azero.cluster.node_side import take_share_of_cores  # it imports Ray

    taken = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {2, 3, 6, 7})
    monkeypatch.setattr(os, "sched_setaffinity", lambda process, cores: taken.append(cores))
    for gpu, num_gpus in (("0", 2), ("1", 2), ("5", 2), ("GPU-4f6a", 2), ("0", 8)):
        take_share_of_cores(gpu, num_gpus)
    assert taken[:3] == [[2, 6], [3, 7], [3, 7]] and taken[3] in taken[:2] and taken[4] == [2]
