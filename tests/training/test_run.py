"""Tests of a run's folder: refusals, the round trip of its state, and the files that it keeps."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.checkpoint_file import read_card
from azero.runs.folder import shard_name
from azero.runs.shards import save_shard
from azero.runs.state import NOTES_OF_PLAY, Progress
from azero.system.files import remove_temporaries
from azero.training.learning.trainer import Trainer
from azero.training.loop import train_run
from azero.training.run import Run, load_state, save_state

from .runs import tiny_config
from .test_measure import DRAWN, LOST, WON, shard_of
from .test_trainer import sample, state_bytes

GAME = make_game("tic_tac_toe")
CONFIG = tiny_config()


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "own",
    [
        *("notes.txt", "deeper/notes.txt", "deeper/.draft.tmp", ".best.safetensors.7.tmp", "config.toml"),
        *("checkpoints/00001.safetensors", "replay/00003-0000.safetensors"),
    ],
)
def test_no_run_begins_where_something_is_and_nothing_of_it_is_removed(tmp_path, own):
    (tmp_path / own).parent.mkdir(exist_ok=True)
    (tmp_path / own).write_text("mine")
    before = files(tmp_path)
    with pytest.raises(BadInput, match=r"^(folder|run) '.*' exists already"):
        Run.create(tmp_path, CONFIG, GAME)
    assert files(tmp_path) == before


def test_a_run_can_begin_in_an_empty_folder_and_in_one_where_it_was_killed_before_it_began(tmp_path):
    for name in ("empty", "killed"):
        (tmp_path / name).mkdir()
    (tmp_path / "killed" / ".config.toml.123.tmp").write_text("[game")
    for name in ("empty", "killed"):
        Run.create(tmp_path / name, CONFIG, GAME)
        assert load_config(tmp_path / name / "config.toml") == CONFIG


def test_the_state_comes_back_whole(run):
    trainer = Trainer(CONFIG, GAME)
    for step in range(3):
        trainer.step(sample(8, step), 0.0)
    progress = Progress(
        iteration=4,
        stage="gate",
        steps=3,
        positions=77,
        best=2,
        rating=1.5,
        shards=["00003-0000"],
        notes={"a": 1, "time/train_s": 2.5} | dict.fromkeys(NOTES_OF_PLAY, 3),
    )
    save_state(run.folder, run.config, trainer, progress)
    resumed = Trainer(CONFIG.model_copy(update={"seed": 1}), GAME)
    assert load_state(run.folder, resumed) == progress
    assert state_bytes(resumed) == state_bytes(trainer) and resumed.steps == 3


def test_before_the_first_state_there_is_none_and_what_was_half_written_goes(run):
    half = [run.folder / ".state.safetensors.5.tmp", run.folder / "replay" / ".00001-0000.safetensors.5.tmp"]
    for path in half:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"half")
    assert load_state(run.folder, Trainer(CONFIG, GAME)) is None
    remove_temporaries(run.folder)
    assert not any(path.exists() for path in half)


def test_the_best_is_the_checkpoint_of_the_best_iteration(run):
    nets = {}
    for iteration in (0, 3):
        torch.manual_seed(iteration)
        trainer = Trainer(CONFIG.model_copy(update={"seed": iteration}), GAME)
        run.save_net(run.checkpoint_path(iteration), trainer.candidate(), Progress(iteration=iteration))
        nets[iteration] = run.checkpoint_path(iteration).read_bytes()
    for best in (0, 3, 0):
        run.publish_best(Progress(best=best))
        assert run.best_path.read_bytes() == nets[best]
    before = run.best_path.stat().st_mtime_ns
    run.publish_best(Progress(best=0))
    assert run.best_path.stat().st_mtime_ns == before


def test_a_net_s_card_tells_where_it_comes_from(run):
    run.save_net(
        run.candidate_path,
        Trainer(CONFIG, GAME).candidate(),
        Progress(iteration=5, steps=40, positions=300, best=4, rating=12.34),
    )
    card = read_card(run.candidate_path)
    assert (card.game, card.iteration, card.step, card.positions, card.rating) == ("tic_tac_toe", 5, 40, 300, 12.3)
    assert (card.net, card.search, card.seed) == (
        CONFIG.net.model_dump(mode="json"),
        CONFIG.search.model_dump(),
        CONFIG.seed,
    )


def save_shards(run, *names):
    for name in names:
        save_shard(run.shard_path(name), shard_of(WON), GAME)


def test_shards_that_left_the_window_are_removed_and_those_under_way_are_kept(run):
    save_shards(run, "00001-0000", "00001-0001", "00002-0000", "00003-0000", "00003-0001")
    run.remove_old_shards(Progress(iteration=3, shards=["00001-0001", "00002-0000"]))
    assert sorted(path.stem for path in (run.folder / "replay").iterdir()) == [
        "00001-0001", "00002-0000", "00003-0000", "00003-0001",
    ]  # fmt: skip


def test_other_files_in_a_run_s_folders_are_left_alone(run):
    save_shards(run, "00001-0000", "00003-0000")
    (run.folder / "checkpoints").mkdir()
    for name in ("checkpoints/00001.safetensors", "checkpoints/00001_old.safetensors", "replay/mine.safetensors"):
        (run.folder / name).write_bytes(b"")
    assert run.all_promoted(Progress(iteration=3, digests={"checkpoints/00001": "0" * 64})) == [1]
    run.remove_old_shards(Progress(iteration=3))
    assert {path.stem for path in (run.folder / "replay").iterdir()} == {"00003-0000", "mine"}


def test_the_replay_window_comes_back_in_its_order(run):
    save_shards(run, "00001-0001", "00002-0000")
    replay = run.load_replay(Progress(shards=["00002-0000", "00001-0001"]))
    assert replay.names == ["00002-0000", "00001-0001"] and replay.num_learnt == 10
    assert np.array_equal(replay.shards[0].actions, shard_of(WON).actions)


def test_a_growing_window_comes_back_as_large_as_it_was(tmp_path):
    """Removed shards count: shards leave a loaded window at the same time as an unbroken one."""
    config = tiny_config(replay={"window": 10, "window_growth": 1.0})
    run = Run.create(tmp_path / "run", config, GAME)
    shards = {shard_name(1, number): shard_of((WON, LOST, DRAWN)[number % 3]) for number in range(40)}
    unbroken = run.load_replay(Progress())
    for name, shard in list(shards.items())[:30]:
        save_shard(run.shard_path(name), shard, GAME)
        unbroken.add(name, shard)
    positions = sum(shard.num_learnt for shard in list(shards.values())[:30])
    loaded = run.load_replay(Progress(positions=positions, shards=list(unbroken.names)))
    assert loaded.names == unbroken.names and unbroken.num_learnt < positions
    for name, shard in list(shards.items())[30:]:
        assert loaded.add(name, shard) == unbroken.add(name, shard)
    assert loaded.names == unbroken.names


HOLD = """
import sys
from pathlib import Path
from azero.runs.folder import hold
with hold(Path(sys.argv[1])):
    print(flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("has_begun", [False, True])
def test_without_the_lock_nothing_in_the_folder_changes(tmp_path, has_begun):
    """Two processes may begin or continue one run at the same time. The settings must be those of the one that has the
    lock."""
    folder = tmp_path / "run"
    if has_begun:
        Run.create(folder, CONFIG, GAME)
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", HOLD, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        other = CONFIG.model_copy(update={"training": CONFIG.training.model_copy(update={"iterations": 9})})
        with pytest.raises(BadInput, match="is being trained by another process$"):
            train_run(folder, other, has_begun)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        process.stdin.close()
