"""Breakthrough on bitboards, from 3x2 to 10x10."""

from azero.games.breakthrough.rules import Breakthrough as Breakthrough
