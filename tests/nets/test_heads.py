"""Tests of heads that stay: they are part of the net and of its checkpoint, and cost searches nothing."""

from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import assert_bad_input

from azero.arena.agents.make import make_agent
from azero.config.schema import DeviceConfig, NetConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.user import trust
from azero.heads import HEADS
from azero.nets.architectures.contract import Prediction, fold, with_noise
from azero.nets.architectures.heads import all_outputs
from azero.nets.checkpoint import load_checkpoint, wanted_weights, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.make import make_net as make_any_net
from azero.nets.runtimes.fastest import available_runtimes
from azero.nets.runtimes.pytorch.session import open_heads
from azero.system.tensor_files import read_tensors, write_tensors

from .towers import ANY_SIZE, SMALL, WITH_HEADS, make_net, random_planes

GO = make_game("go(size=5,komi=0.5)")
OTHELLO = make_game("othello(size=4)")
ANY_WITH_HEADS = ANY_SIZE.model_copy(update={"heads": WITH_HEADS.heads})
DENSE = NetConfig(name="dense", channels=16, heads=("score",))
CPU = DeviceConfig(device="cpu")
HAS_OPENVINO = any(each.library == "openvino" for each in available_runtimes("cpu"))


def save(path, net, config, game=GO):
    write_checkpoint(path, net, Card(str(game), config.model_dump(mode="json"), {}))
    return path


def test_kept_heads_are_the_net_s_last_weights_and_change_no_other():
    """The rest of the net begins with the same random weights."""
    weights = []
    for config in (SMALL, WITH_HEADS):
        torch.manual_seed(0)
        weights.append(make_any_net(config, GO).state_dict())
    plain, more = weights
    assert list(more)[: len(plain)] == list(plain) and all(
        torch.equal(more[name], each) for name, each in plain.items()
    )
    added = list(more)[len(plain) :]
    assert {name.split(".")[1] for name in added} == {"ownership", "score"} and all(
        name.startswith("kept.") for name in added
    )


def test_a_new_net_expects_nothing():
    answers = all_outputs(make_any_net(WITH_HEADS, GO).eval(), torch.from_numpy(random_planes(GO, 3)))
    assert list(answers) == ["policy_logits", "result_logits", "ownership", "score"]
    assert answers["ownership"].shape == (3, 5, 5) and answers["score"].shape == (3, 1)
    assert not answers["ownership"].any() and not answers["score"].any()


def test_searches_do_not_run_kept_heads():
    net = make_net(GO, WITH_HEADS).eval()
    for layers in net.kept.values():
        layers.register_forward_hook(lambda *arguments: pytest.fail("a head was run"))
    assert type(net(torch.from_numpy(random_planes(GO, 2)))) is Prediction
    with pytest.raises(pytest.fail.Exception):
        all_outputs(net, torch.from_numpy(random_planes(GO, 2)))


@pytest.mark.parametrize("config", [WITH_HEADS, ANY_WITH_HEADS, DENSE], ids=lambda each: each.name)
def test_folded_and_drawn_heads_say_what_the_net_s_say(config):
    net, planes = make_net(GO, config) if config != DENSE else with_noise(make_any_net(DENSE, GO)), random_planes(GO, 9)
    with torch.inference_mode():
        expected = all_outputs(net.eval(), torch.from_numpy(planes))
        folded = all_outputs(fold(net), torch.from_numpy(planes))
    answers = open_heads(net, CPU)(planes)
    assert list(answers) == list(config.heads)
    assert all(each.shape == (9, *((5, 5) if HEADS[name].is_per_cell else (1,))) for name, each in answers.items())
    for name, each in answers.items():
        assert each.std() > 0.001, "constant answers would prove nothing"
        np.testing.assert_allclose(each, expected[name], atol=1e-4)
        torch.testing.assert_close(folded[name], expected[name], atol=1e-4, rtol=1e-4)
    if HAS_OPENVINO:
        from azero.nets.runtimes.openvino import session

        drawn = session.open_heads(net.drawing())
        for k in range(len(planes)):
            one = drawn(planes[k : k + 1])
            assert one.keys() == answers.keys()
            for name, each in one.items():
                np.testing.assert_allclose(each, answers[name][k : k + 1], atol=1e-5)


def test_ownership_and_score_are_in_their_units():
    net = make_any_net(WITH_HEADS, GO)
    torch.nn.init.constant_(net.kept["ownership"][-2].bias, float(np.log(3)))  # a probability of 3 / 4
    torch.nn.init.constant_(net.kept["score"][-1].bias, 1.5)  # sides of the board
    answers = open_heads(net, CPU)(random_planes(GO, 1))
    np.testing.assert_allclose(answers["ownership"], np.full((1, 5, 5), 0.5), atol=1e-6)
    np.testing.assert_allclose(answers["score"], [[7.5]], atol=1e-5)


def test_a_checkpoint_has_them_and_says_what_the_net_says(tmp_path):
    net = make_net(GO, WITH_HEADS)
    loaded = load_checkpoint(save(tmp_path / "net.safetensors", net, WITH_HEADS))
    assert all(torch.equal(each, net.state_dict()[name]) for name, each in loaded.net.state_dict().items())
    states = [GO.new_initial_state(), GO.state_from_moves("c3 b2")]
    found, expected = loaded.heads(states), open_heads(net, CPU)(np.stack([each.planes() for each in states]))
    assert list(found) == ["ownership", "score"]
    np.testing.assert_array_equal(found["ownership"], expected["ownership"])
    np.testing.assert_array_equal(found["score"], expected["score"][:, 0])
    plain = load_checkpoint(save(tmp_path / "plain.safetensors", make_net(GO), SMALL))
    assert plain.heads(states) == {}
    with pytest.raises(BadInput, match="of othello"):
        loaded.heads([OTHELLO.new_initial_state()])


@pytest.mark.slow
def test_heads_of_any_size_play_other_sizes(tmp_path):
    path = save(tmp_path / "net.safetensors", make_net(OTHELLO, ANY_WITH_HEADS), ANY_WITH_HEADS, OTHELLO)
    larger = make_game("othello(size=6)")
    answers = load_checkpoint(path, larger).heads([larger.new_initial_state()])
    assert answers["ownership"].shape == (1, 6, 6) and answers["ownership"].std() > 0.001 and answers["score"].all()
    found = make_agent(f"{path}@8", larger).suggest(larger.new_initial_state())
    np.testing.assert_allclose(found.ownership, answers["ownership"][0], atol=1e-5)
    assert found.score == pytest.approx(answers["score"][0], abs=1e-4)


FEATURES = """
from torch import nn

class MyNet(nn.Module):
    def __init__(self, game, width=4):
        super().__init__()
        self.stem = nn.Conv2d(game.planes_shape[0], width, 3, padding=1)
        self.policy, self.results = nn.Linear(width, game.num_actions), nn.Linear(width, 3)

    def features(self, planes):
        return self.stem(planes).relu()

    def judge(self, features):
        pooled = features.mean((2, 3))
        return self.policy(pooled), self.results(pooled)

    def forward(self, planes):
        return self.judge(self.features(planes))
"""


@pytest.fixture
def users(tmp_path, monkeypatch) -> NetConfig:
    """The settings of a user's net with heads. Its file is in the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trust, "_NAMED", set())
    (tmp_path / "net.py").write_text(FEATURES)
    trust.trust_name("net.py:MyNet", "net")
    return NetConfig(name="net.py:MyNet", heads=("ownership", "score"))


def test_a_user_s_net_keeps_them_where_it_has_features(users):
    net = with_noise(make_any_net(users, OTHELLO))
    wanted = wanted_weights(users, OTHELLO)
    assert {name: each.shape for name, each in wanted.items()} == {
        name: each.shape for name, each in net.state_dict().items()
    }
    assert all(each.is_meta for each in wanted.values()), "the net is not allocated"
    card = Card(str(OTHELLO), users.model_dump(mode="json"), {}, net_digest=net.identity[:16])
    write_checkpoint(Path("net.safetensors"), net, card)
    answers = load_checkpoint("net.safetensors").heads([OTHELLO.new_initial_state()])
    assert answers["ownership"].shape == (1, 4, 4) and answers["ownership"].any() and answers["score"].any()


def test_a_user_s_net_without_features_cannot_keep_them(users, tmp_path):
    (tmp_path / "plain.py").write_text(FEATURES.replace("features", "_trunk"))
    trust.trust_name("plain.py:MyNet", "net")
    with pytest.raises(BadInput, match="this net has none: it needs the methods `features` and `judge`"):
        make_any_net(users.model_copy(update={"name": "plain.py:MyNet"}), OTHELLO)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda weights: weights.pop("kept.score.5.bias"), "kept.score.5.bias is not there, and in the net that the"),
        (
            lambda weights: weights.update({"kept.score.5.bias": np.zeros(2, np.float32)}),
            "kept.score.5.bias is 2, and in",
        ),
        (lambda weights: weights.update({"kept.x.weight": np.zeros(2, np.float32)}), "kept.x.weight is 2, and in"),
        (lambda weights: weights["kept.score.5.bias"].fill(np.nan), "kept.score.5.bias has values that are not finite"),
        (lambda weights: weights["kept.score.5.weight"].fill(3e38), "its net's outputs are not finite numbers"),
    ],
)
def test_a_checkpoint_whose_heads_are_damaged_is_refused(run_azero, change, fault):
    path = save(Path("net.safetensors"), make_net(GO, WITH_HEADS), WITH_HEADS)
    about, weights = read_tensors(path, "net")
    weights = {name: each.copy() for name, each in weights.items()}
    change(weights)
    write_tensors(path, weights, {key: value for key, value in about.items() if key != "digest"})
    for command in (["suggest", "net.safetensors"], ["suggest", "net.safetensors", "--game", str(GO), "--json"]):
        assert_bad_input(run_azero(*command), fault)


@pytest.mark.parametrize(
    ("game", "heads", "fault"),
    [
        (
            "hex(size=4)",
            ["score"],
            "net.heads = ['score'] should be without 'score', since hex(size=4) has no `final_sc",
        ),
        ("go(size=5)", ["winner"], "setting heads.0 = 'winner' should be 'ownership' or 'score'"),
        ("go(size=5)", ["score", "score"], "setting heads = ['score', 'score'] should name each head once"),
        ("go(size=5)", "score", "setting heads = 'score' should be a list"),
    ],
)
def test_a_card_with_heads_that_cannot_be_is_refused(run_azero, game, heads, fault):
    card = Card(make_game(game).name, SMALL.model_dump(mode="json") | {"heads": heads}, {})
    write_checkpoint(Path("net.safetensors"), make_net(make_game(game)), card)
    assert_bad_input(run_azero("suggest", "net.safetensors"), "checkpoint 'net.safetensors'", fault)
