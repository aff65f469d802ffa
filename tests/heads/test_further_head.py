"""Tests that a further head needs nothing but its two parts."""

import json

import numpy as np
import pytest
import torch
from selfplay.games import random_games
from torch.nn import functional as F
from training.runs import tiny_config

from azero.config.schema import TrainingConfig
from azero.errors import BadInput
from azero.games import DRAW, make_game
from azero.heads import HEADS, Head
from azero.heads.losses import mean_where_known
from azero.runs.state import Progress
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.training.learning.learner import heads_of
from azero.training.learning.precision import random_sample
from azero.training.learning.trainer import Trainer, check_divergence
from azero.training.measure import add_steps, describe_steps
from azero.training.run import Run, load_state, save_state

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("othello(size=4)")


class Material(Head):
    """The target is the lead in discs of the player to move in Othello, [B, 1], in units of the board's side."""

    name = "material"

    @property
    def with_torch(self):
        return self  # else a module beside this one

    def targets(self, positions):
        shard, indices = positions.shard, positions.indices
        stones = np.bitwise_count(shard.states["stones"][indices]).sum(axis=2, dtype=np.int64)  # by player
        lead = (stones[:, 0] - stones[:, 1]) * (1 - 2 * shard.players[indices])
        return (lead[:, None] / positions.game.planes_shape[1]).astype(np.float32)

    def layers(self, build, config, is_kept):
        return build.number(config.value_channels, config.value_hidden)

    def draw(self, graph, x, weights, game, summary):
        raise NotImplementedError  # for nets that keep it

    def loss(self, outputs, targets):
        return mean_where_known(F.mse_loss, outputs, targets)


class WithMaterial(TrainingConfig):
    """The settings of training, with one of the head."""

    material_loss_weight: float = 0.0


@pytest.fixture
def config(monkeypatch):
    """Settings that give the further head and one of azero's a weight."""
    monkeypatch.setitem(HEADS, "material", Material())
    training = {"score_loss_weight": 0.1, "precision": "fp32"}
    settings = tiny_config(net={"channels": 16, "value_channels": 4}, training=training)
    with_material = WithMaterial(**settings.training.model_dump(), material_loss_weight=0.5)
    return settings.model_copy(update={"training": with_material})


@pytest.mark.parametrize("has_lessons", [False, True])
def test_a_further_head_is_learnt_through_replay(config, tmp_path, has_lessons):
    lessons = Lessons(GAME, [Lesson(GAME.new_initial_state(), DRAW, {})], 0.25) if has_lessons else None
    trainer, replay = Trainer(config, GAME), Run(tmp_path, config, GAME).load_replay(Progress(), lessons)
    replay.add("00001-0000", random_games(GAME, 12))
    samples = replay.samples(64, (np.random.default_rng([0, step]) for step in range(150)))
    losses = [trainer.step(sample, 0.0) for sample in samples]
    first, last = losses[0], losses[-1]
    assert list(last.auxiliary) == ["score", "material"]
    assert last.auxiliary["material"] < 0.2 * first.auxiliary["material"]
    expected = last.policy + last.value + 0.1 * last.auxiliary["score"] + 0.5 * last.auxiliary["material"]
    assert last.total(config.training).item() == pytest.approx(expected.item())

    sample = replay.sample(64, np.random.default_rng(9))
    is_game = sample.policies.sum(axis=1) > 0
    assert is_game.sum() == (48 if has_lessons else 64)
    lead = (sample.planes[:, 0] - sample.planes[:, 1]).sum(axis=(1, 2)) / 4
    assert np.array_equal(sample.auxiliary["material"][is_game, 0], lead[is_game])
    assert np.isnan(sample.auxiliary["material"][~is_game]).all()
    trainer.learner.eval()
    with torch.inference_mode():
        _, outputs = trainer.learner(torch.from_numpy(sample.planes))
    assert np.corrcoef(outputs["material"][is_game, 0], lead[is_game])[0, 1] > 0.9


def test_a_further_head_is_measured_watched_and_saved(config, tmp_path):
    trainer, sample = Trainer(config, GAME), random_sample(config, GAME)
    assert sample.auxiliary["material"].shape == (32, 1)
    losses = [trainer.step(sample, 0.0) for _ in range(3)]
    check_divergence(trainer, losses)
    sums = json.loads(json.dumps(add_steps({}, losses, elapsed_s=1.0)))
    expected = float(torch.stack([each.auxiliary["material"] for each in losses]).mean())
    assert describe_steps(sums)["train/material_loss"] == pytest.approx(expected)

    save_state(tmp_path, config, trainer, Progress(steps=3))
    assert any(name.startswith("heads.material.") for name in trainer.tensors())
    resumed = Trainer(config, GAME)
    load_state(tmp_path, resumed)
    assert resumed.step(sample, 0.0).auxiliary["material"] == trainer.step(sample, 0.0).auxiliary["material"]


def test_a_further_head_is_refused_where_the_game_lacks_what_it_needs(config, monkeypatch):
    monkeypatch.setattr(Material, "needs", "ownership")
    assert [head.name for head in heads_of(config.training, GAME)] == ["score", "material"]
    with pytest.raises(BadInput) as error:
        heads_of(config.training.model_copy(update={"score_loss_weight": 0.0}), make_game("hex"))
    assert str(error.value) == (
        "training.material_loss_weight is 0.5; it should be 0, since hex has no `ownership` of its own"
    )
