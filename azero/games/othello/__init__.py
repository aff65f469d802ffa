"""Othello (Reversi) on even boards from 4x4 to 16x16: one word of bits up to 8x8, four words above."""

from azero.games.othello.rules import Othello as Othello
