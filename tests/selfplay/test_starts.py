"""Tests of games that begin at given positions: the choice, the shards, and their check."""

import numpy as np
import pytest
from cases import thorough

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import make_game
from azero.mcts import Puct
from azero.runs.shards import load_shard, save_shard
from azero.selfplay.data.shard import join_shards
from azero.selfplay.play import SelfPlay, play_games
from azero.system.tensor_files import read_tensors

from .games import CONNECT_FOUR, NOISY, PLAY, TIC_TAC_TOE, HashEvaluator, assert_same, some_games, split

STARTS = ["X2/1O1/3 X", "moves: a1 b2 c3 a3", "3/3/3"]
GO = make_game("go(size=3)")
GO_STARTS = ["1X1/X1X/1X1 O ko:b2", "moves: b2 a1 pass"]


def play_from(game, starts, seeds=range(12), **playing):
    selfplay = SelfPlay(game, Puct(), NOISY, PLAY._replace(**playing), HashEvaluator(game), 4)
    return play_games(selfplay, seeds, starts=starts)


@pytest.fixture(scope="module")
def shard():
    return play_from(TIC_TAC_TOE, STARTS)


def first_states(shard):
    return shard.states[np.cumsum(shard.lengths) - shard.lengths]


def test_each_game_begins_at_one_of_the_starts_by_its_seed(shard):
    texts = [STARTS[derive_seed(seed, "start") % 3] for seed in range(12)]
    assert shard.start_texts() == texts and set(texts) == set(STARTS)
    for state, text in zip(first_states(shard), texts, strict=True):
        assert state == np.asarray(TIC_TAC_TOE.state_from_text(text).record)
    assert shard.lengths.max() <= 9 and shard.lengths[shard.start_lengths == len(STARTS[1])].max() <= 5


def test_a_game_does_not_depend_on_the_others(shard):
    alone = [play_from(TIC_TAC_TOE, STARTS, [seed]) for seed in range(12)]
    assert split(join_shards(alone)) == split(shard) and join_shards(alone).start_texts() == shard.start_texts()


def test_the_initial_position_as_a_start_changes_no_game():
    one, other = play_from(TIC_TAC_TOE, ["3/3/3 X"]), some_games(TIC_TAC_TOE)
    assert split(one) == split(other) and not other.start_texts()[0]


@pytest.mark.parametrize(
    ("game", "starts"), [(TIC_TAC_TOE, STARTS), (CONNECT_FOUR, ["moves: 1 2"]), *thorough((GO, GO_STARTS))]
)
def test_shards_are_read_back(game, starts, tmp_path):
    shard = play_from(game, starts, random_opening_share=0.5, random_opening_plies=2)
    assert shard.opening_lengths.any()
    save_shard(tmp_path / "shard", shard, game)
    assert_same(load_shard(tmp_path / "shard", game), shard)
    mixed = join_shards([shard, some_games(game), shard])
    save_shard(tmp_path / "shard", mixed, game)
    assert_same(load_shard(tmp_path / "shard", game), mixed)


def test_a_shard_without_starts_has_no_fields_for_them(tmp_path):
    save_shard(tmp_path / "shard", some_games(TIC_TAC_TOE), TIC_TAC_TOE)
    tensors = read_tensors(tmp_path / "shard", "")[1]
    assert "openings" in tensors and not {"starts", "start_lengths"} & tensors.keys()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3/1O1/3 X", "X has as many stones as O"),
        ("X2/1O1/3 O", "by the number of stones it is X's turn"),
        ("O2/1X1/3 X", "breaks the rules|its positions are not those of its games"),
        ("XX1/OO1/3 X", "breaks the rules|its positions are not those of its games"),
        ("XXX/OO1/3", "game 0 breaks the rules"),
        ("", "breaks the rules|its positions are not those of its games"),
        ("moves: ", "breaks the rules|its positions are not those of its games"),
        ("moves: z9", "'z9' is not a move of tic_tac_toe"),
        ("\xff", "the board has 3 rows"),
    ],
)
def test_another_start_is_refused(text, message, tmp_path):
    shard = play_from(TIC_TAC_TOE, STARTS[:1], [1])
    data = np.frombuffer(text.encode("latin-1"), np.uint8)
    forged = shard._replace(starts=data, start_lengths=np.array([len(data)], np.int32))
    save_shard(tmp_path / "shard", forged, TIC_TAC_TOE)
    with pytest.raises(BadInput, match=message):
        load_shard(tmp_path / "shard", TIC_TAC_TOE)


@pytest.mark.parametrize("lengths", [[9], [11], [-1]])
def test_lengths_that_do_not_add_up_are_refused(lengths, tmp_path):
    shard = play_from(TIC_TAC_TOE, STARTS[:1], [1])
    save_shard(tmp_path / "shard", shard._replace(start_lengths=np.array(lengths, np.int32)), TIC_TAC_TOE)
    with pytest.raises(BadInput, match="the lengths of its games do not add up"):
        load_shard(tmp_path / "shard", TIC_TAC_TOE)
