"""Tests of GPU sessions: passes that fit the memory, without a GPU; recorded passes only if there is a GPU."""

import numpy as np
import pytest
import torch

from azero.games import make_game
from azero.nets.runtimes import gpu_session
from azero.nets.runtimes.gpu_session import GpuSession
from azero.nets.runtimes.torch_runtime import TorchSession

from .towers import make_net, random_planes

GAME = make_game("connect_four(rows=5,columns=6)")
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def net():
    return make_net(GAME)


class Small(TorchSession):
    """A session on a device with memory for a pass of `holds` rows."""

    holds = 7
    asked: list[int] = []  # noqa: RUF012

    def run(self, planes):
        self.asked.append(len(planes))
        if len(planes) > self.holds:
            raise torch.OutOfMemoryError("out of memory")
        return super().run(planes)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(gpu_session, "TorchSession", Small)
    monkeypatch.setattr(Small, "asked", [])
    return Small


def test_what_memory_does_not_hold_is_halved_and_told(net, small, capsys):
    planes = random_planes(GAME, 50)
    session = GpuSession(net, CPU, torch.float32)
    logits, values = session.run(planes)
    exact = TorchSession(net, CPU, torch.float32).run(planes)
    np.testing.assert_allclose(logits, exact[0], atol=1e-5)
    np.testing.assert_allclose(values, exact[1], atol=1e-6)
    assert small.asked == [50, 25, 12, 6, 6, 6, 6, 6, 6, 6, 6, 2]
    lines = capsys.readouterr().err.splitlines()
    assert [line.split()[-2] for line in lines] == ["25", "12", "6"]
    session.run(planes)
    assert max(small.asked[12:]) == 6, "the session should keep the size that fits"


def test_a_pass_of_one_row_must_fit(net, small, monkeypatch, capsys):
    monkeypatch.setattr(small, "holds", 0)
    with pytest.raises(torch.OutOfMemoryError):
        GpuSession(net, CPU, torch.float32).run(random_planes(GAME, 3))


def test_a_large_batch_goes_in_several_passes(net, small, monkeypatch):
    monkeypatch.setattr(gpu_session, "MOST_ROWS", 4)
    logits, values = GpuSession(net, CPU, torch.float32).run(random_planes(GAME, 9))
    assert small.asked == [4, 4, 1] and logits.shape == (9, 6) and values.shape == (9,)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="takes a GPU with CUDA")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_recorded_pass_says_what_the_net_says(net, dtype):
    session = GpuSession(net, torch.device("cuda"), dtype)
    for size in (1, 16, 17, 50):
        planes = random_planes(GAME, size)
        logits, values = session.run(planes)
        exact = TorchSession(net, CPU, torch.float32).run(planes)
        np.testing.assert_allclose(logits, exact[0], atol=0.1 if dtype == torch.bfloat16 else 1e-2)
        np.testing.assert_allclose(values, exact[1], atol=0.05 if dtype == torch.bfloat16 else 1e-3)
