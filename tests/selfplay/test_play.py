"""Tests of self-play: games depend only on their seeds, and their records follow the rules."""

import numpy as np
import pytest
from cases import long, thorough
from mcts.evaluators import HashEvaluator
from mcts.minimax import Minimax

from azero.games import State
from azero.mcts import Puct, Settings, TreeSearch
from azero.mcts.roots.gumbel import TARGET_TOTAL, GumbelRoot
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.tree import UNPROVEN
from azero.selfplay.play import SelfPlay
from azero.selfplay.slots import PlaySettings, begin_full_or_fast

from .games import (
    AHEAD,
    CONNECT_FOUR,
    GUMBEL,
    NOISY,
    PLAIN,
    PLAY,
    QUIET,
    TIC_TAC_TOE,
    assert_same,
    config_with,
    play,
    some_games,
    split,
    visits_of,
)

GAMES = [CONNECT_FOUR, *thorough(TIC_TAC_TOE)]


@pytest.mark.parametrize("num_slots", [1, 3, 12, 100])
@pytest.mark.parametrize(
    ("game", "settings"),
    [
        *((CONNECT_FOUR, settings) for settings in (NOISY, PLAIN, AHEAD)),
        *thorough((TIC_TAC_TOE, NOISY), (CONNECT_FOUR, GUMBEL)),
    ],
)
def test_games_follow_from_their_seeds_whatever_is_played_beside_them(game, num_slots, settings):
    assert_same(play(game, range(12), num_slots, settings=settings), play(game, range(12), 4, settings=settings))


@pytest.mark.parametrize("game", GAMES)
def test_games_come_in_the_order_of_their_seeds(game):
    games = split(some_games(game))
    assert split(play(game, [11, 3, 3, 0], num_slots=2)) == [games[11], games[3], games[3], games[0]]
    lengths = [len(actions) for _, _, actions, *_ in games]
    assert lengths == some_games(game).lengths.tolist() and len(set(lengths)) > 1, "games should end at different plies"


def test_large_seeds():
    last = play(TIC_TAC_TOE, [2**64 - 1])
    assert split(last) != split(play(TIC_TAC_TOE, [0])) and split(last) == split(play(TIC_TAC_TOE, [2**64 - 1]))


@pytest.mark.parametrize("game", GAMES)
def test_records_are_the_games_played(game):
    shard, at = some_games(game), 0
    visits = visits_of(shard, game)
    for length, outcome in zip(shard.lengths, shard.game_outcomes(), strict=True):
        state = game.new_initial_state()
        for ply in range(at, at + length):
            assert shard.states[ply].tobytes() == state.record.tobytes()
            assert shard.players[ply] == state.current_player()
            legal = state.legal_actions()
            assert visits[ply].sum() > 0 and set(np.flatnonzero(visits[ply])) <= set(legal)
            assert shard.actions[ply] in legal and visits[ply][shard.actions[ply]] > 0
            assert -1 <= shard.root_values[ply] <= 1
            state.apply_action(int(shard.actions[ply]))
        at += length
        assert state.is_terminal() and outcome == state.returns()[0]
        assert np.all(shard.outcomes[at - length : at] == outcome)
    assert at == shard.num_positions == len(shard.states)
    assert set(shard.game_outcomes().tolist()) == {-1, 0, 1}


def test_every_search_has_its_simulations_and_a_kept_tree_more_visits():
    """In a fresh tree the first simulation evaluates the root; the others visit moves."""
    shard = play(CONNECT_FOUR, range(5), settings=PLAIN)
    assert shard.simulations.tolist() == [30 * shard.num_positions]
    visits = visits_of(shard, CONNECT_FOUR).sum(axis=1)
    first = np.cumsum(shard.lengths) - shard.lengths
    assert np.all(visits[first] == 29) and visits.min() >= 29 and visits.max() > 40


@pytest.mark.parametrize("num_slots", [1, 5])
def test_a_step_is_one_batch_with_a_leaf_of_each_game(num_slots):
    evaluator = HashEvaluator(CONNECT_FOUR)
    shard = play(CONNECT_FOUR, range(8), num_slots, evaluator=evaluator)
    assert sum(evaluator.batch_sizes) == shard.evaluations[0]
    assert max(evaluator.batch_sizes) == num_slots == evaluator.batch_sizes[0]


@pytest.mark.parametrize("num_slots", [1, 5, 8])
def test_games_that_end_are_reported(num_slots):
    reports = []
    play(CONNECT_FOUR, range(8), num_slots, on_games=reports.append)
    assert sum(reports) == 8 and min(reports) > 0 and max(reports) <= num_slots


@pytest.mark.parametrize("settings", [PLAIN, *thorough(GUMBEL)])
def test_with_nothing_at_random_all_games_are_one(settings):
    games = split(play(CONNECT_FOUR, range(4), playing=QUIET, settings=settings))
    assert games[0] == games[1] == games[2] == games[3]


@pytest.mark.thorough
def test_with_gumbel_the_opening_alone_is_drawn():
    """After the first move, the game is determined by that move."""
    games = split(play(CONNECT_FOUR, range(30), playing=PLAY._replace(temperature_plies=1), settings=GUMBEL))
    followed = {(game[2][0], tuple(game[2])) for game in games}
    assert 2 <= len(followed) == len({first for first, _ in followed})


@pytest.mark.thorough
def test_with_gumbel_the_target_is_the_improved_policy():
    shard = play(CONNECT_FOUR, range(5), settings=GUMBEL._replace(is_proving=False, is_looking_ahead=False))
    visits = visits_of(shard, CONNECT_FOUR)
    totals, is_decided = visits.sum(axis=1), (visits > 0).sum(axis=1) == 1
    assert np.all(np.abs(totals - TARGET_TOTAL)[~is_decided] <= 2) and not is_decided.all()
    assert shard.simulations.tolist() == [31 * shard.num_positions], "the root's evaluation is added"
    assert np.all(np.abs(shard.root_values) <= 1)


@pytest.mark.parametrize(
    ("playing", "settings"),
    [
        (PLAY, PLAIN),
        (QUIET._replace(final_temperature=1.0), PLAIN),
        (QUIET, NOISY._replace(has_random_symmetry=False)),
    ],
    ids=["temperature", "final temperature", "noise"],
)
def test_games_differ_where_something_is_random(playing, settings):
    assert len({str(each) for each in split(play(CONNECT_FOUR, range(8), playing=playing, settings=settings))}) >= 5


def test_moves_are_drawn_in_the_opening_and_the_best_afterwards():
    """At this temperature draws are nearly uniform, so many moves of the opening are not the most visited ones."""
    playing = PLAY._replace(temperature=5.0, temperature_plies=4)
    shard = play(CONNECT_FOUR, range(30), playing=playing, settings=PLAIN)
    plies = np.concatenate([np.arange(length) for length in shard.lengths])
    visits = visits_of(shard, CONNECT_FOUR)
    is_best = visits[np.arange(len(plies)), shard.actions] == visits.max(axis=1)
    assert is_best[plies >= 4].all()
    for ply in range(4):
        assert 0.1 < is_best[plies == ply].mean() < 0.8


def test_a_search_from_a_kept_tree_has_noise_of_its_own():
    settings = PLAIN._replace(root=VisitsRoot(dirichlet_epsilon=0.25))
    search = TreeSearch(CONNECT_FOUR, Puct(), settings, HashEvaluator(CONNECT_FOUR), max_nodes=1_000)
    search.start(0, CONNECT_FOUR.new_initial_state(), seed=0)
    search.run([0], 100)
    search.advance(0, search.choose(0))
    tree, nodes = search.forest.trees[0], search.forest.nodes[0]
    before = nodes.P[1:5].copy()
    begin_full_or_fast(settings, PLAY, tree, nodes, 2, np.zeros(4))
    assert (tree.target, tree.simulations) == (30, 0)
    assert np.abs(nodes.P[1:5] - before).max() > 0.01 and nodes.P[1:5].sum() == pytest.approx(1)


def test_proofs_decide_moves_and_targets():
    """Look-ahead sees a win in one at once. It is played, and it is the whole target."""
    shard, num_wins = some_games(CONNECT_FOUR), 0
    for k in range(shard.num_positions):
        state = State.from_record(CONNECT_FOUR, shard.states[k])
        wins = []
        for action in state.legal_actions():
            after = state.clone()
            after.apply_action(action)
            if after.is_terminal() and after.returns()[state.current_player()] == 1:
                wins.append(action)
        if wins:
            num_wins += 1
            assert shard.actions[k] in wins and shard.root_values[k] == 1
            assert shard.policies().row(k)[0].tolist() == [shard.actions[k]]
            assert shard.results()[k] == 1
    assert num_wins >= 5


def test_one_simulation_a_move_is_enough_for_a_game():
    shard = play(TIC_TAC_TOE, range(5), playing=PLAY._replace(num_simulations=1))
    assert len(shard.lengths) == 5 and np.all(shard.num_visited > 0)


def test_trees_that_are_full_play_on(monkeypatch):
    monkeypatch.setattr("azero.mcts.search.tree_search._MEMORY_OF_ALL_TREES", 0)
    assert len(play(CONNECT_FOUR, range(6)).lengths) == 6


@pytest.mark.parametrize("game", GAMES)
def test_fast_searches_have_their_own_simulations_and_no_weight(game):
    playing = PLAY._replace(full_search_share=0.3, fast_simulations=5)
    shard = play(game, range(60), playing=playing, settings=PLAIN)
    is_full, first = shard.weights == 1, np.cumsum(shard.lengths) - shard.lengths
    assert set(shard.weights) == {0, 1} and abs(is_full.mean() - 0.3) < 0.1
    assert shard.simulations[0] == 30 * is_full.sum() + 5 * (~is_full).sum()
    visits = visits_of(shard, game).sum(axis=1)  # the root's first visit is not a move's
    assert set(visits[first][is_full[first]]) == {29} and set(visits[first][~is_full[first]]) == {4}
    assert shard.num_learnt == shard.weights.sum()


def test_gumbel_searches_are_full_or_fast_too():
    playing = PLAY._replace(full_search_share=0.3, fast_simulations=5)
    shard = play(CONNECT_FOUR, range(40), playing=playing, settings=PLAIN._replace(root=GumbelRoot(3)))
    num_full, num = int(shard.weights.sum()), shard.num_positions
    assert set(shard.weights) == {0, 1} and abs(num_full / num - 0.3) < 0.1
    assert shard.simulations[0] == 31 * num_full + 6 * (num - num_full), "one more evaluates the root"


def test_fast_searches_have_no_noise():
    """At the first move trees are new. There the visits of a fast search are those without noise."""
    playing = PLAY._replace(full_search_share=0.5, fast_simulations=30)
    noisy, plain = (
        play(CONNECT_FOUR, range(20), playing=playing, settings=PLAIN._replace(root=VisitsRoot(1.0, epsilon)))
        for epsilon in (0.25, 0.0)
    )
    first = np.cumsum(noisy.lengths) - noisy.lengths
    visits, is_fast = visits_of(noisy, CONNECT_FOUR)[first], noisy.weights[first] == 0
    assert 5 < is_fast.sum() < 15 and (visits[is_fast] == visits_of(plain, CONNECT_FOUR)[0]).all()
    assert len({tuple(row) for row in visits[~is_fast]}) > 3


@pytest.mark.parametrize("game", GAMES)
def test_random_openings_move_the_start_on(game):
    playing = PLAY._replace(random_opening_share=0.6, random_opening_plies=5)
    shard = play(game, range(200))
    opened = play(game, range(200), playing=playing)
    begins = np.cumsum(opened.lengths) - opened.lengths
    start = game.new_initial_state().planes()
    stones = [int((State.from_record(game, opened.states[k]).planes()[:2]).sum() - start[:2].sum()) for k in begins]
    assert set(stones) == {0, 1, 2, 3, 4, 5} and abs(stones.count(0) / 200 - 0.4) < 0.12
    assert abs(stones.count(3) / 200 - 0.12) < 0.08
    assert not any(State.from_record(game, opened.states[k]).is_terminal() for k in begins)
    assert shard.lengths.mean() > opened.lengths.mean()
    assert_same(play(game, range(200), 3, playing=playing), opened)


def test_a_random_opening_does_not_end_the_game():
    playing = PLAY._replace(random_opening_share=1.0, random_opening_plies=200)
    shard = play(TIC_TAC_TOE, range(100), playing=playing)
    assert np.all(shard.lengths >= 1) and set(shard.lengths) > {1, 5}


@pytest.mark.parametrize("game", GAMES)
def test_what_was_proven_is_on_record(game):
    shard = some_games(game)
    proven = shard.proven != UNPROVEN
    assert 0 < proven.sum() < len(proven)
    ends = np.cumsum(shard.lengths) - 1
    won = shard.outcomes[ends] * (1 - 2 * shard.players[ends]) == 1
    assert np.all(shard.proven[ends][won] == 1), "immediate wins should be proven"
    later = np.flatnonzero(proven & (shard.proven != 0))
    assert np.all(shard.results()[later] == shard.proven[later]), "proven results should be reached"


@pytest.mark.parametrize("settings", [AHEAD, *long(GUMBEL._replace(proof_nodes=100))])
def test_what_is_proven_ahead_is_so_and_lost_moves_are_not_learnt(settings):
    playing = PLAY._replace(num_simulations=6)
    shard, best = play(TIC_TAC_TOE, range(60), settings=settings, playing=playing), Minimax()
    proven = np.flatnonzero(shard.proven != UNPROVEN)
    assert len(proven) > shard.num_positions / 2 and set(shard.proven[proven]) == {-1, 0, 1}
    for k in proven:
        state = State.from_record(TIC_TAC_TOE, shard.states[k])
        assert shard.proven[k] == best.solve(state)[0] * (1 - 2 * shard.players[k])
        learnt = shard.policies().row(k)[0].tolist()
        assert learnt and set(learnt) <= set(best.best_actions(state))


# --- settings ---


def from_config(**selfplay) -> SelfPlay:
    return SelfPlay.from_config(config_with(**selfplay), TIC_TAC_TOE, HashEvaluator(TIC_TAC_TOE))


def test_settings_reach_the_search():
    assert from_config(dirichlet_alpha=0.3, dirichlet_epsilon=0.5).settings == Settings(
        is_looking_ahead=True,
        is_rollout_only=False,
        has_random_symmetry=True,
        root=VisitsRoot(0.3, 0.5),
        cache_mib=64,
    )
    assert from_config().settings.root == VisitsRoot(1.0, 0.25)
    gumbel = from_config(root="gumbel", gumbel_considered=5, gumbel_scale=0.5).settings
    assert gumbel.root == GumbelRoot(5, c_scale=0.5)


def test_settings_reach_the_games():
    selfplay = from_config(
        temperature=2.0, temperature_plies=7, final_temperature=0.1, full_search_share=0.5, fast_simulations=5,
        random_opening_share=0.7, random_opening_plies=6,
    )  # fmt: skip
    assert selfplay.playing == PlaySettings(8, 2.0, 7, 0.1, 0.5, 5, 0.7, 6) and selfplay.num_slots == 4
