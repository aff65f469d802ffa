"""Tests of the runtime of azero's own kernels: errors against float64, bits of a row, and what it does not run."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch

from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.architectures.contract import with_noise
from azero.nets.architectures.heads import all_outputs
from azero.nets.checkpoint import load_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import LIBRARIES, available_runtimes, open_runtime
from azero.nets.runtimes.session import Runtime
from azero.nets.runtimes.winograd import session
from azero.nets.runtimes.winograd.graph import WinogradGraph
from azero.nets.runtimes.winograd.session import WinogradSession
from azero.nets.runtimes.winograd.transforms import all_matrices, split_side, transform_kernel

WINOGRAD = Runtime("winograd", "fp32")
CHECKPOINTS = sorted((Path(__file__).parents[2] / "checkpoints").glob("*.safetensors"))

pytestmark = pytest.mark.skipif(
    WINOGRAD not in available_runtimes("cpu"), reason="kernels are not compiled, or the CPU has no AVX2"
)

SMALL = NetConfig(blocks=2, channels=8, policy_channels=3, value_channels=2, value_hidden=8)
NETS = {
    "tic_tac_toe": SMALL,
    "gomoku(size=5)": SMALL.model_copy(update={"channels": 24, "global_context": "pool"}),
    "connect_four": SMALL.model_copy(update={"channels": 64, "global_context": "se"}),
    "hex(size=9)": SMALL.model_copy(update={"channels": 24, "global_context": "se"}),
    "othello": SMALL.model_copy(update={"channels": 48, "global_context": "pool"}),
    "hex(size=3)": SMALL.model_copy(update={"channels": 1, "name": "any_size", "policy_channels": 1}),
    "go(size=9)": SMALL.model_copy(update={"channels": 48, "name": "any_size"}),
    "amazons(size=6)": SMALL.model_copy(update={"channels": 40, "name": "any_size", "global_context": "pool"}),
    "go(size=19)": SMALL.model_copy(update={"channels": 64, "name": "any_size", "global_context": "se"}),
}
"""Nets by their games: all sizes from 3 to 19, one or several runs to a side, channels that fill no vector."""


def new_net(name):
    torch.manual_seed(0)
    return with_noise(make_net(NETS[name], make_game(name))).eval()


def random_planes(game, rows):
    return np.random.default_rng(0).random((rows, *game.planes_shape), np.float32).round()


def errors(net, planes):
    """Returns the mean errors against float64, of logits and values, of torch in fp32 and of azero's kernels."""
    with torch.inference_mode():
        single = net(torch.from_numpy(planes))
        exact = net.double()(torch.from_numpy(planes).double())
        net.float()
    own = open_runtime(WINOGRAD, net, "cpu", len(planes), 1).run(planes)
    answers = (single.policy_logits.numpy(), single.value().numpy()), own
    return [
        [np.abs(found - wanted.numpy()).mean() for found, wanted in zip(each, wanteds, strict=True)]
        for each in answers
        for wanteds in [(exact.policy_logits, exact.value())]
    ]


@pytest.mark.parametrize("name", NETS)
def test_an_error_is_a_few_times_that_of_fp32(name):
    net = new_net(name)
    in_torch, own = errors(net, random_planes(net.game, 9))
    assert all(found <= 15 * usual + 1e-7 for found, usual in zip(own, in_torch, strict=True)), (own, in_torch)


@pytest.mark.slow
@pytest.mark.parametrize("path", CHECKPOINTS, ids=lambda path: path.stem)
def test_a_shipped_net_stays_itself(path):
    net = load_checkpoint(path).net.eval()
    in_torch, own = errors(net, random_planes(net.game, 16))
    assert max(own) < 5e-5 and own[0] < 15 * in_torch[0], (own, in_torch)


@pytest.mark.parametrize("name", ["tic_tac_toe", "othello", "go(size=19)"])
def test_bits_of_a_row_do_not_depend_on_the_batch_or_on_what_ran_before(name):
    net = new_net(name)
    session = open_runtime(WINOGRAD, net, "cpu", 1, 1)
    planes = random_planes(net.game, 101 if net.game.planes_shape[1] < 9 else 9)
    logits, values = session.run(planes)
    for rows in ([0], [5, 3, 8], [*range(7)][::-1], [*range(1, len(planes))]):
        some_logits, some_values = session.run(planes[rows])
        assert np.array_equal(some_logits, logits[rows]) and np.array_equal(some_values, values[rows])
    assert not np.array_equal(logits[0], logits[1])


BITS = """
import numpy as np, torch
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.contract import with_noise
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import Runtime, open_runtime

game = make_game("connect_four")
torch.manual_seed(0)
net = with_noise(make_net(NetConfig(channels=24, global_context="se"), game))
planes = np.random.default_rng(0).random((7, *game.planes_shape), np.float32)
print(*(each.tobytes().hex() for each in open_runtime(Runtime("winograd", "fp32"), net, "cpu", 7, 1).run(planes)))
"""


@pytest.mark.slow
def test_registers_of_8_and_of_16_floats_compute_the_same_bits():
    """That is: code for this CPU, and code for any with AVX2 and FMA, as in the libraries of a wheel."""
    with_avx2 = {"NUMBA_CPU_NAME": "x86-64-v3", "NUMBA_CPU_FEATURES": "+avx2,+fma"}
    run = partial(subprocess.run, [sys.executable, "-c", BITS], capture_output=True, check=True)
    here, there = (run(env=os.environ | changes).stdout for changes in ({}, with_avx2))
    assert here == there and len(here) > 100


def test_an_evaluator_fills_up_no_pass():
    evaluator = NetEvaluator(new_net("tic_tac_toe"), DeviceConfig(device="cpu", runtime="winograd"), 64)
    rows, run = [], evaluator.session.run
    evaluator.session.run = lambda planes: rows.append(len(planes)) or run(planes)
    logits, values = evaluator.evaluate(np.ones((70, 3, 3, 3), np.float32))
    assert rows == [64, 6] and logits.shape == (70, 9) and values.shape == (70,)


def test_heads_that_are_kept_are_those_of_torch():
    torch.manual_seed(0)
    for name in ("tower", "any_size"):
        config = SMALL.model_copy(update={"name": name, "heads": ("ownership", "score")})
        net = with_noise(make_net(config, make_game("go(size=5,komi=0.5)"))).eval()
        planes = random_planes(net.game, 7)
        found = WinogradSession(net.drawing().on(WinogradGraph(), has_heads=True)).answers(planes)
        with torch.inference_mode():
            wanted = all_outputs(net, torch.from_numpy(planes))
        assert found.keys() == wanted.keys() and found["ownership"].shape == (7, 5, 5)
        for each, answer in found.items():
            np.testing.assert_allclose(answer, wanted[each].numpy(), atol=1e-5)


def test_a_relu_hides_nothing_that_is_no_number():
    net = new_net("tic_tac_toe")
    net.blocks[0].first.convolution.weight.data[0, 0, 0, 0] = torch.nan
    logits, values = open_runtime(WINOGRAD, net, "cpu", 4, 1).run(np.ones((4, 3, 3, 3), np.float32))
    assert np.isnan(logits).all() and np.isnan(values).all()


def test_it_is_silently_left_out_for_other_nets_and_cpus(monkeypatch, capsys):
    game = make_game("tic_tac_toe")
    dense = make_net(NetConfig(name="dense"), game)
    assert WINOGRAD not in available_runtimes("cpu", net=dense)
    with pytest.raises(BadInput, match="^a net cannot run with 'winograd' here; on cpu there is: "):
        NetEvaluator(dense, DeviceConfig(device="cpu", runtime="winograd"))
    monkeypatch.setattr("azero.nets.runtimes.winograd.library.cpu_flags", lambda: frozenset({"avx2"}))
    assert WINOGRAD not in available_runtimes("cpu")
    monkeypatch.undo()
    assert not LIBRARIES["winograd"].precisions("cuda") and capsys.readouterr().err == ""


def test_without_memory_another_runtime_runs_silently_unless_it_is_named(monkeypatch, capsys):
    def fail(model):
        raise MemoryError("Unable to allocate 12 GiB")

    net = new_net("tic_tac_toe")
    monkeypatch.setattr(session, "new_memory", fail)
    assert NetEvaluator(net, DeviceConfig(device="cpu", precision="fp32")).runtime != WINOGRAD
    assert capsys.readouterr().err == ""
    with pytest.raises(BadInput, match=r"^winograd fp32 cannot run this net \(Unable to allocate.*device.runtime"):
        NetEvaluator(net, DeviceConfig(device="cpu", runtime="winograd"))


@pytest.mark.parametrize("size", range(1, 20))
def test_a_side_is_computed_from_its_points(size):
    """One dimension, in float64: the runs cover the side, and their products are a convolution."""
    rng = np.random.default_rng(size)
    x, kernel = rng.random(size), rng.random((1, 1, 3, 3))
    weights = transform_kernel(kernel, (8, 8)).reshape(8, 8)[:, 1]  # at infinity of the other side: its last column
    matrices, side = all_matrices().astype(np.float64), split_side(size)
    found = []
    for run in side.runs:
        into, back = matrices[run["outputs"]]
        seen = x[run["reads"] :][: run["num_reads"]]
        points = into[:, run["skipped"] :][:, : len(seen)] @ seen
        found += (back @ (weights * points))[: run["outputs"]].tolist()
    np.testing.assert_allclose(found, np.convolve(np.pad(x, 1), kernel[0, 0, ::-1, 2], "valid"), atol=1e-6)
    points_of = [run["outputs"] + 2 for run in side.runs]
    assert side.sharing.tolist() == [sum(num > k for num in points_of) for k in range(max(points_of))]
