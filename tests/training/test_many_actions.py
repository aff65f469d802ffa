"""Tests of a game with 4,672 actions: it plays, learns and resumes, and its positions take little memory."""

import mmap
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import long
from mcts.evaluators import HashEvaluator
from selfplay.games import GUMBEL, NOISY, PLAY, play, visits_of

from azero.games import make_game
from azero.mcts.search.search import Search
from azero.runs.shards import load_shard, save_shard
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.slots import new_open_games

from .runs import figures_of, finish_train, nets_of, strike, write_config

pytestmark = pytest.mark.slow  # its runs take long

FILE = Path(__file__).parents[1] / "data" / "many_actions.py"
LIMIT = 1024  # bytes per position


@pytest.fixture(scope="module")
def game():
    return make_game(f"{FILE}:ManyActions")


@pytest.mark.parametrize(
    "settings", [NOISY._replace(cache_mib=8), pytest.param(GUMBEL, marks=pytest.mark.long)], ids=["cached", "gumbel"]
)
def test_a_position_takes_less_than_a_kilobyte(game, settings, tmp_path):
    """In a shard, in its file, and in the replay window."""
    shard = play(game, range(8), playing=PLAY._replace(num_simulations=100), settings=settings)
    assert shard.num_positions == 8 * game.max_plies and 1 < shard.num_visited.mean() <= 40
    assert (visits_of(shard, game).sum(axis=1) > 0).all()
    size = sum(array.nbytes for array in shard)
    assert size < LIMIT / 4 * shard.num_positions
    save_shard(tmp_path / "shard", shard, game)
    assert (tmp_path / "shard").stat().st_size < LIMIT / 2 * shard.num_positions
    replay = Replay([game], Window(10_000))
    for name in ("first", "second"):
        replay.add(name, load_shard(tmp_path / "shard", game))
    sample = replay.sample(64, np.random.default_rng(0))
    assert sample.policies.shape == (64, 4672) and np.allclose(sample.policies.sum(axis=1), 1)
    assert ((sample.policies > 0).sum(axis=1) <= 40).all()


@pytest.mark.skipif(sys.platform != "linux", reason="it reads /proc")
def test_a_game_under_way_takes_what_is_written(game):
    """192 games of at most 512 plies, which have 20 plies of 40 counts, take less than 1 KB per position."""
    long = make_game(f"{FILE}:ManyActions(plies=512)")
    before = resident_bytes()
    games = new_open_games(long, 192, 0)
    for array in (games.visited, games.visits):
        array[:, : 20 * 40] = 1
    grown = resident_bytes() - before
    assert 192 * 20 * 40 * 4 < grown < LIMIT * 192 * 20


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


def test_a_cached_answer_takes_less_than_a_kilobyte(game):
    """A cache of 1 MiB has room for the answers to far more than 1,024 positions."""
    evaluator = HashEvaluator(game)
    search = Search(game, evaluator.evaluate, num_simulations=2_000, settings={"cache_mib": 1})
    search.run([game.new_initial_state()])
    cache = search._begun().walker.parts.cache
    in_ring = cache.written[0] - cache.buckets.begin <= len(cache.logits)
    assert len(cache.logits) // 40 > 2_900 > sum(evaluator.batch_sizes) > 1_500
    assert np.count_nonzero(in_ring & (cache.buckets.key > 0)) > 0.99 * sum(evaluator.batch_sizes)


@pytest.mark.parametrize("write", long("state 1 train 4", "state 2 train 0", "state 2 gate 0"))
def test_a_run_is_resumed_to_the_same_bytes(whole, write):
    run, config = whole.parent / f"run {write}", whole.parent / "tiny.toml"
    assert strike(run, config, write, "after") == -signal.SIGKILL
    finish_train(run, config)
    assert figures_of(run) == figures_of(whole) and nets_of(run) == nets_of(whole)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An unbroken run of a net whose policy is a 1x1 convolution."""
    folder = tmp_path_factory.mktemp("many actions")
    shutil.copy(FILE, folder)
    config = write_config(
        folder,
        game={"name": "many_actions.py:ManyActions"},
        net={"name": "any_size"},
        replay={"window": 300},
        training={"iterations": 2},
    )
    finish_train(folder / "whole", config)
    return folder / "whole"


def test_its_net_is_small_and_plays(whole, run_azero):
    assert (whole / "best.safetensors").stat().st_size < 100_000, "a linear layer would have 4,672 outputs"
    game = f"{whole.parent / FILE.name}:ManyActions"
    result = run_azero("evaluate", f"{whole}@20", "--against", "random", "--game", game, "--games", "4", "--json")
    assert result[0] == 0 and '"games": 4' in result[1], result
