"""The program of a page's net, run by this machine's kernels, against torch: of all architectures, with kept heads."""

import numpy as np
import pytest
import torch

from azero.compiler.jit import IS_COMPILED
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.architectures.contract import with_noise
from azero.nets.architectures.heads import all_outputs
from azero.nets.make import make_net
from azero.publishing.net import PortableGraph, new_memory, run_net

SMALL = NetConfig(blocks=2, channels=8, policy_channels=3, value_channels=2, value_hidden=10)
HEADS = {"heads": ("ownership", "score")}
NETS = {
    "tic_tac_toe": {},
    "connect_four": {"channels": 24, "global_context": "se"},
    "othello(size=6)": {"channels": 24, "global_context": "pool", **HEADS},
    "go(size=5)": {"name": "any_size", "global_context": "pool", **HEADS},
    "hex(size=4)": {"name": "any_size", "global_context": "se"},
    "go(size=6)": {"name": "dense"},
}

pytestmark = pytest.mark.skipif(not IS_COMPILED, reason="kernels are not compiled")


@pytest.mark.parametrize("name", NETS)
def test_answers_are_those_of_torch(name):
    game = make_game(name)
    torch.manual_seed(0)
    net = with_noise(make_net(SMALL.model_copy(update=NETS[name]), game)).eval()
    drawing = net.drawing()
    model = drawing.on(PortableGraph(), has_heads=True)
    memory, answers = new_memory(model.size, model.depth, game.planes_shape[1:]), np.zeros(len(model.program.answers))
    answers = answers.astype(np.float32)
    planes = np.random.default_rng(0).random((3, *game.planes_shape), np.float32).round()
    with torch.no_grad():
        wanted = {each: tensor.numpy() for each, tensor in all_outputs(net, torch.from_numpy(planes)).items()}
    assert set(model.shapes) == set(wanted)
    for row in range(len(planes)):  # each row after another, in the same memory
        run_net(model.program, memory, planes[row].reshape(len(planes[row]), -1), answers)
        ends = np.cumsum([int(np.prod(shape)) for shape in model.shapes.values()])
        for (head, shape), end in zip(model.shapes.items(), ends, strict=True):
            found = answers[end - int(np.prod(shape)) : end].reshape(shape)
            np.testing.assert_allclose(found, wanted[head][row].reshape(shape), atol=1e-4, err_msg=head)
