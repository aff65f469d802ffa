"""Tests of the tower for all sizes: places of actions, boards on a canvas, folding, runtimes, and other sizes."""

import re

import pytest
import torch

from azero.arena.agents.make import make_agent
from azero.errors import BadInput
from azero.games import make_game, registered_games
from azero.nets.architectures.any_size.net import AnySizeTower
from azero.nets.architectures.board import Board
from azero.nets.architectures.contract import fold
from azero.nets.checkpoint import load_checkpoint, write_checkpoint
from azero.nets.checkpoint_file import Card
from azero.nets.runtimes.fastest import TOLERANCE, available_runtimes, measure_drift, open_runtime

from .towers import ANY_SIZE, SMALL_OF_CONTEXT, make_net, random_planes

GAMES = ["connect_four", "othello(size=6)", "clobber(rows=4,columns=5)", "hex(size=4,swap=true)", "tic_tac_toe"]
CONFIGS = [each.model_copy(update={"name": "any_size"}) for each in SMALL_OF_CONTEXT]
CPU = "cpu"


@pytest.mark.parametrize("name", [name for name in registered_games() if name != "p_game"])
def test_each_game_of_boards_has_places(name):
    game = make_game(name)
    _, height, width = game.planes_shape
    assert len(game.places.numbers) == game.num_actions
    assert game.places.numbers.max() < game.places.planes * height * width + game.places.slots


@pytest.mark.parametrize("name", ["othello(size={})", "hex(size={})", "clobber(rows={0},columns={0})", "go(size={})"])
def test_all_sizes_have_the_same_planes_and_slots(name):
    small, large = (make_game(name.format(size)).places for size in (4, 6))
    assert small[:2] == large[:2] and len(small.numbers) < len(large.numbers)


def test_a_game_without_places_is_refused():
    with pytest.raises(BadInput, match=r"PGame has no `places`, the planes and cells of its actions; .*any_size"):
        AnySizeTower(ANY_SIZE, make_game("p_game"))


@pytest.mark.parametrize("config", CONFIGS, ids=lambda each: each.global_context)
def test_a_folded_net_says_what_the_net_says(config):
    game = make_game("othello(size=6)")
    net = make_net(game, config)
    planes = torch.from_numpy(random_planes(game, 20))
    for found, expected in zip(fold(net)(planes), net.eval()(planes), strict=True):
        assert expected.std() > 0.001, "constant answers would prove nothing"
        torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)


def test_an_actions_logit_is_made_in_its_own_place():
    game = make_game("clobber(rows=4,columns=5)")
    net = make_net(game, ANY_SIZE).eval()
    features = torch.zeros(1, *net.features_shape)
    torch.nn.init.zeros_(net.policy_bias.weight)  # else each cell changes all logits
    before = net.judge(features).policy_logits
    for cell in range(20):
        changed = features.clone()
        changed.flatten(2)[..., cell] = 3.0
        differs = (net.judge(changed).policy_logits != before)[0].nonzero()[:, 0]
        assert len(differs) and set((differs % 20).tolist()) == {cell}


def test_connect_four_reads_the_top_cells():
    game = make_game("connect_four")
    net = make_net(game, ANY_SIZE).eval()
    features = torch.randn(2, *net.features_shape)
    whole = Board(torch.ones(2, 1, 6, 7), torch.ones(2, 42, dtype=torch.bool))
    torch.testing.assert_close(net.judge(features, whole).policy_logits[:, :7], net.judge(features).policy_logits)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda each: each.global_context)
@pytest.mark.parametrize("mode", ["eval", "train"])
def test_a_board_on_a_canvas_is_judged_as_alone(config, mode):
    small, large = make_game("othello(size=4)"), make_game("othello(size=6)")
    net, alone = make_net(large, config), AnySizeTower(config, small)
    alone.load_state_dict(net.state_dict())
    getattr(net, mode)(), getattr(alone, mode)()
    planes = torch.from_numpy(random_planes(small, 12))
    canvas = torch.zeros(12, *large.planes_shape)
    canvas[:, :, :4, :4] = planes
    cells = torch.zeros(12, 1, 6, 6)
    cells[:, :, :4, :4] = 1
    places = torch.cat([cells.flatten(1).bool(), torch.ones(12, 1, dtype=torch.bool)], dim=1)
    board = Board(cells, places)
    found, expected = net.judge(net.features(canvas, board), board), alone(planes)
    torch.testing.assert_close(found.policy_logits[places].view(12, 17), expected.policy_logits, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.result_logits, expected.result_logits, atol=1e-4, rtol=1e-4)
    assert (found.policy_logits[~places] < -1000).all()
    if mode == "train":  # the statistics are those of the cells on boards
        for one, other in zip(net.buffers(), alone.buffers(), strict=True):
            torch.testing.assert_close(one.float(), other.float(), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("runtime", available_runtimes(CPU), ids=lambda each: each.name)
def test_every_runtime_agrees_with_fp32(name, runtime):
    game = make_game(name)
    net = make_net(game, CONFIGS[-1])
    session = open_runtime(runtime, net, CPU, rows=8, num_threads=1)
    assert measure_drift(net, session, rows=8) <= (1e-5 if runtime.precision == "fp32" else TOLERANCE)
    logits, values = session.run(random_planes(game, 8))
    assert logits.shape == (8, game.num_actions) and values.shape == (8,)


@pytest.mark.slow
def test_a_checkpoint_plays_other_sizes_of_its_game(tmp_path):
    path, trained = tmp_path / "any.safetensors", make_game("othello(size=4)")
    net = make_net(trained, ANY_SIZE)
    write_checkpoint(path, net, Card(game=str(trained), net=ANY_SIZE.model_dump(), search={}, seed=0))
    larger = make_game("othello(size=6)")
    loaded = load_checkpoint(path, larger)
    assert loaded.game == larger and load_checkpoint(path).game == trained
    assert all(torch.equal(tensor, net.state_dict()[name]) for name, tensor in loaded.net.state_dict().items())
    agent = make_agent(f"{path}@8", larger)
    assert len(agent.suggest(larger.new_initial_state()).moves) == 4


@pytest.mark.parametrize(
    ("net", "game", "message"),
    [
        (SMALL_OF_CONTEXT[0], "othello(size=6)", "plays othello(size=4), not othello(size=6): size is 4, not 6"),
        (ANY_SIZE, "hex(size=4)", "plays othello(size=4), not hex(size=4)"),
    ],
)
def test_other_nets_and_games_are_refused(tmp_path, net, game, message):
    path, trained = tmp_path / "net.safetensors", make_game("othello(size=4)")
    write_checkpoint(path, make_net(trained, net), Card(game=str(trained), net=net.model_dump(), search={}, seed=0))
    with pytest.raises(BadInput, match=re.escape(message)):
        load_checkpoint(path, make_game(game))


def test_a_rule_is_no_size(tmp_path):
    path, trained = tmp_path / "net.safetensors", make_game("hex(size=4,swap=false)")
    write_checkpoint(path, make_net(trained, ANY_SIZE), Card(game=str(trained), net=ANY_SIZE.model_dump(), search={}))
    message = "plays hex(size=4) in any size, not hex(size=5,swap=true): swap is false, not true"
    with pytest.raises(BadInput, match=re.escape(message)):
        load_checkpoint(path, make_game("hex(size=5,swap=true)"))
