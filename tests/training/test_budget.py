"""Tests of `azero train --minutes`: the settings that a budget becomes, and that the run is the one with these."""

import os
import shlex
import signal
import time

import pytest
from command_line import assert_bad_input

import azero
from azero.config.checks import check_together
from azero.config.reading import check_config, load_config
from azero.errors import BadInput
from azero.training import trial
from azero.training.budget import Facts, Rates, TooShort, seconds_of, settings_of
from azero.training.suited import Look, look_at, suit

from .runs import figures_of, fork_command, nets_of, strike, wait_until

FACTS = Facts(positions=27.5, evaluations=765.0)  # of connect_four_quick

RATES = Rates(
    evaluations_per_s=40_000.0,
    ending_s=0.006,
    positions_per_s=5_500.0,
    gate_s=1.0,
    gate_games=32,
    rows=64,
    evaluation_s=4.0,
    iteration_s=1.5,
    num_workers=2,
)
SLOW = RATES._replace(evaluations_per_s=14_000.0, ending_s=0.01, positions_per_s=1_700.0, gate_s=2.5, evaluation_s=8.0)

QUICK = load_config("connect_four_quick")


@pytest.mark.parametrize(
    ("rates", "minutes", "iterations", "games", "samples", "window", "warmup", "ema", "final"),
    [
        (RATES, 1, 4, 144, 8.0, 11_088, 16, 0.9412, 0),
        (RATES, 3, 6, 369, 8.0, 42_620, 63, 0.9844, 0),
        (RATES, 10, 12, 643, 8.0, 148_533, 100, 0.9901, 6),
        (RATES, 60, 31, 1649, 8.0, 400_000, 100, 0.9901, 20),
        (RATES._replace(evaluations_per_s=200_000.0, ending_s=0.001), 3, 10, 559, 4.0, 107_608, 80, 0.9877, 0),
        (SLOW, 2, 4, 82, 8.0, 6_314, 9, 0.9, 0),
        (SLOW, 6, 5, 312, 8.0, 30_030, 45, 0.9783, 0),
    ],
)
def test_a_budget_is_turned_into_numbers(rates, minutes, iterations, games, samples, window, warmup, ema, final):
    chosen = settings_of(QUICK, FACTS, rates, 60 * minutes)
    play, training = chosen.selfplay, chosen.training
    assert (training.iterations, play.games_per_iteration, play.games_per_shard) == (iterations, games, -(-games // 2))
    assert (training.samples_per_position, chosen.replay.window) == (samples, window)
    assert (training.warmup_steps, training.ema_decay, chosen.gate.final_games) == (warmup, ema, final)
    assert 0.97 * 60 * minutes < seconds_of(chosen, FACTS, rates) <= 60 * minutes


def test_what_the_budget_does_not_set_stays():
    chosen = settings_of(QUICK, FACTS, RATES, 300).model_dump()
    before = QUICK.model_dump()
    assert [name for name in before if before[name] != chosen[name]] == ["selfplay", "replay", "training", "gate"]
    assert chosen["selfplay"]["num_simulations"] == 48 and chosen["training"]["batch_size"] == 256


def test_settings_of_the_user_hold_and_the_others_fit_them():
    config = load_config("connect_four_quick", ["selfplay.games_per_iteration=100", "training.samples_per_position=4"])
    held = frozenset({"selfplay.games_per_iteration", "training.samples_per_position"})
    chosen = settings_of(config, FACTS, RATES, 300, held)
    assert (chosen.selfplay.games_per_iteration, chosen.training.samples_per_position) == (100, 4.0)
    assert chosen.selfplay.games_per_shard == 50
    assert chosen.replay.window == round(0.7 * 100 * chosen.training.iterations * FACTS.positions)
    assert 270 < seconds_of(chosen, FACTS, RATES) <= 300


def test_first_games_take_their_time():
    chosen = settings_of(QUICK, FACTS, RATES, 300, first=50_000)
    assert chosen.selfplay.games_per_iteration < settings_of(QUICK, FACTS, RATES, 300).selfplay.games_per_iteration
    assert seconds_of(chosen, FACTS, RATES, 50_000) <= 300


@pytest.mark.parametrize("minutes", [3, 20, 200])
def test_each_size_of_a_game_has_its_games(minutes):
    config = load_config("go_sizes")
    chosen = settings_of(config, FACTS, RATES._replace(gate_s=0.5), 60 * minutes)
    check_together(chosen)
    assert chosen.gate.games % (2 * len(config.game.sizes)) == 0


def test_too_little_time_names_the_least():
    with pytest.raises(TooShort) as found:
        settings_of(QUICK, FACTS, RATES, 20)
    settings_of(QUICK, FACTS, RATES, found.value.least_s)


@pytest.mark.slow
def test_a_killed_and_resumed_run_equals_one_of_its_config(config, tmp_path):
    timed, again = tmp_path / "timed", tmp_path / "again"
    process = fork_command(["train", str(config), "--run", str(timed), "--minutes", "0.5"], timed)
    wait_until((timed / "metrics.jsonl").exists)
    process.kill()
    process.join()
    (repeat,) = [line for line in (tmp_path / "timed.err").read_text().splitlines() if "to repeat this run" in line]
    words = shlex.split(repeat.partition("azero train")[2].replace("NEW", str(again)))
    assert words == [str(timed / "config.toml"), "--run", str(again)]
    for run, settings in ((timed, config), (again, timed / "config.toml")):  # as far as into the second iteration
        assert strike(run, settings, "state 2 gate 0", "after") == -signal.SIGKILL
    assert (timed / "config.toml").read_bytes() == (again / "config.toml").read_bytes()
    assert nets_of(timed) == nets_of(again) and figures_of(timed) == figures_of(again) and len(figures_of(again)) == 1


@pytest.mark.slow
def test_too_few_minutes_are_one_line_and_no_run(run_azero, config, tmp_path):
    held = "selfplay.games_per_iteration=1000000"
    end = run_azero("train", config, "--run", tmp_path / "new", "--minutes", "0.5", "--set", held)
    assert end[0] == 2 and "--minutes 0.5 is too short here; the least is --minutes" in end[2].splitlines()[-1]
    assert not (tmp_path / "new").exists()


def test_from_python_minutes_exclude_iterations_and_a_cluster(tmp_path):
    with pytest.raises(BadInput, match="^minutes set training.iterations; leave one of the two out"):
        azero.train("tic_tac_toe", tmp_path / "run", settings={"training.iterations": 10}, minutes=5)
    with pytest.raises(BadInput, match="^minutes measure the workers of this machine"):
        azero.train("tic_tac_toe", tmp_path / "run", minutes=5, make_pool=lambda config, tell: None)
    assert not (tmp_path / "run").exists()


def test_bad_input_is_one_line_and_writes_nothing(run_azero, config, run, tmp_path):
    train = "train", config, "--run", tmp_path / "new"
    for minutes in ("0", "-1", "nan", "inf", "0.4"):
        assert_bad_input(run_azero(*train, "--minutes", minutes), f"--minutes {minutes}", "0.5 or more")
    assert_bad_input(run_azero(*train, "--minutes", "x"), "--minutes")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--set", "training.iterations=4"), "leave one of the two out")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--cluster", "auto"), "workers of this machine")
    assert_bad_input(run_azero(*train, "--minutes", "1", "--from", "nowhere"), "there is no checkpoint 'nowhere'")
    assert not (tmp_path / "new").exists()
    assert_bad_input(run_azero("train", config, "--run", run.folder, "--minutes", "1"), "exists already")
    assert_bad_input(run_azero("train", "--run", run.folder, "--resume", "--minutes", "1"), "--minutes is for a new")


def test_the_folder_of_a_trial_that_was_killed_is_removed_after_a_week(tmp_path, monkeypatch):
    monkeypatch.setattr(trial, "cache_directory", lambda: tmp_path)
    for name, days in [("trial-old", 8), ("trial-new", 1), ("kernels", 8)]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
        then = time.time() - days * 86_400
        os.utime(tmp_path / name, (then, then))
    trial._remove_killed_trials()
    assert {path.name for path in tmp_path.iterdir()} == {"trial-new", "kernels"}


def suited(look: Look, minutes: float = 10.0, held: frozenset[str] = frozenset(), rate: float = 5_500.0, **sections):
    config = check_config({"game": {"name": "tic_tac_toe"}, **sections})
    return suit(config, look, minutes, held, lambda _: rate)


def test_settings_suit_the_game_if_nobody_gives_them():
    few = suited(Look(moves=7.0, plies=30.0))
    assert (few.selfplay.root, few.selfplay.num_simulations, few.selfplay.temperature_plies) == ("noise", 48, 10)
    assert (few.selfplay.dirichlet_alpha, few.net.blocks, few.net.channels) == (1.0, 4, 48)
    many = suited(Look(moves=50.0, plies=90.0), rate=500.0)
    assert (many.selfplay.root, many.selfplay.num_simulations, many.selfplay.dirichlet_alpha) == ("gumbel", 40, 0.2)
    assert (many.net.blocks, many.net.channels) == (2, 32)
    assert suited(Look(7.0, 30.0), minutes=60).net.channels == 64


def test_what_the_user_gives_stays():
    own = {"selfplay": {"num_simulations": 100, "root": "noise"}, "net": {"channels": 16}}
    config = suited(Look(50.0, 90.0), held=frozenset({"selfplay.dirichlet_alpha"}), **own)
    assert (config.selfplay.num_simulations, config.selfplay.root, config.selfplay.dirichlet_alpha) == (100, "noise", 1)
    assert (config.net.blocks, config.net.channels, config.selfplay.temperature_plies) == (5, 16, 30)
    assert suited(Look(50.0, 90.0), held=frozenset({"net"})).net.channels == 64
    assert suited(Look(50.0, 90.0), net={"name": "dense"}).net.channels == 64


def test_rules_that_are_not_compiled_and_planes_that_are_no_picture():
    config = suited(Look(50.0, 90.0, is_picture=False, calls_python=True))
    assert (config.net.name, config.search.look_ahead) == ("dense", False)
    usual = suited(Look(50.0, 90.0))
    assert (usual.net.name, usual.search.look_ahead) == ("tower", True)
    assert config.net.channels == usual.net.channels
    assert trial.games_evaluated(QUICK, Look(4.0, 45.0, calls_python=True)) == 8
    assert suited(Look(50.0, 90.0), selfplay={"dirichlet_alpha": 0.3}).selfplay.root == "noise"
    fast = {"full_search_share": 0.25, "fast_simulations": 60}
    assert suited(Look(50.0, 90.0), selfplay=fast).selfplay.num_simulations == 61


def test_the_trial_plays_a_whole_evaluation_unless_games_are_long():
    """A few games take most of the time of many: nets are opened. Counted as a share, they ended runs in half of it."""
    assert trial.games_evaluated(QUICK, Look(moves=7.0, plies=22.0)) == QUICK.evaluation.games == 40
    assert trial.games_evaluated(QUICK, Look(moves=7.0, plies=190.0)) == 8


def test_random_games_say_how_many_moves_there_are():
    assert 4 < look_at(azero.make_game("tic_tac_toe")).moves < 6
    assert look_at(azero.make_game("tic_tac_toe"), ["moves: a1 b2 c3"]).plies < 6
