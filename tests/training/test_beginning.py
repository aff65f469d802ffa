"""Tests of runs that begin with a checkpoint, or with the games of another run."""

import json
import shutil
import signal
from pathlib import Path

import pytest
import torch
from cases import long
from command_line import assert_bad_input

from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint
from azero.runs.shards import load_shard
from azero.training.beginning import read_beginning

from .runs import (
    check,
    figures_of,
    files_of,
    finish_train,
    flip,
    nets_of,
    progress_of,
    strike,
    tiny_config,
    write_config,
)

pytestmark = pytest.mark.slow  # its runs take long

GAME = make_game("tic_tac_toe")


@pytest.fixture
def source(whole, tmp_path) -> Path:
    """A copy of a finished run."""
    return Path(shutil.copytree(whole, tmp_path / "source"))


def weights_of(path: Path) -> dict[str, torch.Tensor]:
    return load_checkpoint(path).net.state_dict()


def test_a_run_begins_with_a_checkpoint_s_weights_and_counts_from_zero(run_azero, source, config, tmp_path):
    run, words = tmp_path / "run", ("--set", "training.iterations=1")
    code, _, errors = run_azero("train", config, "--run", run, "--from", source, *words)
    assert code == 0, errors
    first, best = weights_of(run / "checkpoints" / "00000.safetensors"), weights_of(source / "best.safetensors")
    assert all(torch.equal(first[name], best[name]) for name in best) and first.keys() == best.keys()
    card = load_checkpoint(run / "checkpoints" / "00000.safetensors").card
    assert (card.iteration, card.step, card.rating, card.positions) == (0, 0, 0, 0)
    assert f'first_net = "{source}"' in (run / "config.toml").read_text()
    assert check(run_azero, run)[0] == 0


def test_killed_at_every_write_of_its_beginning_it_ends_the_same_without_its_sources(source, tmp_path):
    changes = {
        "net": {"channels": 12, "blocks": 2},
        "training": {"first_net": str(source / "checkpoints" / "00000.safetensors"), "iterations": 2},
        "replay": {"first_games": str(source)},
    }
    config, whole, run = write_config(tmp_path, **changes), tmp_path / "whole", tmp_path / "run"
    finish_train(whole, config)
    moments = [
        *(("checkpoints/00000", "before"), ("checkpoints/00000", "after"), ("replay/00000-0001", "before")),
        *(("config.toml", "before"), ("config.toml", "after")),
    ]
    for write, moment in moments:
        assert strike(run, config, write, moment) == -signal.SIGKILL, (write, moment)
    shutil.rmtree(source)
    moments = [("state 1 train 0", "before"), ("state 1 train 0", "after"), ("state 1 train 8", "after")]
    for write, moment in moments:
        assert strike(run, config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole) and figures_of(run) == figures_of(whole)
    assert files_of(run / "replay") == files_of(whole / "replay")


def test_shards_that_a_killed_process_copied_are_not_mixed_with_others(source, tmp_path):
    config, run = write_config(tmp_path, replay={"first_games": str(source)}), tmp_path / "run"
    assert strike(run, config, "config.toml", "before") == -signal.SIGKILL
    assert len(list((run / "replay").glob("00000-*.safetensors"))) > 2
    config = write_config(tmp_path, replay={"first_games": str(source), "window": 1}, training={"iterations": 1})
    finish_train(run, config)
    assert progress_of(run)["shards"] == ["00000-0000"]


def test_the_newest_games_that_fit_the_window_are_taken(source):
    paths = sorted((source / "replay").glob("*.safetensors"))
    newest = [load_shard(path, GAME) for path in paths[-2:]]
    window = 1 + newest[1].num_learnt
    beginning = read_beginning(tiny_config(replay={"first_games": str(source), "window": window}), (GAME,))
    assert [shard.actions.tolist() for _, shard in beginning.shards] == [shard.actions.tolist() for shard in newest]
    read_all = read_beginning(tiny_config(replay={"first_games": str(source), "window": 10**6}), (GAME,))
    assert len(read_all.shards) == len(paths)


def test_the_newest_games_are_those_with_the_highest_number(source):
    one, other, *_ = sorted((source / "replay").glob("*.safetensors"))
    newest = load_shard(other, GAME)
    one.rename(one.with_stem("00030-9999"))
    other.rename(other.with_stem("00030-10000"))
    beginning = read_beginning(tiny_config(replay={"first_games": str(source), "window": 1}), (GAME,))
    assert [shard.actions.tolist() for _, shard in beginning.shards] == [newest.actions.tolist()]


@pytest.mark.long
def test_a_net_of_another_shape_learns_to_play_from_a_run_s_games(tmp_path):
    """The games are those of random weights with a search; the net alone is to play better than random weights."""
    selfplay = {"games_per_iteration": 160, "games_per_shard": 40, "num_simulations": 60, "full_search_share": 1.0}
    sections = {"selfplay": selfplay, "replay": {"window": 5000}, "evaluation": {"every": 0}}
    finish_train(tmp_path / "a", write_config(tmp_path, **sections, training={"iterations": 1}))
    sections["replay"] |= {"first_games": str(tmp_path / "a")}
    training = {"iterations": 1, "samples_per_position": 20.0}
    config = write_config(tmp_path, **sections, net={"blocks": 2, "channels": 16}, training=training)
    finish_train(tmp_path / "b", config)
    (line,) = figures_of(tmp_path / "b")
    assert line["positions"] == figures_of(tmp_path / "a")[0]["positions"] and line["gate/is_promoted"]
    names = [f"{tmp_path}/b/checkpoints/{name}.safetensors(prove=false)@2" for name in ("00001", "00000")]
    learnt, first = (make_agent(name, GAME) for name in names)
    match = play_match(learnt, first, GAME, 60, seed=1, opening_plies=1)
    assert sum(result.score for result in match.results) / 60 > 0.65


def test_the_first_net_that_learned_from_games_is_promoted_although_the_gate_is_shut(source, tmp_path):
    shut = {"gate": {"win_rate_threshold": 0.99}, "training": {"iterations": 2}}
    finish_train(tmp_path / "a", write_config(tmp_path, **shut, replay={"first_games": str(source)}))
    assert [line["gate/is_promoted"] for line in figures_of(tmp_path / "a")] == [True, False]
    shut["training"] |= {"first_net": str(source)}
    finish_train(tmp_path / "b", write_config(tmp_path, **shut, replay={"first_games": str(source)}))
    assert [line["gate/is_promoted"] for line in figures_of(tmp_path / "b")] == [False, False]


@pytest.mark.parametrize("file", ["checkpoints/00000.safetensors", "replay/00000-0001.safetensors"])
def test_what_was_copied_and_is_damaged_before_the_run_has_a_state_cannot_be_mended(run_azero, source, tmp_path, file):
    config = write_config(tmp_path, training={"first_net": str(source)}, replay={"first_games": str(source)})
    run = tmp_path / "run"
    assert strike(run, config, "config.toml", "after") == -signal.SIGKILL
    assert check(run_azero, run)[1]["damaged"] == []
    flip(run / file)
    before = files_of(run / "replay")
    for more in ([], ["--repair"]):
        code, report = check(run_azero, run, *more)
        (damage,) = report["damaged"]
        assert (code, damage["file"], damage["repair"]) == (1, file, "")
        assert damage["cost"] == "the run cannot continue: it was copied when the run began; begin another"
    assert files_of(run / "replay") == before


@pytest.mark.parametrize("write", ["state 1 train 0", *long("state 1 train 8")])
def test_what_was_copied_and_is_damaged_later_costs_its_games_or_nothing(run_azero, source, tmp_path, write):
    config = write_config(tmp_path, training={"first_net": str(source)}, replay={"first_games": str(source)})
    run = tmp_path / "run"
    assert strike(run, config, write, "after") == -signal.SIGKILL
    flip(run / "replay" / "00000-0001.safetensors")
    code, report = check(run_azero, run, "--repair")
    (damage,) = report["damaged"]
    assert (code, damage["cost"]) == (0, "its games; the run goes on, but not as without the damage")
    finish_train(run, config)
    assert check(run_azero, run)[0] == 0


def test_before_training_the_first_net_is_made_again_from_the_state(run_azero, source, tmp_path):
    config = write_config(tmp_path, training={"first_net": str(source), "iterations": 1})
    whole, run = tmp_path / "whole", tmp_path / "run"
    finish_train(whole, config)
    assert strike(run, config, "state 1 play 0", "after") == -signal.SIGKILL
    shutil.rmtree(source)
    (run / "checkpoints" / "00000.safetensors").unlink()
    code, report = check(run_azero, run, "--repair")
    assert (code, report["damaged"][0]["repair"]) == (0, "it is made again from the state")
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)


def test_bad_input_is_one_line_and_writes_nothing(run_azero, source, config, tmp_path):
    run = tmp_path / "run"
    train = "train", config, "--run", run
    checkpoint = source / "best.safetensors"
    assert_bad_input(run_azero(*train, "--from", "nowhere"), "there is no checkpoint 'nowhere' to begin with")
    assert_bad_input(run_azero(*train, "--from", "connect_four"), "it plays connect_four")
    assert_bad_input(run_azero(*train, "--from", checkpoint, "--set", "net.channels=4"), "a net can grow")
    assert_bad_input(run_azero(*train, "--games-of", "nowhere"), "there is no run in 'nowhere'")
    assert_bad_input(run_azero(*train, "--games-of", checkpoint), "there is no run in")
    other = "--set", "game.name=connect_four"
    assert_bad_input(run_azero(*train, "--games-of", source, *other), "holds games of tic_tac_toe, not connect_four")
    shutil.rmtree(source / "replay")
    assert_bad_input(run_azero(*train, "--games-of", source), "has no games to learn from")
    assert not run.exists()
    resume = "train", "--run", source, "--resume"
    assert_bad_input(run_azero(*resume, "--from", source), "--from is for a new run")
    assert_bad_input(run_azero(*resume, "--games-of", source), "--games-of is for a new run")
    change = "--set", f"training.first_net={json.dumps(str(source))}"
    assert_bad_input(run_azero(*resume, *change), "a run's training.first_net cannot change")
