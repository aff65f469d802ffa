"""Tests of runtimes: each against fp32, explicit choices, the automatic choice, and runtimes that fail."""

import importlib.util
import json
import sys
import time

import numpy as np
import pytest
import torch

from azero.compiler.cache import cache_root
from azero.config.schema import Config, DeviceConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.nets.devices import pick_device, pick_devices, take_gpu
from azero.nets.runtimes import fastest, rates
from azero.nets.runtimes.calibration import NUM_POSITIONS, sample_positions
from azero.nets.runtimes.fastest import (
    EXACT,
    TOLERANCE,
    Runtime,
    available_runtimes,
    measure_drift,
    open_runtime,
    open_session,
    settle_runtime,
    wanted_runtimes,
)
from azero.nets.runtimes.library import LIBRARIES, Library
from azero.nets.runtimes.winograd import library
from azero.training.learning.precision import settle_arithmetic

from .towers import SMALL_OF_CONTEXT, make_net

pytestmark = pytest.mark.slow  # it opens many sessions

GAME = make_game("connect_four(rows=5,columns=6)")
CPU = torch.device("cpu")
RUNTIMES = available_runtimes("cpu")


@pytest.fixture(scope="module")
def net():
    return make_net(GAME)


@pytest.fixture(autouse=True)
def no_rates_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    fastest._warn.cache_clear()


@pytest.fixture
def bare_machine(monkeypatch):
    """A machine without CUDA, MPS, bfloat16, AVX2 and OpenVINO."""
    monkeypatch.setattr(library, "cpu_flags", frozenset)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda each: each.name)
@pytest.mark.parametrize("net_config", SMALL_OF_CONTEXT, ids=lambda each: each.global_context)
@pytest.mark.parametrize("game", ["tic_tac_toe", "othello(size=6)"])
def test_each_is_near_fp32(runtime, net_config, game):
    net = make_net(make_game(game), net_config)
    config = DeviceConfig(device="cpu", runtime=runtime.library, precision=runtime.precision)
    taken, session = open_session(net, config, 16, 1)
    assert taken == runtime
    drift = measure_drift(net, session, 16)
    assert drift <= {"fp32": 1e-5, "bf16": 0.01, "int8": TOLERANCE}[runtime.precision]
    assert drift > 0 or runtime.precision == "fp32"


def test_drift_is_the_distance_of_values_or_of_likelihoods(net):
    exact = open_session(net, DeviceConfig(device="cpu", runtime="torch", precision="fp32"), 16, 1)[1]

    class Off:
        def __init__(self, of_logits, of_values):
            self.of_logits, self.of_values = of_logits, of_values

        def run(self, planes):
            logits, values = exact.run(planes)
            return logits * self.of_logits, values + np.float32(self.of_values)

    assert measure_drift(net, Off(1.0, 0.0), 16) == pytest.approx(0, abs=1e-5)
    assert measure_drift(net, Off(1.0, 0.25), 16) == pytest.approx(0.25, abs=1e-5)
    logits = torch.from_numpy(exact.run(sample_positions(GAME))[0])
    even = torch.full_like(logits, 1 / logits.shape[1])
    expected = (torch.softmax(logits, 1) - even).abs().sum(1).mean() / 2
    assert measure_drift(net, Off(0.0, 0.01), 16) == pytest.approx(float(expected), abs=1e-5)
    assert np.isnan(measure_drift(net, Off(1.0, np.nan), 16))


def test_positions_are_of_all_stages_and_the_same_every_time():
    planes = sample_positions(GAME)
    assert planes.shape == (NUM_POSITIONS, *GAME.planes_shape) and planes.dtype == np.float32
    sample_positions.cache_clear()
    assert np.array_equal(planes, sample_positions(GAME))
    stones = planes[:, :2].sum(axis=(1, 2, 3))
    assert stones.min() <= 1 and stones.max() >= 20


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_a_device_that_is_not_there_is_bad_input(bare_machine, net, name):
    with pytest.raises(BadInput) as error:
        open_session(net, DeviceConfig(device=name), 16, 1)
    assert str(error.value) == f"device {name!r} is not available here; there is: cpu"


@pytest.mark.parametrize(
    ("runtime", "precision", "asked"),
    [("openvino", "auto", "openvino"), ("auto", "bf16", "bf16"), ("torch", "int8", "torch int8")],
)
def test_a_runtime_that_is_not_there_is_bad_input(bare_machine, runtime, precision, asked):
    with pytest.raises(BadInput) as error:
        wanted_runtimes(DeviceConfig(device="cpu", runtime=runtime, precision=precision))
    assert str(error.value) == f"a net cannot run with {asked!r} here; on cpu there is: torch fp32"


def test_auto_is_the_best_device_there_is(bare_machine, monkeypatch):
    assert pick_device("auto") == pick_device("cpu") == CPU
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert pick_device("auto").type == "mps"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    assert pick_device("auto") == torch.device("cuda", 0) and pick_device("cpu") == CPU


def test_processes_take_gpus_in_turn_and_a_job_takes_all(bare_machine, monkeypatch):
    taken = [0]
    take_gpu(5)  # without a GPU
    assert pick_devices("auto") == [CPU]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 3)
    monkeypatch.setattr(torch.cuda, "set_device", taken.append)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: taken[-1])
    take_gpu(5)
    assert pick_device("auto") == pick_device("cuda") == torch.device("cuda", 2)
    assert pick_devices("auto") == [torch.device("cuda", k) for k in (2, 0, 1)]
    assert pick_devices("cpu") == [CPU]


def test_what_there_is(bare_machine, monkeypatch):
    assert available_runtimes("cpu") == [EXACT]
    monkeypatch.setattr(torch.cpu, "_is_avx512_bf16_supported", lambda: True)
    assert available_runtimes("cpu") == [EXACT, Runtime("torch", "bf16")]
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: True)
    assert available_runtimes("cuda") == [EXACT, Runtime("torch", "bf16")]
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: False)
    assert available_runtimes("cuda") == [EXACT]


class Slow:
    """A session with the answers of fp32, after `seconds`. `off` is added to the values."""

    def __init__(self, net, seconds, off=0.0):
        self.exact = open_runtime(EXACT, net, "cpu", 16, 1)
        self.seconds, self.off = seconds, off

    def run(self, planes):
        time.sleep(self.seconds)
        logits, values = self.exact.run(planes)
        return logits, values + np.float32(self.off)


class Fake(Library):
    """A library with these sessions, by runtime."""

    def __init__(self, name, rank, sessions):
        self.name, self.expected_rank, self.sessions = name, rank, sessions

    def precisions(self, device):
        return [each.precision for each in self.sessions if each.library == self.name]

    def open(self, net, precision, *arguments):
        return self.sessions[Runtime(self.name, precision)]


@pytest.fixture
def three_runtimes(net, monkeypatch):
    """Three runtimes. The second is the fastest, the first the slowest."""
    names = EXACT, Runtime("openvino", "bf16"), Runtime("openvino", "int8")
    sessions = {names[0]: Slow(net, 0.02), names[1]: Slow(net, 0.0), names[2]: Slow(net, 0.01)}
    monkeypatch.delitem(LIBRARIES, "winograd", raising=False)
    for rank, name in enumerate(["torch", "openvino"]):
        monkeypatch.setitem(LIBRARIES, name, Fake(name, rank, sessions))
    return sessions


ANY = DeviceConfig(device="cpu")


def test_the_fastest_is_taken_and_remembered(net, three_runtimes):
    assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "bf16")
    (kept,) = (cache_root() / "runtimes").iterdir()
    rates = json.loads(kept.read_text())
    assert [*rates] == ["openvino bf16", "openvino int8"]  # torch joins only where nothing else runs
    assert rates["openvino bf16"] > rates["openvino int8"] > 0
    kept.write_text(json.dumps(rates | {"openvino int8": 1e9}))
    assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "int8")
    kept.write_text("{")  # damaged: measured again
    assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "bf16")


def test_fp32_is_taken_where_another_is_faster_by_less_than_a_tenth(net, three_runtimes, monkeypatch):
    of_fp32 = Runtime("openvino", "fp32")
    three_runtimes[of_fp32] = Slow(net, 0.0)
    for share, taken in [(0.92, of_fp32), (0.9, Runtime("openvino", "bf16"))]:
        rates = {"openvino bf16": 1.0, "openvino int8": 0.5, "openvino fp32": share}
        monkeypatch.setattr(fastest, "measured_rates", lambda net, opened, rows, rates=rates: rates)
        assert open_session(net, ANY, 16, 1)[0] == taken


def test_what_is_kept_is_of_this_shape_of_net_and_these_versions_for_all_rows(net, three_runtimes, monkeypatch):
    open_session(net, ANY, 16, 1)
    open_session(make_net(GAME, seed=1), ANY, 16, 1)
    assert len(list((cache_root() / "runtimes").iterdir())) == 1
    open_session(net, ANY, 8, 1)
    assert len(list((cache_root() / "runtimes").iterdir())) == 1
    monkeypatch.setattr(rates, "versions", lambda: ["another"])
    open_session(net, ANY, 16, 1)
    assert len(list((cache_root() / "runtimes").iterdir())) == 2


@pytest.mark.parametrize("off", [0.1, np.nan])
def test_one_that_drifts_is_left_with_a_warning(net, three_runtimes, capsys, off):
    three_runtimes[Runtime("openvino", "bf16")].off = off
    for _ in range(2):
        assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "int8")
    (line,) = capsys.readouterr().err.splitlines()
    expected = f"openvino bf16 is {off:.2g} from fp32 with this net, more than {TOLERANCE}"
    assert line == f"azero: {expected}; the next best runtime is used"


def test_one_that_fails_is_left_with_a_warning(net, three_runtimes, capsys):
    def fail(planes):
        raise RuntimeError("no such primitive\nat line 7")

    three_runtimes[Runtime("openvino", "bf16")].run = fail
    assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "int8")
    assert "openvino bf16 cannot run this net (no such primitive); the next best" in capsys.readouterr().err


def test_where_all_fail_there_is_fp32(net, three_runtimes, capsys):
    config = DeviceConfig(device="cpu", runtime="openvino")
    for runtime in list(three_runtimes)[1:]:
        three_runtimes[runtime].off = 1.0
    assert open_session(net, config, 16, 1)[0] == EXACT
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_one_alone_is_followed_by_the_usually_slower_ones_whatever_was_measured(net, three_runtimes, capsys):
    """So a run whose settings name one plays the same games if what was measured is lost."""
    three_runtimes[Runtime("openvino", "int8")].off = 1.0
    config = DeviceConfig(device="cpu", runtime="openvino", precision="int8")
    assert open_session(net, config, 16, 1)[0] == Runtime("openvino", "bf16")
    assert not (cache_root() / "runtimes").exists()


def test_one_alone_that_fails_is_an_error(net, three_runtimes):
    """So a run whose settings name one never goes on with other arithmetic, e.g. where memory is short for a while."""

    def fail(planes):
        raise RuntimeError("no memory")

    config = DeviceConfig(device="cpu", runtime="openvino", precision="int8")
    three_runtimes[Runtime("openvino", "int8")].run = fail
    with pytest.raises(BadInput, match=r"^openvino int8 cannot run this net \(no memory\); choose another by device"):
        open_session(net, config, 16, 1)


def test_the_fastest_that_works_is_settled(net, three_runtimes):
    def fail(planes):
        raise RuntimeError

    settled = settle_runtime(net, ANY)
    fastest = open_session(net, ANY, 16, 1)[0]
    assert (settled.runtime, settled.precision) == fastest
    three_runtimes[fastest].run = fail
    again = settle_runtime(net, ANY)
    assert (again.runtime, again.precision) != fastest and "auto" not in (again.runtime, again.precision)


def test_a_run_settles_what_is_fastest_in_the_passes_of_self_play(three_runtimes, monkeypatch):
    """Another runtime may be the fastest in the passes of a match."""
    asked = {}

    def measured(net, opened, rows):
        asked[rows] = {"openvino bf16": rows, "openvino int8": 20.0, "openvino fp32": 1.0}
        return asked[rows]

    monkeypatch.setattr(fastest, "measured_rates", measured)
    config = Config(game={"name": str(GAME)}, training={"precision": "fp32", "convolution": "torch"}, device=ANY)
    settled = settle_arithmetic(config, GAME)
    assert settled.device.precision == "bf16" and list(asked) == [64]
    assert settle_runtime(make_net(GAME), ANY).precision == "int8" and list(asked) == [64, 16]


def test_torch_joins_where_the_others_fail(net, three_runtimes, capsys):
    def fail(planes):
        raise RuntimeError

    for runtime in list(three_runtimes)[1:]:
        three_runtimes[runtime].run = fail
    assert open_session(net, ANY, 16, 1)[0] == EXACT and len(capsys.readouterr().err.splitlines()) == 2
    assert settle_runtime(net, ANY).runtime == "torch"


def test_one_that_has_failed_is_measured_again(net, three_runtimes, monkeypatch, capsys):
    works = three_runtimes[Runtime("openvino", "bf16")].run

    def fail(planes):
        raise RuntimeError

    three_runtimes[Runtime("openvino", "bf16")].run = fail
    open_session(net, ANY, 16, 1)
    assert "openvino bf16 cannot run this net (RuntimeError)" in capsys.readouterr().err
    assert not (cache_root() / "runtimes").exists()
    three_runtimes[Runtime("openvino", "bf16")].run = works
    assert open_session(net, ANY, 16, 1)[0] == Runtime("openvino", "bf16")


def test_openvino_that_cannot_be_loaded_is_left_out(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "azero.nets.runtimes.openvino.session", None)
    monkeypatch.delitem(LIBRARIES, "winograd", raising=False)
    assert {each.library for each in available_runtimes("cpu")} == {"torch"}
    assert "openvino is installed but cannot be used" in capsys.readouterr().err or not importlib.util.find_spec(
        "openvino"
    )
