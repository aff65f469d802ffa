"""Tests of a run with every option of learning on: it survives kills, and docs/metrics.md lists its figures."""

import math
import re
import signal
from pathlib import Path

import pytest

from azero.heads import HEADS
from azero.nets.checkpoint import load_checkpoint
from azero.runs.metrics import read_metrics
from azero.training.learning.trainer import Trainer

from .runs import figures_of, files_of, finish_train, nets_of, strike, tiny_config, write_config

pytestmark = pytest.mark.thorough

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"

SELFPLAY = {
    "games_per_iteration": 24,
    "games_per_shard": 8,
    "policy_surprise_share": 0.5,
}
TRAINING = {
    "iterations": 2,
    "samples_per_position": 2,
    "value_lambda": 0.8,
    **dict.fromkeys([f"{name}_loss_weight" for name in HEADS], 0.2),
}
"""The tiny settings already have playout caps, random openings, a growing window and an average."""

PLAYED_AHEAD = {"time/ahead_s", "time/overlap", "time/games_waited_s"}
"""Figures of runs that play ahead, which this one does not."""


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    folder = tmp_path_factory.mktemp("switches")
    (folder / "solved.txt").write_text("a2,a1 -1\n")
    (folder / "lessons.txt").write_text("a2 1 a1\na2,a1 -1\n")
    return write_config(
        folder,
        game={"name": "othello(size=4)"},
        selfplay=SELFPLAY,
        replay={"window": 180},
        training=TRAINING | {"lessons": str(folder / "lessons.txt")},
        gate={"win_rate_threshold": 0.1},
        evaluation={"benchmark": str(folder / "solved.txt")},
    )


@pytest.fixture(scope="module")
def whole(config, tmp_path_factory):
    """The folder of an unbroken run."""
    folder = tmp_path_factory.mktemp("whole") / "run"
    finish_train(folder, config)
    return folder


def test_every_switch_does_something(whole):
    *_, last = read_metrics(whole / "metrics.jsonl")
    assert last["selfplay/proven"] > 0 and last["replay/lessons"] == 2
    assert len(list((whole / "replay").iterdir())) < 6, "shards should have left the window"


def test_heads_are_learnt_and_left_out_of_nets(whole):
    lines = read_metrics(whole / "metrics.jsonl")
    assert len(lines) == 2 and all(line[f"train/{name}_loss"] > 0 for line in lines for name in HEADS)
    assert lines[0]["train/ownership_loss"] < math.log(2) * 1.2 and lines[0]["train/score_loss"] < 2
    checkpoint = load_checkpoint(whole / "best.safetensors")
    plain = Trainer(tiny_config(game={"name": checkpoint.card.game}), checkpoint.game).net
    assert checkpoint.net.state_dict().keys() == plain.state_dict().keys()


def test_figures_are_those_that_the_docs_tell(whole):
    told = re.findall(r"^\| `([\w/]+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    keys = {key for line in read_metrics(whole / "metrics.jsonl") for key in line} | {"gate/score_size_N"}
    others = {key for key, _ in told if key.startswith("cluster/")} | PLAYED_AHEAD
    assert {key for key, _ in told} == keys | others and len(told) == len(keys | others)
    assert all(what.endswith(".") for _, what in told)


def test_killed_it_ends_the_same(whole, config, tmp_path):
    run = tmp_path / "run"
    for write, moment in (
        ("replay/00002-0001", "after"),  # in self-play
        ("state 2 train 4", "after"),  # in training
    ):
        assert strike(run, config, write, moment) == -signal.SIGKILL, (write, moment)
    finish_train(run, config)
    assert nets_of(run) == nets_of(whole)
    assert files_of(run / "replay") == files_of(whole / "replay")
    assert figures_of(run) == figures_of(whole)
