"""Tests of runs that are killed, at chosen or random moments, and resumed: their nets equal an unbroken run's."""

import random
import shutil
import signal
from pathlib import Path

import pytest

from .runs import (
    TIMEOUT_S,
    assert_gone,
    figures_of,
    finish_train,
    fork_train,
    kill_after,
    needs_proc,
    nets_of,
    processes,
    progress_of,
    start_train,
    strike,
    strike_at_write,
    wait_until,
    write_config,
)


@pytest.mark.thorough
@needs_proc
def test_two_workers_play_the_same_games_and_do_not_outlive_a_parent_that_is_killed(whole, tmp_path):
    config, run = write_config(tmp_path, selfplay={"num_workers": 2}), tmp_path / "run"
    parent = start_train(run, config, start_new_session=True)
    wait_until(lambda: list(run.glob("replay/0*")) or parent.poll() is not None)
    assert len(processes(parent=parent.pid)) >= 2
    parent.kill()
    parent.communicate()
    assert_gone(parent.pid)
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


@pytest.mark.slow
def test_a_run_under_way_is_kept_from_a_second_process_and_free_again_when_it_is_killed(whole, config, tmp_path):
    run = tmp_path / "run"
    first = fork_train(run, config, strike_at_write, "state 1 train 4", "after", int(signal.SIGSTOP))
    wait_until(lambda: progress_of(run).get("steps_this_iteration") == 4)
    for _ in range(2):
        second = fork_train(run, config)
        second.join(TIMEOUT_S)
        assert second.exitcode == 2
    last = Path(f"{run}.err").read_text().splitlines()[-1]
    assert last == f"azero: run {str(run)!r} is being trained by another process"
    first.kill()
    first.join()
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


def test_killed_before_it_began_it_can_begin_again(config, tmp_path):
    assert strike(tmp_path / "run", config, "config.toml", "before") == -signal.SIGKILL
    assert strike(tmp_path / "run", config, "checkpoints/00000", "before") == -signal.SIGKILL


STAGES = [
    ("checkpoints/00000", "before"),  # only settings are saved
    ("replay/00001-0001", "before"),  # in self-play; some games are saved, others are lost
    ("state 1 train 0", "before"),  # all games are saved, but not the state
    ("state 1 train 8", "before"),  # between two saves of training
    ("candidate", "after"),  # trained, but the state is not saved
    ("state 1 gate 0", "after"),  # at the start of the gate
    ("checkpoints/00002", "after"),  # promoted, but the state is not saved
    ("metrics", "after"),  # metrics are written, but the state is not saved
    ("state 3 play 0", "after"),  # the state is saved, but best.safetensors is old
]


def test_killed_in_every_stage_it_ends_the_same(whole, config, tmp_path):
    for write, moment in STAGES:
        assert strike(tmp_path / "run", config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(whole)
    assert figures_of(tmp_path / "run") == figures_of(whole)


@pytest.mark.long
def test_killed_before_and_after_every_write_it_ends_the_same(whole, config, tmp_path):
    writes = dict.fromkeys(Path(f"{whole}.writes").read_text().splitlines())
    moments = [(write, moment) for write in writes for moment in ("before", "after")]
    assert len(moments) > 60
    for write, moment in moments[1:]:  # before the first write the run has not begun
        assert strike(tmp_path / "run", config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(whole)


@pytest.mark.slow
def test_killed_at_random_instants_it_ends_the_same(whole, config, tmp_path):
    draw, run, kills = random.Random(0), tmp_path / "run", 0
    while kills < 15:
        process = fork_train(run, config)
        if kill_after(process, draw.uniform(0.02, 0.8)):
            kills += 1
        else:
            assert process.exitcode == 0, Path(f"{run}.err").read_text()
            assert nets_of(run) == nets_of(whole)
            shutil.rmtree(run)
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)
