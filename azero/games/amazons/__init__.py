"""Amazons (the game of the amazons), any rectangle from 4x4 to 10x10."""

from azero.games.amazons.rules import Amazons as Amazons
