"""Tests of nets that OpenVINO runs: torch is not imported, and the answers have the same bits each time."""

import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from cases import long

from azero.arena.agents.make import make_agent
from azero.compiler.cache import cache_root
from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.nets import devices, quick_start
from azero.nets.architectures.contract import with_noise
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import Card, read_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net as make_any_net
from azero.nets.quick_start import QuickNet, known_of, open_known
from azero.nets.runtimes.fastest import available_runtimes
from azero.nets.runtimes.pytorch.session import judge_alone, open_heads
from azero.nets.runtimes.session import EXACT, by_position
from azero.system.tensor_files import read_tensors, write_tensors

from .towers import SMALL, WITH_HEADS, make_net, random_planes

GAME = make_game("connect_four(rows=5,columns=6)")
PRECISIONS = [each.precision for each in available_runtimes("cpu") if each.library == "openvino"]

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not PRECISIONS, reason="OpenVINO is not here")]

WITHOUT_TORCH = """
import sys

sys.argv = ["azero", "suggest", *sys.argv[1:]]
from azero import cli

cli.run()
print("torch" in sys.modules, file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path, monkeypatch):
    """Nothing is known. The compiled kernels remain, since each test would take a minute without them."""
    kernels = cache_root()
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir()
    for each in kernels.glob("kernels-*"):
        (tmp_path / "cache" / each.name).symlink_to(each)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "net.safetensors"
    write_checkpoint(path, make_net(GAME), Card(str(GAME), SMALL.model_dump(), {}))
    return path


def open_twice(path: Path, config: DeviceConfig, rows: int = 4):
    """Opens a net that is not known, then again; returns both evaluators, and whether one of them needed torch."""
    nets, evaluators = [], []
    for _ in range(2):
        nets.append(QuickNet(read_checkpoint(path), config))
        evaluators.append(nets[-1].evaluator(rows, 1))
    return *evaluators, any("torch_net" in vars(each) for each in nets)


@pytest.mark.parametrize("runtime", available_runtimes("cpu", has_torch=False), ids=lambda each: each.name)
@pytest.mark.parametrize("architecture", ["tower", "dense"])
def test_a_known_net_has_the_same_bits(tmp_path, path, runtime, architecture):
    if architecture == "dense":
        if runtime.library == "winograd" or runtime.precision == "int8":
            pytest.skip("it is for towers")
        config = NetConfig(name="dense", channels=16)
        write_checkpoint(path, with_noise(make_any_net(config, GAME)), Card(str(GAME), config.model_dump(), {}))
    config = DeviceConfig(device="cpu", runtime=runtime.library, precision=runtime.precision)
    first, second, has_torch = open_twice(path, config)
    plain = NetEvaluator(load_checkpoint(path).net, config, 4)
    assert not has_torch and type(second) is not NetEvaluator
    assert first.runtime == second.runtime == plain.runtime == runtime
    planes = random_planes(GAME, 64)
    for one, other, third in zip(*(each.evaluate(planes) for each in (first, second, plain)), strict=True):
        assert np.array_equal(one, other) and np.array_equal(one, third)


def run_suggest(*words: str) -> tuple[dict, bool]:
    """Runs `azero suggest` in a process; returns its answer, and whether it imported torch."""
    done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.strip().endswith("True")


@pytest.mark.skipif(any(map(os.path.exists, devices._GPU_FILES)), reason="a GPU is for torch to find")
def test_suggest_imports_no_torch_and_says_the_same_twice():
    words = ["connect_four(solve_nodes=0)@60", "--moves", "4453", "--threads", "1", "--json"]
    first, *torch_at_first = run_suggest(*words)
    second, *torch_later = run_suggest(*words)
    assert torch_at_first == torch_later == [False]
    assert first["runtime"] in ("openvino", "winograd")
    assert {**first, "elapsed_s": 0} == {**second, "elapsed_s": 0}


OTHERS = [
    *("[]", "{}", "null", "[" * 20_000, "\udcff", '{"precision":"fp32","peaks":null}'),
    *(
        f'{{"library":"{library}","precision":{rest}}}'
        for library, rest in [
            *(
                ("openvino", each)
                for each in ('[],"peaks":null', '"fp32","peaks":null,"more":1', '"fp99","peaks":null')
            ),
            *(("openvino", f'"int8","peaks":{each}') for each in ("null", '"x"', "[1e400]")),
            *(("winograd", '"int8","peaks":[1.0]'), ("torch", '"fp32","peaks":null')),
        ]
    ),
]
DAMAGES = [
    *(lambda whole, text=text: signed(text.encode(errors="surrogateescape")) for text in OTHERS),
    *(lambda whole, text=text: text for text in (b"", b"null", b"{}")),
    *(lambda whole: whole[:-1], lambda whole: whole.replace(b"precision", b"PRECISION")),
]


def signed(text: bytes) -> bytes:
    """Returns a file with its right digest, as if it was changed on purpose, or by another version."""
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


@pytest.mark.parametrize("damage", [*DAMAGES[::5], *long(*(each for k, each in enumerate(DAMAGES) if k % 5))])
def test_a_file_of_another_form_or_digest_counts_as_missing(path, damage):
    config = DeviceConfig(device="cpu", runtime="openvino", precision=PRECISIONS[-1])
    open_twice(path, config)
    (kept,) = (cache_root() / "nets").iterdir()
    whole = kept.read_bytes()
    kept.write_bytes(damage(whole))
    assert kept.read_bytes() != whole
    open_twice(path, config)
    assert kept.read_bytes() == whole


GO = make_game("go(size=5,komi=0.5)")


def save_with_heads(path: Path, name: str = "tower"):
    """Saves a net with heads; returns it."""
    config = WITH_HEADS.model_copy(update={"name": name})
    net = make_net(GO, config)
    write_checkpoint(path, net, Card(str(GO), config.model_dump(mode="json"), {}))
    return net


@pytest.mark.skipif(any(map(os.path.exists, devices._GPU_FILES)), reason="a GPU is for torch to find")
def test_suggest_imports_no_torch_for_heads(path):
    net = save_with_heads(path)
    state = GO.state_from_moves("c3 b2")
    first = make_agent(f"{path}@60").suggest(state).to_json()
    second, has_torch = run_suggest(f"{path}@60", "--moves", "c3 b2", "--threads", "1", "--json")
    assert not has_torch and first["runtime"] in ("openvino", "winograd")
    assert {**first, "elapsed_s": 0} == {**second, "elapsed_s": 0}
    expected = open_heads(net, DeviceConfig(device="cpu"))(state.planes()[None])
    np.testing.assert_allclose(second["ownership"], expected["ownership"][0], atol=1e-3)
    assert second["score"] == pytest.approx(expected["score"][0, 0], abs=0.01) and second["score"] != 0


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("architecture", ["tower", "any_size"])
def test_a_known_net_s_heads_have_the_same_bits_and_are_fp32(path, precision, architecture):
    net = save_with_heads(path, architecture)
    config = DeviceConfig(device="cpu", runtime="openvino", precision=precision)
    planes, expected = random_planes(GO, 4), open_heads(net, config)
    first = QuickNet(read_checkpoint(path), config)
    first.evaluator(4, 1)
    again = QuickNet(read_checkpoint(path), config)
    again.evaluator(4, 1)
    for k in range(4):
        one = planes[k : k + 1]
        answers = first.heads_alone(one)
        for name, each in again.heads_alone(one).items():
            assert np.array_equal(each, answers[name])
            np.testing.assert_allclose(each, expected(one)[name], atol=1e-5)
    assert "torch_net" in vars(first) and "torch_net" not in vars(again)  # only torch knows the shapes of heads


def test_answers_of_heads_that_are_not_finite_are_refused():
    with pytest.raises(BadInput, match="^the net cannot be used: the outputs of its heads are not finite numbers$"):
        by_position({"ownership": np.zeros((1, 5, 5)), "score": np.full((1, 1), np.nan)})


def test_heads_that_openvino_cannot_run_are_run_by_torch(path, monkeypatch):
    net, config = save_with_heads(path), DeviceConfig(device="cpu")
    open_twice(path, config)

    def fail(*arguments):
        raise RuntimeError("no memory")

    monkeypatch.setattr("azero.nets.runtimes.openvino.session.open_heads", fail)
    planes, again = random_planes(GO, 1), QuickNet(read_checkpoint(path), config)
    expected = open_heads(net, config)(planes)
    assert all(np.array_equal(each, expected[name]) for name, each in again.heads_alone(planes).items())


def test_passes_of_all_sizes_have_the_same_precision(path):
    net = QuickNet(read_checkpoint(path), DeviceConfig(device="cpu"))
    assert len({net.evaluator(rows, 1).runtime for rows in (4, 1, 8)}) == 1
    assert len(list((cache_root() / "nets").iterdir())) == len(list((cache_root() / "runtimes").iterdir())) == 1


def test_what_is_known_depends_on_weights_game_settings_versions_and_sources(path, monkeypatch):
    file = read_checkpoint(path)
    config = DeviceConfig(device="cpu")
    others = {name: array + 1 for name, array in file.weights.items()}
    paths = {quick_start._path_of(file, config), quick_start._path_of(replace(file, weights=others), config)}
    paths.add(quick_start._path_of(replace(file, game=make_game("connect_four")), config))
    with monkeypatch.context() as patch:
        patch.setattr(quick_start, "source_digest_of", lambda rules: "a user's game that has changed since")
        paths.add(quick_start._path_of(file, config))
    paths.add(quick_start._path_of(file, DeviceConfig(device="cpu", precision="bf16")))
    monkeypatch.setattr(quick_start, "version", lambda name: "0")
    paths.add(quick_start._path_of(file, config))
    monkeypatch.setattr(quick_start, "digest_of_sources", lambda: "other rules, or another CPU")
    paths.add(quick_start._path_of(file, config))
    monkeypatch.setattr(quick_start, "PACKAGE", path.parent)
    paths.add(quick_start._path_of(file, config))
    assert len(paths) == 8


@pytest.mark.parametrize("precision", PRECISIONS)
def test_files_of_the_same_weights_are_measured_once_and_opened_by_what_is_known(tmp_path, path, precision):
    config, net = DeviceConfig(device="cpu", runtime="openvino", precision=precision), load_checkpoint(path).net
    known = known_of(path, GAME, config)
    promoted = tmp_path / "promoted.safetensors"
    write_checkpoint(promoted, net, Card(str(GAME), SMALL.model_dump(), {}, iteration=3))
    assert QuickNet(read_checkpoint(promoted), config).known == known
    planes, plain = random_planes(GAME, 64), NetEvaluator(net, config, 4)
    opened = open_known(known, "tower", read_checkpoint(promoted).weights, GAME, 4, 1)
    assert opened.runtime == plain.runtime
    assert all(map(np.array_equal, opened.evaluate(planes), plain.evaluate(planes)))


def test_a_known_choice_that_fails_is_replaced(path, monkeypatch):
    config = DeviceConfig(device="cpu", runtime="openvino")
    first, _, _ = open_twice(path, config)

    def fail(*arguments):
        raise RuntimeError("no memory")

    monkeypatch.setattr("azero.nets.runtimes.openvino.session.open_drawing", fail)
    again, planes = QuickNet(read_checkpoint(path), config), random_planes(GAME, 4)
    other = again.evaluator(4, 1)
    assert first.runtime.library == "openvino" and other.runtime == EXACT
    np.testing.assert_allclose(other.evaluate(planes)[0], first.evaluate(planes)[0], atol=0.2)


@pytest.mark.parametrize("device", ["cpu", "auto"])
def test_a_machine_with_a_gpu_needs_torch_to_choose(monkeypatch, tmp_path, device):
    (tmp_path / "gpu").touch()
    monkeypatch.setattr(devices, "_GPU_FILES", (str(tmp_path / "gpu"),))
    asked = []
    monkeypatch.setattr(devices, "pick_device", lambda name: asked.append(name) or torch.device("cpu"))
    for version, is_asked in (("2.13.0", device == "auto"), ("2.13.0+cpu", False)):
        monkeypatch.setattr(devices, "version", lambda name, version=version: version)
        asked.clear()
        assert devices.device_type(device) == "cpu" and bool(asked) == is_asked


def test_another_net_s_weights_are_checked(path, monkeypatch):
    """What is known of one file says nothing of another."""
    config = DeviceConfig(device="cpu")
    open_twice(path, config)
    card, tensors = read_tensors(path, "net")
    del card["digest"]
    write_tensors(path, tensors | {"policy.bias": np.zeros(3, np.float32)}, card)
    with pytest.raises(BadInput, match="does not fit its own card: policy.bias is 3"):
        QuickNet(read_checkpoint(path), config)
    for name, value in (("stem.norm.running_var", -1), ("policy.bias", 3e38)):
        huge = {each: np.full_like(array, 1e30) for each, array in tensors.items() if each.endswith(".weight")}
        write_tensors(path, tensors | huge | {name: np.full_like(tensors[name], value)}, card)
        with pytest.raises(BadInput, match="cannot be used: its net's outputs are not finite numbers"):
            QuickNet(read_checkpoint(path), config)
    write_tensors(path, tensors | {"policy.bias": np.full(6, np.nan, np.float32)}, card)
    with pytest.raises(BadInput, match="policy.bias has values that are not finite"):
        read_checkpoint(path)


def test_files_that_are_old_are_removed(path, monkeypatch):
    monkeypatch.setattr(quick_start, "_NUM_KEPT", 2)
    for seed in range(4):
        write_checkpoint(path, make_net(GAME, seed=seed), Card(str(GAME), SMALL.model_dump(), {}))
        QuickNet(read_checkpoint(path), DeviceConfig(device="cpu", runtime="openvino")).evaluator(4, 1)
    assert len(list((cache_root() / "nets").iterdir())) == 2


def test_a_known_agent_can_judge_without_a_search(path):
    net = load_checkpoint(path).net
    for _ in range(2):
        agent = make_agent(f"{path}(device=cpu)@8")
        agent.suggest(GAME.new_initial_state())
        planes = random_planes(GAME, 3)
        answers, one = agent.net_alone(planes), agent.net_alone(planes[1:2])
        for answer, expected, alone in zip(answers, judge_alone(net, DeviceConfig(), planes), one, strict=True):
            assert np.allclose(answer, expected, atol=1e-4) and np.array_equal(answer[1:2], alone)
