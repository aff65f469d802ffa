"""Tests of `azero export`: the models run in ONNX Runtime with azero's outputs, and bad input writes nothing."""

import importlib.util
import json
import re
import shlex
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from cases import long
from command_line import assert_bad_input

import azero
from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.user import trust
from azero.heads import HEADS as KINDS
from azero.nets import export
from azero.nets.architectures.contract import with_noise
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.export import OPSETS, export_onnx
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import TOLERANCE, measure_drift
from azero.nets.runtimes.pytorch.session import judge_alone, open_heads
from azero.system import files

from .test_users_net import EXAMPLE, GAME, PLAIN
from .towers import SMALL_OF_CONTEXT, WITH_HEADS, random_planes
from .towers import make_net as make_tower

pytestmark = pytest.mark.slow  # it exports many nets

ROOT = Path(__file__).parents[2]
SHIPPED = sorted((ROOT / "checkpoints").glob("*.safetensors"))
EACH_KIND = ("connect_four", "go_9x9")  # a tower, and a net of any size
NETS = [pytest.param(path, marks=() if path.stem in EACH_KIND else pytest.mark.long, id=path.stem) for path in SHIPPED]
CPU = DeviceConfig(device="cpu")


class OnnxSession:
    """A model in ONNX Runtime, as a session of azero's."""

    def __init__(self, path: Path):
        self.model = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])

    def logits(self, planes: np.ndarray) -> list[np.ndarray]:
        return self.model.run(["policy_logits", "result_logits"], {"planes": planes})

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, results = self.logits(planes)
        win, _, loss = torch.softmax(torch.from_numpy(results), 1).unbind(1)
        return logits, (win - loss).numpy()


def assert_is_near(session: OnnxSession, net, planes: np.ndarray) -> None:
    """Asserts azero's logits in fp32, in batches of several sizes."""
    expected = judge_alone(net, CPU, planes)
    for rows in (1, 3, 64):
        for found, wanted in zip(session.logits(planes[:rows]), expected, strict=True):
            np.testing.assert_allclose(found, wanted[:rows], atol=1e-3, rtol=1e-4)


def write_net(path: Path, net, architecture: str) -> Path:
    """Writes a checkpoint of a net for tic_tac_toe; returns `path`."""
    config = {"name": architecture} if isinstance(architecture, str) else architecture
    write_checkpoint(path, net, Card("tic_tac_toe", config, {}, net_digest=net.identity[:16]))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(trust, "_NAMED", set())
    return tmp_path


@pytest.mark.parametrize("path", NETS)
def test_shipped_nets_choose_the_same_moves_in_onnx_runtime(tmp_path, path):
    checkpoint = load_checkpoint(path)
    done = export_onnx(checkpoint, tmp_path / "net.onnx", "1.2.3")
    session = OnnxSession(tmp_path / "net.onnx")
    planes = random_planes(checkpoint.game, 1000, seed=5)
    logits, results = judge_alone(checkpoint.net, CPU, planes)
    found_logits, found_results = session.logits(planes)
    assert (found_logits.argmax(1) == logits.argmax(1)).mean() >= 0.999
    np.testing.assert_allclose(found_logits, logits, atol=1e-3)
    np.testing.assert_allclose(found_results, results, atol=1e-3)
    assert done.drift < 1e-4 and done.bytes == (tmp_path / "net.onnx").stat().st_size
    assert_is_near(session, checkpoint.net, planes)


@pytest.mark.parametrize("path", NETS)
def test_int8_is_within_the_tolerance_and_smaller(tmp_path, path):
    checkpoint = load_checkpoint(path)
    whole = export_onnx(checkpoint, tmp_path / "fp32.onnx", "1.2.3")
    small = export_onnx(checkpoint, tmp_path / "int8.onnx", "1.2.3", "int8")
    assert small.bytes < whole.bytes / 2
    drift = measure_drift(checkpoint.net, OnnxSession(tmp_path / "int8.onnx"), 64)
    assert 1e-4 < drift <= TOLERANCE and 1e-4 < small.drift <= TOLERANCE


GO = make_game("go(size=4,komi=0.5)")
HEADS = {"ownership": ["batch", 4, 4], "score": ["batch", 1]}


@pytest.mark.parametrize(
    ("name", "opset"),
    [("tower", 19), ("any_size", 24), ("dense", 19), *long(("transformer.py:Transformer(width=8)", 19))],
)
def test_heads_that_stay_are_further_outputs(folder, name, opset):
    (folder / "transformer.py").write_text(EXAMPLE.read_text())
    trust.trust_name("transformer.py:Transformer", "net")
    heads = [*HEADS] if name != "dense" else ["score"]
    config = WITH_HEADS.model_copy(update={"name": name, "heads": tuple(heads)})
    torch.manual_seed(3)
    net = with_noise(make_net(config, GO))
    card = Card(str(GO), config.model_dump(mode="json"), {}, net_digest=net.identity[:16])
    write_checkpoint(folder / "net.safetensors", net, card)
    done = export_onnx(load_checkpoint(folder / "net.safetensors"), folder / "net.onnx", "1.2.3", opset=opset)
    assert done.heads == heads and done.drift < 1e-4
    model, planes = OnnxSession(folder / "net.onnx").model, random_planes(GO, 20)
    outputs = {each.name: each.shape for each in model.get_outputs()}
    assert outputs == {"policy_logits": ["batch", 17], "result_logits": ["batch", 3]} | {k: HEADS[k] for k in heads}
    assert model.get_modelmeta().custom_metadata_map["heads"] == ",".join(heads)
    assert "score is the points by which" in model.get_modelmeta().description
    for head, answers in open_heads(net, CPU)(planes).items():
        assert answers.std() > 0.001
        np.testing.assert_allclose(model.run([head], {"planes": planes})[0], answers, atol=1e-4)


def test_the_command_says_which_heads_there_are(run_azero):
    card = Card(str(GO), WITH_HEADS.model_dump(mode="json"), {})
    write_checkpoint(Path("net.safetensors"), make_tower(GO, WITH_HEADS), card)
    code, output, _ = run_azero("export", "net.safetensors", "net.onnx")
    assert code == 0 and output.splitlines()[-2:] == [
        f"  ownership       [batch, 4, 4], {KINDS['ownership'].meaning}",
        f"  score           [batch, 1], {KINDS['score'].meaning}",
    ]
    code, output, _ = run_azero("export", "net.safetensors", "net.onnx", "--json")
    assert json.loads(output)["heads"] == ["ownership", "score"]


def test_heads_in_int8_are_within_the_tolerance(folder):
    write_checkpoint(folder / "net", make_tower(GO, WITH_HEADS), Card(str(GO), WITH_HEADS.model_dump(mode="json"), {}))
    checkpoint = load_checkpoint(folder / "net")
    done = export_onnx(checkpoint, folder / "net.onnx", "1.2.3", "int8")
    assert 1e-4 < done.drift <= TOLERANCE
    planes = random_planes(GO, 64)
    (found,) = OnnxSession(folder / "net.onnx").model.run(["ownership"], {"planes": planes})
    assert 1e-5 < np.abs(found - open_heads(checkpoint.net, CPU)(planes)["ownership"]).mean() <= TOLERANCE


@pytest.mark.parametrize(("name", "unit"), [("ownership", 1), ("score", 4)])  # 4 is the board's side
@pytest.mark.parametrize(("error", "is_refused"), [(0.95e-3, False), (1.05e-3, True), (np.nan, True)])
def test_a_head_that_differs_from_the_net_s_is_not_written(folder, monkeypatch, name, unit, error, is_refused):
    write_checkpoint(folder / "net", make_tower(GO, WITH_HEADS), Card(str(GO), WITH_HEADS.model_dump(mode="json"), {}))

    def open_shifted(*arguments):
        run = open_heads(*arguments)
        return lambda planes: {head: each + error * unit * (head == name) for head, each in run(planes).items()}

    monkeypatch.setattr(export, "open_heads", open_shifted)
    checkpoint = load_checkpoint(folder / "net")
    if is_refused:
        with pytest.raises(
            BadInput, match=r"net.onnx' is not written: the model is (nan|0\.001\d*) from the net in fp32"
        ):
            export_onnx(checkpoint, folder / "net.onnx", "1.2.3")
        assert not (folder / "net.onnx").exists()
    else:
        assert export_onnx(checkpoint, folder / "net.onnx", "1.2.3").drift == pytest.approx(error, rel=0.01)


def net_of(name: str):
    trust.trust_name(name, "net")
    torch.manual_seed(3)
    return with_noise(make_net(NetConfig(name=name), GAME))


KINDS_OF_NETS = [*SMALL_OF_CONTEXT, "dense", "transformer.py:Transformer(width=8)", "net.py:MyNet"]


@pytest.mark.parametrize("opset", [OPSETS[0], *long(OPSETS[-1])])
@pytest.mark.parametrize("kind", KINDS_OF_NETS, ids=lambda each: getattr(each, "global_context", each))
def test_all_kinds_of_nets(folder, kind, opset):
    (folder / "transformer.py").write_text(EXAMPLE.read_text())
    (folder / "net.py").write_text(PLAIN.replace("planes.flatten(1)", "planes.reshape(planes.shape[0], 27)"))
    is_tower = kind in SMALL_OF_CONTEXT
    net = make_tower(GAME, kind) if is_tower else net_of(kind)
    write_net(folder / "net.safetensors", net, kind.model_dump() if is_tower else kind)
    checkpoint = load_checkpoint(folder / "net.safetensors")
    export_onnx(checkpoint, folder / "net.onnx", "1.2.3", opset=opset)
    assert_is_near(OnnxSession(folder / "net.onnx"), checkpoint.net, random_planes(GAME, 64))
    assert onnx.load(folder / "net.onnx").opset_import[0].version == opset
    if is_tower:
        export_onnx(checkpoint, folder / "int8.onnx", "1.2.3", "int8", opset)
        assert measure_drift(checkpoint.net, OnnxSession(folder / "int8.onnx"), 64) <= TOLERANCE


def test_the_model_says_what_it_is_and_names_no_folder(folder):
    (folder / "nets").mkdir()
    (folder / "nets" / "transformer.py").write_text(EXAMPLE.read_text())
    name = "nets/transformer.py:Transformer(width=8)"
    checkpoint = load_checkpoint(write_net(folder / "net.safetensors", net_of(name), name))
    for file in ("one.onnx", "two.onnx"):
        export_onnx(checkpoint, folder / file, azero.__version__)
    data = (folder / "one.onnx").read_bytes()
    assert data == (folder / "two.onnx").read_bytes(), "the same checkpoint gives the same bytes"
    assert str(folder).encode() not in data and b"nets/" not in data and b"def forward" not in data
    model = OnnxSession(folder / "one.onnx").model
    assert model.get_modelmeta().custom_metadata_map == {
        "game": "tic_tac_toe",
        "results": "win,draw,loss",
        "precision": "fp32",
        "net": "transformer.py:Transformer(width=8)",
        "checkpoint": checkpoint.digest,
        "iteration": "0",
        "azero": azero.__version__,
    }
    assert "win, draw and loss for the player to move" in model.get_modelmeta().description
    assert [(each.name, each.type, each.shape) for each in model.get_inputs()] == [
        ("planes", "tensor(float)", ["batch", 3, 3, 3])
    ]
    assert [(each.name, each.shape) for each in model.get_outputs()] == [
        ("policy_logits", ["batch", 9]),
        ("result_logits", ["batch", 3]),
    ]


def test_the_command_replaces_a_file_and_prints_one_object(run_azero):
    Path("net.onnx").write_text("old")
    code, output, _ = run_azero("export", "tic_tac_toe", "net.onnx", "--precision", "int8", "--opset", 21, "--json")
    assert code == 0
    assert json.loads(output) == {
        "file": "net.onnx",
        "game": "tic_tac_toe",
        "precision": "int8",
        "opset": 21,
        "bytes": Path("net.onnx").stat().st_size,
        "planes_shape": [3, 3, 3],
        "num_actions": 9,
        "heads": [],
        "drift": json.loads(output)["drift"],
    }
    assert OnnxSession(Path("net.onnx")).logits(np.zeros((2, 3, 3, 3), np.float32))[0].shape == (2, 9)
    code, output, _ = run_azero("export", "tic_tac_toe", "net.onnx")
    assert code == 0 and "result_logits   [batch, 3], of win, draw and loss for the player to move" in output


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["tic_tac_toe", "net.pt"], "FILE 'net.pt' should end in .onnx"),
        (["tic_tac_toe", ""], "the path is empty"),
        (["tic_tac_toe", "tyop/net.onnx"], "there is no folder 'tyop'; make it first, or name another file"),
        (["tic_tac_toe", "net.onnx", "--opset", 12], "--opset 12 should be from 19 to 24"),
        (["tic_tac_toe", "net.onnx", "--precision", "bf16"], "--precision 'bf16' should be fp32 or int8"),
        (["tic_tac_toe", "net.onnx", "--game", "othello"], "plays tic_tac_toe"),
        (["tic_tac_to", "net.onnx"], "did you mean 'tic_tac_toe'?"),
        (["tic_tac_toe@20", "net.onnx"], "'tic_tac_toe@20' should have no limit"),
        (["uct", "net.onnx"], "agent 'uct' has no net"),
        (["none.safetensors", "net.onnx"], "checkpoint 'none.safetensors' does not exist"),
    ],
)
def test_bad_input_writes_nothing(run_azero, words, fault):
    assert_bad_input(run_azero("export", *words), fault)
    assert list(Path().iterdir()) == []


def test_a_dense_net_has_no_int8(folder, run_azero):
    write_net(folder / "net.safetensors", net_of("dense"), "dense")
    result = run_azero("export", folder / "net.safetensors", "net.onnx", "--precision", "int8")
    assert_bad_input(
        result, "precision 'int8' is for net.name = tower or any_size; export this net with --precision fp32"
    )


def test_a_net_s_file_that_nobody_named_does_not_run(folder, run_azero, monkeypatch):
    (folder / "net.py").write_text(PLAIN)
    monkeypatch.chdir(folder)
    write_net(folder / "net.safetensors", net_of("net.py:MyNet"), "net.py:MyNet")
    monkeypatch.setattr(trust, "_NAMED", set())
    assert_bad_input(run_azero("export", "net.safetensors", "net.onnx"), "is code that you have not named")
    assert not (folder / "net.onnx").exists()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("torch.relu(", "(torch.relu if planes.sum() > 0 else torch.tanh)("), "Could not guard on data-dependent"),
        (("planes.flatten(1)", "planes.reshape(len(planes), 27)"), "it takes the number of positions for a constant"),
    ],
)
def test_a_net_that_cannot_be_traced_is_refused(folder, change, fault):
    (folder / "net.py").write_text(PLAIN.replace(*change))
    checkpoint = load_checkpoint(write_net(folder / "net.safetensors", net_of("net.py:MyNet"), "net.py:MyNet"))
    with pytest.raises(BadInput, match=f"^net net.py:MyNet cannot be written as ONNX: {fault}") as error:
        export_onnx(checkpoint, folder / "net.onnx", "1.2.3")
    assert "\n" not in str(error.value) and not (folder / "net.onnx").exists()


def test_a_model_that_differs_from_its_net_is_not_written(tmp_path, monkeypatch):
    (tmp_path / "net.onnx").write_text("old")
    monkeypatch.setattr(export, "measure_drift", lambda *arguments: float("nan"))
    with pytest.raises(BadInput, match=r"net.onnx' is not written: the model is nan from the net in fp32"):
        export_onnx(load_checkpoint(SHIPPED[-1]), tmp_path / "net.onnx", "1.2.3")
    assert (tmp_path / "net.onnx").read_text() == "old"


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    class Full(files.Disk):
        def write(self, file, data):
            raise OSError(28, "No space left on device")

    (tmp_path / "net.onnx").write_text("old")
    monkeypatch.setattr(files, "DISK", Full())
    with pytest.raises(OSError, match="No space left"):
        export_onnx(load_checkpoint(SHIPPED[-1]), tmp_path / "net.onnx", "1.2.3")
    assert [each.name for each in tmp_path.iterdir()] == ["net.onnx"] and (tmp_path / "net.onnx").read_text() == "old"


@pytest.mark.parametrize("package", ["onnx", "onnxscript"])
def test_without_the_packages_a_line_says_how_to_install_them(run_azero, monkeypatch, package):
    found = importlib.util.find_spec
    monkeypatch.setattr("azero.commands.export.find_spec", lambda name: None if name == package else found(name))
    assert_bad_input(run_azero("export", "tic_tac_toe", "net.onnx"), f"the package {package}", "-e '.[onnx]'")


def test_the_page_works_from_its_first_line_to_its_last(folder, run_azero, capsys):
    page = (ROOT / "docs" / "export.md").read_text()
    commands = re.findall(r"^azero (.*)$", page, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        assert run_azero(*shlex.split(command))[0] == 0
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(program, "export.md", "exec"), {})
    assert capsys.readouterr().out == "4\n", "the net's first move is in the middle"
