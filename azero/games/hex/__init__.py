"""Hex, from 2x2 to 19x19, with the swap rule to choose."""

from azero.games.hex.rules import Hex as Hex
