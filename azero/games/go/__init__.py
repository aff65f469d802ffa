"""Go, from 2x2 to 19x19: area scoring, positional superko, and random games that fill no eyes."""

from azero.games.go.rules import Go as Go
