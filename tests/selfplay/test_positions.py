"""Tests of targets of auxiliary heads in replay: heads get positions, and samples have their targets by name."""

import numpy as np
import pytest

from azero.games import DRAW, LOSS, WIN, State, make_game
from azero.selfplay.data import positions as module
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.selfplay.data.positions import endings_of, positions_of
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import Targets, make_sample
from azero.selfplay.data.shard import join_shards

from .games import CONNECT_FOUR, TIC_TAC_TOE, play, shard_of, some_games

GO = make_game("go(size=3,komi=0.5)")


class Empty:
    """The target is the number of empty cells, which the planes show too; for lessons, the result."""

    name = "empty"

    def targets(self, positions):
        lengths = positions.shard.lengths
        places = positions.indices - (np.cumsum(lengths) - lengths)[positions.games]
        return (9 - places)[:, None].astype(np.float32)

    def lesson_targets(self, game, results):
        return results[:, None].astype(np.float32)


class Winner(Empty):
    """The target is the result on the board: 1 if the player to move wins, -1 if the opponent wins."""

    name = "winner"

    def targets(self, positions):
        return positions.signs_at_end() * np.sign(positions.endings().scores[positions.games, None])


def everywhere(shard):
    return np.arange(shard.num_positions), np.zeros(shard.num_positions, np.int64)


@pytest.mark.slow
def test_positions_know_their_games():
    shard = join_shards([some_games(CONNECT_FOUR), play(CONNECT_FOUR, range(20, 23))])
    chosen = np.random.default_rng(0).permutation(shard.num_positions)
    positions = positions_of(CONNECT_FOUR, shard, chosen, np.zeros_like(chosen))
    begins = np.cumsum(shard.lengths) - shard.lengths
    assert (begins[positions.games] <= chosen).all() and (chosen < (begins + shard.lengths)[positions.games]).all()


def test_figures_of_the_end_become_the_mover_s():
    shard = shard_of(GO, "pass pass", "b2 pass pass")
    signs = positions_of(GO, shard, *everywhere(shard)).signs_at_end()
    assert signs.dtype == np.float32 and signs.shape == (5, 1) and signs[:, 0].tolist() == [1, -1, 1, -1, 1]


def test_a_sample_has_targets_by_name_and_none_that_is_not_wanted():
    shard = some_games(TIC_TAC_TOE)
    sample = make_sample(TIC_TAC_TOE, shard, *everywhere(shard), Targets(auxiliary=(Empty(),)))
    assert list(sample.auxiliary) == ["empty"]
    assert np.array_equal(sample.auxiliary["empty"][:, 0], sample.planes[:, 2].sum(axis=(1, 2)))
    assert make_sample(TIC_TAC_TOE, shard, *everywhere(shard)).auxiliary == {}


def test_targets_stay_with_their_positions_among_lessons():
    state = TIC_TAC_TOE.state_from_moves("a1")
    lessons = Lessons(TIC_TAC_TOE, [Lesson(state, result, {}) for result in (WIN, DRAW, LOSS)], 0.5)
    replay = Replay((TIC_TAC_TOE,), Window(1000), Targets(auxiliary=(Winner(), Empty())), lessons=lessons)
    replay.add("0", some_games(TIC_TAC_TOE))
    sample = replay.sample(200, np.random.default_rng(0))
    is_lesson = sample.policies.sum(axis=1) == 0
    assert list(sample.auxiliary) == ["winner", "empty"] and is_lesson.sum() == 100
    winners, empty = (targets[:, 0] for targets in sample.auxiliary.values())
    results = sample.results[:, 0] - sample.results[:, 2]
    assert set(results[is_lesson]) == {1, 0, -1} and np.array_equal(empty[is_lesson], results[is_lesson])
    assert np.array_equal(winners, results)
    assert np.array_equal(empty[~is_lesson], sample.planes[~is_lesson, 2].sum(axis=(1, 2)))


@pytest.mark.parametrize(("wanted", "expected"), [((), 0), ((Empty(),), 0), ((Winner(), Winner(), Empty()), 2)])
def test_ends_are_computed_once_for_what_is_kept_and_only_where_they_are_wanted(monkeypatch, wanted, expected):
    calls, compute = [], module.endings_of
    monkeypatch.setattr(module, "endings_of", lambda *given: calls.append(given) or compute(*given))
    replay = Replay((TIC_TAC_TOE,), Window(10_000), Targets(auxiliary=wanted))
    for shard in range(2):
        replay.add(str(shard), play(TIC_TAC_TOE, range(2)))
        for step in range(3):
            replay.sample(8, np.random.default_rng(step))
    assert len(calls) == expected


# --- endings of games: boards by hand, and games of self-play against their own states ---


ENDS = {
    "go(size=3,komi=0.5)": {
        "b2 pass pass": (8.5, ["+++", "+++", "+++"]),
        "b1 a2 b2 c3 b3 pass pass": (0.5, [".+-", "-+.", ".+."]),
        "a1 c1 a2 c2 a3 c3 pass pass": (-0.5, ["+.-", "+.-", "+.-"]),
        "pass pass": (-0.5, ["...", "...", "..."]),
    },
    "othello": {  # the shortest game: 13 black discs remain, no white ones
        "f5d6c5f4e7f6g5e6e3": (
            64,
            ["........", "........", "....+...", "...+++..", "..+++++.", "...+++..", "....+...", "........"],
        )
    },
}


@pytest.mark.parametrize("name", ENDS)
def test_drawn_ends(name):
    game = make_game(name)
    endings = endings_of(game, shard_of(game, *ENDS[name]))
    for k, (score, rows) in enumerate(ENDS[name].values()):
        assert endings.scores[k] == score
        assert "".join("-.+"[1 + owner] for owner in endings.owners[k]) == "".join(rows)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["go(size=3)", "othello(size=4)"])
def test_games_of_self_play_ended_as_they_were_played(name):
    game = make_game(name)
    shard = play(game, range(6))
    before = shard.states.tobytes()
    endings = endings_of(game, shard)
    assert shard.states.tobytes() == before
    for k, last in enumerate(np.cumsum(shard.lengths) - 1):
        state = State.from_record(game, shard.states[last])
        state.apply_action(int(shard.actions[last]))
        assert state.is_terminal() and endings.scores[k] == state.final_score()
        assert np.array_equal(endings.owners[k], state.ownership().ravel())
    assert np.array_equal(np.sign(endings.scores), shard.game_outcomes()) and np.abs(endings.owners).any()


def test_a_game_without_scores_and_owners_has_its_outcome_and_none():
    endings = endings_of(CONNECT_FOUR, some_games(CONNECT_FOUR))
    assert np.array_equal(endings.scores, some_games(CONNECT_FOUR).game_outcomes()) and not endings.owners.any()
