"""P-games: the random trees of the UCT paper. No tree is stored: a move's value is computed from the path to it."""

from azero.games.p_game.rules import PGame as PGame
