"""What follows a position: replies turned as the position is, plies to the end, values as the mover sees them."""

import numpy as np
import pytest

from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.selfplay.data.auxiliary import NO_HEADS, AuxiliaryHeads, auxiliary_heads_of, auxiliary_targets
from azero.selfplay.data.records import join_shards
from azero.selfplay.data.replay import Replay, Targets, Window, make_sample

from .games import CONNECT_FOUR, TIC_TAC_TOE, play, shard_of, some_games

ALL = AuxiliaryHeads(has_reply=True, has_plies_left=True, horizons=(1.5, 4.0))
ENDINGS = AuxiliaryHeads(has_ownership=True, has_score=True)
AMAZONS = make_game("amazons(size=4)")


def everything(game, shard, heads=ALL, symmetry=0):
    """Returns the targets of each position of a shard."""
    indices = np.arange(shard.num_positions)
    return auxiliary_targets(game, shard, indices, np.full_like(indices, symmetry), heads)


def games_of(shard):
    """Yields each game's positions, as a range."""
    for end, length in zip(np.cumsum(shard.lengths), shard.lengths, strict=True):
        yield range(end - length, end)


def some_amazons():
    return play(AMAZONS, range(3))


@pytest.mark.parametrize("game", [TIC_TAC_TOE, CONNECT_FOUR])
def test_a_reply_is_the_next_policy_turned_as_the_position_is(game):
    shard, actions = some_games(game), game.symmetries.actions
    for symmetry in range(len(actions)):
        replies = everything(game, shard, symmetry=symmetry).replies
        for own in games_of(shard):
            for k in own[:-1]:
                policy = shard.visits[k + 1] / shard.visits[k + 1].sum()
                np.testing.assert_allclose(replies[k], policy[actions[symmetry]], rtol=1e-6)
            assert not replies[own[-1]].any(), "the game is over"


def test_a_reply_points_at_cells_that_were_empty_before():
    """In tic-tac-toe the moves are the cells, and the third plane says which are empty."""
    shard = some_games(TIC_TAC_TOE)
    indices = np.repeat(np.arange(shard.num_positions), 8)
    sample = make_sample(TIC_TAC_TOE, shard, indices, np.tile(np.arange(8), shard.num_positions), Targets(heads=ALL))
    assert np.all((sample.replies > 0) <= (sample.planes[:, 2].reshape(-1, 9) == 1))


def test_who_moves_on_has_no_reply():
    """In Amazons a move is three actions of one player."""
    shard = some_amazons()
    has_reply = everything(AMAZONS, shard).replies.any(axis=1)
    for own in games_of(shard):
        assert [has_reply[k] for k in own] == [k != own[-1] and shard.players[k] != shard.players[k + 1] for k in own]
    assert 0.2 < has_reply.mean() < 0.5


def test_plies_are_counted_to_the_end_of_each_game():
    shard = join_shards([some_games(TIC_TAC_TOE), play(TIC_TAC_TOE, range(20, 23))])
    expected = np.concatenate([np.arange(length, 0, -1) for length in shard.lengths])
    assert everything(TIC_TAC_TOE, shard).plies_left[:, 0].tolist() == expected.tolist()


@pytest.mark.parametrize("shard", [some_games(TIC_TAC_TOE), some_amazons()], ids=["turns alternate", "they do not"])
def test_short_term_values_are_means_that_the_mover_sees(shard):
    """The weight of the ply at distance d is (1 - 1/h)^(d - 1) / h, that of the result the rest."""
    game = TIC_TAC_TOE if shard is some_games(TIC_TAC_TOE) else AMAZONS
    found = everything(game, shard).short_term
    assert found.shape == (shard.num_positions, 2)
    for own in games_of(shard):
        for k in own:
            side = np.where(shard.players == shard.players[k], 1, -1)
            for column, horizon in enumerate(ALL.horizons):
                later = np.arange(k + 1, own[-1] + 1)
                weights = (1 - 1 / horizon) ** (later - k - 1) / horizon
                expected = (weights * side[later] * shard.root_values[later]).sum()
                expected += (1 - weights.sum()) * shard.results()[k]
                assert found[k, column] == pytest.approx(expected, abs=1e-5)
    assert np.abs(found).max() <= 1


def test_both_sides_see_a_value_with_the_sign_of_their_own():
    """All later values being 1 for the first player, and the first player winning, each value is 1 or -1."""
    shard = some_games(TIC_TAC_TOE)
    first = 1 - 2 * shard.players
    shard = shard._replace(root_values=first.astype(np.float32), outcomes=np.ones_like(shard.outcomes))
    found = everything(TIC_TAC_TOE, shard).short_term
    np.testing.assert_allclose(found, np.repeat(first[:, None], 2, axis=1), atol=1e-6)


GO = make_game("go(size=3,komi=0.5)")
FORK = "b1 a2 b2 c3 b3 pass pass"
FORK_OWNERS = [[0, 1, -1], [-1, 1, 0], [0, 1, 0]]


def test_who_holds_each_cell_and_by_how_much_are_the_mover_s():
    """Black's three stones, and white's two, leave neutral points; black wins by half a point on a board of side 3."""
    targets = everything(GO, shard_of(GO, FORK, "pass pass"), ENDINGS)
    first = np.array(FORK_OWNERS).ravel()
    assert targets.owners.tolist() == [*([*first], [*-first]) * 3, [*first], [0] * 9, [0] * 9]
    np.testing.assert_allclose(targets.scores[:, 0], np.array([1, -1, 1, -1, 1, -1, 1, -1, 1]) * 0.5 / 3)


def test_owners_are_turned_as_the_planes_are():
    """Seen in any symmetry, a stone that stands when both pass is its owner's, and the others are as they were."""
    shard, size = shard_of(GO, FORK), len(GO.symmetries.cells)
    indices = np.full(size, shard.num_positions - 1)
    sample = make_sample(GO, shard, indices, np.arange(size), Targets(heads=ENDINGS))
    owners = sample.owners.reshape(size, 3, 3)
    assert np.array_equal(owners, sample.planes[:, 0] - sample.planes[:, 1]), "here only stones are held"
    board = np.array(FORK_OWNERS)
    turned = [np.rot90(each, k) for each in (board, board.T) for k in range(4)]
    assert size == 8 and {each.tobytes() for each in owners} == {each.astype(np.float32).tobytes() for each in turned}
    assert len(set(sample.scores[:, 0])) == 1


def test_of_a_game_that_was_given_up_the_end_is_unknown():
    targets = everything(GO, shard_of(GO, "b2 a1", FORK), ENDINGS)
    assert np.isnan(targets.owners[:2]).all() and np.isnan(targets.scores[:2]).all()
    assert np.isfinite(targets.owners[2:]).all() and np.isfinite(targets.scores[2:]).all()


def test_in_a_game_that_was_resigned_plies_left_are_unknown():
    shard = some_games(TIC_TAC_TOE)
    resigned = shard._replace(resigned=np.arange(12) == 1)
    given_up = np.repeat(resigned.resigned, shard.lengths)
    plies_left, known = (everything(TIC_TAC_TOE, each).plies_left[:, 0] for each in (resigned, shard))
    assert np.isnan(plies_left[given_up]).all() and np.array_equal(plies_left[~given_up], known[~given_up])


def test_what_is_not_wanted_has_no_columns():
    shard = some_games(TIC_TAC_TOE)
    some = NO_HEADS._replace(has_plies_left=True), NO_HEADS._replace(has_score=True)
    expected = ([0, 0, 0, 0, 0], [9, 1, 2, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 9, 1])
    for heads, columns in zip((NO_HEADS, ALL, *some, ENDINGS), expected, strict=True):
        targets = everything(TIC_TAC_TOE, shard, heads)
        assert [array.shape for array in targets] == [(shard.num_positions, count) for count in columns]
        assert {array.dtype for array in targets} == {np.dtype(np.float32)}


def test_a_weight_asks_for_a_target_and_horizons_grow_with_the_board():
    assert auxiliary_heads_of(TrainingConfig(), TIC_TAC_TOE) == NO_HEADS
    for name in ("reply", "plies_left", "ownership", "score"):
        wanted = auxiliary_heads_of(TrainingConfig(**{f"{name}_loss_weight": 0.1}), GO)
        assert wanted == NO_HEADS._replace(**{f"has_{name}": True})
    wanted = auxiliary_heads_of(TrainingConfig(short_term_loss_weight=0.1), make_game("go(size=19)"))
    assert wanted.horizons == pytest.approx((6.776, 21.216, 64.536)) and not wanted.has_reply


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
        auxiliary_heads_of(TrainingConfig(**{setting: 1.5}), make_game(game))
    assert str(error.value) == f"training.{setting} is 1.5; it should be 0, since {game} has no `{method}` of its own"


def test_replay_knows_how_the_games_it_keeps_ended():
    """As shards come and go, samples have the targets of their own positions."""
    replay, rng = Replay(GO, Window(10), Targets(heads=ENDINGS)), np.random.default_rng(0)
    for name, (moves, score) in enumerate([(FORK, 0.5), ("pass b2 pass pass", -9.5), ("b2 pass pass", 8.5)]):
        replay.add(str(name), shard_of(GO, moves))
        sample = replay.sample(64, rng)
        ends = {round(float(3 * each), 3) for each in np.abs(sample.scores[:, 0])}
        assert abs(score) in ends and ends <= {0.5, 9.5, 8.5}
        assert np.array_equal(np.sign(sample.scores[:, 0]), sample.results[:, 0] - sample.results[:, 2])


def test_replay_looks_as_far_as_it_is_asked_to():
    shard = some_games(CONNECT_FOUR)
    replay = Replay(CONNECT_FOUR, Window(10_000), Targets(heads=ALL))
    replay.add("0", shard)
    sample = replay.sample(16, np.random.default_rng(0))
    assert sample.replies.shape == (16, 4) and sample.plies_left.shape == (16, 1) and sample.short_term.shape == (16, 2)
    known = {tuple(row) for row in everything(CONNECT_FOUR, shard).short_term}
    assert {tuple(row) for row in sample.short_term} <= known
