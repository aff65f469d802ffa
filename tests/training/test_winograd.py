"""Tests of training by Winograd convolutions: gradients against float64, steps like torch's, and where they can run."""

import copy
import signal

import numpy as np
import pytest
import torch
from cases import thorough

from azero.config.reading import check_config, load_config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.sizes import games_of
from azero.nets.architectures.blocks import NormalizedConvolution
from azero.nets.runtimes.winograd.library import has_vectors
from azero.selfplay.data.canvas import Canvas
from azero.training.learning import precision
from azero.training.learning.learner import Learner
from azero.training.learning.precision import random_sample, settle_training
from azero.training.learning.trainer import Trainer
from azero.training.learning.winograd import layers
from azero.training.learning.winograd.layers import WinogradLayer

from .runs import finish_train, nets_of, strike, tiny_config, write_config

needs_kernels = pytest.mark.skipif(not has_vectors(), reason="its kernels need AVX2, FMA and a compiler")
GAME = make_game("connect_four")
NET = {"channels": 16, "blocks": 2}
WINOGRAD = {"convolution": "winograd", "precision": "fp32"}


def error(tensor, exact):
    return float((tensor.double() - exact).norm() / exact.norm().clamp(min=1e-12))


def run(layer, dtype, x, added, dz, has_relu):
    """Returns a layer's output, its gradients, and its new running statistics."""
    inputs = [x.to(dtype).requires_grad_(), *([added.to(dtype).requires_grad_()] if added is not None else [])]
    z = layer.rectified(*inputs[:1], added=inputs[1] if added is not None else None) if has_relu else layer(inputs[0])
    gradients = torch.autograd.grad(z, [*inputs, *layer.parameters()], dz.to(dtype))
    return [z.detach(), *gradients, layer.norm.running_mean, layer.norm.running_var]


@needs_kernels
@pytest.mark.parametrize("board", ["3x3", "6x7", "8x8", *thorough("1x5", "5x4", "7x7", "9x9", "13x13", "19x19")])
@pytest.mark.parametrize("channels", ["2 to 16", "16 to 32", *thorough("24 to 8", "12 to 12", "48 to 48")])
@pytest.mark.parametrize("ending", ["none", "relu", "added"])
def test_gradients_are_those_of_float64(board, channels, ending):
    """On any board, with more positions than a block, and with a rest. Convolutions' errors are some times torch's."""
    (height, width), (inputs, outputs) = map(int, board.split("x")), map(int, channels.split(" to "))
    torch.manual_seed(0)
    layer = NormalizedConvolution(inputs, outputs, 3)
    layer.norm.weight.data.uniform_(0.5, 1.5)
    layer.norm.bias.data.normal_()
    shape = 2 * layers._BLOCK + 1, outputs, height, width
    x, added, dz = torch.randn(shape[0], inputs, height, width), torch.randn(shape), torch.randn(shape)
    arguments = x, added if ending == "added" else None, dz, ending != "none"
    exact = run(copy.deepcopy(layer).double(), torch.float64, *arguments)
    own = run(WinogradLayer(copy.deepcopy(layer)), torch.float32, *arguments)
    assert max(error(*pair) for pair in zip(own, exact, strict=True)) < 1e-5


def gradients_of(config, dtype, game=GAME, canvas=None, sizes=None):
    """Returns the gradients of a pass, in float32 or float64."""
    torch.manual_seed(1)
    trainer = Trainer(config, game, canvas)
    learner = trainer.learner.to(dtype)
    for each in learner.parameters():
        each.data += 0.1 * torch.randn(each.shape, dtype=torch.float64).to(dtype)
    sample = random_sample(config, game)
    if sizes is not None:
        sample = sample._replace(sizes=sizes)
    board = trainer.passes.board_of(sample, torch.device("cpu"))
    planes, *_ = trainer.passes.to_device(sample)
    if board.cells is not None:
        planes = planes * board.cells
        board.cells, board._areas = board.cells.to(dtype), board._areas.to(dtype)
    prediction, _ = learner(planes.to(dtype), board)
    total = sum((torch.softmax(each, 1) ** 2).sum() for each in prediction)
    return torch.autograd.grad(total, list(learner.parameters()))


def check_gradients(**sections):
    """Asserts that a net's gradients, those that are not 0, are near float64's. No mask of a relu flips here."""
    games = games_of(tiny_config(**sections).game)
    canvas = Canvas(games) if len(games) > 1 else None
    sizes = np.arange(32) % len(games) if canvas else None
    own, exact = (
        gradients_of(tiny_config(**sections, training=settings), dtype, games[-1], canvas, sizes)
        for settings, dtype in ((WINOGRAD, torch.float32), ({"convolution": "torch"}, torch.float64))
    )
    largest = max(float(each.norm()) for each in exact)
    errors = [error(mine, each) for mine, each in zip(own, exact, strict=True) if each.norm() > 1e-6 * largest]
    assert len(errors) > len(exact) / 2 and max(errors) < 1e-4


@needs_kernels
@pytest.mark.parametrize("context", ["none", "se", "pool"])
def test_a_whole_net_has_the_gradients_of_float64(context):
    check_gradients(game={"name": "connect_four"}, net={**NET, "global_context": context})


@needs_kernels
def test_boards_of_several_sizes_have_the_gradients_of_float64():
    sizes = {"name": "hex", "sizes": [3, 5]}
    check_gradients(game=sizes, net={**NET, "name": "any_size"}, gate={"final_games": 4})


def trained(config, num_threads, game=GAME):
    config = config.model_copy(update={"device": config.device.model_copy(update={"threads": num_threads})})
    trainer = Trainer(config, game)
    losses = [float(trainer.step(random_sample(config, game), 0.0).policy) for _ in range(3)]
    return losses, {name: each.numpy().tobytes() for name, each in trainer.tensors().items()}


@needs_kernels
def test_steps_do_not_depend_on_threads_and_resemble_those_of_torch():
    """A batch of three passes."""
    settings = {"batch_size": 270, "warmup_steps": 0}
    losses, state = trained(tiny_config(net=NET, training=settings | WINOGRAD), 1)
    assert trained(tiny_config(net=NET, training=settings | WINOGRAD), 2) == (losses, state)
    others, _ = trained(tiny_config(net=NET, training=settings | {"precision": "fp32"}), 1)
    assert losses == pytest.approx(others, rel=1e-3) and losses[2] < losses[0]


@needs_kernels
def test_auto_takes_what_is_fastest(monkeypatch, tmp_path):
    monkeypatch.setattr("azero.nets.runtimes.rates.cache_root", lambda: tmp_path)
    monkeypatch.setattr(precision, "has_bf16", lambda device: True)
    rates = {"fp32": 100.0, "bf16": 150.0, "winograd": 170.0}
    monkeypatch.setattr(
        precision, "_measure", lambda config, game: {way.name: rates[way.name] for way in precision._ways(config)}
    )

    def taken(**training):
        own = settle_training(tiny_config(net={"channels": 48}, training=training), GAME).training
        return own.precision, own.convolution

    assert taken() == taken(precision="fp32") == taken(convolution="winograd") == ("fp32", "winograd")
    assert taken(convolution="torch") == taken(precision="bf16") == ("bf16", "torch")
    rates["winograd"] = 140.0
    assert taken(batch_size=16) == ("bf16", "torch")
    monkeypatch.setattr(precision, "has_bf16", lambda device: False)
    assert taken(precision="fp32") == ("fp32", "winograd")
    monkeypatch.setattr(precision, "_measure", None)
    narrow = settle_training(tiny_config(), GAME).training
    assert (narrow.precision, narrow.convolution) == ("fp32", "torch"), "it is not worth compiling for"


@pytest.mark.parametrize(
    ("sections", "why"),
    [
        ({"net": {"name": "dense"}}, "with net.name = 'dense'"),
        ({}, "here: it needs compiled kernels, and a CPU that is known to have AVX2 and FMA"),
    ],
)
def test_a_named_one_that_cannot_run_ends_with_a_line(monkeypatch, sections, why):
    monkeypatch.setattr(layers, "has_vectors", lambda: bool(sections))
    with pytest.raises(BadInput, match=f"not possible {why}.*--set training.convolution=torch"):
        Learner(tiny_config(**sections, training=WINOGRAD), make_game("tic_tac_toe"))


def test_it_has_no_bf16():
    with pytest.raises(BadInput, match=r"training\.precision = bf16 should be fp32 or auto"):
        tiny_config(training={"convolution": "winograd", "precision": "bf16"})


def test_a_run_without_the_setting_was_trained_by_torch(tmp_path):
    from azero.runs.settings import read_settings, write_settings

    write_settings(tmp_path, check_config({"game": {"name": "tic_tac_toe"}}))
    file = tmp_path / "config.toml"
    lines = [line for line in file.read_text().splitlines() if not line.startswith("convolution")]
    file.write_text("\n".join(lines))
    assert read_settings(tmp_path).training.convolution == "torch"
    assert load_config(file).training.convolution == "auto"


@needs_kernels
def test_a_killed_run_ends_the_same_and_one_that_cannot_go_on_says_so(tmp_path, run_azero, monkeypatch):
    settings = {"iterations": 1, **WINOGRAD}
    config = write_config(tmp_path, net={"channels": 16}, training=settings, gate={"final_games": 0})
    finish_train(tmp_path / "whole", config)
    assert strike(tmp_path / "run", config, "state 1 train 4", "after") == -signal.SIGKILL
    finish_train(tmp_path / "run", config)
    assert nets_of(tmp_path / "run") == nets_of(tmp_path / "whole")
    monkeypatch.setattr(layers, "has_vectors", lambda: False)
    code, _, errors = run_azero("train", "--run", tmp_path / "run", "--resume", "--set", "training.iterations=2")
    assert code == 2 and len(errors.splitlines()) == 1 and "--set training.convolution=torch" in errors
