"""Tests of GPU sessions: passes that fit the memory, without a GPU; recorded passes only if there is a GPU."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from azero.games import make_game
from azero.nets.runtimes.pytorch import gpu
from azero.nets.runtimes.pytorch.gpu import GpuSession
from azero.nets.runtimes.pytorch.session import TorchSession

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
    monkeypatch.setattr(gpu, "TorchSession", Small)
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


def test_a_recorded_pass_of_one_position_is_halved_too(net, monkeypatch, capsys):
    """It is filled up to 64 rows, which may be too many for the memory."""
    session = GpuSession(net, CPU, torch.float32)
    monkeypatch.setattr(session, "_is_recording", True)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    limits = []

    def run_pass(planes, most_rows):
        limits.append(most_rows)
        if most_rows > 16:
            raise torch.OutOfMemoryError("out of memory")
        return np.zeros((len(planes), 6)), np.zeros(len(planes))

    monkeypatch.setattr(session, "_run_pass", run_pass)
    assert session.run(random_planes(GAME, 1))[1].shape == (1,) and limits == [4096, 32, 16]
    told = capsys.readouterr().err.splitlines()
    assert [line.partition("pass of ")[2] for line in told] == [
        "64 rows exceeds the GPU's memory; passes now have 32 rows",
        "32 rows exceeds the GPU's memory; passes now have 16 rows",
    ]


def test_a_large_batch_goes_in_several_passes(net, small, monkeypatch):
    monkeypatch.setattr(gpu, "MOST_ROWS", 4)
    logits, values = GpuSession(net, CPU, torch.float32).run(random_planes(GAME, 9))
    assert small.asked == [4, 4, 1] and logits.shape == (9, 6) and values.shape == (9,)


class FakeTape:
    """A tape whose passes answer with the sums of the planes, when four of them run."""

    made: list["FakeTape"] = []  # noqa: RUF012

    def __init__(self, device):
        self.stream, self.recordings, self.is_running = None, {}, False
        self.made.append(self)

    def play(self, recording, planes):
        assert not self.is_running, "two threads use the same tape"
        assert recording >= len(planes)
        self.is_running = True
        MEETING.wait(30)
        self.is_running = False
        return np.zeros((len(planes), 6)), planes.sum(axis=(1, 2, 3))


MEETING = threading.Barrier(4)


def test_passes_of_several_threads_run_side_by_side(net, monkeypatch):
    monkeypatch.setattr(gpu, "_Tape", FakeTape)
    monkeypatch.setattr(gpu, "_record", lambda session, stream, rows, shape: rows)
    monkeypatch.setattr(FakeTape, "made", [])
    session = GpuSession(net, CPU, torch.float32)
    monkeypatch.setattr(session, "_is_recording", True)
    batches = [random_planes(GAME, size) for size in (20, 64, 65, 100)]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(3):
            for planes, (_, values) in zip(batches, threads.map(session.run, batches), strict=True):
                np.testing.assert_allclose(values, planes.sum(axis=(1, 2, 3)))
    assert len(FakeTape.made) == 4, "tapes should be used again"
    assert {rows for tape in FakeTape.made for rows in tape.recordings} == {64, 128}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="takes a GPU with CUDA")
def test_recorded_passes_of_several_threads_say_what_the_net_says(net):
    session = GpuSession(net, torch.device("cuda"), torch.float32)
    batches = [random_planes(GAME, size) for size in (5, 40, 64, 100) * 8]
    with ThreadPoolExecutor(6) as threads:
        answers = list(threads.map(session.run, batches * 20))
    for planes, (logits, values) in zip(batches * 20, answers, strict=True):
        exact = TorchSession(net, CPU, torch.float32).run(planes)
        np.testing.assert_allclose(logits, exact[0], atol=1e-2)
        np.testing.assert_allclose(values, exact[1], atol=1e-3)


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
