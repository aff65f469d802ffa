"""Tests of agents as plain data: they are made in a place that has none of their files, and play the same."""

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from games.user_games import NIM, forget_files, write_file
from mcts.own_searches import write_searches

from azero.arena.agents.make import make_agent
from azero.arena.agents.specs import make_from, settled_device, spec_of
from azero.config.schema import DeviceConfig, NetConfig, SearchConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import SHORT_IDENTITY, source_digest_of
from azero.games.user import trust
from azero.games.user.trust import Untrusted, trust_file
from azero.mcts.rollouts.features import NUM_PATTERNS
from azero.mcts.rollouts.weights import RolloutCard, save_rollout
from azero.nets.checkpoint import save_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.make import make_net
from azero.system import packed_files

from .agents import write_checkpoint, write_engine

pytestmark = pytest.mark.slow  # it compiles kernels of its own

GAME = make_game("tic_tac_toe")
TRANSFORMER = Path(__file__).parents[2] / "examples" / "transformer.py"


is_here = packed_files._is_here


def moves_of(agent):
    """Returns the moves of both sides of a game that an agent plays against itself."""
    state, moves = agent.game.new_initial_state(), []
    while not state.is_terminal():
        moves.append(agent.suggest(state).best)
        state.apply_action(agent.game.text_to_action(state, moves[-1]))
    agent.close()
    return moves


def elsewhere(spec, monkeypatch, tmp_path):
    """Returns the spec as it arrives on a machine without its files, on which nothing is trusted yet."""
    monkeypatch.setenv("AZERO_PACKED_FILES", str(tmp_path / "arrived"))
    monkeypatch.setattr(
        packed_files,
        "_is_here",
        lambda path, digest: path.is_relative_to(tmp_path / "arrived") and is_here(path, digest),
    )
    monkeypatch.setattr(trust, "_NAMED", set())
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "nobody"))
    return pickle.loads(pickle.dumps(spec))


@pytest.fixture
def policy(tmp_path):
    """The file of a rollout policy that is far from uniform."""
    path = tmp_path / "policy.safetensors"
    rng = np.random.default_rng(0)
    weights = (rng.normal(0, 3, size).astype(np.float32) for size in (NUM_PATTERNS, GAME.num_actions))
    save_rollout(path, *weights, RolloutCard(str(GAME), "", 1, 1, 1, 0, {}))
    return path


def test_an_agent_is_made_where_none_of_its_files_are(tmp_path, monkeypatch, policy):
    """With a level of its own, options, a rollout policy, a limit, or only by the name of a run's folder."""
    (tmp_path / "run(1)").mkdir()
    net = write_checkpoint(tmp_path / "run(1)" / "best.safetensors")
    names = [
        f"{net}@12",
        f"{net.parent}(rollout_weight=0.5,rollout={policy},precision=fp32)@12",
        f"{net}(level=2)",
        f"uct(prove=false,rollout={policy})@20",
        "alphabeta@9",
        "random",
    ]
    wanted = [moves_of(make_agent(name, GAME, 5)) for name in names]
    specs = [spec_of(name, GAME, 5) for name in names]
    shutil.rmtree(net.parent)
    policy.unlink()
    for name, spec, moves in zip(names, specs, wanted, strict=True):
        agent = make_from(elsewhere(spec, monkeypatch, tmp_path))
        assert agent.name == name and moves_of(agent) == moves


def test_the_rollout_policy_of_a_checkpoint_travels_with_it(tmp_path, monkeypatch, policy):
    torch.manual_seed(0)
    config = NetConfig(blocks=1, channels=8)
    search = SearchConfig(rollout_weight=0.5, rollout=str(policy))
    path = tmp_path / "net.safetensors"
    save_checkpoint(path, make_net(config, GAME), Card("tic_tac_toe", config.model_dump(), search.model_dump()))
    wanted, spec = moves_of(make_agent(f"{path}@20", GAME)), spec_of(f"{path}@20", GAME)
    path.unlink()
    policy.unlink()
    assert moves_of(make_from(elsewhere(spec, monkeypatch, tmp_path))) == wanted


def test_a_users_game_and_net_travel_with_their_checkpoint_and_are_trusted_there(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "sizes.py").write_text("SMALL = 8\n")
    file = write_file(folder / "nim.py", NIM)
    file.write_text(f"{file.read_text()}\n\nTRAVELS = True\n")  # other tests load Nim from files that stay
    text = TRANSFORMER.read_text().replace("from torch import nn\n", "import sizes\nfrom torch import nn\n", 1)
    (folder / "net.py").write_text(text.replace("width: int = 32", "width: int = sizes.SMALL", 1))
    game, name = make_game(f"{file}:Nim"), f"{folder / 'net.py'}:Transformer(blocks=1,heads=2)"
    trust.trust_name(name, "net")
    config = NetConfig(name=name)
    torch.manual_seed(0)
    net = make_net(config, game)
    card = Card(str(game), config.model_dump(mode="json"), SearchConfig().model_dump())
    of_game = {"game_digest": source_digest_of(game.rules), "game_file": "../nim.py"}
    card = replace(card, **of_game, net_digest=net.identity[:SHORT_IDENTITY], net_file="../net.py")
    (folder / "run").mkdir()
    path = folder / "run" / "best.safetensors"
    save_checkpoint(path, net, card)
    wanted, spec = moves_of(make_agent(f"{path}@9", game)), spec_of(f"{path}@9", game)
    shutil.rmtree(folder)
    forget_files(monkeypatch)
    there = elsewhere(spec, monkeypatch, tmp_path)
    assert moves_of(make_from(there)) == wanted
    with pytest.raises(BadInput, match="has changed while it was being played"):
        make_from(replace(there, game_identity="0" * 64))


def test_a_users_search_travels_with_its_agent(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    write_searches(tmp_path / "mine")
    file, net = tmp_path / "mine" / "mine.py", write_checkpoint(tmp_path / "net.safetensors")
    name = f"{net}(selection={file}:MyPuct(c_puct=3),root={file}:MyRoot(dirichlet_epsilon=0.9))@12"
    wanted, spec = moves_of(make_agent(name, GAME, 5)), spec_of(name, GAME, 5)
    assert wanted != moves_of(make_agent(f"{net}@12", GAME, 5))
    file.unlink()
    forget_files(monkeypatch)
    agent = make_from(elsewhere(spec, monkeypatch, tmp_path))
    assert agent.name == name and moves_of(agent) == wanted


def test_a_search_that_was_edited_since_it_was_named_has_no_spec(tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "_NAMED", set())  # by other tests
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    write_searches(tmp_path)
    file, net = tmp_path / "mine.py", write_checkpoint(tmp_path / "net.safetensors")
    name = f"{net}(selection={file}:MyPuct)@12"
    with pytest.raises(Untrusted):
        spec_of(name, GAME)
    trust_file(str(file), "rule")
    assert spec_of(name, GAME).files
    file.write_text(f"{file.read_text()}\nEDITED = True\n")
    with pytest.raises(Untrusted, match="has changed since"):
        spec_of(name, GAME)


def test_an_agent_whose_root_keeps_no_tree_does_not_ponder(tmp_path):
    net = write_checkpoint(tmp_path / "net.safetensors")
    assert make_agent(f"{net}@12", GAME).can_ponder and not make_agent(f"{net}(root=gumbel)@12", GAME).can_ponder


def test_a_program_has_no_files(tmp_path):
    spec = spec_of(write_engine(tmp_path), GAME)
    assert spec.is_program and spec.files == () and not spec_of("uct@9", GAME).is_program


def test_a_net_runs_elsewhere_as_it_does_here(tmp_path):
    name = str(write_checkpoint(tmp_path / "net.safetensors"))
    device = DeviceConfig(threads=3)
    for agent in (make_agent(f"{name}@9", GAME), make_agent(f"{name}(level=2)", GAME)):
        settled = settled_device(agent, device)
        assert "auto" not in (settled.device, settled.runtime, settled.precision) and settled.threads == 3
    assert settled_device(make_agent("uct@9", GAME), device) == device
