"""Connect Four on bitboards, from 4x4 to 8x8."""

from azero.games.connect_four.rules import ConnectFour as ConnectFour
