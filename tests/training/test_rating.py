"""Tests of a run's own rating: a pool of its nets, by the games of gates, of the final, and against older nets."""

from dataclasses import replace

import pytest

from azero.arena.matches.results import GameResult
from azero.arena.matches.statistics import elo_from_score
from azero.runs.state import Progress
from azero.training import rating
from azero.training.learning.trainer import Trainer
from azero.training.rating import distinct_scores, meet_older_nets, posterior_of, rated, with_games, with_gate

from .test_gate import GAME, Silent, make_run


def gate_of(*scores):
    """Returns the games of a gate: each pair has two games with this score, and moves of its own."""
    return [
        GameResult(k, is_first, (k, is_first), score) for k, score in enumerate(scores) for is_first in (True, False)
    ]


def test_the_first_net_has_rating_0_and_the_games_of_a_gate_move_it():
    assert rated(Progress()).rating == 0
    progress = with_gate(Progress(iteration=1), [gate_of(*[1, 0.5, 0.5, 1] * 50)])
    assert progress.pool == [[1, 0, 200.0, 150.0, 125.0]]
    assert rated(progress).rating == 0, "the best net is still the first"
    assert rated(progress.changed(best=1)).rating == pytest.approx(elo_from_score(0.75), rel=0.02)


def test_the_sizes_of_a_game_share_a_pool_and_pairs_that_repeat_each_other_count_once():
    progress = with_gate(Progress(iteration=4, best=2), [gate_of(1, 0), gate_of(0.5)])
    assert progress.pool == [[4, 2, 3.0, 1.5, 1.25]]
    again = [replace(each, pair=7) for each in gate_of(1)]
    assert distinct_scores([*gate_of(1), *again]) == [1.0]


def test_rows_add_up_and_sides_can_be_swapped():
    pool = with_games(with_games([], 2, 1, [1.0, 0.5]), 2, 1, [0.25])
    assert pool == [[2, 1, 3.0, 1.75, 1.3125]] and with_games(pool, 3, 1, []) == pool
    swapped = with_games([], 1, 2, [0.0, 0.5, 0.75])
    for one, other in zip(posterior_of(pool)[1].mean, posterior_of(swapped)[1].mean, strict=True):
        assert one == pytest.approx(other)


def test_a_lucky_gate_no_longer_adds_to_the_rating_for_ever():
    """The sum of the gates would be 3 times 191 Elo. Games against the first net say that nothing was gained."""
    pool = []
    for k in (1, 2, 3):
        pool = with_games(pool, k, k - 1, [0.75] * 10 + [1, 0.5] * 5)
    progress = Progress(iteration=4, best=3, pool=pool)
    assert rated(progress).rating > 400
    assert rated(progress.changed(pool=with_games(pool, 3, 0, [0.5, 0.25, 0.75] * 20))).rating < 200


@pytest.mark.parametrize("promoted_every", [1, 3, 1000])
def test_the_pool_of_a_long_run_loses_its_oldest_nets_and_ratings_go_on(monkeypatch, promoted_every):
    monkeypatch.setattr(rating, "MOST_NETS", 10)
    progress, promotions = Progress(), 0
    for iteration in range(1, 31):
        progress = with_gate(progress.changed(iteration=iteration), [gate_of(*[1, 0.5, 0.5, 0.25] * 25)])
        assert len({net for row in progress.pool for net in row[:2]}) <= 10
        if iteration % promoted_every == 0:
            progress, promotions = progress.changed(best=iteration), promotions + 1
    assert (progress.anchor > 0) == (promotions > 0)
    wanted = promotions * elo_from_score(0.5625)
    assert rated(progress).rating == pytest.approx(wanted, rel=0.15, abs=1e-9)


def run_with_nets(folder, **gate):
    """Returns a run with promoted nets 0, 1, 2, and a candidate, all different."""
    run = make_run(folder, gate={"num_simulations": 2, "opening_plies": 2, **gate})
    for number in (0, 1, 2):
        net = Trainer(run.config.model_copy(update={"seed": number}), GAME).candidate()
        run.save_net(run.checkpoint_path(number), net, Progress(iteration=number))
    return run


def test_a_promoted_net_meets_older_nets_and_the_games_are_the_same_again(tmp_path, monkeypatch):
    run = run_with_nets(tmp_path / "run", rating_games=9)
    digests = {f"checkpoints/{net:05d}": "0" * 64 for net in (0, 1, 2)}
    progress = with_gate(Progress(iteration=3, best=2, digests=digests), [gate_of(1, 0.5, 0.5)])
    progress = progress.changed(best=3)
    done = meet_older_nets(run, progress, Silent(), None)
    assert done == meet_older_nets(run, progress, Silent(), None)
    assert sum(row[2] for row in done.pool) <= 3 + 4 and {row[0] for row in done.pool} == {3}
    assert {row[1] for row in done.pool} == {0, 1, 2}, "the first games go to nets that it has not met"
    monkeypatch.setattr(rating, "play_matches", None)  # a game would fail
    assert meet_older_nets(run_with_nets(tmp_path / "none", rating_games=0), progress, Silent(), None) == progress
    assert meet_older_nets(run, progress.changed(iteration=0), Silent(), None).pool == progress.pool
