"""Tests of self-play games that began at a position of their own."""

import pytest

from azero.games import make_game
from azero.runs.shards import save_shard
from tests.interfaces.web.runs.conftest import serving
from tests.selfplay.test_starts import STARTS, play_from

GAME = make_game("tic_tac_toe")


@pytest.fixture
def played(run):
    """Returns the games of a run that began at these starts, with all that is known of them."""
    shard = play_from(GAME, STARTS, random_opening_share=0.5, random_opening_plies=2)
    save_shard(run / "replay" / "00004-0000.safetensors", shard, GAME)
    with serving(run) as client:
        listed = client.look("runs/tiny/games?iteration=4")["games"]
        games = [client.look(f"runs/tiny/games/{each['id']}") for each in reversed(listed)]
        ends = [client.ask("positions", game="tic_tac_toe", position=g["start"], moves=g["moves"]) for g in games]
    return list(zip(shard.start_texts(), games, ends, strict=True))


def test_moves_that_lead_to_a_start_are_given(played):
    game = next(game for start, game, _ in played if start == STARTS[1])
    assert game["moves"][:4] == ["a1", "b2", "c3", "a3"] and game["given_plies"] == 4
    assert game["start"] is None and not game["has_start"]


def test_a_board_is_the_start_of_its_game(played):
    game = next(game for start, game, _ in played if start == STARTS[0])
    assert game["start"] == STARTS[0] and game["has_start"] and game["given_plies"] == 0


def test_the_moves_are_those_of_the_whole_game(played):
    for _, game, end in played:
        before = game["given_plies"] + game["opening_plies"]
        assert [ply["move"] for ply in game["plies"]] == game["moves"][before:] and end["result"]["text"]
        assert end["result"]["winner"] == game["result"]["winner"] and game["plies"][0]["prior"]
    assert {bool(game["opening_plies"]) for _, game, _ in played} == {True, False}
