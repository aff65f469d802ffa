"""Go from 2x2 to 19x19: area scoring, positional superko, and random games that do not fill eyes."""

from azero.games.go.rules import Go as Go
