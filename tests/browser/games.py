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

KINDS = [
    "connect_four",  # columns
    "amazons(rows=4,columns=4)",  # several cells a move
    "go(size=5)",  # points, and a pass
    "hex(size=5,swap=true)",  # hexagons, and a swap
    "p_game(branching=2,depth=6)",  # branches of a tree
    "own:Nim",  # a list of moves
]
"""A game for each way to make a move. What the page does in another game, it does in one of these."""


def kinds_with(*quick: str) -> list:
    """Returns games of all kinds as parameters of a test, of which all but `quick` are marked slow."""
    return _marked(KINDS, quick)


def all_with(*quick: str) -> list:
    """Returns the games as parameters of a test, of which all but `quick` are marked slow."""
    return _marked(ALL, quick)


def _marked(games: list[str], quick: tuple[str, ...]) -> list:
    return [game if game in quick else pytest.param(game, marks=pytest.mark.slow) for game in games]
