"""Clobber on bitboards, from 2x2 to 10x10."""

from azero.games.clobber.rules import Clobber as Clobber
