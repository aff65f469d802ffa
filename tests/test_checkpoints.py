"""Tests of the shipped checkpoints: the tables in checkpoints/README.md, and that they have learnt to play."""

from pathlib import Path

import pytest

from azero.arena.agents.make import make_agent
from azero.arena.matches.match import play_match
from azero.config.reading import load_config
from azero.config.schema import NetConfig
from azero.games import make_game
from azero.nets.checkpoint import load_checkpoint

ROOT = Path(__file__).parent.parent
NAMES = sorted(path.stem for path in (ROOT / "checkpoints").glob("*.safetensors"))


def told() -> dict[str, dict[str, str]]:
    """Returns the rows of the page's tables, by checkpoint."""
    text = (ROOT / "checkpoints" / "README.md").read_text()
    found = {}
    for table in (part for part in text.split("\n\n") if part.startswith("| | `")):
        head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
        for place, name in enumerate(head[1:], start=1):
            found[name.strip("`")] = {row[0]: row[place] for row in rows}
    return found


def test_the_page_tells_of_all_of_them():
    assert sorted(told()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_the_page_tells_is_on_the_card(name):
    path, page = ROOT / "checkpoints" / f"{name}.safetensors", told()[name]
    checkpoint = load_checkpoint(path)
    card, config = checkpoint.card, load_config(ROOT / page["config"].split("`")[1])
    assert (checkpoint.game, NetConfig(**card.net)) == (make_game(config.game.name), config.net)
    assert page["training seed"].split(";")[0] == str(card.seed)
    assert card.seed == config.seed or "second run" in page["trained for"]
    assert card.iteration <= config.training.iterations or "lessons" in page["trained for"]
    assert f"{card.positions:,}" in page["positions of self-play"]
    assert page["rating above the first net; gates passed"].startswith(f"{card.rating:+.0f} Elo")
    assert f" {card.iteration} " in page["trained for"]
    num_parameters = sum(each.numel() for each in checkpoint.net.parameters())
    assert (
        f"{config.net.blocks} x {config.net.channels}, {round(num_parameters, -3):,} parameters"
        in page["net, blocks x channels"]
    )
    assert path.stat().st_size <= 4_000_000


@pytest.mark.thorough
@pytest.mark.parametrize("name", NAMES)
def test_they_have_learned_to_play(name):
    agent = make_agent(f"{name}(solve_nodes=0)@20")
    assert play_match(agent, make_agent("random", game=agent.game), agent.game, 10).tally.score >= 0.9


@pytest.mark.thorough
@pytest.mark.parametrize(("moves", "lost"), [("e6d6c5f6c4e3f4c3d3c6f5g5", "f3"), ("d3e3f5e6f3c5b5c4d6f4c3", "f6")])
def test_othello_sees_when_all_stones_can_be_lost(moves, lost):
    agent = make_agent("othello_8x8@400")
    assert agent.suggest(agent.game.state_from_moves(moves)).best != lost
