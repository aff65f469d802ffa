"""Amazons (the Game of the Amazons), from 4x4 to 10x10."""

from azero.games.amazons.rules import Amazons as Amazons
