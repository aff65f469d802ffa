"""Tests of lessons: their share of a batch, their targets, and that other positions are drawn as without them."""

import numpy as np
import pytest

from azero.games import DRAW, LOSS, WIN
from azero.selfplay.data.lessons import Lesson, Lessons
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import draw_lessons, sample_lessons

from .games import CONNECT_FOUR, some_games

GAME = CONNECT_FOUR
WON, DRAWN, LOST = (GAME.state_from_moves(moves) for moves in ("121212", "1234", "1"))
LESSONS = [
    Lesson(WON, WIN, {0: 1}),
    Lesson(DRAWN, DRAW, {1: 1, 2: 1, 3: 1}),
    Lesson(LOST, LOSS, {}),
]


def replay_with(share, lessons=LESSONS):
    replay = Replay((GAME,), Window(1000), lessons=Lessons(GAME, lessons, share))
    replay.add("0", some_games(GAME))
    return replay


def expected():
    """Returns each lesson's set of (planes, policy, results) as bytes, one per symmetry."""
    cells, actions = GAME.symmetries
    found = []
    for lesson in LESSONS:
        policy = np.zeros(GAME.num_actions, np.float32)
        policy[list(lesson.policy)] = 1 / max(1, len(lesson.policy))
        result = np.array([lesson.value == z for z in (WIN, DRAW, LOSS)], np.float32)
        planes = lesson.state.planes().reshape(GAME.planes_shape[0], -1)
        found += [
            {(planes[:, cells[s]].tobytes(), policy[actions[s]].tobytes(), result.tobytes()) for s in range(len(cells))}
        ]
    return found


def test_lessons_are_their_positions_seen_through_symmetries_with_their_policies_and_results():
    lessons = Lessons(GAME, LESSONS, 0.5)
    sample = sample_lessons(lessons, *draw_lessons(lessons, 600, np.random.default_rng(0)), ())
    seen = [tuple(part.tobytes() for part in row) for row in zip(*sample[:3], strict=True)]
    assert set(seen) == set.union(*expected())
    for one in expected():
        assert 150 < sum(row in one for row in seen) < 250, "lessons should be drawn equally often"
    assert {array.dtype for array in sample[:3]} == {np.dtype(np.float32)} and sample.auxiliary == {}


@pytest.mark.parametrize(("share", "batch", "num"), [(0.25, 64, 16), (0.9, 10, 9), (0.3, 5, 2), (0.1, 4, 0)])
def test_their_share_of_a_batch_is_lessons(share, batch, num):
    lessons = LESSONS[:2]
    sample = replay_with(share, lessons).sample(batch, np.random.default_rng(3))
    known = {planes for one in expected()[: len(lessons)] for planes, _, _ in one}
    games = replay_with(1e-9).sample(2000, np.random.default_rng(0))
    assert known.isdisjoint(planes.tobytes() for planes in games.planes)
    assert [planes.tobytes() in known for planes in sample.planes].count(True) == num
    assert len(sample.planes) == batch


def test_lessons_lie_anywhere_in_a_batch():
    replay, places = replay_with(0.25, LESSONS[2:]), set()
    for seed in range(20):
        places |= set(np.flatnonzero(replay.sample(16, np.random.default_rng(seed)).policies.sum(axis=1) == 0))
    assert len(places) == 16


def test_a_share_that_rounds_to_none_draws_positions_of_games_alone():
    plain = Replay((GAME,), Window(1000))
    plain.add("0", some_games(GAME))
    drawn, other = (
        {planes.tobytes() for planes in each.sample(400, np.random.default_rng(1)).planes}
        for each in (plain, replay_with(0.001))
    )
    assert drawn == other
