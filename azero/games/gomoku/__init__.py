"""Gomoku and other m,n,k-games: k in a row on boards of up to 20x20."""

from azero.games.gomoku.rules import Gomoku as Gomoku
