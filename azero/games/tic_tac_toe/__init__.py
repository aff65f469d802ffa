"""Tic-tac-toe: three in a row on a 3x3 board."""

from azero.games.tic_tac_toe.rules import TicTacToe as TicTacToe
