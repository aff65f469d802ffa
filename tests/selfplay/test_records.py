"""Shards in files: they come back as they were; damaged ones and those of other games are refused in one line."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from azero.errors import BadInput
from azero.games import make_game
from azero.mcts.tree import UNPROVEN
from azero.selfplay.data.records import join_shards, load_shard, save_shard

from .games import CONNECT_FOUR, TIC_TAC_TOE, assert_same, play, some_games, split

GAMES = [TIC_TAC_TOE, CONNECT_FOUR]


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "shard.safetensors"
    save_shard(path, some_games(TIC_TAC_TOE), TIC_TAC_TOE)
    return path


def refusal(path, game=TIC_TAC_TOE) -> str:
    """Returns the one line with which a file is refused."""
    with pytest.raises(BadInput) as error:
        load_shard(path, game)
    message = str(error.value)
    assert len(message.splitlines()) == 1 and repr(str(path)) in message
    return message


@pytest.mark.parametrize("game", GAMES)
def test_a_shard_comes_back_as_it_was(game, tmp_path):
    path = tmp_path / "replay" / "shard.safetensors"
    save_shard(path, some_games(game), game)
    loaded = load_shard(path, game)
    assert_same(loaded, some_games(game))
    assert loaded.states.dtype == game.rules.state_dtype
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_file_from_before_there_were_proofs_and_weights_and_resignation(saved):
    tensors = load_file(saved)
    for name in ("cache_hits", "proven", "weights", "resign_values", "played_on", "resigned", "searched"):
        del tensors[name]
    save_file(tensors, saved, {"azero": json.dumps({"game": "tic_tac_toe"})})
    loaded, num = load_shard(saved, TIC_TAC_TOE), some_games(TIC_TAC_TOE).num_positions
    assert (loaded.proven == UNPROVEN).all() and (loaded.weights == 1).all()
    assert not loaded.played_on.any() and not loaded.resigned.any()
    assert loaded.played_on.shape == loaded.resigned.shape == loaded.lengths.shape
    assert loaded.resign_values.tolist() == loaded.root_values.tolist()
    assert loaded.searched.tolist() == [0] * 12
    assert len(loaded.proven) == len(loaded.weights) == num == loaded.num_learnt and loaded.cache_hits.tolist() == [0]


def test_the_same_shard_gives_the_same_bytes(saved, tmp_path):
    save_shard(tmp_path / "again", load_shard(saved, TIC_TAC_TOE), TIC_TAC_TOE)
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_joined_shards_are_the_games_of_all():
    parts = [play(TIC_TAC_TOE, range(5)), play(TIC_TAC_TOE, range(5, 6)), play(TIC_TAC_TOE, range(6, 12))]
    assert_same(join_shards(parts), some_games(TIC_TAC_TOE))
    assert split(join_shards(parts[::-1])) == split(parts[2]) + split(parts[1]) + split(parts[0])
    assert_same(join_shards(parts[:1]), parts[0])


def test_outcomes_of_games():
    shard = some_games(TIC_TAC_TOE)
    assert shard.game_outcomes().tolist() == [outcomes[0] for *_, outcomes in split(shard)]


@pytest.mark.parametrize("name", ["connect_four", "connect_four(rows=4,columns=5)"])
def test_a_shard_of_another_game(name, tmp_path):
    save_shard(tmp_path / "shard", some_games(CONNECT_FOUR), CONNECT_FOUR)
    assert f"holds games of {CONNECT_FOUR}, not {name}" in refusal(tmp_path / "shard", make_game(name))


def test_a_missing_file(tmp_path):
    assert "cannot be read" in refusal(tmp_path / "none")


def test_a_file_cut_short_anywhere(saved):
    data = saved.read_bytes()
    for length in [*range(20), *range(20, len(data), 211), len(data) - 1]:
        saved.write_bytes(data[:length])
        refusal(saved)


def test_a_file_of_another_kind(saved):
    tensors = load_file(saved)
    save_file(tensors, saved)
    refusal(saved)
    del tensors["visits"]
    save_file(tensors, saved, {"azero": json.dumps({"game": "tic_tac_toe"})})
    refusal(saved)


@pytest.mark.parametrize("card", ["", "{", "[]", "1", "null", "[" * 100_000], ids=lambda card: card[:5])
def test_a_card_that_is_none(saved, card):
    save_file(load_file(saved), saved, {"azero": card})
    refusal(saved)


def test_states_of_another_size(saved):
    tensors = load_file(saved)
    tensors["states"] = np.ascontiguousarray(tensors["states"][:, :-1])
    save_file(tensors, saved, {"azero": json.dumps({"game": "tic_tac_toe"})})
    refusal(saved)


def test_a_flipped_bit_in_the_header_is_no_crash(saved):
    """Damage is noticed, or it is where nothing depends on it."""
    data = saved.read_bytes()
    for place in range(8 + int.from_bytes(data[:8], "little")):
        saved.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        refusal(saved)
