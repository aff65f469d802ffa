"""The evaluator: what the net says, whatever else is asked, on whatever there is to compute on."""

import numpy as np
import pytest
import torch

from azero.config import DeviceConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.evaluator import ROWS, NetEvaluator, pick_device, pick_precision
from azero.nets.tower import ResidualTower

from .towers import SMALL, make_net, random_planes

GAME = make_game("connect_four(rows=5,columns=6)")
CPU = DeviceConfig(device="cpu", precision="fp32")


@pytest.fixture(scope="module")
def net():
    return make_net(GAME)


def test_answers_are_the_net_s(net):
    planes = random_planes(GAME, 2 * ROWS + 5)
    logits, values = NetEvaluator(net, CPU).evaluate(planes)
    assert logits.dtype == values.dtype == np.float32
    assert logits.shape == (2 * ROWS + 5, 6) and values.shape == (2 * ROWS + 5,)
    with torch.inference_mode():
        expected = net.eval()(torch.from_numpy(planes))
    np.testing.assert_allclose(logits, expected.policy_logits, atol=1e-5)
    np.testing.assert_allclose(values, expected.value(), atol=1e-5)
    assert np.abs(values).max() <= 1 and values.std() > 0.1 and logits.std() > 0.1


def test_planes_are_left_as_they_are(net):
    planes = random_planes(GAME, 10)
    before = planes.copy()
    NetEvaluator(net, CPU).evaluate(planes)
    assert np.array_equal(planes, before)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize(("rows", "num_threads"), [(ROWS, 1), (8, 1), (8, 2), (1, 2)])
def test_an_answer_does_not_depend_on_what_else_is_asked(precision, rows, num_threads):
    config = SMALL.model_copy(update={"policy_channels": 4, "value_channels": 4})
    check_batches(make_net(GAME, config), precision, rows, num_threads)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("channels", [1, 2, 3, 8])
def test_nor_does_it_where_the_heads_are_of_any_width(precision, channels):
    """A row of 30 or 90 numbers does not begin where vector instructions like it, but for every other one."""
    config = SMALL.model_copy(update={"policy_channels": channels, "value_channels": channels})
    check_batches(make_net(GAME, config), precision, ROWS, num_threads=1)


def check_batches(net, precision, rows, num_threads):
    evaluator = NetEvaluator(net, DeviceConfig(device="cpu", precision=precision), rows, num_threads)
    planes, chooser = random_planes(GAME, 100), np.random.default_rng(1)
    alone = [evaluator.evaluate(planes[k : k + 1]) for k in range(100)]
    for size in (2, 7, 8, 9, 64, 65, 100):
        chosen = chooser.permutation(100)[:size]
        logits, values = evaluator.evaluate(planes[chosen])
        assert np.array_equal(logits, np.concatenate([alone[k][0] for k in chosen]))
        assert np.array_equal(values, np.concatenate([alone[k][1] for k in chosen]))


def test_bfloat16_is_near_float32(net):
    planes = random_planes(GAME, 50)
    exact = NetEvaluator(net, CPU).evaluate(planes)
    rough = NetEvaluator(net, DeviceConfig(device="cpu", precision="bf16")).evaluate(planes)
    for found, expected in zip(rough, exact, strict=True):
        assert found.dtype == np.float32
        assert 0 < np.abs(found - expected).max() < 0.05 * max(1, np.abs(expected).max())


def test_a_net_that_learns_on_does_not_change_the_evaluator():
    net = ResidualTower(SMALL, GAME)
    evaluator, planes = NetEvaluator(net, CPU), random_planes(GAME, 4)
    torch.nn.init.ones_(net.policy.bias)
    assert not evaluator.evaluate(planes)[0].any()
    assert net.training and all(parameter.requires_grad for parameter in net.parameters())


@pytest.fixture
def bare_machine(monkeypatch):
    """Neither CUDA nor MPS, and no bfloat16."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_bad_input(bare_machine, net, name):
    with pytest.raises(BadInput) as error:
        NetEvaluator(net, DeviceConfig(device=name))
    assert str(error.value) == f"device {name!r} is not to be had here; there is: cpu"


def test_auto_is_the_best_device_there_is(bare_machine, monkeypatch):
    assert pick_device("auto") == pick_device("cpu") == torch.device("cpu")
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert pick_device("auto").type == "cuda" and pick_device("cpu").type == "cpu"


def test_precision_is_what_the_machine_computes_in(bare_machine, monkeypatch):
    cpu = torch.device("cpu")
    assert pick_precision("auto", cpu) == pick_precision("fp32", cpu) == torch.float32
    assert pick_precision("bf16", cpu) == torch.bfloat16
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert pick_precision("auto", cpu) == torch.bfloat16 and pick_precision("fp32", cpu) == torch.float32
