"""Tests of endings of games: boards by hand, and games of self-play against their own states."""

import numpy as np
import pytest

from azero.games import State, make_game
from azero.selfplay.data.endings import endings_of

from .games import CONNECT_FOUR, play, shard_of, some_games

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
