"""Tests of Havannah: drawn rings, bridges and forks, random games in step with OpenSpiel, the laws."""

from pathlib import Path

import pytest
from games.openspiel import check_random_games

from azero.games import make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "havannah.py"


@pytest.mark.parametrize(
    "stones",
    [
        pytest.param("c4 e4 d3 d5 e5 c3", id="a ring around an empty cell"),
        pytest.param("d4 c4 e4 d3 d5 e5 c3", id="a ring around a stone of its own"),
        pytest.param("a1 b1 d1 c1", id="a bridge between two corners"),
        pytest.param("b1 b2 a2 b4 b5 b3", id="a fork between three sides"),
    ],
)
def test_the_last_stone_wins(stones):
    others = iter(["g4", "f6", "e7", "g7", "d6", "e2"])
    first, *rest = stones.split()
    game = make_game(f"{FILE}:Havannah")
    state = game.state_from_moves(" ".join([first, *(move for stone in rest for move in (next(others), stone))]))
    assert state.is_terminal() and state.returns() == [1, -1]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_random_games_in_step_with_openspiel(size):
    check_random_games(make_game(f"{FILE}:Havannah(size={size})"), f"havannah(board_size={size})", 100, seed=size)


@pytest.mark.parametrize("size", [2, 4])
def test_laws(size):
    check_laws(make_game(f"{FILE}:Havannah(size={size})"), num_games=2, seed=1)
