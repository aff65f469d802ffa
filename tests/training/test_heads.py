"""Tests of auxiliary heads: targets under symmetries and for the player to move, losses by hand, settings."""

import math

import numpy as np
import pytest
import torch
from selfplay.games import CONNECT_FOUR, TIC_TAC_TOE, play, shard_of, some_games, visits_of

from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import DRAW, LOSS, WIN, make_game
from azero.nets.make import make_net
from azero.selfplay.data.auxiliary import positions_of
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.selfplay.data.records import join_shards
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import Targets, make_sample
from azero.training.heads.ownership import Ownership
from azero.training.heads.plies_left import PliesLeft
from azero.training.heads.registry import HEADS, heads_of
from azero.training.heads.reply import Reply
from azero.training.heads.score import Score
from azero.training.heads.short_term import ShortTerm

from .runs import tiny_config

AMAZONS = make_game("amazons(size=4)")
OTHELLO = make_game("othello(size=4)")
ENDINGS = Ownership(), Score()


def everything(head, game, shard, symmetry=0):
    """Returns a head's targets for each position of a shard."""
    indices = np.arange(shard.num_positions)
    return head.targets(positions_of(game, shard, indices, np.full_like(indices, symmetry)))


def games_of(shard):
    """Yields the range of each game's positions."""
    for end, length in zip(np.cumsum(shard.lengths), shard.lengths, strict=True):
        yield range(end - length, end)


def some_amazons():
    return play(AMAZONS, range(3))


# --- settings ---


def test_a_weight_asks_for_a_head():
    assert heads_of(TrainingConfig(), OTHELLO) == ()
    for head in HEADS:
        assert heads_of(TrainingConfig(**{f"{head.name}_loss_weight": 0.1}), OTHELLO) == (head,)
    two = heads_of(TrainingConfig(score_loss_weight=0.1, reply_loss_weight=2), OTHELLO)
    assert [head.name for head in two] == ["reply", "score"], "heads should be in the registry's order"


def test_each_head_has_a_setting_and_each_setting_a_head():
    settings = {name for name in TrainingConfig.model_fields if name.endswith("_loss_weight")}
    assert settings == {"value_loss_weight"} | {f"{head.name}_loss_weight" for head in HEADS}
    assert len(settings) == len(HEADS) + 1


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


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.name)
def test_a_head_has_as_many_outputs_as_targets_and_a_new_one_puts_out_zeros(head):
    shard, config = some_games(OTHELLO), tiny_config().net
    targets, of_lessons = everything(head, OTHELLO, shard), head.lesson_targets(OTHELLO, np.zeros(3, np.int8))
    assert targets.shape == (shard.num_positions, head.columns(OTHELLO)) and targets.dtype == np.float32
    assert of_lessons.shape == (3, head.columns(OTHELLO)) and of_lessons.dtype == np.float32
    outputs = head.layers(config, make_net(config, OTHELLO))(torch.randn(2, config.channels, 4, 4))
    assert outputs.shape == (2, head.columns(OTHELLO)) and not outputs.any()


# --- the opponent's reply ---


@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR])
def test_a_reply_is_the_next_policy_turned_as_the_position_is(game):
    shard, actions = some_games(game), game.symmetries.actions
    visits = visits_of(shard, game)
    for symmetry in range(len(actions)):
        replies = everything(Reply(), game, shard, symmetry)
        for own in games_of(shard):
            for k in own[:-1]:
                policy = visits[k + 1] / visits[k + 1].sum()
                np.testing.assert_allclose(replies[k], policy[actions[symmetry]], rtol=1e-6)
            assert not replies[own[-1]].any(), "the last position has no reply"


def test_a_reply_points_at_cells_that_were_empty_before():
    """In tic-tac-toe moves are cells, and the third plane shows the empty ones."""
    shard = some_games(TIC_TAC_TOE)
    indices = np.repeat(np.arange(shard.num_positions), 8)
    symmetries = np.tile(np.arange(8), shard.num_positions)
    sample = make_sample(TIC_TAC_TOE, shard, indices, symmetries, Targets(auxiliary=(Reply(),)))
    assert np.all((sample.auxiliary["reply"] > 0) <= (sample.planes[:, 2].reshape(-1, 9) == 1))


def test_who_moves_on_has_no_reply():
    """In Amazons one player's turn has three actions."""
    shard = some_amazons()
    has_reply = everything(Reply(), AMAZONS, shard).any(axis=1)
    for own in games_of(shard):
        assert [has_reply[k] for k in own] == [k != own[-1] and shard.players[k] != shard.players[k + 1] for k in own]
    assert 0.2 < has_reply.mean() < 0.5


def test_a_fast_search_is_no_reply():
    shard = some_games(TIC_TAC_TOE)
    is_fast = np.arange(shard.num_positions) % 2 == 1
    fast = shard._replace(weights=np.where(is_fast, 0, shard.weights).astype(np.float32))
    replies, before = (everything(Reply(), TIC_TAC_TOE, each) for each in (fast, shard))
    is_before_fast = np.append(is_fast[1:], False)
    assert not replies[is_before_fast].any() and np.array_equal(replies[~is_before_fast], before[~is_before_fast])


# --- plies left ---


def test_plies_are_counted_to_the_end_of_each_game():
    shard = join_shards([some_games(TIC_TAC_TOE), play(TIC_TAC_TOE, range(20, 23))])
    expected = np.concatenate([np.arange(length, 0, -1) for length in shard.lengths])
    assert everything(PliesLeft(), TIC_TAC_TOE, shard)[:, 0].tolist() == expected.tolist()


def test_in_a_game_that_was_resigned_plies_left_are_unknown():
    shard = some_games(TIC_TAC_TOE)
    resigned = shard._replace(resigned=np.arange(12) == 1)
    given_up = np.repeat(resigned.resigned, shard.lengths)
    plies_left, known = (everything(PliesLeft(), TIC_TAC_TOE, each)[:, 0] for each in (resigned, shard))
    assert np.isnan(plies_left[given_up]).all() and np.array_equal(plies_left[~given_up], known[~given_up])


# --- short-term values ---


def test_horizons_grow_with_the_board():
    assert ShortTerm().horizons(make_game("go(size=19)")) == pytest.approx([6.776, 21.216, 64.536])


@pytest.mark.parametrize("shard", [some_games(TIC_TAC_TOE), some_amazons()], ids=["turns alternate", "they do not"])
def test_short_term_values_are_means_that_the_mover_sees(shard):
    """The ply at distance d has weight (1 - 1/h)^(d - 1) / h. The result has the remaining weight."""
    game = TIC_TAC_TOE if shard is some_games(TIC_TAC_TOE) else AMAZONS
    found, horizons = everything(ShortTerm(), game, shard), ShortTerm().horizons(game)
    assert found.shape == (shard.num_positions, 3)
    for own in games_of(shard):
        for k in own:
            side = np.where(shard.players == shard.players[k], 1, -1)
            for column, horizon in enumerate(horizons):
                later = np.arange(k + 1, own[-1] + 1)
                weights = (1 - 1 / horizon) ** (later - k - 1) / horizon
                expected = (weights * side[later] * shard.root_values[later]).sum()
                expected += (1 - weights.sum()) * shard.results()[k]
                assert found[k, column] == pytest.approx(expected, abs=1e-5)
    assert np.abs(found).max() <= 1


def test_both_sides_see_a_value_with_the_sign_of_their_own():
    """All values are 1 for the first player, who wins. So each target is 1 or -1."""
    shard = some_games(TIC_TAC_TOE)
    first = 1 - 2 * shard.players
    shard = shard._replace(root_values=first.astype(np.float32), outcomes=np.ones_like(shard.outcomes))
    found = everything(ShortTerm(), TIC_TAC_TOE, shard)
    np.testing.assert_allclose(found, np.repeat(first[:, None], 3, axis=1), atol=1e-6)


# --- ownership and score ---

GO = make_game("go(size=3,komi=0.5)")
FORK = "b1 a2 b2 c3 b3 pass pass"
FORK_OWNERS = [[0, 1, -1], [-1, 1, 0], [0, 1, 0]]


def test_who_holds_each_cell_and_by_how_much_are_the_mover_s():
    """Some points are neutral. Black wins by half a point on a board of side 3."""
    owners, scores = (everything(head, GO, shard_of(GO, FORK, "pass pass")) for head in ENDINGS)
    first = np.array(FORK_OWNERS).ravel()
    assert owners.tolist() == [*([*first], [*-first]) * 3, [*first], [0] * 9, [0] * 9]
    np.testing.assert_allclose(scores[:, 0], np.array([1, -1, 1, -1, 1, -1, 1, -1, 1]) * 0.5 / 3)


def test_owners_are_turned_as_the_planes_are():
    """Owners are transformed with the planes. At the end each stone belongs to its player."""
    shard, size = shard_of(GO, FORK), len(GO.symmetries.cells)
    indices = np.full(size, shard.num_positions - 1)
    sample = make_sample(GO, shard, indices, np.arange(size), Targets(auxiliary=ENDINGS))
    owners = sample.auxiliary["ownership"].reshape(size, 3, 3)
    assert np.array_equal(owners, sample.planes[:, 0] - sample.planes[:, 1]), "only stones are owned in this position"
    board = np.array(FORK_OWNERS)
    turned = [np.rot90(each, k) for each in (board, board.T) for k in range(4)]
    assert size == 8 and {each.tobytes() for each in owners} == {each.astype(np.float32).tobytes() for each in turned}
    assert len(set(sample.auxiliary["score"][:, 0])) == 1


def test_of_a_game_that_was_given_up_the_end_is_unknown():
    for head in ENDINGS:
        targets = everything(head, GO, shard_of(GO, "b2 a1", FORK))
        assert np.isnan(targets[:2]).all() and np.isfinite(targets[2:]).all()


# --- replay ---


def test_replay_knows_how_the_games_it_keeps_ended():
    """While shards enter and leave, samples have the targets of their own positions."""
    replay, rng = Replay((GO,), Window(10), Targets(auxiliary=ENDINGS)), np.random.default_rng(0)
    for name, (moves, score) in enumerate([(FORK, 0.5), ("pass b2 pass pass", -9.5), ("b2 pass pass", 8.5)]):
        replay.add(str(name), shard_of(GO, moves))
        sample = replay.sample(64, rng)
        scores = sample.auxiliary["score"][:, 0]
        ends = {round(float(3 * each), 3) for each in np.abs(scores)}
        assert abs(score) in ends and ends <= {0.5, 9.5, 8.5}
        assert np.array_equal(np.sign(scores), sample.results[:, 0] - sample.results[:, 2])


def test_replay_looks_as_far_as_it_is_asked_to():
    shard = some_games(CONNECT_FOUR)
    replay = Replay((CONNECT_FOUR,), Window(10_000), Targets(auxiliary=(Reply(), PliesLeft(), ShortTerm())))
    replay.add("0", shard)
    sample = replay.sample(16, np.random.default_rng(0)).auxiliary
    assert {name: targets.shape for name, targets in sample.items()} == {
        "reply": (16, 4),
        "plies_left": (16, 1),
        "short_term": (16, 3),
    }
    known = {tuple(row) for row in everything(ShortTerm(), CONNECT_FOUR, shard)}
    assert {tuple(row) for row in sample["short_term"]} <= known


# --- lessons ---


def test_with_heads_the_targets_of_lessons_stay_in_their_rows():
    lessons = Lessons(OTHELLO, [Lesson(OTHELLO.new_initial_state(), LOSS, frozenset())], 0.5)
    replay = Replay((OTHELLO,), Window(1000), Targets(auxiliary=HEADS), lessons=lessons)
    replay.add("0", some_games(OTHELLO))
    sample = replay.sample(40, np.random.default_rng(0))
    is_lesson = sample.policies.sum(axis=1) == 0
    assert is_lesson.sum() == 20 and (sample.results[is_lesson] == [0, 0, 1]).all()
    for name in ("plies_left", "ownership", "score"):
        assert (np.isnan(sample.auxiliary[name]).all(axis=1) == is_lesson).all(), name
    assert (sample.auxiliary["short_term"][is_lesson] == -1).all()


def test_heads_learn_short_term_values_of_lessons_and_nothing_else():
    drawn = {head.name: head.lesson_targets(TIC_TAC_TOE, np.full(4, DRAW, np.int8)) for head in HEADS}
    assert not drawn["reply"].any() and drawn["reply"].shape == (4, 9)
    assert not drawn["short_term"].any() and drawn["short_term"].shape == (4, 3)
    for name, columns in (("plies_left", 1), ("ownership", 9), ("score", 1)):
        assert drawn[name].shape == (4, columns) and np.isnan(drawn[name]).all(), name
    results = np.array([WIN, LOSS], np.int8)
    assert ShortTerm().lesson_targets(TIC_TAC_TOE, results).tolist() == [[1, 1, 1], [-1, -1, -1]]


# --- losses ---


def test_losses_by_hand():
    replies = torch.tensor([[math.log(3.0), 0.0], [0.0, 5.0]])  # 3/4, 1/4
    loss = Reply().loss(replies, torch.tensor([[0.5, 0.5], [0.0, 0.0]]))
    assert loss.item() == pytest.approx((math.log(4 / 3) + math.log(4)) / 2 / 2), "the second row has no reply"

    loss = PliesLeft().loss(torch.tensor([[0.5], [3.0]]), torch.tensor([[6.0], [20.0]]))  # 10 and 60 plies
    assert loss.item() == pytest.approx((0.2**2 / 2 + 0.5 * (2.0 - 0.25)) / 2)

    values = torch.tensor([[0.0, math.log(3.0)], [0.0, 0.0]])  # 0, 1/2
    loss = ShortTerm().loss(values, torch.tensor([[1.0, -1.0], [0.0, 0.0]]))
    assert loss.item() == pytest.approx((3 * math.log(2) + math.log(4)) / 4)

    owners = torch.tensor([[math.log(3.0), math.log(3.0), 0.0], [9.0, 9.0, 9.0]])  # 3/4, 3/4, 1/2
    loss = Ownership().loss(owners, torch.tensor([[1.0, -1.0, 0.0], [math.nan] * 3]))
    expected = (math.log(4 / 3) + math.log(4) + math.log(2)) / 3
    assert loss.item() == pytest.approx(expected), "the second row's end is unknown"

    loss = Score().loss(torch.tensor([[2.5], [9.0]]), torch.tensor([[-1.0], [math.nan]]))
    assert loss.item() == pytest.approx(3.5 - 0.5)


@pytest.mark.parametrize("head", [PliesLeft(), Ownership(), Score()], ids=lambda head: head.name)
def test_what_is_unknown_teaches_nothing(head):
    outputs, targets = torch.ones(2, 4, requires_grad=True), torch.zeros(2, 4)
    targets[1] = math.nan
    head.loss(outputs, targets).backward()
    assert outputs.grad[0].all() and not outputs.grad[1].any()
    assert head.loss(outputs, targets * math.nan).item() == 0
