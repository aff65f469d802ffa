"""Everything that a game's file imports: results, functions for compiled rules, boards as text and as pictures.

docs/your_own_game.md shows how to write a game. `azero check-game` checks it.
"""

from azero.compiler.bits import ONE, ZERO, bit, bit_of_rank, count_bits, has_bit, leading_zeros, low_bits, lowest_bit
from azero.compiler.jit import subroutine
from azero.compiler.rng import mix, random_below, random_pair_below, random_unit
from azero.errors import BadInput
from azero.games.boards import (
    LETTERS,
    board_symmetries,
    cell_to_text,
    draw_board,
    draw_grid,
    places_by_plane,
    split_cells,
    step_symmetries,
    text_to_cell,
)
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Exchange, Places, Ranges, Symmetries
from azero.games.laws.prototype import Prototype
from azero.games.pictures import (
    Board,
    Button,
    Cell,
    Edge,
    Label,
    Picture,
    Piece,
    Player,
    hexagons,
    pieces_from,
    squares,
    star_points,
)
from azero.games.position_text import board_to_text, read_player, text_to_board

__all__ = [
    "DRAW", "LETTERS", "LOSS", "ONE", "ONGOING", "WIN", "ZERO",
    "BadInput", "Board", "Button", "Cell", "Edge", "Exchange", "Label", "Picture", "Piece", "Places", "Player",
    "Prototype", "Ranges", "Symmetries",
    "bit", "bit_of_rank", "board_symmetries", "board_to_text", "cell_to_text", "count_bits", "draw_board", "draw_grid",
    "has_bit", "hexagons", "leading_zeros", "low_bits", "lowest_bit", "mix", "pieces_from", "places_by_plane",
    "random_below", "random_pair_below", "random_unit", "read_player", "split_cells", "squares", "star_points",
    "step_symmetries", "subroutine", "text_to_board", "text_to_cell",
]  # fmt: skip
