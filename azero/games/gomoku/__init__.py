"""Gomoku and its kin, the m,n,k-games: k in a row on a rectangle of up to 19x19."""

from azero.games.gomoku.rules import Gomoku as Gomoku
