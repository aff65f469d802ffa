"""Tests of the evaluator: its answers are the net's, and do not depend on the batch, with any runtime."""

import numpy as np
import pytest
import torch

from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.architectures.tower.net import ResidualTower
from azero.nets.evaluator import NetEvaluator
from azero.nets.runtimes.fastest import available_runtimes
from azero.nets.runtimes.session import ROWS

from .towers import SMALL, SMALL_OF_CONTEXT, make_net, random_planes

GAME = make_game("connect_four(rows=5,columns=6)")
CPU = DeviceConfig(device="cpu", runtime="torch", precision="fp32")
RUNTIMES = available_runtimes("cpu")


def config_of(runtime):
    return DeviceConfig(device="cpu", runtime=runtime.library, precision=runtime.precision)


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


WIDE = SMALL.model_copy(update={"policy_channels": 4, "value_channels": 4})
BATCHES = [
    *((WIDE, rows, num_threads) for rows, num_threads in [(ROWS, 1), (8, 1), (8, 2), (1, 2)]),
    # rows of 30 or 90 numbers are not aligned for vector instructions, except every other one
    *((SMALL.model_copy(update={"policy_channels": k, "value_channels": k}), ROWS, 1) for k in (1, 2, 3, 8)),
    *((config, ROWS, 1) for config in SMALL_OF_CONTEXT[1:]),
]


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda each: each.name)
@pytest.mark.parametrize(("config", "rows", "num_threads"), BATCHES, ids=map(str, range(len(BATCHES))))
def test_an_answer_does_not_depend_on_what_else_is_asked(runtime, config, rows, num_threads):
    evaluator = NetEvaluator(make_net(GAME, config), config_of(runtime), rows, num_threads)
    assert evaluator.runtime == runtime and evaluator.rows == rows and not evaluator.is_on_device
    planes, chooser = random_planes(GAME, 70), np.random.default_rng(1)
    alone = [evaluator.evaluate(planes[k : k + 1]) for k in range(70)]
    for size in (2, 7, 8, 64, 65):
        chosen = chooser.permutation(70)[:size]
        logits, values = evaluator.evaluate(planes[chosen])
        assert np.array_equal(logits, np.concatenate([alone[k][0] for k in chosen]))
        assert np.array_equal(values, np.concatenate([alone[k][1] for k in chosen]))


def test_a_net_that_learns_on_does_not_change_the_evaluator():
    net = ResidualTower(SMALL, GAME)
    evaluator, planes = NetEvaluator(net, CPU), random_planes(GAME, 4)
    torch.nn.init.ones_(net.policy.bias)
    assert not evaluator.evaluate(planes)[0].any()
    assert net.training and all(parameter.requires_grad for parameter in net.parameters())


def test_outputs_that_are_no_numbers_reach_no_search():
    net = make_net(GAME)
    with torch.no_grad():
        next(net.policy.parameters()).fill_(torch.nan)
    with pytest.raises(BadInput, match="its outputs are not finite numbers"):
        NetEvaluator(net, CPU).evaluate(random_planes(GAME, 4))
