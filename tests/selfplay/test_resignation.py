"""Tests of resignation: thresholds from constructed games, and games that end by them."""

import numpy as np
import pytest
from mcts.evaluators import HashEvaluator

from azero.mcts import Puct, Search
from azero.selfplay.data.records import Shard, join_shards
from azero.selfplay.resignation import NOBODY, THRESHOLDS, choose_threshold, count_resignations, describe_resignations

from .games import CONNECT_FOUR, GUMBEL, NOISY, PLAIN, PLAY, TIC_TAC_TOE, assert_same, play, some_games, split

GAMES = [TIC_TAC_TOE, CONNECT_FOUR]
RESIGNING = PLAY._replace(num_simulations=8, resign_threshold=-0.4, resign_played_on_share=0.0)
PLAYED_ON = RESIGNING._replace(resign_played_on_share=1 - 1e-12)  # draws as many random numbers


def made_up(values, outcome, is_played_on=True) -> Shard:
    """Returns a game of alternating players with these resign values."""
    n = len(values)
    return some_games(TIC_TAC_TOE)._replace(
        players=np.arange(n, dtype=np.int8) % 2,
        resign_values=np.array(values, np.float32),
        outcomes=np.full(n, outcome, np.int8),
        lengths=np.array([n], np.int32),
        played_on=np.array([is_played_on]),
        resigned=np.array([False]),
    )


def counts(shards, *thresholds) -> list[list[int]]:
    return [each.tolist() for each in count_resignations(shards, np.array(thresholds))]


SWINGING = [0.1, -0.3, -0.5, -0.95, 0.4]
"""The second player is first to fall below -0.2 and -0.9, the first player is first to fall below -0.4."""


@pytest.mark.parametrize(
    ("outcome", "errors"), [(1, [0, 0, 1, 0]), (-1, [0, 1, 0, 1]), (0, [0, 1, 1, 1])], ids=["won", "lost", "drawn"]
)
def test_who_is_the_first_to_fall_below_the_threshold_resigns(outcome, errors):
    """A resignation is an error if that player wins or draws."""
    assert counts([made_up(SWINGING, outcome)], -0.97, -0.9, -0.4, -0.2) == [[0, 1, 1, 1], errors]


def test_a_value_at_the_threshold_is_not_below():
    assert counts([made_up([-0.25], -1)], -0.25, -0.24) == [[0, 1], [0, 0]]


def test_games_are_counted_one_by_one_and_only_where_they_were_played_on():
    parts = [made_up([0.0, -0.9], 1), made_up(SWINGING, 0, is_played_on=False), made_up([-0.9], 1), made_up([0.5], 1)]
    assert counts([join_shards(parts)], -0.95, -0.8, 0.0) == counts(parts, -0.95, -0.8, 0.0) == [[0, 2, 2], [0, 1, 1]]


RIGHT, WRONG = made_up([0.3, -0.6], 1), made_up([0.3, -0.305], -1)
"""The second player falls to -0.6 and loses, or falls to -0.305 and wins."""


@pytest.mark.parametrize(
    ("num_right", "num_wrong", "threshold"),
    [
        (21, 0, 0.0),  # a player who is ahead does not resign
        (20, 0, NOBODY),  # one more error would be 5 %, which is not less
        (40, 1, 0.0),
        (39, 1, -0.31),  # 2 errors in 40
        (20, 1, NOBODY),
        (0, 50, NOBODY),
        (0, 0, NOBODY),
    ],
)
def test_the_threshold_is_the_highest_with_few_errors(num_right, num_wrong, threshold):
    shards = [WRONG] * num_wrong + [RIGHT] * num_right
    assert choose_threshold(shards, 0.05) == choose_threshold(shards[::-1], 0.05) == threshold


def test_more_errors_may_be_allowed_and_worse_values_lost():
    shards = [RIGHT] * 30 + [WRONG] * 10
    assert choose_threshold(shards, 0.05) == -0.31 and choose_threshold(shards, 0.28) == 0.0
    assert choose_threshold([made_up([-1.0], -1)] * 21, 0.05) == 0.0
    assert choose_threshold([*shards, *[made_up([-0.985], 1)] * 10], 0.05) == NOBODY
    assert THRESHOLDS[0] == -0.99 and THRESHOLDS[-1] == 0.0 and len(THRESHOLDS) == 100


def test_figures_of_an_iteration():
    gave_up = made_up([0.2, -0.7], 1, is_played_on=False)._replace(resigned=np.array([True]))
    shards = [join_shards([RIGHT, WRONG]), join_shards([RIGHT, RIGHT]), gave_up]
    assert describe_resignations(shards, -0.1) == {
        "selfplay/resign_threshold": -0.1,
        "selfplay/resigned": 0.2,
        "selfplay/resign_errors": 0.25,
    }
    assert describe_resignations(shards[:2], NOBODY) == {
        "selfplay/resign_threshold": -1.0,
        "selfplay/resigned": 0.0,
        "selfplay/resign_errors": 0.0,
    }


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("settings", [NOISY, PLAIN, GUMBEL], ids=["noise", "plain", "gumbel"])
def test_a_game_ends_where_its_player_has_no_hope(game, settings):
    """Until then it equals the game that was played on, whose result decides whether the resignation was an error."""
    ended, whole = (play(game, range(12), playing=playing, settings=settings) for playing in (RESIGNING, PLAYED_ON))
    assert whole.played_on.all() and not ended.played_on.any() and not whole.resigned.any()
    highest = np.split(whole.resign_values, np.cumsum(whole.lengths)[:-1])
    for values, one, other, is_resigned in zip(highest, split(ended), split(whole), ended.resigned, strict=True):
        *records, outcomes = one
        *expected, _ = other
        hopeless = np.flatnonzero(values < RESIGNING.resign_threshold)
        assert is_resigned == (len(hopeless) > 0)
        if not is_resigned:
            assert one == other
            continue
        plies, players = hopeless[0] + 1, records[1]
        states, whole_states = records.pop(0), expected.pop(0)
        assert states == whole_states[: len(states)]
        assert records == [each[:plies] for each in expected]
        assert set(outcomes) == {-1 if players[-1] == 0 else 1}
    assert 0 < ended.resigned.sum() < 12
    resigned, errors = counts([whole], RESIGNING.resign_threshold)
    ends = np.cumsum(ended.lengths) - 1
    results = whole.game_outcomes() * (1 - 2 * ended.players[ends])
    assert resigned == [ended.resigned.sum()] and errors == [(results >= 0)[ended.resigned].sum()]


@pytest.mark.parametrize("num_slots", [1, 5])
def test_some_games_are_played_on(num_slots):
    playing = RESIGNING._replace(resign_played_on_share=0.3)
    shard = play(TIC_TAC_TOE, range(100), num_slots, playing)
    assert 0.15 < shard.played_on.mean() < 0.45
    assert not (shard.played_on & shard.resigned).any() and shard.resigned.any()
    assert_same(shard, play(TIC_TAC_TOE, range(100), 16, playing))


def test_without_resignation_no_number_is_drawn():
    """`some_games` uses settings without resignation."""
    shard = play(TIC_TAC_TOE, range(12), playing=PLAY._replace(resign_threshold=NOBODY, resign_played_on_share=1.0))
    assert_same(shard, some_games(TIC_TAC_TOE))
    assert shard.played_on.all() and not shard.resigned.any()


def test_before_there_is_a_threshold_as_many_games_count_as_later():
    early, late = (
        play(
            TIC_TAC_TOE, range(100), playing=RESIGNING._replace(resign_played_on_share=0.3, resign_threshold=threshold)
        )
        for threshold in (NOBODY, -0.4)
    )
    assert np.array_equal(early.played_on, late.played_on) and not early.resigned.any()


def test_the_better_of_the_root_s_value_and_the_best_move_s_is_on_record():
    shard = play(CONNECT_FOUR, [7], settings=PLAIN)
    search = Search(CONNECT_FOUR, Puct(), PLAIN, HashEvaluator(CONNECT_FOUR), max_nodes=1_000)
    search.start(0, CONNECT_FOUR.new_initial_state(), seed=7)
    search.run([0], PLAY.num_simulations)
    root, *moves = search.forest.nodes[0][:5]
    best = max(moves, key=lambda move: move.N)
    assert shard.resign_values[0] == np.float32(max(root.W / root.N, best.W / best.N))
    assert (shard.resign_values >= shard.root_values).all() and (shard.resign_values > shard.root_values).any()
