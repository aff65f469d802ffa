"""Tests of runs in which one net learns several sizes of a game."""

import json

import numpy as np
import pytest
import torch
from command_line import assert_bad_input
from selfplay.games import play

import azero
from azero.config.schema import GameConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.sizes import games_of
from azero.nets.architectures.contract import with_noise
from azero.nets.checkpoint import load_checkpoint, net_from_weights, weights_of
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.replay import JoinedPositions
from azero.selfplay.data.samples import Targets
from azero.selfplay.data.shard import SizedShard
from azero.selfplay.tasks import split_seeds
from azero.training.checking import check_run
from azero.training.gate import share_match
from azero.training.learning.trainer import Trainer

from .runs import files_of, nets_of, tiny_config, write_config

pytestmark = pytest.mark.slow  # its runs take long

SECTIONS = {
    "game": {"name": "hex(swap=true)", "sizes": [3, 4]},
    "net": {"name": "any_size"},
    "replay": {},
    "training": {"iterations": 2},
    "gate": {"games": 8, "final_games": 4},
    "evaluation": {"games": 8, "every": 1},
}
SIZES = [make_game("hex(size=3,swap=true)"), make_game("hex(size=4,swap=true)")]


def sized_config(**sections):
    return tiny_config(**{name: SECTIONS.get(name, {}) | sections.get(name, {}) for name in SECTIONS | sections})


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An unbroken run."""
    return azero.train(sized_config(), tmp_path_factory.mktemp("sizes") / "run")


def test_both_sizes_are_played_learned_and_measured(whole):
    assert [str(game) for game in whole.sizes] == [str(game) for game in SIZES] and whole.game is whole.sizes[-1]
    lengths = [whole.games(game).lengths for game in whole.sizes]
    assert (
        [len(own) for own in lengths]
        == [6, 6]
        == [len(azero.load_games(whole.folder, 2, game).lengths) for game in SIZES]
    )
    for line in whole.history():
        for stage in ("gate", "evaluation"):
            assert {f"{stage}/score_size_{size}" for size in (3, 4)} <= line.keys()
        assert line["evaluation/score"] == np.mean([line[f"evaluation/score_size_{size}"] for size in (3, 4)])


def test_the_games_of_a_size_are_asked_for_by_name(whole):
    for ask in (whole.games, lambda: azero.load_games(whole.folder)):
        with pytest.raises(BadInput, match=r"has games of sizes \[3, 4\]; say which with game="):
            ask()
    with pytest.raises(BadInput, match="has no games"):
        whole.games(make_game("hex(size=5,swap=true)"))


@pytest.mark.parametrize("method", ["after_selfplay", "after_training", "after_gate"])
def test_a_stopped_run_goes_on_as_unbroken(whole, tmp_path, method):
    def stop(self, run):
        raise azero.StopTraining

    azero.train(sized_config(), tmp_path / "run", callbacks=[type("Stops", (), {method: stop})()])
    azero.train(run=tmp_path / "run", resume=True)
    assert nets_of(tmp_path / "run") == nets_of(whole.folder)
    assert files_of(tmp_path / "run" / "replay") == files_of(whole.folder / "replay")


def test_the_net_plays_every_size(whole, run_azero):
    for size in (3, 4, 5):
        name = f"hex(size={size},swap=true)"
        code, output, _ = run_azero("suggest", f"{whole.best_path}@8", "--game", name, "--json")
        assert code == 0 and json.loads(output)["game"] == name


def test_the_check_of_a_run_reads_all_sizes(whole):
    report = check_run(whole.folder, is_repairing=False)
    assert not report.damaged and report.files > 6


def test_a_position_on_the_canvas_is_judged_as_alone():
    config = sized_config()
    shards = [SizedShard(size, play(game, range(2))) for size, game in enumerate(SIZES)]
    trainer = Trainer(config, SIZES[-1], Canvas(SIZES))
    trainer.average = with_noise(trainer.average).eval()
    positions = JoinedPositions(SIZES, shards)
    indices = np.random.default_rng(0).permutation(len(positions.weights))
    both = positions.sample(indices, Targets())
    on_canvas = trainer.predict(both)
    for size, game in enumerate(SIZES):
        own = np.flatnonzero(both.sizes == size)
        assert len(own) == shards[size].shard.num_positions
        begin = 0 if size == 0 else shards[0].shard.num_positions
        alone = JoinedPositions([game], [SizedShard(0, shards[size].shard)]).sample(indices[own] - begin, Targets())
        net = net_from_weights(config.net, game, weights_of(trainer.average)).eval()
        with torch.no_grad():
            prediction = net(torch.from_numpy(alone.planes))
        numbers = np.flatnonzero(Canvas(SIZES).places[size])  # in the order of actions, since hex has one plane
        rest = np.setdiff1d(np.arange(on_canvas.policy_logits.shape[1]), numbers)
        logits = on_canvas.policy_logits[own]
        assert np.array_equal(both.policies[own][:, numbers], alone.policies)
        assert torch.allclose(logits[:, numbers], prediction.policy_logits, atol=1e-4)
        assert torch.allclose(on_canvas.result_logits[own], prediction.result_logits, atol=1e-4)
        assert (logits[:, rest] < -1000).all() and np.array_equal(both.results[own], alone.results)


def test_a_small_board_on_the_canvas_teaches_what_it_teaches_alone():
    trainer = Trainer(sized_config(), SIZES[-1], Canvas(SIZES))
    sample = JoinedPositions(SIZES, [SizedShard(0, play(SIZES[0], range(4)))]).sample(np.arange(20), Targets())
    losses = trainer.step(sample, 0.0).by_name()
    alone = Trainer(sized_config(game={"name": "hex(size=3,swap=true)", "sizes": []}), SIZES[0])
    own = JoinedPositions(SIZES[:1], [SizedShard(0, play(SIZES[0], range(4)))]).sample(np.arange(20), Targets())
    for name, loss in alone.step(own, 0.0).by_name().items():
        assert float(losses[name]) == pytest.approx(float(loss), abs=1e-5)
    for name, tensor in alone.net.state_dict().items():
        assert torch.allclose(tensor.float(), trainer.net.state_dict()[name].float(), atol=1e-4), name


def test_a_run_of_sizes_begins_with_the_games_and_the_net_of_a_smaller_board(tmp_path):
    small = sized_config(game={"name": "hex(size=3,swap=true)", "sizes": []}, training={"iterations": 1})
    azero.train(small, tmp_path / "small")
    begun = {"first_net": str(tmp_path / "small"), "iterations": 1}
    config = sized_config(replay={"first_games": str(tmp_path / "small"), "window": 1000}, training=begun)
    run = azero.train(config, tmp_path / "both")
    first = load_checkpoint(tmp_path / "both" / "checkpoints" / "00000.safetensors")
    best = load_checkpoint(tmp_path / "small" / "best.safetensors")
    assert str(first.game) == "hex(size=4,swap=true)" and run.metrics["selfplay/games"] == 12
    assert all(torch.equal(each, best.net.state_dict()[name]) for name, each in first.net.state_dict().items())


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"game": {"sizes": [4, 3]}}, "should be two or more sizes, ascending"),
        ({"game": {"sizes": [4]}}, "should be two or more sizes, ascending"),
        ({"game": {"sizes": [3, "x"]}}, "should be an integer"),
        ({"game": {"sizes": 4}}, "game.sizes = 4 should be a list"),
        ({"net": {"name": "tower"}}, "net.name = tower cannot be used with game.sizes; it should be any_size"),
        ({"selfplay": {"starts": "positions.txt"}}, "selfplay.starts = positions.txt cannot be used"),
        ({"training": {"lessons": "lessons"}}, "training.lessons = lessons cannot be used"),
        ({"training": {"score_loss_weight": 0.1}}, "training.score_loss_weight = 0.1 cannot be used"),
        ({"gate": {"games": 3}}, "gate.games = 3 should be 4 or more for 2 sizes"),
        ({"selfplay": {"games_per_iteration": 1}}, "selfplay.games_per_iteration = 1 should be 2 or more"),
    ],
)
def test_settings_that_sizes_do_not_allow_are_refused(sections, message):
    with pytest.raises(BadInput) as caught:
        sized_config(**sections)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "sizes", "message"),
    [
        ("hex(size=3)", (3, 4), "says size, and game.sizes gives the sizes"),
        ("gomoku(rows=7)", (7, 8), "says rows, and game.sizes gives the sizes"),
        ("p_game", (3, 4), "has no parameter 'size'"),
        ("hex", (3, 400), "size=400 is out of range"),
        ("hexx", (3, 4), "unknown game"),
    ],
)
def test_games_without_these_sizes_are_refused(name, sizes, message):
    with pytest.raises(BadInput) as caught:
        games_of(GameConfig(name=name, sizes=sizes))
    assert message in str(caught.value)


def test_a_run_keeps_its_sizes(whole, run_azero):
    result = run_azero("train", "--run", whole.folder, "--resume", "--set", "game.sizes=[3,5]")
    assert_bad_input(result, "a run's game cannot change when it is resumed")


def test_games_of_another_size_are_refused_at_the_beginning(whole, tmp_path, run_azero):
    config = write_config(tmp_path, game={"name": "hex(size=3,swap=true)"})
    result = run_azero("train", config, "--run", tmp_path / "run", "--games-of", whole.folder)
    assert_bad_input(result, "holds games of hex(size=4,swap=true), not hex(size=3,swap=true)")
    assert not (tmp_path / "run").exists()


def test_sizes_share_games_and_seeds():
    assert share_match(10, 1) == [10] and share_match(11, 2) == [6, 5] and share_match(6, 2) == [4, 2]
    shards = split_seeds(list(range(7)), 2, 3)
    assert shards == [(0, (0, 2, 4)), (1, (1, 3, 5)), (0, (6,))]
    assert split_seeds(list(range(5)), 1, 2) == [(0, (0, 1)), (0, (2, 3)), (0, (4,))]
