"""Tests of the trainer's ranks: any number of them gives the same weights, and a run survives the loss of one."""

import functools
import multiprocessing
import os
import signal
import socket
from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from selfplay.games import random_games

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import LOSS, WIN
from azero.games.sizes import games_of
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.system import local_backend
from azero.system.local_backend import local_host
from azero.training.learning import group
from azero.training.learning import ranks as ranks_of
from azero.training.learning.group import Group
from azero.training.learning.learner import heads_of
from azero.training.learning.losses import Losses
from azero.training.learning.passes import PASS_ROWS, Pass, count_passes, share_of
from azero.training.learning.ranks import check_ranks, joined_ranks
from azero.training.learning.trainer import Trainer
from azero.training.learning.winograd.layers import why_not_winograd
from azero.training.run import Run
from azero.training.stages import learn

from . import runs
from .runs import (
    TIMEOUT_S,
    assert_gone,
    figures_of,
    finish_train,
    fork_train,
    in_training,
    needs_proc,
    nets_of,
    progress_of,
    start_train,
    strike,
    tiny_config,
    wait_until,
    write_config,
)
from .test_gate import Silent
from .test_trainer import one_thread, state_bytes  # noqa: F401

SETTINGS = {"batch_size": 512, "samples_per_position": 12, "ema_decay": 0.9, "gradient_clip": 0.5, "precision": "fp32"}
HEADS = {"ownership_loss_weight": 1.0, "score_loss_weight": 0.5}
LARGER = {"blocks": 1, "channels": 16}


@pytest.fixture
def forks(monkeypatch):
    """Further ranks are forked from a process that has imported torch, which saves seconds."""
    forks = runs._forks()
    monkeypatch.setattr(multiprocessing, "get_context", lambda kind: forks)


def config_of(num_ranks: int, training: dict | None = None, **sections: dict) -> Config:
    sections |= {"net": LARGER | sections.get("net", {}), "training": SETTINGS | (training or {})}
    return tiny_config(cluster={"trainers": num_ranks}, **sections)


def trained(folder: Path, config: Config, lessons: Lessons | None = None, first=lambda trainer: None):
    """Trains two iterations, between which a shard enters the window and another leaves.

    Returns the trainer's state as bytes, and metrics without times.
    """
    games = games_of(config.game)
    run, trainer = (
        Run.create(folder, config, games[-1]),
        Trainer(config, games[-1], Canvas(games) if games[1:] else None),
    )
    first(trainer)
    window = Window(150) if len(games) == 1 else Window(300)
    replay = Replay(games, window, targets_of(config.training, heads_of(config.training, games[-1])), 0, lessons)
    notes = []
    with joined_ranks(config, games[-1], trainer, lessons, local_host) as ranks:
        for iteration in (1, 2):
            for size, game in enumerate(games):
                left = replay.add(f"{iteration:05d}-{size:04d}", random_games(game, 16, seed=iteration), size)
            progress = in_training(90, iteration=iteration)
            notes.append(learn(run, progress, replay, trainer, Silent(), ranks).notes)
    assert left, "a shard should leave the window"
    return state_bytes(trainer), [{key: each for key, each in own.items() if not key.endswith("_s")} for own in notes]


def taught(game) -> Lessons:
    """Returns two lessons, one of them without a policy target."""
    first, second = game.new_initial_state(), game.new_initial_state()
    second.apply_action(3)
    return Lessons(game, [Lesson(first, WIN, {3: 1}), Lesson(second, LOSS, {})], 0.3)


CASES = {
    "muon, heads": ({"optimizer": "muon", **HEADS}, {"game": {"name": "othello(size=4)"}}, False),
    "adamw, sizes": (
        {},
        {
            "game": {"name": "hex(swap=true)", "sizes": [3, 4]},
            "net": {"name": "any_size"},
            "gate": {"final_games": 4},
            "evaluation": {"every": 0},
        },
        False,
    ),
    "winograd": ({"convolution": "winograd"}, {"game": {"name": "connect_four(rows=5,columns=4)"}}, False),
    "sgd, lessons, three passes": (
        {"optimizer": "sgd", "batch_size": 300, "samples_per_position": 8},
        {"game": {"name": "connect_four(rows=5,columns=4)"}},
        True,
    ),
}


@pytest.mark.parametrize(
    "case", ["muon, heads", *(pytest.param(each, marks=pytest.mark.long) for each in [*CASES][1:])]
)
def test_any_number_of_ranks_gives_the_same_weights(forks, tmp_path, case):
    if case == "winograd" and why_not_winograd(config_of(1)):
        pytest.skip("its kernels need AVX2, FMA and a compiler")
    training, sections, has_lessons = CASES[case]
    results = []
    for num_ranks in (1, 2, 4 if training.get("batch_size", 512) == 512 else 3):
        config = config_of(num_ranks, training, **sections)
        lessons = taught(games_of(config.game)[0]) if has_lessons else None
        results.append(trained(tmp_path / str(num_ranks), config, lessons))
    assert results[0] == results[1] == results[2]
    assert results[0][1][0]["train/steps"] > 1


# --- the group alone ---


class Adder:
    """A rank that adds its own numbers up with those of the others."""

    def __init__(self, rank, num_ranks):
        self.rank, self.num_ranks = rank, num_ranks

    def join(self, rendezvous, is_in_order):
        self.group = Group(rendezvous, self.rank, self.num_ranks, torch.device("cpu"), is_in_order)

    def add(self, passes):
        added = self.group.add_up([pass_of(numbers) for numbers in passes])
        return [each.numpy().copy() for each in added.gradients]

    def copy_weights(self, numbers):
        parameters = [torch.from_numpy(each.copy()) for each in numbers]
        self.group.share_weights(parameters)
        return [each.numpy() for each in parameters]


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def pass_of(numbers):
    losses = Losses(*[torch.tensor(float(numbers[0].sum()))] * 4, {})
    return Pass(losses, [torch.from_numpy(each) for each in numbers])


@pytest.mark.parametrize("is_in_order", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_group_adds_in_order_or_as_nccl_does(forks, is_in_order):
    """On GPUs the sum is a reduction. Here the same code runs with gloo. Hosts meet by TCP, processes by a file."""
    rng = np.random.default_rng(0)
    passes = [[rng.standard_normal(shape).astype(np.float32) for shape in ((300, 300), (7,))] for _ in range(5)]
    parts = passes[:2], passes[2:4], passes[4:]
    own = Adder(0, 3)
    with local_host(3) as host:
        others = [host.start(partial(Adder, rank, 3), rank) for rank in (1, 2)]

        def all_of(method, *arguments):
            """Calls a method on all ranks; returns the results."""
            for peer, given in zip(others, arguments[1:], strict=True):
                peer.call(method, *given)
            return [getattr(own, method)(*arguments[0]), *(peer.result(TIMEOUT_S) for peer in others)]

        for peer in others:
            peer.result(TIMEOUT_S)
        rendezvous = host.rendezvous if is_in_order else f"tcp://127.0.0.1:{free_port()}"
        all_of("join", *[(rendezvous, is_in_order)] * 3)
        try:
            added, *_ = all_of("add", *((part,) for part in parts))
            answers = all_of("copy_weights", (passes[0],), *[([np.zeros_like(each) for each in passes[0]],)] * 2)
        finally:
            own.group.leave()
    in_order = [functools.reduce(np.add, each) for each in zip(*passes, strict=True)]
    for one, other in zip(added, in_order, strict=True):
        assert np.array_equal(one, other) if is_in_order else np.allclose(one, other, atol=1e-5)
    for answer in answers:
        assert all(map(np.array_equal, answer, passes[0]))


@pytest.mark.parametrize(
    ("size", "num_ranks"), [(512, 1), (512, 3), (300, 2), (300, 3), (128, 1), (4096, 5), (16257, 7)]
)
def test_ranks_share_whole_passes(size, num_ranks):
    num_passes = count_passes(size, torch.device("cpu"), num_ranks)
    shares = [share_of(rank, num_ranks, size, num_passes) for rank in range(num_ranks)]
    assert [row for rows, _ in shares for row in range(size)[rows]] == list(range(size))
    counts = [count for _, count in shares]
    assert max(counts) - min(counts) <= 1 and counts[0] == max(counts) and min(counts) > 0
    few = size // num_passes
    assert 1 < few <= PASS_ROWS
    for rows, count in shares:
        assert few * count <= rows.stop - rows.start <= min(few + 1, PASS_ROWS) * count


def test_more_ranks_than_passes_are_refused():
    message = "^cluster.trainers = 3 is more than the 2 passes that a batch of training.batch_size = 256 has$"
    with pytest.raises(BadInput, match=message):
        check_ranks(config_of(3, {"batch_size": 256}))
    check_ranks(config_of(2, {"batch_size": 256}))


# --- faults ---


def broken(folder: Path, monkeypatch, strike) -> str:
    """Trains with three ranks, and calls `strike(processes)` in the second step; returns the error."""
    started = []

    def note(make, number, start=local_backend.LocalPeer):
        started.append(start(make, number))
        return started[-1]

    monkeypatch.setattr(local_backend, "LocalPeer", note)

    def watch(trainer):
        step = trainer.step

        def watched(*arguments):
            if trainer.steps == 1:
                strike([each.process for each in started])
            return step(*arguments)

        trainer.step = watched

    with pytest.raises(BadInput) as error:
        trained(folder, config_of(3, {"save_every_steps": 1}, game={"name": "othello(size=4)"}), first=watch)
    assert not {each.process.pid for each in started} & {each.pid for each in multiprocessing.active_children()}
    assert progress_of(folder)["steps"] == 1, "what was saved stays"
    return str(error.value)


@pytest.mark.parametrize("place", [1, pytest.param(0, marks=pytest.mark.long)])
def test_a_rank_that_dies_ends_the_run_with_its_name(forks, tmp_path, monkeypatch, place):
    message = broken(tmp_path / "run", monkeypatch, lambda processes: os.kill(processes[place].pid, signal.SIGKILL))
    assert message == f"process {place + 1} of the trainer was killed by SIGKILL; the run is saved: go on with --resume"


@pytest.mark.long
@needs_proc
def test_a_rank_that_hangs_ends_the_run(forks, tmp_path, monkeypatch):
    monkeypatch.setattr(group, "PATIENCE", timedelta(seconds=2))
    monkeypatch.setattr(ranks_of, "_SECONDS_FOR_CAUSE", 0.1)
    message = broken(tmp_path / "run", monkeypatch, lambda processes: os.kill(processes[0].pid, signal.SIGSTOP))
    assert message == "a process of the trainer does not answer; the run is saved: go on with --resume"


def test_a_rank_whose_game_is_another_one_ends_the_run(forks, tmp_path, monkeypatch):
    monkeypatch.setattr(ranks_of, "identity_of", lambda rules: "another")
    with pytest.raises(BadInput, match="^the game or the net has changed since the run began; "):
        trained(tmp_path, config_of(2, game={"name": "othello(size=4)"}))


# --- whole runs ---

SHARED = {"batch_size": 512, "samples_per_position": 80, "precision": "fp32"}


@pytest.fixture(scope="module")
def whole_alone(tmp_path_factory):
    """An unbroken run of one rank."""
    folder = tmp_path_factory.mktemp("alone")
    finish_train(folder / "run", write_config(folder, training=SHARED))
    return folder / "run"


def kill_rank_at(run: Path, write: str) -> None:
    """Kills a further rank after a write of this process."""

    def strike(each: str, moment: str) -> None:
        if (each, moment) == (write, "after"):
            multiprocessing.active_children()[0].kill()

    runs._watch_writes(run, strike)


@pytest.mark.long
def test_a_run_of_two_ranks_loses_one_is_stopped_and_ends_as_a_run_of_one(whole_alone, tmp_path):
    run, config = tmp_path / "run", write_config(tmp_path, training=SHARED, cluster={"trainers": 2})
    process = fork_train(run, config, kill_rank_at, "state 1 train 4")
    process.join(TIMEOUT_S)
    errors = Path(f"{run}.err").read_text()
    lines = [line for line in errors.replace("\r", "\n").splitlines() if line.strip() and "iteration " not in line]
    assert process.exitcode == 2
    assert lines == ["azero: process 1 of the trainer was killed by SIGKILL; the run is saved: go on with --resume"]
    assert progress_of(run)["steps_this_iteration"] == 4
    assert strike(run, config, "state 1 train 8", "after", signal.SIGINT) == 130
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole_alone) and figures_of(run) == figures_of(whole_alone)


@pytest.mark.long
@needs_proc
def test_further_ranks_end_with_a_run_that_is_killed(tmp_path):
    run, config = tmp_path / "run", write_config(tmp_path, training=SHARED, cluster={"trainers": 2})
    process = start_train(run, config, start_new_session=True)
    wait_until(lambda: progress_of(run).get("steps_this_iteration") or process.poll() is not None)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert_gone(process.pid)
