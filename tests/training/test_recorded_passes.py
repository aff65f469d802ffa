"""Tests of recorded passes of training. They take a GPU with CUDA."""

import numpy as np
import pytest
import torch

from azero.training.learning.passes import Passes
from azero.training.learning.trainer import Trainer

from .runs import tiny_config
from .test_trainer import OTHELLO, sample

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="takes a GPU with CUDA")

CONFIG = tiny_config(
    device={"device": "cuda"},
    training={"precision": "fp32", "ownership_loss_weight": 1.0, "score_loss_weight": 1.0},
)


def learn(num_steps, size=32):
    """Returns a trainer after some steps, and the losses of each."""
    trainer = Trainer(CONFIG, OTHELLO)
    losses = [trainer.step(sample(size, seed, OTHELLO), 0.0) for seed in range(num_steps)]
    return trainer, [{name: float(loss) for name, loss in each.by_name().items()} for each in losses]


@pytest.fixture
def unrecorded(monkeypatch):
    with monkeypatch.context() as patches:
        patches.setattr(Passes, "_recorded", lambda self, number, share, compute, inputs: compute)
        return learn(8)


def test_recorded_passes_teach_what_others_teach(unrecorded):
    trainer, losses = learn(8)
    assert [each._graph is not None for each in trainer.passes._recordings.values()] == [True]
    for own, other in zip(losses, unrecorded[1], strict=True):
        assert own == pytest.approx(other, rel=0.01, abs=1e-3)
    others = unrecorded[0].tensors()
    for name, tensor in trainer.tensors().items():
        if name.startswith(("net", "average")):
            np.testing.assert_allclose(tensor.numpy(), others[name].numpy(), rtol=0.05, atol=0.01, err_msg=name)


def test_a_batch_of_another_size_is_recorded_anew():
    trainer, _ = learn(2)
    first = trainer.passes._recordings[0, 1.0]
    trainer.step(sample(48, 0, OTHELLO), 0.0)
    assert trainer.passes._recordings[0, 1.0] is not first and trainer.passes._recordings[0, 1.0]._graph is not None


def test_what_cannot_be_recorded_is_computed(monkeypatch, capsys):
    trainer = Trainer(CONFIG, OTHELLO)
    compute = Passes._compute

    def looking(self, *arguments):
        losses, gradients = compute(self, *arguments)
        assert float(losses.policy) > 0  # waits for the GPU
        return losses, gradients

    monkeypatch.setattr(Passes, "_compute", looking)
    losses = [float(trainer.step(sample(32, 0, OTHELLO), 0.0).policy) for _ in range(30)]
    assert trainer.passes._recordings[0, 1.0]._graph is None
    assert losses[-1] < losses[0]
    assert capsys.readouterr().err.count("passes of training are not recorded") == 1
