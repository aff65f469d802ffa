"""Names and colours of players. A game's picture says who is first."""

from azero.games.pictures.picture import Player

BLACK = Player("Black", "black")
WHITE = Player("White", "white")
RED = Player("Red", "red")
YELLOW = Player("Yellow", "yellow")
ORANGE = Player("Orange", "orange")
BLUE = Player("Blue", "blue")

UNNAMED = Player("First", "orange"), Player("Second", "blue")
"""The players of a game that does not name them."""
