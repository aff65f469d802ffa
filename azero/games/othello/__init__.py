"""Othello (Reversi) on boards of even size from 4x4 to 16x16, in one 64-bit word up to 8x8 and in four above."""

from azero.games.othello.rules import Othello as Othello
