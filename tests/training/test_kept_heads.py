"""Tests of heads that stay, in training: they learn as others do, and runs with them are resumed byte for byte."""

import json
import signal

import numpy as np
import pytest
import torch
from cases import long
from command_line import assert_bad_input

from azero.errors import BadInput
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint
from azero.runs.state import Progress
from azero.training.learning.trainer import Trainer
from azero.training.run import Run

from .runs import check, figures_of, finish_train, nets_of, strike, tiny_config, write_config
from .test_trainer import sample, state_bytes

OTHELLO = make_game("othello(size=4)")
WEIGHTS = {"ownership_loss_weight": 1.0, "score_loss_weight": 1.0}
KEPT = {"heads": ["ownership", "score"]}


def trainer_with(net: dict, **training: object) -> Trainer:
    return Trainer(tiny_config(net=net, training={"precision": "fp32"} | training), OTHELLO)


@pytest.mark.parametrize(
    "optimizer", ["adamw", *(pytest.param(each, marks=pytest.mark.slow) for each in ("sgd", "muon"))]
)
def test_a_run_learns_the_same_whether_its_heads_stay_or_not(optimizer):
    plain, keeping = (trainer_with(net, **WEIGHTS, optimizer=optimizer) for net in ({}, KEPT))
    assert list(plain.learner.heads) == ["ownership", "score"] == list(keeping.net.kept) and not keeping.learner.heads
    for step in range(3):
        for trainer in (plain, keeping):
            trainer.step(sample(8, step, OTHELLO), 0.0)
    found, expected = keeping.tensors(), plain.tensors()
    for name, tensor in expected.items():
        assert torch.equal(tensor, found[name.replace("heads.", "net.kept.", 1) if name.startswith("heads.") else name])


def test_a_head_that_stays_needs_no_other_to_stay():
    trainer = trainer_with({"heads": ["score"]}, **WEIGHTS)
    assert list(trainer.learner.heads) == ["ownership"] and list(trainer.net.kept) == ["score"]
    losses = trainer.step(sample(8, game=OTHELLO), 0.0)
    assert list(losses.auxiliary) == ["ownership", "score"]


def test_the_candidate_s_heads_are_averages_and_are_saved(tmp_path):
    config = tiny_config(net=KEPT, training=WEIGHTS | {"precision": "fp32", "ema_decay": 0.5})
    trainer, run = Trainer(config, OTHELLO), Run(tmp_path, config, OTHELLO)
    for step in range(3):
        trainer.step(sample(8, step, OTHELLO), 0.0)
    name = "kept.score.5.weight"
    assert not torch.equal(trainer.net.state_dict()[name], trainer.average.state_dict()[name])
    run.save_net(tmp_path / "net.safetensors", trainer.candidate(), Progress())
    loaded = load_checkpoint(tmp_path / "net.safetensors").net.state_dict()
    assert all(torch.equal(each, loaded[key]) for key, each in trainer.average.state_dict().items())


def test_a_restored_trainer_goes_on_to_the_byte():
    unbroken, broken, resumed = (trainer_with(KEPT, **WEIGHTS) for _ in range(3))
    for trainer in (unbroken, broken):
        trainer.step(sample(8, 0, OTHELLO), 0.0)
    resumed.restore(broken.tensors(), 1)
    for trainer in (unbroken, resumed):
        trainer.step(sample(8, 1, OTHELLO), 0.5)
    assert state_bytes(resumed) == state_bytes(unbroken)
    with pytest.raises(BadInput, match="does not fit the settings"):
        trainer_with({}, **WEIGHTS).restore(broken.tensors(), 1)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with a config that keeps heads, and an unbroken run."""
    folder = tmp_path_factory.mktemp("project")
    config = write_config(folder, game={"name": OTHELLO.name}, net=KEPT, training=WEIGHTS | {"iterations": 1})
    finish_train(folder / "whole", config)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("write", ["state 1 train 4", *long("state 1 gate 0")])
def test_a_run_whose_heads_stay_is_resumed_to_the_same_bytes(project, write):
    run, config = project / f"run-{write}", project / "tiny.toml"
    assert strike(run, config, write, "after") == -signal.SIGKILL
    finish_train(run, config)
    assert figures_of(run) == figures_of(project / "whole")
    assert nets_of(run) == nets_of(project / "whole") and len(nets_of(run)) >= 3


@pytest.mark.slow
def test_the_net_that_a_run_publishes_says_what_they_expect(project, run_azero):
    code, output, _ = run_azero("suggest", project / "whole@8", "--json")
    fields = json.loads(output)
    assert code == 0 and np.array(fields["ownership"]).shape == (4, 4) and isinstance(fields["score"], float)
    assert check(run_azero, project / "whole")[1]["is_whole"]


@pytest.mark.slow
def test_heads_cannot_change_when_a_run_is_resumed(project, run_azero):
    words = "train", project / "tiny.toml", "--run", project / "whole", "--resume"
    assert_bad_input(run_azero(*words, "--set", 'net.heads=["score"]'), "a run's net cannot change when it is resumed")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (
            ["training.score_loss_weight=0"],
            "training.score_loss_weight = 0 should be greater than 0, since net.heads has",
        ),
        (["net.heads=[1]"], "setting net.heads.0 = 1 should be 'ownership' or 'score'"),
        (['net.heads=["score","score"]'], "setting net.heads = ['score', 'score'] should name each head once"),
        (
            ["game.name=hex(size=4)"],
            "net.heads = ['ownership', 'score'] should be without 'ownership', since hex(size=4)",
        ),
        (["net.name=dense"], "ownership needs a net with features for each cell"),
        (
            ["net.name=any_size", "game.sizes=[4,6]"],
            "net.heads = ['ownership', 'score'] cannot be used with game.sizes",
        ),
    ],
)
def test_heads_that_cannot_stay_are_refused_before_the_run_begins(project, run_azero, settings, fault):
    words = [word for each in settings for word in ("--set", each)]
    assert_bad_input(run_azero("train", project / "tiny.toml", "--run", "run", *words), fault)
    assert not (project / "run").exists()
