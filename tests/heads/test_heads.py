"""Tests of auxiliary heads: targets under symmetries and for the player to move, losses by hand, settings."""

import math

import numpy as np
import pytest
import torch
from selfplay.games import shard_of, some_games
from training.runs import tiny_config

from azero.config.schema import TrainingConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.heads import HEADS as BY_NAME
from azero.nets.architectures.heads import layers_of
from azero.nets.make import make_net
from azero.selfplay.data.positions import positions_of
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import Targets, make_sample
from azero.training.learning.learner import heads_of

OTHELLO = make_game("othello(size=4)")
HEADS = tuple(BY_NAME.values())


def everything(head, game, shard, symmetry=0):
    """Returns a head's targets for each position of a shard."""
    indices = np.arange(shard.num_positions)
    return head.targets(positions_of(game, shard, indices, np.full_like(indices, symmetry)))


# --- settings ---


def test_a_weight_asks_for_a_head():
    assert heads_of(TrainingConfig(), OTHELLO) == ()
    for head in HEADS:
        assert heads_of(TrainingConfig(**{f"{head.name}_loss_weight": 0.1}), OTHELLO) == (head,)
    two = heads_of(TrainingConfig(score_loss_weight=0.1, ownership_loss_weight=2), OTHELLO)
    assert [head.name for head in two] == ["ownership", "score"], "heads should be in the registry's order"


@pytest.mark.parametrize(
    ("game", "setting", "method"),
    [
        ("tic_tac_toe", "ownership_loss_weight", "ownership"),
        ("p_game", "ownership_loss_weight", "ownership"),
        ("hex", "score_loss_weight", "final_score"),
    ],
)
def test_heads_for_what_a_game_does_not_tell_are_refused(game, setting, method):
    with pytest.raises(BadInput) as error:
        heads_of(TrainingConfig(**{setting: 1.5}), make_game(game))
    assert str(error.value) == f"training.{setting} is 1.5; it should be 0, since {game} has no `{method}` of its own"


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_a_head_has_as_many_outputs_as_targets_and_a_new_one_puts_out_zeros(head):
    shard, config = some_games(OTHELLO), tiny_config().net
    targets, of_lessons = everything(head, OTHELLO, shard), head.lesson_targets(OTHELLO, np.zeros(3, np.int8))
    assert targets.shape == (shard.num_positions, head.columns(OTHELLO)) and targets.dtype == np.float32
    assert of_lessons.shape == (3, head.columns(OTHELLO)) and of_lessons.dtype == np.float32
    outputs = layers_of(head, make_net(config, OTHELLO), config, is_kept=False)(torch.randn(2, config.channels, 4, 4))
    assert outputs.shape == (2, head.columns(OTHELLO)) and not outputs.any()


# --- ownership and score ---

GO = make_game("go(size=3,komi=0.5)")
FORK = "b1 a2 b2 c3 b3 pass pass"
FORK_OWNERS = [[0, 1, -1], [-1, 1, 0], [0, 1, 0]]


def test_who_holds_each_cell_and_by_how_much_are_the_mover_s():
    """Some points are neutral. Black wins by half a point on a board of side 3."""
    owners, scores = (everything(head, GO, shard_of(GO, FORK, "pass pass")) for head in HEADS)
    first = np.array(FORK_OWNERS).ravel()
    assert owners.tolist() == [*([*first], [*-first]) * 3, [*first], [0] * 9, [0] * 9]
    np.testing.assert_allclose(scores[:, 0], np.array([1, -1, 1, -1, 1, -1, 1, -1, 1]) * 0.5 / 3)


def test_owners_are_turned_as_the_planes_are():
    """Owners are transformed with the planes. At the end each stone belongs to its player."""
    shard, size = shard_of(GO, FORK), len(GO.symmetries.cells)
    indices = np.full(size, shard.num_positions - 1)
    sample = make_sample(GO, shard, indices, np.arange(size), Targets(auxiliary=HEADS))
    owners = sample.auxiliary["ownership"].reshape(size, 3, 3)
    assert np.array_equal(owners, sample.planes[:, 0] - sample.planes[:, 1]), "only stones are owned in this position"
    board = np.array(FORK_OWNERS)
    turned = [np.rot90(each, k) for each in (board, board.T) for k in range(4)]
    assert size == 8 and {each.tobytes() for each in owners} == {each.astype(np.float32).tobytes() for each in turned}
    assert len(set(sample.auxiliary["score"][:, 0])) == 1


# --- replay ---


def test_replay_knows_how_the_games_it_keeps_ended():
    """While shards enter and leave, samples have the targets of their own positions."""
    replay, rng = Replay((GO,), Window(10), Targets(auxiliary=HEADS)), np.random.default_rng(0)
    for name, (moves, score) in enumerate([(FORK, 0.5), ("pass b2 pass pass", -9.5), ("b2 pass pass", 8.5)]):
        replay.add(str(name), shard_of(GO, moves))
        sample = replay.sample(64, rng)
        scores = sample.auxiliary["score"][:, 0]
        ends = {round(float(3 * each), 3) for each in np.abs(scores)}
        assert abs(score) in ends and ends <= {0.5, 9.5, 8.5}
        assert np.array_equal(np.sign(scores), sample.results[:, 0] - sample.results[:, 2])


# --- lessons ---


# --- losses ---


def test_losses_by_hand():
    owners = torch.tensor([[math.log(3.0), math.log(3.0), 0.0], [9.0, 9.0, 9.0]])  # 3/4, 3/4, 1/2
    loss = BY_NAME["ownership"].with_torch.loss(owners, torch.tensor([[1.0, -1.0, 0.0], [math.nan] * 3]))
    expected = (math.log(4 / 3) + math.log(4) + math.log(2)) / 3
    assert loss.item() == pytest.approx(expected), "the second row's end is unknown"

    loss = BY_NAME["score"].with_torch.loss(torch.tensor([[2.5], [9.0]]), torch.tensor([[-1.0], [math.nan]]))
    assert loss.item() == pytest.approx(3.5 - 0.5)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_what_is_unknown_teaches_nothing(head):
    outputs, targets = torch.ones(2, 4, requires_grad=True), torch.zeros(2, 4)
    targets[1] = math.nan
    head.with_torch.loss(outputs, targets).backward()
    assert outputs.grad[0].all() and not outputs.grad[1].any()
    assert head.with_torch.loss(outputs, targets * math.nan).item() == 0
