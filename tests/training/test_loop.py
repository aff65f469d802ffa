"""The loop: what a run leaves, that its seed settles it, and that nothing that happens to it changes how it ends.

A run here is tiny, and ends after seconds in `whole`, unbroken. Others are killed, interrupted, or find the disk
full, at instants chosen or drawn; they are resumed, and must leave the same nets, byte for byte.
"""

import contextlib
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from azero.config_files import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint
from azero.selfplay.replay import Replay, Window, targets_of
from azero.training.loop import learn, shards_to_search, train
from azero.training.run import Progress, Run, shard_name
from azero.training.trainer import Trainer

from .runs import (
    TIMEOUT_S,
    finish_train,
    fork_train,
    kill_after,
    nets_of,
    note_writes,
    processes,
    progress_of,
    start_train,
    strike_at_write,
    tiny_config,
    wait_until,
    write_config,
)
from .test_gate import Silent
from .test_measure import WON, shard_of
from .test_trainer import HEADS, state_bytes

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="it looks for processes in /proc")

CURVES = {
    *("train/policy_loss", "train/value_loss", "train/policy_entropy", "train/target_entropy", "train/learning_rate"),
    *("fresh/calibration_error", "fresh/policy_agreement", "fresh/policy_loss", "fresh/value_loss"),
    *("selfplay/mean_plies", "selfplay/first_player_score", "selfplay/draws", "selfplay/distinct_games"),
    *("selfplay/positions_per_s", "selfplay/simulations_per_s", "replay/age_iterations", "replay/positions"),
    *("gate/score", "gate/rating", "gate/promotions", "time/play_s", "time/train_s", "time/gate_s"),
}


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    return write_config(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory):
    """The folder of a run that nothing happened to; WHOLE.writes lists its writes, WHOLE.out what it printed."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    process = fork_train(folder, config, note_writes)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{folder}.err").read_text()
    return folder


def strike(run, config, write, moment, sign=signal.SIGKILL):
    """Goes on with a run until it sends itself a signal before or after a write; returns how it ended."""
    process = fork_train(run, config, strike_at_write, write, moment, int(sign))
    process.join(TIMEOUT_S)
    assert process.exitcode is not None, f"it neither reached {write} nor ended"
    return process.exitcode


def assert_gone(group):
    """Asserts that soon no process of a group is left; and leaves none."""
    try:
        wait_until(lambda: not processes(group=group), timeout_s=30)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


# --- what a run leaves ---


def test_a_run_leaves_its_folder(whole, config):
    assert {path.name for path in whole.iterdir()} == {
        *("config.toml", "best.safetensors", "candidate.safetensors", "state.safetensors", "metrics.jsonl"),
        *("checkpoints", "replay", "tensorboard"),
    }
    assert load_config(whole / "config.toml") == load_config(config)
    assert not list(whole.rglob(".*"))


def test_the_best_net_is_the_last_promoted_and_loads(whole):
    progress = progress_of(whole)
    last = max(int(path.stem) for path in (whole / "checkpoints").iterdir())
    assert last == progress["best"] > 0 and (progress["iteration"], progress["stage"]) == (4, "play")
    nets = nets_of(whole)
    assert nets["best.safetensors"] == nets[f"checkpoints/{last:05d}.safetensors"]
    card = load_checkpoint(whole / "best.safetensors", make_game("tic_tac_toe")).card
    assert (card.iteration, card.seed) == (last, 5) and 0 < card.step <= progress["steps"]


def test_metrics_have_a_line_an_iteration_with_every_figure(whole):
    lines = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert set(line) >= CURVES and line["selfplay/games"] == 12
        assert ("evaluation/score" in line) == (line["iteration"] in (2, 3))  # every second, and the last
        assert ("time/evaluation_s" in line) == ("evaluation/score" in line)
    assert (
        lines[-1]["positions"] == progress_of(whole)["positions"] == sum(line["selfplay/positions"] for line in lines)
    )


def test_replay_keeps_the_window_and_no_more(whole):
    progress = progress_of(whole)
    kept = {path.stem for path in (whole / "replay").iterdir()}
    assert kept >= set(progress["shards"]) and len(progress["shards"]) < 9
    assert all(name in progress["shards"] or name.startswith("00003") for name in kept)


def test_tensorboard_has_the_curves(whole):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(whole / "tensorboard"))
    events.Reload()
    assert set(events.Tags()["scalars"]) >= {*CURVES, "evaluation/score"}
    assert [event.step for event in events.Scalars("train/policy_loss")] == [1, 2, 3]
    assert [event.step for event in events.Scalars("evaluation/score")] == [2, 3]


def test_a_table_goes_to_stdout_and_nothing_else(whole):
    header, *rows, empty, last = Path(f"{whole}.out").read_text().splitlines()
    assert header.split()[:4] == ["iteration", "positions", "plies", "first"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"] and empty == ""
    promotions, rating = (progress_of(whole)[key] for key in ("promotions", "rating"))
    assert last == f"{whole}/best.safetensors: {promotions} promotions, {rating:+.0f} Elo above the first net"


# --- a seed settles it ---


def test_the_same_seed_gives_the_same_nets_and_another_seed_others(whole, config, tmp_path):
    finish_train(tmp_path / "same", config)
    assert nets_of(tmp_path / "same") == nets_of(whole)
    finish_train(tmp_path / "other", write_config(tmp_path, training={"iterations": 1}, seed=6))
    first_nets = [nets_of(run)["checkpoints/00000.safetensors"] for run in (whole, tmp_path / "other")]
    assert first_nets[0] != first_nets[1]


def test_a_resumed_run_that_is_over_stays_as_it_is(whole, config, tmp_path):
    run = shutil.copytree(whole, tmp_path / "run")
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)
    assert (run / "metrics.jsonl").read_bytes() == (whole / "metrics.jsonl").read_bytes()


# --- killed ---


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


STAGES = [
    ("checkpoints/00000", "before"),  # there are settings and nothing else
    ("replay/00001-0001", "before"),  # in self-play, with games saved and games lost
    ("state 1 train 0", "before"),  # all games are there, the state does not know
    ("state 1 train 8", "before"),  # between two saves
    ("candidate", "after"),  # trained, the state does not know
    ("state 1 gate 0", "after"),  # at the beginning of the gate
    ("checkpoints/00002", "after"),  # promoted, the state does not know
    ("metrics", "after"),  # told, the state does not know
    ("state 3 play 0", "after"),  # the state knows, best.safetensors does not
]


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


def test_killed_in_every_stage_it_ends_the_same(whole, config, tmp_path):
    for write, moment in STAGES:
        assert strike(tmp_path / "run", config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(whole)
    assert figures_of(tmp_path / "run") == figures_of(whole)


def test_killed_it_resigns_at_the_same_thresholds_and_ends_the_same(tmp_path):
    """Some games of an iteration are there already when its threshold is chosen anew."""
    selfplay = {"games_per_iteration": 60, "games_per_shard": 20, "resign_error": 0.4, "resign_played_on_share": 0.3}
    config = write_config(tmp_path, selfplay=selfplay, replay={"window": 500, "window_growth": 0.0})
    whole, run = tmp_path / "whole", tmp_path / "run"
    finish_train(whole, config)
    for write in ("replay/00002-0001", "replay/00003-0002", "state 3 train 0"):
        assert strike(run, config, write, "before") == -signal.SIGKILL, write
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)
    shards = [{path.name: path.read_bytes() for path in (each / "replay").iterdir()} for each in (run, whole)]
    assert shards[0] == shards[1]
    assert resignations_of(run) == resignations_of(whole)
    first, (threshold, resigned, errors), third = resignations_of(whole)
    assert first == [-1, 0, 0] and third[0] > -1
    assert -1 < threshold <= 0 and 0 < resigned < 0.7 and 0 <= errors < 0.8


def resignations_of(run):
    """Returns threshold, share of games and share of errors of each iteration."""
    names = [f"selfplay/{name}" for name in ("resign_threshold", "resigned", "resign_errors")]
    return [[json.loads(line)[name] for name in names] for line in (run / "metrics.jsonl").read_text().splitlines()]


def test_killed_before_and_after_every_write_it_ends_the_same(whole, config, tmp_path):
    writes = dict.fromkeys(Path(f"{whole}.writes").read_text().splitlines())
    moments = [(write, moment) for write in writes for moment in ("before", "after")]
    assert len(moments) > 60
    for write, moment in moments[1:]:  # before the first it has not begun
        assert strike(tmp_path / "run", config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(whole)


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


@pytest.mark.slow
@pytest.mark.parametrize("num_workers", [1, 2])
def test_killed_thirty_times_on_the_command_line_it_ends_the_same(whole, tmp_path, num_workers):
    config, run = write_config(tmp_path, selfplay={"num_workers": num_workers}), tmp_path / "run"
    draw, kills, most = random.Random(num_workers), 0, 5.0
    while kills < 30:
        begin = time.monotonic()
        process = start_train(run, config)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0.5, most))
        process.kill()
        errors = process.communicate()[1]
        if process.returncode == -signal.SIGKILL:
            kills += 1
            continue
        assert process.returncode == 0, errors
        assert nets_of(run) == nets_of(whole)
        shutil.rmtree(run)
        most = max(2.0, time.monotonic() - begin)
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


def test_heads_learn_what_the_settings_give_a_weight(tmp_path):
    config, game = tiny_config(training={"reply_loss_weight": 0.2}), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = run.load_replay(Progress())
    replay.add("00001-0000", shard_of(WON))
    progress = Progress(stage="train", notes={"selfplay/positions": 100})
    notes = learn(run, progress, replay, trainer, Silent()).notes
    assert 0 < notes["train/reply_loss"] < math.log(9)
    assert not {"train/plies_left_loss", "train/short_term_loss"} & notes.keys()


def test_a_run_with_all_heads_leaves_nets_without(tmp_path):
    training = {"iterations": 2, **dict.fromkeys([f"{name}_loss_weight" for name in HEADS], 0.2)}
    game = {"name": "othello(size=4)"}
    run, config = tmp_path / "run", write_config(tmp_path, game=game, training=training, evaluation={"every": 0})
    finish_train(run, config)
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    assert len(lines) == 2 and all(line[f"train/{name}_loss"] > 0 for line in lines for name in HEADS)
    assert lines[0]["train/ownership_loss"] < math.log(2) * 1.2 and lines[0]["train/score_loss"] < 2
    own = load_checkpoint(run / "best.safetensors").net.state_dict().keys()
    plain = Trainer(tiny_config(game=game), make_game(game["name"])).net.state_dict().keys()
    assert own == plain


def test_a_head_that_the_game_has_no_target_for_is_refused_before_the_run(tmp_path):
    config = tiny_config(training={"ownership_loss_weight": 1.5})
    with pytest.raises(
        BadInput, match=r"^training\.ownership_loss_weight is 1\.5; it should be 0, since tic_tac_toe has "
    ):
        train(tmp_path / "run", config, is_resuming=False)
    assert not (tmp_path / "run").exists()


# --- old positions searched anew ---


def test_shards_searched_anew_are_those_whose_last_search_was_the_longest_ago():
    shards = {shard_name(iteration, number): shard_of(WON) for iteration in (1, 2, 3, 4) for number in (0, 1)}
    names = list(shards)
    assert shards_to_search(shards, 0.25, 4) == shards_to_search(shards, 0.13, 4) == names[:2]
    assert shards_to_search(shards, 1.0, 4) == names[:6] and shards_to_search(shards, 1.0, 1) == []
    assert shards_to_search(shards, 0.0, 4) == []

    def note(searched):
        return {n: s._replace(searched=np.full(1, searched.get(n, 0), np.int32)) for n, s in shards.items()}

    assert shards_to_search(note({names[0]: 3, names[2]: 3}), 0.25, 4) == [names[1], names[3]]
    assert shards_to_search(note({names[0]: 3, names[1]: 3}), 0.4, 4) == [names[2], names[3], names[0], names[1]]
    under_way = note({names[1]: 4})  # and the first is not yet
    assert sorted(shards_to_search(under_way, 0.25, 4)) == names[:2]


@pytest.fixture(scope="module")
def reanalysing(tmp_path_factory):
    """The settings of runs that search half of the window anew."""
    return write_config(tmp_path_factory.mktemp("reanalysing"), replay={"reanalysed_share": 0.5})


def test_old_positions_are_searched_anew_and_killed_on_the_way_it_ends_the_same(whole, reanalysing, tmp_path):
    run, broken = tmp_path / "run", tmp_path / "broken"
    process = fork_train(run, reanalysing, note_writes)
    process.join(TIMEOUT_S)
    assert process.exitcode == 0, Path(f"{run}.err").read_text()
    writes = Path(f"{run}.writes").read_text().splitlines()
    second = writes[writes.index("state 2 reanalysis 0") + 1 : writes.index("state 2 train 0")]
    assert second == ["replay/00001-0000", "replay/00001-0001", "replay/00001-0002"]
    assert writes[writes.index("state 1 reanalysis 0") + 1] == "state 1 train 0", "nothing was older"
    lines, plain = ([json.loads(each) for each in (r / "metrics.jsonl").read_text().splitlines()] for r in (run, whole))
    assert lines[0]["reanalysis/positions"] == 0 < lines[1]["reanalysis/positions"] < lines[1]["replay/positions"]
    for line in lines[1:]:
        assert 0 < line["reanalysis/evaluations"] < line["reanalysis/simulations"] and line["time/reanalysis_s"] > 0
        assert line["selfplay/games"] == 12
    assert not any("reanalysis" in key for line in plain for key in line), "off, it is not there"
    assert nets_of(run)["candidate.safetensors"] != nets_of(whole)["candidate.safetensors"]

    for write, moment in (
        *(("state 1 reanalysis 0", "after"), ("state 2 reanalysis 0", "after"), ("replay/00001-0001", "before")),
        *(("replay/00001-0002", "after"), ("state 2 train 0", "before"), ("state 3 reanalysis 0", "after")),
    ):
        assert strike(broken, reanalysing, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(broken, reanalysing)
    assert nets_of(broken) == nets_of(run)
    assert files_of(broken / "replay") == files_of(run / "replay")
    assert figures_of(broken) == figures_of(run)


def figures_of(run):
    """Returns the lines of a run's metrics without what the clock tells."""
    lines = (json.loads(each) for each in (run / "metrics.jsonl").read_text().splitlines())
    return [{key: value for key, value in line.items() if not key.endswith("_s")} for line in lines]


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


# --- interrupted ---


@pytest.mark.parametrize("write", ["replay/00001-0000", "state 1 train 4", "state 2 gate 0"])
def test_interrupted_it_says_how_to_go_on_and_ends_the_same(whole, config, tmp_path, write):
    run = tmp_path / "run"
    assert strike(run, config, write, "after", signal.SIGINT) == 130
    errors = Path(f"{run}.err").read_text()
    assert errors.splitlines()[-1] == f"azero: stopped; go on with: azero train --run {run} --resume"
    assert "Traceback" not in errors and Path(f"{run}.out").read_text().count("\n") <= 2
    if "train" in write:
        assert progress_of(run)["steps_this_iteration"] >= 4  # what was learnt is saved
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


@pytest.mark.parametrize("last", [1, 5, 12])
def test_interrupted_in_training_it_tells_of_the_whole_iteration(tmp_path, last):
    """Also where it was interrupted in its last step, of 12."""
    config, game, notes = tiny_config(), make_game("tic_tac_toe"), []
    for name in ("whole", "broken"):
        run, trainer = Run.create(tmp_path / name, config, game), Trainer(config, game)
        replay = Replay(game, Window(100), targets_of(config.training, game))
        replay.add("00001-0000", shard_of(WON))
        progress = Progress(stage="train", notes={"selfplay/positions": 96})
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
            progress = run.load_state(trainer)
            assert (progress.steps_this_iteration, progress.sums["steps"]) == (last, last)
            assert progress.sums["seconds"] > 0
        done = learn(run, progress, replay, trainer, Silent())
        assert done.sums == {} and done.notes["train/steps"] == 12
        assert done.notes["time/train_s"] > progress.sums.get("seconds", 0)
        assert done.notes["train/steps_per_s"] == pytest.approx(12 / done.notes["time/train_s"])
        notes.append({key: value for key, value in done.notes.items() if not key.endswith("_s")})
    assert notes[0] == notes[1] and notes[0]["train/policy_loss"] > 0


def test_an_older_run_s_state_in_the_midst_of_training_is_taken_up(tmp_path):
    """It has no sums: figures are of the steps that are left, and there are no losses where none is."""
    config, game = tiny_config(), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = Replay(game, Window(100), targets_of(config.training, game))
    replay.add("00001-0000", shard_of(WON))
    for done, has_losses in ((11, True), (12, False)):
        trainer.steps = done
        progress = Progress(stage="train", steps_this_iteration=done, notes={"selfplay/positions": 96})
        notes = learn(run, progress, replay, trainer, Silent()).notes
        assert ("train/policy_loss" in notes) == has_losses and notes["train/learning_rate"] > 0


def test_ctrl_c_within_a_step_waits_for_its_end_and_saves_it(tmp_path):
    config, game = tiny_config(training={"save_every_steps": 1000}), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = Replay(game, Window(100), targets_of(config.training, game))
    replay.add("00001-0000", shard_of(WON))
    step = trainer.step

    def interrupted_step(*arguments):
        if trainer.steps == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return step(*arguments)

    trainer.step = interrupted_step
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        learn(run, Progress(stage="train", notes={"selfplay/positions": 100}), replay, trainer, Silent())
    assert signal.getsignal(signal.SIGINT) is handler
    assert (progress_of(run.folder)["steps"], progress_of(run.folder)["steps_this_iteration"]) == (3, 3)
    resumed = Trainer(config, game)
    run.load_state(resumed)
    assert state_bytes(resumed) == state_bytes(trainer)


def test_weights_that_are_no_numbers_are_never_saved(tmp_path):
    config, game = tiny_config(training={"save_every_steps": 2}), make_game("tic_tac_toe")
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = Replay(game, Window(100), targets_of(config.training, game))
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
    progress = Progress(stage="train", notes={"selfplay/positions": 100})
    seen = {3: "the loss of step 4 is not a finite number", 4: "the largest weight after step 4 is nan"}
    for poisoned in seen:  # `poisoned_step` looks at it
        trainer.steps = 0
        with pytest.raises(BadInput, match=f"^training has diverged: {seen[poisoned]}; .* lower than 0.02$"):
            learn(run, progress, replay, trainer, Silent())
        assert progress_of(run.folder)["steps_this_iteration"] == 2
        run.load_state(trainer)
        assert state_bytes(trainer) == good


def test_a_run_that_has_diverged_ends_and_can_be_resumed_with_a_lower_rate(tmp_path):
    """What it kept are weights with which there is something to learn; not only such as are finite."""
    run, training = tmp_path / "run", {"optimizer": "sgd", "momentum": 0.99, "learning_rate": 10}
    training |= {"value_loss_weight": 100, "gradient_clip": 0, "warmup_steps": 0, "iterations": 2}
    process = fork_train(run, write_config(tmp_path, training=training))
    process.join(TIMEOUT_S)
    assert process.exitcode == 2 and "azero: training has diverged: " in Path(f"{run}.err").read_text()
    lower = ["--set", "training.learning_rate=0.01", "--set", "training.value_loss_weight=1"]
    command = [sys.executable, "-m", "azero.cli", "train", "--run", str(run), "--resume", *lower]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert done.returncode == 0 and "azero: " not in done.stderr, done.stderr


@needs_proc
def test_ctrl_c_stops_workers_too_and_prints_one_line(tmp_path):
    run = tmp_path / "run"
    config = write_config(tmp_path, selfplay={"num_workers": 2, "games_per_iteration": 4000})
    process = start_train(run, config, start_new_session=True)
    wait_until(lambda: list(run.glob("replay/0*")) or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as the terminal does
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and output == ""
    assert errors.splitlines()[-1] == f"azero: stopped; go on with: azero train --run {run} --resume"
    assert "Traceback" not in errors and "Warning" not in errors
    assert_gone(process.pid)


# --- a full disk ---


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int):
    """Mounts a disk of that size; skips the test where that is not allowed."""
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
    """Every write after one of these fails; the next process finds space again."""
    run = tmp_path / "run"
    for write in FULL:
        assert_one_line(run, strike(run, config, write, "after", sign=0))
        assert not list(run.rglob("*.tmp"))
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


def test_a_disk_that_is_really_full(whole, config, tmp_path):
    with small_disk(tmp_path / "disk", megabytes=6) as disk:
        run, filler = tmp_path / "run", disk / "filler"
        (disk / "run").mkdir()
        run.symlink_to(disk / "run")
        for write in ("replay/00001-0000", "state 1 gate 0", "state 2 play 0", "best", "metrics"):
            process = fork_train(run, config, strike_at_write, write, "after", 0, filler)
            process.join(TIMEOUT_S)
            assert_one_line(run, process.exitcode)
            process = fork_train(run, config)  # it is still full
            process.join(TIMEOUT_S)
            assert_one_line(run, process.exitcode)
            filler.unlink()
        finish_train(run, config)
        assert nets_of(run) == nets_of(whole)
