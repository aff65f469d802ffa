"""Tests of records of self-play games: the games are whole, with their random openings and the searches' values."""

import numpy as np

from azero.selfplay.data.games import Games, records_of, sample_games

from .games import CONNECT_FOUR, PLAY, play


def test_records_are_the_games_with_their_openings_and_values():
    shard = play(CONNECT_FOUR, range(12), playing=PLAY._replace(random_opening_share=1.0, random_opening_plies=4))
    games = Games.from_shards(CONNECT_FOUR, {3: [shard]})
    records = records_of(games, range(12), "runs/it")
    openings = [record.num_opening_plies for record in records]
    assert openings == shard.opening_lengths.tolist() and max(openings) > 0
    for number, record in enumerate(records):
        assert record.end().is_terminal() and record.end().returns()[0] == games.outcomes[number]
        assert record.tags["Event"] == "runs/it" and record.tags["Round"] == f"3.{number + 1}"
    values = [node.value for record in records for node in record.line()[record.num_opening_plies :]]
    assert np.allclose(values, games.values)
    assert all(node.value is None for record in records for node in record.line()[: record.num_opening_plies])


def test_a_sample_has_each_game_once():
    games = Games.from_shards(CONNECT_FOUR, {1: [play(CONNECT_FOUR, range(12))]})
    assert sample_games(games, 100, seed=0) == list(range(12))
    drawn = sample_games(games, 5, seed=0)
    assert drawn == sorted(set(drawn)) and len(drawn) == 5 and drawn == sample_games(games, 5, seed=0)
