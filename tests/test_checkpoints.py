"""Tests of the shipped checkpoints: the cards in checkpoints/README.md, and that they have learnt to play."""

import tomllib
from pathlib import Path

import pytest
from cases import long

from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.config.reading import load_config
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint

ROOT = Path(__file__).parent.parent
NETS = tomllib.loads((ROOT / "docs" / "figures.toml").read_text())["nets"]
NAMES = sorted(path.stem for path in (ROOT / "checkpoints").glob("*.safetensors"))
IN_CI = [name for name in NAMES if name in ("connect_four", "go_7x7", "othello_6x6", "tic_tac_toe")]


def test_the_page_has_a_card_of_each():
    assert sorted(NETS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_net_is_that_of_the_config_on_its_card(name):
    path, config = ROOT / "checkpoints" / f"{name}.safetensors", load_config(NETS[name]["config"])
    checkpoint = load_checkpoint(path)
    assert (checkpoint.game, NetConfig(**checkpoint.card.net)) == (make_game(config.game.name), config.net)
    text = (ROOT / "checkpoints" / "README.md").read_text().split(f"### {name}\n")[1].split("###")[0]
    num_parameters = sum(each.numel() for each in checkpoint.net.parameters())
    assert f" {round(num_parameters, -3):,} parameters" in text
    assert path.stat().st_size <= 4_000_000


@pytest.mark.thorough
@pytest.mark.parametrize("name", [*IN_CI, *long(*(name for name in NAMES if name not in IN_CI))])
def test_they_have_learned_to_play(name):
    agent = make_agent(f"{name}(solve_nodes=0)@20")
    assert play_match(agent, make_agent("random", game=agent.game), agent.game, 10).tally.score >= 0.9


@pytest.mark.thorough
@pytest.mark.parametrize(("moves", "lost"), [("e6d6c5f6c4e3f4c3d3c6f5g5", "f3"), ("d3e3f5e6f3c5b5c4d6f4c3", "f6")])
def test_othello_sees_when_all_stones_can_be_lost(moves, lost):
    agent = make_agent("othello_8x8@400")
    assert agent.suggest(agent.game.state_from_moves(moves)).best != lost
