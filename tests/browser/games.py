"""The games that the page is tested with: all that ship and a user's own, on boards on which a game is short."""

import pytest

ALL = [
    "connect_four",
    "breakthrough(rows=5,columns=4)",
    "own:Nim",
    "amazons(rows=4,columns=4)",
    "clobber(rows=4,columns=4)",
    "go(size=5)",
    "gomoku(rows=6,columns=6,k=4)",
    "hex(size=5,swap=true)",
    "othello(size=6)",
    "p_game(branching=2,depth=6)",
    "tic_tac_toe",
]


def all_with(*quick: str) -> list:
    """Returns the games as parameters of a test, of which all but `quick` are marked slow."""
    return [game if game in quick else pytest.param(game, marks=pytest.mark.slow) for game in ALL]
