"""How boards look: pictures of positions as data, and helpers with which a game makes them."""

from azero.games.pictures.grids import hexagons, pieces_from, squares, star_points
from azero.games.pictures.picture import (
    BLACK,
    BLUE,
    ORANGE,
    RED,
    UNNAMED,
    WHITE,
    YELLOW,
    Board,
    Button,
    Cell,
    Edge,
    Label,
    Picture,
    Piece,
    Player,
)

__all__ = [
    "BLACK", "BLUE", "ORANGE", "RED", "UNNAMED", "WHITE", "YELLOW",
    "Board", "Button", "Cell", "Edge", "Label", "Picture", "Piece", "Player",
    "hexagons", "pieces_from", "squares", "star_points",
]  # fmt: skip
