"""Tests of replay: the window, and samples, which are positions of the kept games in random symmetries."""

import threading

import numpy as np
import pytest
from cases import thorough

from azero.compiler.jit import IS_COMPILED
from azero.games import State, make_game
from azero.games.state import exchanged
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import make_sample

from .games import CONNECT_FOUR, TIC_TAC_TOE, assert_same, play, random_games, some_games, visits_of

GAMES = [CONNECT_FOUR, *thorough(TIC_TAC_TOE)]


def shards(count=6):
    return [play(TIC_TAC_TOE, range(2 * k, 2 * k + 2)) for k in range(count)]


def test_the_window_moves_by_whole_shards():
    parts = shards()
    sizes = [part.num_positions for part in parts]
    replay = Replay((TIC_TAC_TOE,), Window(sizes[1] + sizes[2]))
    assert replay.add("0", parts[0]) == replay.add("1", parts[1]) == []
    assert replay.num_learnt == sizes[0] + sizes[1]
    assert replay.add("2", parts[2]) == ["0"], "the two newest shards exactly fill the window"
    assert replay.names == ["1", "2"] and replay.num_learnt == sizes[1] + sizes[2]
    assert replay.add("3", parts[3]) == (["1"] if sizes[3] >= sizes[1] else [])


@pytest.mark.parametrize("window", [1, 15, 30, 10_000])
def test_between_the_window_and_a_shard_more_are_kept(window):
    replay, added = Replay((TIC_TAC_TOE,), Window(window)), []
    for k, part in enumerate(shards()):
        before = list(replay.names)
        assert replay.add(str(k), part) + replay.names == [*before, str(k)]
        added.append(part.num_positions)
        kept = added[-len(replay.names) :]
        assert replay.num_learnt == sum(kept) == sum(each.num_positions for each in replay.shards)
        assert sum(kept[1:]) < window and (sum(kept) >= window or len(kept) == k + 1)


@pytest.mark.slow
def test_some_rows_of_a_batch_are_those_of_the_whole():
    """A window that follows another one draws the same batches."""
    games = [make_game(f"hex(size={size},swap=true)") for size in (3, 4)]
    first, second = (Replay(games, Window(window)) for window in (30, 1))
    for k in range(4):
        left = first.add(str(k), play(games[k % 2], range(2)), k % 2)
        second.follow(first.names, {name: each for name, each in first.sized_shards().items() if name == str(k)})
        whole = first.sample(40, np.random.default_rng(k))
        for rows in (slice(0, 16), slice(16, 40)):
            part = second.sample(40, np.random.default_rng(k), rows)
            for one, other in zip(part[:3], whole.at(rows)[:3], strict=True):
                assert np.array_equal(one, other)
    assert left and second.names == first.names, "a shard should leave"


@pytest.mark.parametrize("sizes", [(0, 0, 0), (1, 0, 1, 0, 0)], ids=["one size", "two sizes"])
def test_shards_are_kept_as_they_are_whatever_is_sampled(sizes):
    games = [make_game(f"hex(size={size},swap=true)") for size in (3, 4)[: 1 + max(sizes)]]
    parts = [(size, random_games(games[size], 2, seed=k)) for k, size in enumerate(sizes)]
    replay = Replay(games, Window(10_000))
    for k, (size, part) in enumerate(parts):
        replay.add(str(k), part, size)
        replay.sample(4, np.random.default_rng(k))
    for kept, (_, part) in zip(replay.shards, parts, strict=True):
        assert_same(kept, part)


@pytest.mark.parametrize("game", GAMES)
def test_a_sample_is_the_positions_seen_through_their_symmetries(game):
    shard, (cells, actions) = some_games(game), game.symmetries
    visits = visits_of(shard, game)
    pairs = [(k, s) for k in range(0, shard.num_positions, 3) for s in range(len(cells))]
    indices, chosen = np.array(pairs).T
    sample = make_sample(game, shard, indices, chosen)
    assert {array.dtype for array in sample[:3]} == {np.dtype(np.float32)}
    for row, (k, s) in enumerate(pairs):
        planes = State.from_record(game, shard.states[k]).planes()
        turned = planes.reshape(len(planes), -1)[:, cells[s]].reshape(planes.shape)
        policy = visits[k] / visits[k].sum()
        assert np.array_equal(sample.planes[row], turned)
        np.testing.assert_allclose(sample.policies[row], policy[actions[s]], rtol=1e-6)
        result = int(shard.outcomes[k]) * (1 if shard.players[k] == 0 else -1)
        assert sample.results[row].tolist() == {1: [1, 0, 0], 0: [0, 1, 0], -1: [0, 0, 1]}[result]
    np.testing.assert_allclose(sample.policies.sum(axis=1), 1, rtol=1e-6)
    assert set(sample.results.argmax(axis=1)) == {0, 1, 2}


def test_a_sample_has_positions_with_the_players_exchanged():
    """Each is in a symmetry, and has its mover's policy and result. The first two positions have no exchanged one."""
    game = make_game("hex(size=4,swap=true)")
    shard, (cells, _), (_, actions) = some_games(game), game.symmetries, game.training_symmetries
    visits, exchange = visits_of(shard, game), game.rules.exchange().actions
    pairs = [(k, s) for k in range(shard.num_positions) for s in (2, 3)]
    sample = make_sample(game, shard, *np.array(pairs).T)
    plain = make_sample(game, shard, *(np.array(pairs) - [0, 2]).T)
    assert np.array_equal(sample.results, plain.results) and len(actions) == 4
    num_exchanged = 0
    for row, (k, s) in enumerate(pairs):
        other = exchanged(State.from_record(game, shard.states[k]))
        if other is None:
            assert np.array_equal(sample.planes[row], plain.planes[row])
            assert np.array_equal(sample.policies[row], plain.policies[row])
            continue
        num_exchanged += 1
        turned = other.planes().reshape(5, -1)[:, cells[s - 2]].reshape(5, 4, 4)
        policy = (visits[k] / visits[k].sum())[exchange][game.symmetries.actions[s - 2]]
        assert np.array_equal(sample.planes[row], turned)
        np.testing.assert_allclose(sample.policies[row], policy, rtol=1e-6)
    assert len(shard.lengths) < num_exchanged < len(pairs)


def test_positions_are_drawn_by_their_weights():
    replay, shard = Replay((TIC_TAC_TOE,), Window(10_000)), play(TIC_TAC_TOE, range(2))
    weights = np.zeros(shard.num_positions, np.float32)
    weights[[0, 3]] = 1, 3
    replay.add("0", shard._replace(weights=weights))
    results = replay.sample(8_000, np.random.default_rng(3)).planes[:, 2].sum(axis=(1, 2))  # empty cells
    assert set(results) == {9, 6} and abs((results == 6).mean() - 0.75) < 0.03
    assert replay.num_learnt == 4


def test_the_window_grows_with_what_has_come():
    constant, growing = Window(1000), Window(1000, growth=0.4)
    assert [constant.size(seen) for seen in (1, 1000, 10**6)] == [1000, 1000, 1000]
    assert [growing.size(seen) for seen in (1, 1000, 16_000)] == [1000, 1000, 1000 + round(400 * (16**0.75 - 1) / 0.75)]


def test_a_window_that_grows_is_the_same_when_it_is_loaded_again():
    parts, window = shards(), Window(12, growth=0.5)
    replay, seen = Replay((TIC_TAC_TOE,), window), 0
    for k, part in enumerate(parts):
        replay.add(str(k), part)
        seen += part.num_learnt
        again = Replay((TIC_TAC_TOE,), window, num_before=seen - replay.num_learnt)
        for name, shard in zip(replay.names, replay.shards, strict=True):
            assert again.add(name, shard) == []
        assert again.names == replay.names
    assert 1 < len(replay.names) < len(parts)


@pytest.mark.parametrize("game", GAMES)
def test_positions_and_symmetries_are_drawn_evenly(game):
    """Draws are identified by their planes. Planes that several positions share count for all of them."""
    replay, shard = Replay((game,), Window(10_000)), play(game, range(2))
    replay.add("0", shard)
    cells, count = game.symmetries.cells, 20_000 if IS_COMPILED else 2_000
    expected: dict[bytes, float] = {}
    for k in range(shard.num_positions):
        planes = State.from_record(game, shard.states[k]).planes()
        for gather in cells:
            key = np.ascontiguousarray(planes.reshape(len(planes), -1)[:, gather]).tobytes()
            expected[key] = expected.get(key, 0.0) + count / shard.num_positions / len(cells)
    sample = replay.sample(count, np.random.default_rng(3))
    found = dict.fromkeys(expected, 0)
    for position in sample.planes:
        found[position.tobytes()] += 1
    assert all(abs(found[key] - mean) < 5 * mean**0.5 for key, mean in expected.items())


def test_samples_follow_from_the_generator():
    replay = Replay((CONNECT_FOUR,), Window(10_000))
    replay.add("0", some_games(CONNECT_FOUR))
    one, same, other = (replay.sample(16, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert all(np.array_equal(a, b) for a, b in zip(one[:3], same[:3], strict=True))
    assert not np.array_equal(one.planes, other.planes)


def test_samples_made_ahead_are_the_same():
    replay = Replay((CONNECT_FOUR,), Window(10_000))
    replay.add("0", some_games(CONNECT_FOUR))
    alone = [replay.sample(16, np.random.default_rng([7, step])) for step in range(5)]
    for num in (0, 1, 5):
        ahead = list(replay.samples(16, (np.random.default_rng([7, step]) for step in range(num))))
        assert len(ahead) == num
        for one, other in zip(ahead, alone, strict=False):
            assert [array.tobytes() for array in one[:3]] == [array.tobytes() for array in other[:3]]


def test_while_one_sample_is_learnt_from_the_next_is_made():
    replay, made, threads = Replay((TIC_TAC_TOE,), Window(10_000)), threading.Semaphore(0), set()
    replay.add("0", some_games(TIC_TAC_TOE))
    draw = replay.sample

    def noted(*arguments):
        sample = draw(*arguments)
        threads.add(threading.get_ident())
        made.release()
        return sample

    replay.sample = noted
    samples = replay.samples(4, (np.random.default_rng(step) for step in range(3)))
    for _ in range(2):
        next(samples)
        assert made.acquire(timeout=30)
    assert made.acquire(timeout=30), "the third sample should be made before it is asked for"
    assert threading.get_ident() not in threads and len(threads) == 1
    assert len(list(samples)) == 1


def test_samples_come_from_what_is_kept():
    parts, replay = shards(3), Replay((TIC_TAC_TOE,), Window(1))
    for k, part in enumerate(parts):
        replay.add(str(k), part)
        sample = replay.sample(200, np.random.default_rng(k))
        own = make_sample(TIC_TAC_TOE, part, *(each.ravel() for each in np.indices((part.num_positions, 8))))
        assert {each.tobytes() for each in sample.planes} <= {each.tobytes() for each in own.planes}
    assert replay.names == ["2"]
