"""Tests of shards in files: they load unchanged; damaged files and those of other games are refused in one line."""

import json
import re

import numpy as np
import pytest
from cases import thorough
from safetensors.numpy import load_file, save_file
from selfplay.games import (
    CONNECT_FOUR,
    PLAY,
    TIC_TAC_TOE,
    assert_same,
    play,
    random_games,
    some_games,
    split,
    visits_of,
    with_visits,
)

from azero.config.schema import SelfPlayConfig
from azero.errors import BadInput
from azero.games import make_game, registered_games
from azero.runs.shards import FORMAT, check_largest, load_shard, save_shard
from azero.selfplay.data.shard import join_shards
from azero.system.tensor_files import LARGEST, write_tensors

GAMES = [TIC_TAC_TOE, *thorough(CONNECT_FOUR)]
OPENED = PLAY._replace(random_opening_share=0.7, random_opening_plies=5)


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "shard.safetensors"
    save_shard(path, some_games(TIC_TAC_TOE), TIC_TAC_TOE)
    return path


def refusal(path, game=TIC_TAC_TOE) -> str:
    """Returns the error, one line, with which a file is refused."""
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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: {"states": np.ascontiguousarray(tensors["states"][:, :-1])}, "its states are uint8"),
        (lambda tensors: {"lengths": np.zeros(0, np.int32)}, "cannot be used"),
        (lambda tensors: {"players": np.asarray(np.int8(1))}, "cannot be used"),
        (lambda tensors: {"lengths": np.asarray(np.int32(1))}, "cannot be used"),
    ],
)
def test_arrays_of_other_shapes_are_refused(saved, change, message):
    tensors = load_file(saved)
    write_tensors(saved, tensors | change(tensors), {"format": FORMAT, "game": "tic_tac_toe"})
    assert message in refusal(saved)


def resaved(path, **arrays) -> None:
    """Writes a shard of tic_tac_toe with other arrays. The digest is right, so only checks of the contents help."""
    save_shard(path, some_games(TIC_TAC_TOE)._replace(**arrays), TIC_TAC_TOE)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("actions", 9, "its actions have a value out of range"),
        ("actions", -1, "its actions have a value out of range"),
        ("actions", 4, "game 0 breaks the rules"),
        ("players", 1, "its positions are not those of its games"),
        ("root_values", np.nan, "its root_values have a value out of range"),
        ("root_values", 1.5, "its root_values have a value out of range"),
        ("weights", -1, "its weights have a value out of range"),
        ("weights", np.inf, "its weights have a value out of range"),
        ("weights", 3e38, "its weights are more than its positions"),
        ("simulations", 2**63 - 1, "its simulations have a value out of range"),
        ("proven", 7, "its proven have a value out of range"),
        ("outcomes", 0, "its positions are not those of its games"),
        ("visits", 0, "its visits have a value out of range"),
        ("visited", 9, "its visited have a value out of range"),
        ("visited", -1, "its visited have a value out of range"),
        ("visited", 4, "game 0 breaks the rules"),
        ("num_visited", 0, "the lengths of its games do not add up"),
        ("num_visited", -1, "the lengths of its games do not add up"),
        ("lengths", 0, "the lengths of its games do not add up"),
        ("lengths", -1, "the lengths of its games do not add up"),
        ("lengths", 2**31 - 1, "the lengths of its games do not add up"),
        ("opening_lengths", 1, "the lengths of its games do not add up"),
    ],
)
def test_a_signed_shard_with_impossible_values_is_refused(saved, field, value, message):
    array = getattr(some_games(TIC_TAC_TOE), field).copy()
    array[:] = value
    resaved(saved, **{field: array})
    assert message in refusal(saved)


def test_a_training_position_without_visits_is_refused(saved):
    shard = some_games(TIC_TAC_TOE)
    rows = visits_of(shard, TIC_TAC_TOE)
    rows[5] = 0
    assert shard.weights[5] > 0
    save_shard(saved, with_visits(shard, rows), TIC_TAC_TOE)
    assert "a training position has no visits" in refusal(saved)


def test_a_game_begins_at_a_text_of_limited_length(saved):
    shard, size = some_games(TIC_TAC_TOE), (1 << 16) + 1
    lengths = np.zeros_like(shard.start_lengths)
    lengths[0] = size
    resaved(saved, starts=np.full(size, ord("."), np.uint8), start_lengths=lengths)
    assert "the text of a position at which a game begins has more than 65,536 bytes" in refusal(saved)


SMALL = {
    "amazons": "(size=5)",
    "go": "(size=5)",
    "gomoku": "(size=5)",
    "hex": "(size=4,swap=true)",
    "othello": "(size=4)",
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", sorted(registered_games()))
def test_shards_of_all_games_pass_their_own_checks(name, tmp_path):
    game = make_game({"p_game": "p_game(branching=3,depth=5,seed=1)"}.get(name, name + SMALL.get(name, "")))
    shard = random_games(game, 4)
    save_shard(tmp_path / "shard", shard, game)
    assert_same(load_shard(tmp_path / "shard", game), shard)


@pytest.mark.parametrize("game", GAMES)
def test_a_signed_shard_with_another_state_is_refused(game, tmp_path):
    shard, path = some_games(game), tmp_path / "shard"
    for name in game.rules.state_dtype.names:
        states = shard.states.copy()
        states[name][5] ^= 1
        save_shard(path, shard._replace(states=states), game)
        assert "its positions are not those of its games" in refusal(path, game)


def test_openings_are_kept_and_replayed(tmp_path):
    path, shard = tmp_path / "shard", play(CONNECT_FOUR, range(12), playing=OPENED)
    assert shard.opening_lengths.sum() > 0 and 0 in shard.opening_lengths
    save_shard(path, shard, CONNECT_FOUR)
    assert_same(load_shard(path, CONNECT_FOUR), shard)
    openings = shard.openings.copy()
    openings[0] = (openings[0] + 1) % 4
    save_shard(path, shard._replace(openings=openings), CONNECT_FOUR)
    message = refusal(path, CONNECT_FOUR)
    assert "breaks the rules" in message or "its positions are not those of its games" in message


@pytest.mark.thorough
def test_a_flipped_bit_anywhere_is_refused(saved):
    data = saved.read_bytes()
    for bit in range(0, 8 * len(data), 61):
        saved.write_bytes(data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :])
        refusal(saved)


def test_a_flipped_bit_in_the_header_is_no_crash(saved):
    """The damage is noticed, or nothing depends on it."""
    data = saved.read_bytes()
    for place in range(0, 8 + int.from_bytes(data[:8], "little"), 3):
        saved.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        refusal(saved)


@pytest.mark.slow
def test_what_is_in_the_gaps_of_states_is_not_written(tmp_path):
    """Gaps between fields may hold whatever was in memory."""
    game = make_game("hex(size=3,swap=true)")
    shard, dtype = random_games(game, 2), game.rules.state_dtype
    assert dtype.itemsize > sum(dtype[name].itemsize for name in dtype.names), "the test needs a game with gaps"
    states = np.full((len(shard.states), dtype.itemsize), 0xAB, np.uint8).view(dtype)[:, 0]
    for name in dtype.names:
        states[name] = shard.states[name]
    save_shard(tmp_path / "clean", shard, game)
    save_shard(tmp_path / "filled", shard._replace(states=states), game)
    assert (tmp_path / "clean").read_bytes() == (tmp_path / "filled").read_bytes()


def test_a_shard_whose_file_could_be_too_large_is_refused_before_its_games_are_played():
    game = make_game("go(size=19)")
    check_largest(make_game("go(size=13)"), SelfPlayConfig())
    check_largest(game, SelfPlayConfig(games_per_iteration=60))
    with pytest.raises(BadInput, match=r"^selfplay.games_per_shard = 250: .* exceed 1024 MiB; with ") as error:
        check_largest(game, SelfPlayConfig(games_per_iteration=500))
    check_largest(game, SelfPlayConfig(games_per_iteration=500), num_sizes=10)
    fitting = int(re.search("games_per_shard=([0-9]+) it", str(error.value))[1])
    check_largest(game, SelfPlayConfig(games_per_shard=fitting))
    assert fitting * game.max_plies * game.rules.state_dtype.itemsize < LARGEST
