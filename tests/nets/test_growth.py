"""Tests of nets that begin with a checkpoint's weights: they compute the same, can learn, and others are refused."""

from pathlib import Path

import numpy as np
import pytest
import torch
from games.user_games import NIM, forget_files, write_file

from azero.config.schema import DeviceConfig, NetConfig, SearchConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.nets.architectures.contract import fold
from azero.nets.checkpoint import write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.growth import net_grown_from
from azero.nets.make import make_net
from azero.nets.runtimes.pytorch.session import open_heads

from .towers import random_planes

GAME = make_game("connect_four(rows=4,columns=5)")
SMALL = NetConfig(blocks=1, channels=8, policy_channels=6, value_channels=6, value_hidden=16)


def save(path: Path, config: NetConfig = SMALL, game=GAME):
    """Saves a net with random weights and statistics; returns it."""
    torch.manual_seed(0)
    net = make_net(config, game)
    for each in net.parameters():
        each.data += 0.3 * torch.randn(each.shape)
    for name, buffer in net.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_()
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 2.0)
    digest = source_digest_of(game.rules)
    write_checkpoint(path, net, Card(str(game), config.model_dump(), SearchConfig().model_dump(), game_digest=digest))
    return net


def assert_alike(net, old, game=GAME):
    planes = torch.from_numpy(random_planes(game, 32))
    for one, other in zip(fold(net)(planes), fold(old)(planes), strict=True):
        assert other.std(0).max() > 0.001, "the answers vary"
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


def grow(config: NetConfig, path: Path, game=GAME, seed: int = 1):
    return net_grown_from(path, config, game, seed)


def refusal(config: NetConfig, path: Path, game=GAME) -> str:
    with pytest.raises(BadInput) as error:
        grow(config, path, game)
    beginning = f"a run of {game} cannot begin with checkpoint {str(path)!r}: "
    assert str(error.value).startswith(beginning) and "\n" not in str(error.value)
    return str(error.value).removeprefix(beginning)


@pytest.mark.parametrize("architecture", ["tower", "dense"])
def test_the_same_net_gets_the_weights_to_the_bit(tmp_path, architecture):
    config = SMALL.model_copy(update={"name": architecture})
    own, net = save(tmp_path / "a", config).state_dict(), grow(config, tmp_path / "a").state_dict()
    assert own.keys() == net.keys()
    assert all(torch.equal(own[name], net[name]) for name in own)


GROWN = [
    *({"global_context": context, "blocks": 3} for context in ("none", "se", "pool")),
    *({"global_context": context, "channels": 20, "blocks": 2} for context in ("none", "se")),
    {"policy_channels": 8, "value_channels": 9, "value_hidden": 20},
]


@pytest.mark.parametrize("larger", GROWN, ids=str)
def test_a_larger_net_computes_the_same_and_learns_with_its_new_weights(tmp_path, larger):
    smaller = SMALL.model_copy(update={"global_context": larger.get("global_context", "none")})
    old = save(tmp_path / "a", smaller)
    net = grow(smaller.model_copy(update=larger), tmp_path / "a")
    assert_alike(net, old)
    before = {name: each.clone() for name, each in net.named_parameters()}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        policy, results = net(torch.from_numpy(random_planes(GAME, 64)))
        optimizer.zero_grad()
        (policy.square().sum() + results.square().sum()).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
    assert all(not torch.equal(before[name], each) for name, each in net.named_parameters())


def test_new_weights_depend_on_the_seed_alone(tmp_path):
    save(tmp_path / "a")
    larger = SMALL.model_copy(update={"channels": 12})
    first, same, other = (grow(larger, tmp_path / "a", seed=seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[name], same[name]) for name in first)
    assert not torch.equal(first["stem.convolution.weight"], other["stem.convolution.weight"])


@pytest.mark.parametrize(
    ("own", "wanted", "what"),
    [
        ({"blocks": 2}, {}, "net.blocks = 1: a net can grow, and not shrink"),
        ({"channels": 9}, {}, "net.channels = 8: a net can grow, and not shrink"),
        ({}, {"global_context": "se"}, "net.global_context = se: its blocks have no blocks.0.excitation.excite.bias"),
        ({"global_context": "pool"}, {"global_context": "pool", "channels": 12}, "= 12: its outputs would change"),
        ({"name": "dense"}, {"name": "dense", "blocks": 2}, "blocks = 2: its blocks have no blocks.1."),
        ({"name": "dense"}, {}, "its net is dense, and net.name is tower"),
    ],
)
def test_what_cannot_become_the_net_is_refused(tmp_path, own, wanted, what):
    save(tmp_path / "a", SMALL.model_copy(update=own))
    assert what in refusal(SMALL.model_copy(update=wanted), tmp_path / "a")


def test_another_game_is_refused_and_another_size_where_a_layer_depends_on_it(tmp_path):
    save(tmp_path / "a")
    assert refusal(SMALL, tmp_path / "a", make_game("tic_tac_toe")) == f"it plays {GAME}"
    larger = make_game("connect_four(rows=4,columns=6)")
    assert refusal(SMALL, tmp_path / "a", larger) == (
        f"policy.bias is [5], and {larger} needs [6]: tower has layers that depend on the board's size"
    )


def test_another_parameter_of_the_game_is_no_obstacle_where_the_shapes_are_the_same(tmp_path):
    one, other = (make_game(f"go(size=5,komi={komi})") for komi in (2.5, 7.5))
    old = save(tmp_path / "a", game=one)
    assert_alike(grow(SMALL, tmp_path / "a", other), old, other)


GO = make_game("go(size=4,komi=0.5)")
KEEPING = {heads: SMALL.model_copy(update={"heads": heads}) for heads in [(), ("score",), ("ownership", "score")]}


@pytest.mark.parametrize("own", KEEPING)
@pytest.mark.parametrize("wanted", KEEPING)
@pytest.mark.parametrize("larger", [{}, {"channels": 12, "blocks": 2, "value_channels": 9, "value_hidden": 20}])
def test_heads_that_both_nets_keep_say_the_same_and_others_begin_new_or_are_dropped(tmp_path, own, wanted, larger):
    old = save(tmp_path / "a", KEEPING[own], GO)
    net = grow(KEEPING[wanted].model_copy(update=larger), tmp_path / "a", GO)
    assert_alike(net, old, GO)
    answers, old_answers = (open_heads(each, DeviceConfig(device="cpu"))(random_planes(GO, 16)) for each in (net, old))
    assert tuple(answers) == wanted
    for name, each in answers.items():
        if name in own:
            assert each.std() > 0.001
            np.testing.assert_allclose(each, old_answers[name], atol=1e-4)
        else:
            assert not each.any(), "a new head expects nothing"


def test_a_larger_net_whose_outputs_would_change_is_refused(tmp_path):
    config = SMALL.model_copy(update={"name": "any_size"})
    save(tmp_path / "a", config, GO)
    larger = config.model_copy(update={"value_channels": 9})
    assert refusal(larger, tmp_path / "a", GO).endswith("its outputs would change")


def test_a_user_s_game_may_have_changed(tmp_path, capsys, monkeypatch):
    forget_files(monkeypatch)
    path = write_file(tmp_path / "nim.py", NIM)
    old = save(tmp_path / "a", game=make_game(f"{path}:Nim"))
    path.write_text(f"# another version\nA = 1\n{path.read_text()}")
    game = make_game(f"{path}:Nim")
    assert_alike(grow(SMALL, tmp_path / "a", game), old, game)
    assert "has changed since checkpoint" in capsys.readouterr().err


def test_a_damaged_checkpoint_is_refused(tmp_path):
    save(tmp_path / "a")
    data = bytearray((tmp_path / "a").read_bytes())
    data[-3] ^= 1
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(BadInput, match="damaged"):
        grow(SMALL, tmp_path / "a")
