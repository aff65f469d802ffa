"""The games that the page is tested with: all that ship and a user's own, on boards on which a game is short."""

import pytest

WHOLE = ["connect_four", "breakthrough(rows=5,columns=4)", "own:Nim"]
"""Whole games of these are in the short form of the tests."""

OTHERS = [
    "amazons(rows=4,columns=4)",
    "clobber(rows=4,columns=4)",
    "go(size=5)",
    "gomoku(rows=6,columns=6,k=4)",
    "hex(size=5,swap=true)",
    "othello(size=6)",
    "p_game(branching=2,depth=6)",
    "tic_tac_toe",
]

ALL = [*WHOLE, *OTHERS]

SOME_SLOW = [*WHOLE, *(pytest.param(game, marks=pytest.mark.slow) for game in OTHERS)]
ONE_QUICK = [WHOLE[0], *(pytest.param(game, marks=pytest.mark.slow) for game in ALL[1:])]
"""Parameters of tests. Tests of these games outside the short form are marked slow."""
