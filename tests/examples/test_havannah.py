"""Tests of Havannah: drawn rings, bridges and forks, random games in step with OpenSpiel, the laws."""

from pathlib import Path

import pytest
from games.openspiel import check_random_games

from azero.games import make_game
from azero.games.laws.laws import check_laws

FILE = Path(__file__).parents[2] / "examples" / "games" / "havannah.py"


@pytest.mark.parametrize("size", [2, 3, 4])
def test_random_games_in_step_with_openspiel(size):
    check_random_games(make_game(f"{FILE}:Havannah(size={size})"), f"havannah(board_size={size})", 100, seed=size)


@pytest.mark.parametrize("size", [2, 4])
def test_laws(size):
    check_laws(make_game(f"{FILE}:Havannah(size={size})"), num_games=2, seed=1)
