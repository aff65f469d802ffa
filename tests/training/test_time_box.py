"""Tests of `azero train --minutes`: the numbers that it chooses, and that the run is the one with these numbers."""

import dataclasses
import os
import time

import pytest
from command_line import assert_bad_input

import azero
from azero.config.reading import load_config
from azero.errors import BadInput
from azero.training import time_box
from azero.training.time_box import Costs, Counts, choose_counts, costs_of, describe

from .runs import figures_of, nets_of, tiny_config

COSTS = Costs(game_s=0.5, iteration_s=10.0, run_s=60.0)


@pytest.mark.parametrize(
    ("seconds", "games", "chosen"),
    [
        (60 + 7 * 60, 100, Counts(7, 100)),
        (60 + 7 * 60 - 1, 100, Counts(6, 100)),
        (60 + 5 * 60, 100, Counts(5, 100)),
        (60 + 5 * 60, 200, Counts(5, 100)),  # five iterations with half of the games
        (60 + 5 * 10, 200, Counts(5, 8)),  # the fewest games, although they take longer
        (10, 200, Counts(5, 8)),
        (10, 6, Counts(5, 6)),  # not more than the config has
    ],
)
def test_the_most_iterations_that_fit_are_chosen_and_fewer_games_if_these_are_too_few(seconds, games, chosen):
    assert choose_counts(COSTS, games, seconds) == chosen


def test_each_size_of_a_game_has_a_game_in_every_iteration():
    assert choose_counts(COSTS, 200, 10, fewest_games=9) == Counts(5, 9)
    sizes = {"game": {"name": "hex", "sizes": [*range(3, 12)]}, "net": {"name": "any_size"}}
    few = {"gate": {"games": 18, "final_games": 0}, "evaluation": {"games": 18}, "selfplay": {"games_per_iteration": 9}}
    trial = tiny_config(**sizes, **few)
    assert time_box._short(trial).selfplay.games_per_iteration == 9


def test_what_is_chosen_takes_no_longer_than_wanted():
    for seconds in range(200, 3000, 50):
        assert choose_counts(COSTS, 150, seconds).seconds(COSTS) <= seconds


def test_costs_are_those_of_the_config_s_numbers():
    evaluation = {"every": 4, "games": 40}
    config = tiny_config(
        gate={"games": 60, "final_games": 20},
        evaluation=evaluation,
        training={"batch_size": 32, "samples_per_position": 4.0},
    )
    line = {"time/play_s": 8.0, "selfplay/games": 16, "selfplay/positions": 160}
    line |= {"time/train_s": 3.0, "train/steps": 15, "time/gate_s": 15.0, "time/evaluation_s": 20.0}
    game_s = 0.5 + 10 * 4 / 32 * 0.2
    costs = costs_of(line, config, first_positions=320)
    iteration_s = 15.0 + 20.0 / 4  # the gate, and the evaluation's share
    run_s = 40 * 0.2 + 20.0 + 10 * 20 * 15.0 / 60  # steps on the first games, the last evaluation, the final
    assert dataclasses.astuple(costs) == pytest.approx((game_s, iteration_s, run_s))


def test_a_run_that_takes_longer_or_has_fewer_games_says_so():
    config = tiny_config(selfplay={"games_per_iteration": 100})
    text = describe(Counts(7, 100), COSTS, config, 8.5, trials_s=30)
    assert text == "measured for 30 s: an iteration of 100 games takes about 60.0 s; chosen: training.iterations = 7"
    text = describe(Counts(5, 50), COSTS, config, 5, trials_s=30)
    assert text.endswith("selfplay.games_per_iteration = 50; the net will learn from fewer games than usual")
    assert "takes about 3.0 minutes instead of 1" in describe(Counts(5, 8), COSTS, config, 1, trials_s=50)


@pytest.mark.slow
def test_the_run_is_the_one_that_has_the_chosen_numbers_in_its_config(run_azero, config, tmp_path, monkeypatch):
    """The trials, which are run, change nothing."""
    monkeypatch.setattr(time_box, "cache_directory", lambda: tmp_path)
    monkeypatch.setattr(time_box, "choose_counts", lambda costs, games, seconds, fewest_games: Counts(2, 8))
    boxed, plain = tmp_path / "boxed", tmp_path / "plain"
    code, _, errors = run_azero("train", config, "--run", boxed, "--minutes", "1")
    assert code == 0, errors
    assert errors.splitlines()[0] == "azero: --minutes 1: measuring an iteration first"
    assert "chosen: training.iterations = 2 and selfplay.games_per_iteration = 8" in errors
    chosen = "--set", "training.iterations=2", "--set", "selfplay.games_per_iteration=8"
    assert run_azero("train", config, "--run", plain, *chosen)[0] == 0
    assert load_config(boxed / "config.toml") == load_config(plain / "config.toml")
    assert nets_of(boxed) == nets_of(plain) and figures_of(boxed) == figures_of(plain)
    assert run_azero("train", "--run", boxed, "--resume")[0] == 0
    assert not list(tmp_path.glob("trial-*"))


def test_a_trial_has_the_games_that_are_played_side_by_side():
    def trial_of(**changes):
        play = time_box._trial_of(tiny_config(selfplay={"num_workers": 2, **changes})).selfplay
        return play.games_per_iteration, play.games_per_shard

    assert trial_of(games_per_iteration=1000, games_per_shard=500, parallel_games=192) == (384, 192)
    assert trial_of(games_per_iteration=1000, games_per_shard=50, parallel_games=192) == (100, 50)
    assert trial_of(games_per_iteration=7, games_per_shard=50, parallel_games=192) == (7, 4)


def test_from_python_minutes_and_iterations_exclude_each_other(tmp_path):
    with pytest.raises(BadInput, match="^minutes set training.iterations; leave one of the two out"):
        azero.train("tic_tac_toe", tmp_path / "run", settings={"training.iterations": 10}, minutes=5)
    assert not (tmp_path / "run").exists()


def test_bad_input_is_one_line_and_writes_nothing(run_azero, config, run, tmp_path):
    train = "train", config, "--run", tmp_path / "new"
    for minutes in ("0", "-1", "nan", "inf"):
        assert_bad_input(run_azero(*train, "--minutes", minutes), f"--minutes {minutes}", "greater than 0")
    assert_bad_input(run_azero(*train, "--minutes", "x"), "--minutes")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--set", "training.iterations=4"), "leave one of the two out")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--cluster", "auto"), "workers of this machine")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--from", "nowhere"), "there is no checkpoint 'nowhere'")
    assert not (tmp_path / "new").exists()
    assert_bad_input(run_azero("train", config, "--run", run.folder, "--minutes", "1"), "exists already")
    assert_bad_input(run_azero("train", "--run", run.folder, "--resume", "--minutes", "1"), "--minutes is for a new")


def test_the_folder_of_a_trial_that_was_killed_is_removed_after_a_week(tmp_path, monkeypatch):
    monkeypatch.setattr(time_box, "cache_directory", lambda: tmp_path)
    for name, days in [("trial-old", 8), ("trial-new", 1), ("kernels", 8)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        then = time.time() - days * 86_400
        os.utime(tmp_path / name, (then, then))
    time_box._remove_killed_trials()
    assert {path.name for path in tmp_path.iterdir()} == {"trial-new", "kernels"}
