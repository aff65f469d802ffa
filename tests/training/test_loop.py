"""Tests of the loop: the files of a run, and that its seed determines it."""

import json
import shutil
from pathlib import Path

import pytest
from selfplay.games import random_games

from azero.config.reading import load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint
from azero.runs.folder import CANDIDATE, MEAN
from azero.runs.metrics import read_metrics
from azero.runs.state import Progress
from azero.training import stages
from azero.training.learning.precision import is_settled_from
from azero.training.learning.trainer import Trainer
from azero.training.loop import train_run
from azero.training.resuming import open_run
from azero.training.run import Run, load_state
from azero.training.stages import learn

from .runs import finish_train, in_training, nets_of, progress_of, tiny_config, write_config
from .test_gate import Silent

CURVES = {
    *("train/policy_loss", "train/value_loss", "train/policy_entropy", "train/target_entropy", "train/learning_rate"),
    *("fresh/calibration_error", "fresh/policy_agreement", "fresh/policy_loss", "fresh/value_loss"),
    *("selfplay/mean_plies", "selfplay/first_player_score", "selfplay/draws", "selfplay/distinct_games"),
    *("selfplay/positions_per_s", "selfplay/simulations_per_s", "replay/age_iterations", "replay/positions"),
    *("gate/score", "gate/rating", "gate/promotions", "time/play_s", "time/train_s", "time/gate_s"),
}


# --- files of a run ---


def test_a_run_leaves_its_folder(whole, config):
    assert {path.name for path in whole.iterdir()} == {
        *("config.toml", "best.safetensors", "candidate.safetensors", "state.safetensors", "metrics.jsonl"),
        *("state_beginning.safetensors", "checkpoints", "replay", "tensorboard"),
    }
    assert is_settled_from(load_config(whole / "config.toml"), load_config(config))
    assert not list(whole.rglob(".*"))


def test_what_is_published_won_the_final_and_loads(whole):
    """The winner is a promoted net, the last candidate or the mean. The last two are kept only if they win."""
    progress = progress_of(whole)
    files = {path.name for path in (whole / "checkpoints").iterdir()}
    promoted = {name for name in files if name[0].isdigit()}
    assert int(max(promoted)[:5]) == progress["best"] > 0 and (progress["iteration"], progress["stage"]) == (4, "play")
    published = f"{progress['final']}.safetensors"
    assert published in files and files - promoted <= {published}
    nets = nets_of(whole)
    assert nets["best.safetensors"] == nets[f"checkpoints/{published}"]
    card = load_checkpoint(whole / "best.safetensors", make_game("tic_tac_toe")).card
    assert card.seed == 5 and 0 < card.step <= progress["steps"]


def kill_after_removing(run, progress, report, pool):
    for name in (MEAN, CANDIDATE):
        run.checkpoint_file(name).unlink(missing_ok=True)
    raise RuntimeError("killed")


def test_a_run_that_goes_on_has_a_final_of_its_own(whole, tmp_path, monkeypatch):
    """Also if the run is killed after that final has removed the winner of the previous one."""
    shutil.copytree(whole, folder := tmp_path / "run")
    config = open_run(folder, ["training.iterations=4"])
    run = Run(folder, config, make_game("tic_tac_toe"))
    assert load_state(folder, trainer := Trainer(config, run.game)).final
    with monkeypatch.context() as patched, pytest.raises(RuntimeError, match="killed"):
        patched.setattr(stages, "hold_final", kill_after_removing)
        train_run(folder, config, is_resuming=True)
    train_run(folder, config, is_resuming=True)
    lines = read_metrics(folder / "metrics.jsonl")
    assert ["final/nets" in line for line in lines] == [False, False, True, True]
    assert run.best_path.read_bytes() == run.published_path(load_state(folder, trainer)).read_bytes()


def test_metrics_have_a_line_an_iteration_with_every_figure(whole):
    lines = [json.loads(line) for line in (whole / "metrics.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [1, 2, 3]
    for line in lines:
        assert set(line) >= CURVES and line["selfplay/games"] == 12
        assert ("evaluation/score" in line) == (line["iteration"] in (2, 3))  # every second one, and the last
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
    opponent, above, header, *rows, empty, last = Path(f"{whole}.out").read_text().splitlines()
    assert opponent.startswith("opponent: 4 games against ")
    assert above.split() == ["policy", "value", "play+train"]
    assert header.split()[:4] == ["iter", "positions", "plies", "first"]
    assert [row.split()[0] for row in rows] == ["1", "2", "3"] and empty == ""
    promotions, rating = (progress_of(whole)[key] for key in ("promotions", "rating"))
    said, _, winner = last.partition("; ")
    assert said == f"{whole}/best.safetensors: {promotions} promotions, {rating:+.0f} Elo above the first net"
    assert winner.endswith(" won the final")


# --- the seed ---


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


# --- auxiliary heads ---


def test_heads_learn_what_the_settings_give_a_weight(tmp_path):
    config, game = (
        tiny_config(game={"name": "othello(size=4)"}, training={"score_loss_weight": 0.2}),
        make_game("othello(size=4)"),
    )
    run, trainer = Run.create(tmp_path / "run", config, game), Trainer(config, game)
    replay = run.load_replay(Progress())
    replay.add("00001-0000", random_games(game, 4))
    progress = in_training(100)
    notes = learn(run, progress, replay, trainer, Silent()).notes
    assert 0 < notes["train/score_loss"] < 2 and "train/ownership_loss" not in notes


def test_a_head_that_the_game_has_no_target_for_is_refused_before_the_run(tmp_path):
    config = tiny_config(training={"ownership_loss_weight": 1.5})
    with pytest.raises(
        BadInput, match=r"^training\.ownership_loss_weight is 1\.5; it should be 0, since tic_tac_toe has "
    ):
        train_run(tmp_path / "run", config, is_resuming=False)
    assert not (tmp_path / "run").exists()
