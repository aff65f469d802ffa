"""What follows a position: replies turned as the position is, plies to the end, values as the mover sees them."""

import numpy as np
import pytest

from azero.config_training import TrainingConfig
from azero.games import make_game
from azero.selfplay.futures import BLIND, Foresight, foresight_of, look_ahead
from azero.selfplay.records import join_shards
from azero.selfplay.replay import Replay, Targets, Window, make_sample

from .games import CONNECT_FOUR, TIC_TAC_TOE, play, some_games

ALL = Foresight(has_reply=True, has_plies_left=True, horizons=(1.5, 4.0))
AMAZONS = make_game("amazons(size=4)")


def everything(game, shard, foresight=ALL, symmetry=0):
    """Returns what follows each position of a shard."""
    indices = np.arange(shard.num_positions)
    return look_ahead(shard, game.symmetries, indices, np.full_like(indices, symmetry), foresight)


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
    sample = make_sample(
        TIC_TAC_TOE, shard, indices, np.tile(np.arange(8), shard.num_positions), Targets(foresight=ALL)
    )
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


def test_what_is_not_wanted_has_no_columns():
    shard = some_games(TIC_TAC_TOE)
    for foresight, columns in ((BLIND, [0, 0, 0]), (ALL, [9, 1, 2]), (BLIND._replace(has_plies_left=True), [0, 1, 0])):
        futures = everything(TIC_TAC_TOE, shard, foresight)
        assert [array.shape for array in futures] == [(shard.num_positions, count) for count in columns]
        assert {array.dtype for array in futures} == {np.dtype(np.float32)}


def test_a_weight_asks_for_a_target_and_horizons_grow_with_the_board():
    assert foresight_of(TrainingConfig(), TIC_TAC_TOE) == BLIND
    assert foresight_of(TrainingConfig(reply_loss_weight=0.1), TIC_TAC_TOE) == BLIND._replace(has_reply=True)
    plies = TrainingConfig(plies_left_loss_weight=0.1)
    assert foresight_of(plies, TIC_TAC_TOE) == BLIND._replace(has_plies_left=True)
    wanted = foresight_of(TrainingConfig(short_term_loss_weight=0.1), make_game("go(size=19)"))
    assert wanted.horizons == pytest.approx((6.776, 21.216, 64.536)) and not wanted.has_reply


def test_replay_looks_as_far_as_it_is_asked_to():
    shard = some_games(CONNECT_FOUR)
    replay = Replay(CONNECT_FOUR, Window(10_000), Targets(foresight=ALL))
    replay.add("0", shard)
    sample = replay.sample(16, np.random.default_rng(0))
    assert sample.replies.shape == (16, 4) and sample.plies_left.shape == (16, 1) and sample.short_term.shape == (16, 2)
    known = {tuple(row) for row in everything(CONNECT_FOUR, shard).short_term}
    assert {tuple(row) for row in sample.short_term} <= known
