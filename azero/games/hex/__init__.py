"""Hex from 2x2 to 19x19, with an optional swap rule."""

from azero.games.hex.rules import Hex as Hex
