"""Tests of the precision of training: measured once if there is a choice, and kept with the run."""

import json

import pytest

from azero.config.reading import load_config
from azero.games import make_game
from azero.nets import devices
from azero.runs.state import Progress
from azero.training import loop
from azero.training.learning import precision
from azero.training.learning.precision import is_settled_from, settle_training, step_rates

from .runs import tiny_config

GAME = make_game("tic_tac_toe")


@pytest.fixture
def computes_in_bf16(monkeypatch, tmp_path):
    """A CPU that appears to compute in bf16, and an empty cache folder."""
    monkeypatch.setattr(devices, "has_bf16", lambda device: True)
    monkeypatch.setattr(precision, "has_bf16", lambda device: True)
    monkeypatch.setattr("azero.nets.runtimes.rates.cache_root", lambda: tmp_path / "cache")
    return tmp_path / "cache" / "training"


def settled(**settings) -> str:
    return settle_training(tiny_config(training=settings), GAME).training.precision


def test_without_a_choice_nothing_is_measured(monkeypatch, computes_in_bf16):
    monkeypatch.setattr(precision, "_measure", None)
    assert [settled(precision=name) for name in ("fp32", "bf16")] == ["fp32", "bf16"]
    monkeypatch.setattr(precision, "has_bf16", lambda device: False)
    assert settled(precision="auto") == "fp32"


@pytest.mark.parametrize(
    ("fp32", "bf16", "taken"), [(100.0, 78.0, "fp32"), (100.0, 104.0, "fp32"), (100.0, 140.0, "bf16")]
)
def test_the_faster_is_taken_and_measured_once(monkeypatch, computes_in_bf16, fp32, bf16, taken):
    answers = iter([{"fp32": fp32, "bf16": bf16}])
    monkeypatch.setattr(precision, "_measure", lambda config, game: next(answers))
    assert [settled(), settled()] == [taken, taken]
    (kept,) = computes_in_bf16.iterdir()
    assert json.loads(kept.read_text()) == {"fp32": fp32, "bf16": bf16}


@pytest.mark.parametrize(("name", "values"), [("batch_size", (32, 64)), ("optimizer", ("adamw", "muon"))])
def test_other_batches_and_optimizers_are_measured_by_themselves(monkeypatch, computes_in_bf16, name, values):
    answers = iter([{"fp32": 1.0, "bf16": 2.0}, {"fp32": 2.0, "bf16": 1.0}])
    monkeypatch.setattr(precision, "_measure", lambda config, game: next(answers))
    assert [settled(**{name: each}) for each in (*values, values[0])] == ["bf16", "fp32", "bf16"]


def test_steps_are_measured_for_real(monkeypatch, computes_in_bf16):
    """With auxiliary heads. On a CPU without bf16 torch emulates it."""
    monkeypatch.setattr(precision, "_SECONDS", 0.01)
    game, heads = make_game("othello(size=4)"), {"ownership_loss_weight": 0.1, "score_loss_weight": 0.1}
    rates = step_rates(tiny_config(training=heads), game)
    assert list(rates) == ["fp32", "bf16"] and min(rates.values()) > 0


def test_a_run_keeps_what_was_settled(monkeypatch, tmp_path):
    """The run's settings have the arithmetic of its trainer and of its net, with which it is also resumed elsewhere."""
    monkeypatch.setattr(loop, "run_iterations", lambda *run: Progress())
    used = loop.train_run(tmp_path / "run", tiny_config(device={"device": "cpu"}), is_resuming=False).config
    kept = load_config(tmp_path / "run" / "config.toml")
    assert kept == used and "auto" not in (kept.training.precision, kept.device.runtime, kept.device.precision)


@pytest.mark.parametrize(
    ("settings", "is_same"),
    [({}, True), ({"precision": "fp32"}, True), ({"precision": "bf16"}, False), ({"batch_size": 33}, False)],
)
def test_a_run_has_the_settings_of_its_config_though_auto_is_settled(settings, is_same):
    settled = tiny_config(training={"precision": "fp32"}, device={"runtime": "torch", "precision": "fp32"})
    assert is_settled_from(settled, tiny_config(training=settings)) == is_same
