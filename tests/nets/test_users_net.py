"""Tests of nets by name: azero's own, a user's, and files that are no net."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from azero.authoring.check_net import check_net
from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.user import trust
from azero.games.user.trust import Untrusted
from azero.nets.architectures.dense.net import DenseNet
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.fastest import EXACT, TOLERANCE, available_runtimes, measure_drift, open_runtime

GAME = make_game("tic_tac_toe")
EXAMPLE = Path(__file__).parents[2] / "examples" / "transformer.py"
CPU = "cpu"

PLAIN = """
import torch
from torch import nn

class MyNet(nn.Module):
    def __init__(self, game, units=8):
        super().__init__()
        self.first = nn.Linear(27, units)
        self.policy, self.results = nn.Linear(units, game.num_actions), nn.Linear(units, 3)

    def forward(self, planes):
        x = torch.relu(self.first(planes.flatten(1)))
        return self.policy(x), self.results(x)
"""


def net_of(name: str) -> nn.Module:
    """Returns a net whose file the user has named."""
    trust.trust_name(name, "net")
    return make_net(NetConfig(name=name), GAME)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(trust, "_NAMED", set())
    return tmp_path


def with_random_outputs(net: nn.Module) -> nn.Module:
    torch.manual_seed(1)
    for parameter in net.parameters():
        nn.init.normal_(parameter, std=0.3)
    return net


@pytest.mark.parametrize("name", ["dense", f"{EXAMPLE}:Transformer(width=16,blocks=1)"])
def test_a_net_runs_in_all_runtimes(name):
    net = with_random_outputs(net_of(name))
    ran = 0
    for runtime in available_runtimes(CPU, net=net):
        if runtime.precision != "int8":
            session = open_runtime(runtime, net, CPU, 16, 1)
            assert measure_drift(net, session, 16) <= TOLERANCE, runtime.name
            ran += 1
    assert ran >= 1
    logits, values = NetEvaluator(net, DeviceConfig(device="cpu"), 16).evaluate(np.ones((3, 3, 3, 3), np.float32))
    assert logits.shape == (3, 9) and values.shape == (3,)


@pytest.mark.parametrize("name", ["tower", "dense", f"{EXAMPLE}:Transformer"])
def test_a_new_net_has_a_uniform_policy_and_the_value_zero(name):
    prediction = net_of(name).eval()(torch.rand(4, *GAME.planes_shape))
    assert not prediction.policy_logits.any() and not prediction.value().any()


def test_a_net_that_begins_at_zero_is_tried_with_other_weights(folder):
    (folder / "net.py").write_text(
        EXAMPLE.read_text().replace("x = x + self.mix(", "x = x + F.dropout(self.mix(x)) + self.mix(")
    )
    with pytest.raises(
        BadInput, match="returns other numbers in training each time; remove randomness such as dropout"
    ):
        net_of("net.py:Transformer")


def test_tensors_of_a_file_are_real_although_its_first_reader_needs_only_shapes(folder):
    text = PLAIN.replace("class MyNet", "MASK = torch.ones(27)\n\nclass MyNet").replace(
        "planes.flatten(1)", "planes.view(-1, 27) * MASK"
    )
    (folder / "net.py").write_text(text)
    trust.trust_name("net.py:MyNet", "net")
    with torch.device("meta"):
        make_net(NetConfig(name="net.py:MyNet"), GAME, is_tried=False)
    net = net_of("net.py:MyNet").eval()
    planes = torch.rand(4, *GAME.planes_shape).to(memory_format=torch.channels_last)
    assert net(planes).policy_logits.isfinite().all()


def test_linear_layers_of_a_user_s_kind_run_as_they_are(folder):
    text = PLAIN.replace("self.first = nn.Linear(", "self.first = Doubled(").replace(
        "class MyNet",
        "class Doubled(nn.Linear):\n    def forward(self, x):\n        return 2 * super().forward(x)\n\nclass MyNet",
    )
    (folder / "net.py").write_text(text)
    net = with_random_outputs(net_of("net.py:MyNet")).eval()
    planes = torch.rand(16, *GAME.planes_shape)
    logits, _ = open_runtime(EXACT, net, CPU, 16, 1).run(planes.numpy())
    assert np.allclose(logits, net(planes).policy_logits.detach().numpy(), atol=1e-4)


@pytest.mark.parametrize("value", ["float('-inf')", "-1e9"])
def test_buffers_that_no_file_could_hold_are_refused(folder, value):
    buffer = f"self.register_buffer('mask', torch.full((3,), {value}), persistent=False); self.first ="
    (folder / "net.py").write_text(PLAIN.replace("self.first =", buffer))
    with pytest.raises(BadInput, match=r"its buffer mask has values beyond 1e\+06; make such a mask in `forward`"):
        net_of("net.py:MyNet")


@pytest.mark.skipif(len(available_runtimes(CPU)) == 1, reason="only fp32 is here")
def test_check_net_measures_a_net_whose_outputs_are_not_zero():
    report = check_net("dense", GAME, DeviceConfig(device="cpu"))
    assert max(each.drift for each in report.runtimes) > 0 and all(each.is_used for each in report.runtimes)


def test_a_net_may_have_weights_of_any_rank(folder):
    """Only tensors of four dimensions have a format with channels last."""
    layers = "self.volume = nn.Conv3d(1, 1, 3, padding=1); self.first ="
    text = PLAIN.replace("self.first =", layers).replace("planes.flatten", "self.volume(planes[:, None]).flatten")
    (folder / "net.py").write_text(text)
    net = net_of("net.py:MyNet")
    planes = np.random.default_rng(0).normal(size=(2, *GAME.planes_shape)).astype(np.float32)
    policy, _ = open_runtime(EXACT, net, CPU, 2, 1).run(planes)
    np.testing.assert_allclose(policy, net(torch.from_numpy(planes))[0].detach(), atol=1e-5)


def test_int8_is_for_towers(tmp_path):
    with pytest.raises(BadInput, match="precision 'int8' is for net.name = tower|int8.* here; on cpu there is"):
        NetEvaluator(net_of("dense"), DeviceConfig(device="cpu", precision="int8"), 16)


def test_the_options_are_in_the_name(folder):
    (folder / "net.py").write_text(PLAIN)
    assert net_of("net.py:MyNet(units=5)").module.first.out_features == 5
    assert net_of("net.py:MyNet").features_shape is None
    assert net_of(f"{EXAMPLE}:Transformer(width=8)").features_shape == (8, 3, 3)
    assert isinstance(net_of("dense"), DenseNet)


def test_a_file_that_nobody_named_does_not_run(folder):
    (folder / "net.py").write_text("import pathlib; pathlib.Path('ran').touch()\n" + PLAIN)
    with pytest.raises(Untrusted) as error:
        make_net(NetConfig(name="net.py:MyNet"), GAME)
    assert str(error.value) == (
        "net file 'net.py' is code that you have not named, or it has changed since; if you trust it, name it first, "
        "e.g. with azero check-net 'net.py:MyNet' --game 'tic_tac_toe'"
    )
    assert not Path("ran").exists()
    net_of("net.py:MyNet")
    assert Path("ran").exists()


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (("return self.policy(x), self.results(x)", "return self.policy(x)"), "returns [8, 9] for 8 positions"),
        (("return self.policy(x), self.results(x)", "return x"), "returns [8, 8] for 8 positions"),
        (
            ("return self.policy(x), self.results(x)", "return self.results(x), self.policy(x)"),
            "returns [8, 3], [8, 9]",
        ),
        (
            ("return self.policy(x)", "return None"),
            "returns NoneType, [8, 3] for 8 positions; it should return the logits of actions, [8, 9], and of win",
        ),
        (("self.results(x)\n", "self.results(x) / 0\n"), "net net.py:MyNet returns numbers that are not finite"),
        (("planes.flatten(1)", "planes.mul_(2).flatten(1)"), "net net.py:MyNet changes the planes that it is given"),
        (
            ("planes.flatten(1)", "(planes - planes.mean(0)).flatten(1)"),
            "net net.py:MyNet: its output for a position depends on the others that are evaluated with it",
        ),
        (("torch.relu(", "nn.functional.dropout("), "net net.py:MyNet returns other numbers in training each time"),
        (("self.first =", "self.idle = nn.Linear(2, 2); self.first ="), "its parameter idle.weight takes no part"),
        (
            ("nn.Linear(27, units)", "nn.Linear(27, units).double()"),
            "parameter first.weight is torch.float64, not float32",
        ),
        (
            ("nn.Linear(27, units)", "nn.Linear(28, units)"),
            "net net.py:MyNet fails, line 12: RuntimeError: mat1 and",
        ),
        (("class MyNet(nn.Module)", "class MyNet"), "MyNet is not a net: it should be a class MyNet(nn.Module)"),
        (("class MyNet", "class Other"), "has no class 'MyNet'"),
        (("super().__init__()", "raise ValueError('no')"), "net net.py:MyNet fails, line 7: ValueError: no"),
        (("import torch\n", "import torch torch\n"), "net file 'net.py', line 2: invalid syntax"),
    ],
)
def test_what_is_no_net_is_refused_in_a_line(folder, change, fault):
    assert change[0] in PLAIN
    (folder / "net.py").write_text(PLAIN.replace(*change))
    with pytest.raises(BadInput) as error:
        net_of("net.py:MyNet")
    assert fault in str(error.value) and "\n" not in str(error.value)


def test_a_card_that_describes_a_huge_net_takes_no_memory(folder):
    resource = pytest.importorskip("resource", reason="Windows does not have it")
    net = net_of(f"{EXAMPLE}:Transformer(width=8)")
    name = "transformer.py:Transformer(width=20000,blocks=9)"
    (folder / "transformer.py").write_text(EXAMPLE.read_text())
    card = Card("tic_tac_toe", {"name": name}, {}, net_digest=net.identity[:16])
    write_checkpoint(folder / "net.safetensors", net, card)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadInput, match="does not fit its own card"):
        load_checkpoint(folder / "net.safetensors")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000, "in KiB"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("towr", "'towr' is neither a net of azero nor of the form my_net.py:MyNet; did you mean 'tower'?"),
        ("net.py", "net 'net.py' is not of the form name or name(parameter=value,...), e.g. net.py:MyNet"),
        ("none.py:MyNet", "net file 'none.py' cannot be read: No such file or directory"),
        ("net.py:MyNet(units)", "net 'net.py:MyNet(units)': 'units' should be of the form option=number"),
        ("net.py:MyNet(units=a)", "'units=a' should be of the form option=number"),
        ("net.py:MyNet(units=2,units=3)", "'units=3' should be of the form option=number, once for each option"),
        ("net.py:MyNet(width=2)", "net.py:MyNet(width=2) fails: TypeError: MyNet.__init__() got an unexpected"),
    ],
)
def test_names_of_nets_that_are_not_there(folder, name, fault):
    (folder / "net.py").write_text(PLAIN)
    with pytest.raises(BadInput) as error:
        net_of(name)
    assert fault in str(error.value)
