"""Tests of runs that stop by Ctrl-C, by divergence or on a full disk: one line of error, and saved work is kept."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from azero.errors import BadInput
from azero.games import make_game
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, load_state
from azero.training.stages import learn

from .runs import (
    TIMEOUT_S,
    assert_gone,
    finish_train,
    fork_train,
    in_training,
    needs_proc,
    nets_of,
    progress_of,
    start_train,
    strike,
    strike_at_write,
    tiny_config,
    wait_until,
    write_config,
)
from .test_gate import Silent
from .test_measure import WON, shard_of
from .test_trainer import state_bytes

pytestmark = pytest.mark.slow  # its runs take long

# --- Ctrl-C ---


@pytest.mark.parametrize("write", ["replay/00001-0000", "state 1 train 4", "state 2 gate 0"])
def test_interrupted_it_says_how_to_go_on_and_ends_the_same(whole, config, tmp_path, write):
    run = tmp_path / "run"
    assert strike(run, config, write, "after", signal.SIGINT) == 130
    errors = Path(f"{run}.err").read_text()
    assert errors.splitlines()[-1] == f"azero: stopped; go on with: azero train --run {run} --resume"
    assert "Traceback" not in errors and Path(f"{run}.out").read_text().count("\n") <= 4
    if "train" in write:
        assert progress_of(run)["steps_this_iteration"] >= 4  # steps are saved
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


@pytest.mark.parametrize("last", [1, 5, 12])
def test_interrupted_in_training_it_tells_of_the_whole_iteration(tmp_path, last):
    """Also if it was interrupted in its last step, the 12th."""
    config, game, notes = tiny_config(), make_game("tic_tac_toe"), []
    for name in ("whole", "broken"):
        run, trainer = Run.create(tmp_path / name, config, game), Trainer(config, game)
        replay = Replay((game,), Window(100), targets_of(config.training, auxiliary=()))
        replay.add("00001-0000", shard_of(WON))
        progress = in_training(96)
        step = trainer.step
        if name == "broken":

            def interrupted_step(*arguments, step=step, trainer=trainer):
                if trainer.steps == last - 1:
                    os.kill(os.getpid(), signal.SIGINT)
                return step(*arguments)

            trainer.step = interrupted_step
            with pytest.raises(KeyboardInterrupt):
                learn(run, progress, replay, trainer, Silent())
            trainer = Trainer(config, game)
            progress = load_state(run.folder, trainer)
            assert (progress.steps_this_iteration, progress.sums["steps"]) == (last, last)
            assert progress.sums["seconds"] > 0
        done = learn(run, progress, replay, trainer, Silent())
        assert done.sums == {} and done.notes["train/steps"] == 12
        assert done.notes["time/train_s"] > progress.sums.get("seconds", 0)
        assert done.notes["train/steps_per_s"] == pytest.approx(12 / done.notes["time/train_s"])
        notes.append({key: value for key, value in done.notes.items() if not key.endswith("_s")})
    assert notes[0] == notes[1] and notes[0]["train/policy_loss"] > 0


def test_ctrl_c_within_a_step_waits_for_its_end_and_saves_it(tmp_path):
    config, game = tiny_config(training={"save_every_steps": 1000}), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = Replay((game,), Window(100), targets_of(config.training, auxiliary=()))
    replay.add("00001-0000", shard_of(WON))
    step = trainer.step

    def interrupted_step(*arguments):
        if trainer.steps == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return step(*arguments)

    trainer.step = interrupted_step
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        learn(run, in_training(100), replay, trainer, Silent())
    assert signal.getsignal(signal.SIGINT) is handler
    assert (progress_of(run.folder)["steps"], progress_of(run.folder)["steps_this_iteration"]) == (3, 3)
    resumed = Trainer(config, game)
    load_state(run.folder, resumed)
    assert state_bytes(resumed) == state_bytes(trainer)


@needs_proc
@pytest.mark.parametrize(
    ("games", "training", "begun"),
    [
        pytest.param(4000, {}, "00001", marks=pytest.mark.thorough),
        pytest.param(600, {"play_ahead": 1, "samples_per_position": 100}, "00002", marks=pytest.mark.long),
    ],
)
def test_ctrl_c_stops_workers_too_and_prints_one_line(tmp_path, games, training, begun):
    run, selfplay = tmp_path / "run", {"num_workers": 2, "games_per_iteration": games}
    process = start_train(run, write_config(tmp_path, selfplay=selfplay, training=training), start_new_session=True)
    wait_until(lambda: list(run.glob(f"replay/{begun}*")) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and output == ""
    assert errors.splitlines()[-1] == f"azero: stopped; go on with: azero train --run {run} --resume"
    assert "Traceback" not in errors and "Warning" not in errors
    assert_gone(process.pid)


# --- weights that diverge ---


def test_weights_that_are_no_numbers_are_never_saved(tmp_path):
    config, game = tiny_config(training={"save_every_steps": 2}), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = Replay((game,), Window(100), targets_of(config.training, auxiliary=()))
    replay.add("00001-0000", shard_of(WON))
    step, good = trainer.step, {}

    def poisoned_step(*arguments):
        if trainer.steps == 2:
            good.update(state_bytes(trainer))
        losses = step(*arguments)
        if trainer.steps == poisoned:
            trainer.net.policy.bias.data[0] = float("nan")
        return losses

    trainer.step = poisoned_step
    progress = in_training(100)
    seen = {3: "the loss of step 4 is not a finite number", 4: "the largest weight after step 4 is nan"}
    for poisoned in seen:  # `poisoned_step` uses it
        trainer.steps = 0
        with pytest.raises(BadInput, match=f"^training has diverged: {seen[poisoned]}; .* lower than 0.04$"):
            learn(run, progress, replay, trainer, Silent())
        assert progress_of(run.folder)["steps_this_iteration"] == 2
        load_state(run.folder, trainer)
        assert state_bytes(trainer) == good


@pytest.mark.thorough
def test_a_run_that_has_diverged_ends_and_can_be_resumed_with_a_lower_rate(tmp_path):
    """The kept weights are not only finite, but can be trained further."""
    run, training = tmp_path / "run", {"optimizer": "sgd", "learning_rate": 10}
    training |= {"value_loss_weight": 100, "gradient_clip": 0, "warmup_steps": 0, "iterations": 2}
    process = fork_train(run, write_config(tmp_path, training=training))
    process.join(TIMEOUT_S)
    assert process.exitcode == 2 and "azero: training has diverged: " in Path(f"{run}.err").read_text()
    lower = ["--set", "training.learning_rate=0.01", "--set", "training.value_loss_weight=1"]
    command = [sys.executable, "-m", "azero.cli", "train", "--run", str(run), "--resume", *lower]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0 and "azero: training has diverged" not in done.stderr, done.stderr


# --- a full disk ---


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int):
    """Mounts a disk of this size; skips the test if that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or not shutil.which("mount"):
        pytest.skip("a disk cannot be mounted")
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("a disk cannot be mounted")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def assert_one_line(run: Path, exit_code: int | None) -> None:
    errors = Path(f"{run}.err").read_text()
    Path(f"{run}.err").unlink()
    lines = [
        line for line in errors.replace("\r", "\n").splitlines() if line.strip() and not line.startswith("iteration ")
    ]
    assert exit_code == 2, errors
    assert len(lines) == 1 and lines[0].startswith("azero: No space left on device"), errors


FULL = [
    "config.toml",
    "state 1 play 0",
    "replay/00001-0000",
    "state 1 train 4",
    "candidate",
    "checkpoints/00001",
    "best",
]


def test_a_full_disk_stops_it_and_what_was_saved_stays(whole, config, tmp_path):
    """Every write after one of FULL fails. The next process has space again."""
    run = tmp_path / "run"
    for write in FULL:
        assert_one_line(run, strike(run, config, write, "after", sign=0))
        assert not list(run.rglob("*.tmp"))
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


@pytest.mark.thorough
def test_a_disk_that_is_really_full(whole, config, tmp_path):
    with small_disk(tmp_path / "disk", megabytes=6) as disk:
        run, filler = tmp_path / "run", disk / "filler"
        (disk / "run").mkdir()
        run.symlink_to(disk / "run")
        for write in ("replay/00001-0000", "state 1 gate 0", "state 2 play 0", "best", "metrics"):
            process = fork_train(run, config, strike_at_write, write, "after", 0, filler)
            process.join(TIMEOUT_S)
            assert_one_line(run, process.exitcode)
            process = fork_train(run, config)  # the disk is still full
            process.join(TIMEOUT_S)
            assert_one_line(run, process.exitcode)
            filler.unlink()
        finish_train(run, config)
        assert nets_of(run) == nets_of(whole)
