"""Othello as text: how moves are written and read, and how the board is drawn."""

from azero.compiler.bits import bit, has_bit
from azero.errors import BadInput
from azero.games.boards import cell_to_text, draw_board, split_cells, text_to_cell
from azero.games.pictures import BLACK, WHITE, Button, Picture, pieces_from, squares
from azero.games.position_text import PLAYERS, apply_action, board_to_text, read_player, text_to_board


def action_to_text(game, state, action: int) -> str:
    if action == game.size**2:
        return "pass"
    return cell_to_text(action // game.size, action % game.size, game.size, is_top_first=True)


def text_to_action(game, state, text: str) -> int:
    if text.lower() == "pass":
        return game.size**2
    cell = text_to_cell(text, game.size, game.size, is_top_first=True)
    if cell is None:
        last = cell_to_text(game.size - 1, game.size - 1, game.size, is_top_first=True)
        raise BadInput(f"{text!r} is not a move of othello; moves are a1 (top left) to {last}, and pass")
    return cell[0] * game.size + cell[1]


def split_moves(game, text: str) -> list[str]:
    return split_cells(text)


def position_to_text(game, state) -> str:
    return board_to_text(_stones(game, state), game.size, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, fields = text_to_board(text, game.size, game.size)
    player = read_player(fields)
    low = game.size // 2 - 1
    if any(cells[row * game.size + column] == "." for row in (low, low + 1) for column in (low, low + 1)):
        raise BadInput("a cell in the centre is empty; the game begins with four stones there, which are never removed")
    state.stones[:] = 0
    for cell, stone in enumerate(cells):
        if stone != ".":
            word, place = _word_and_place(game, cell)
            state.stones[PLAYERS.index(stone), word] |= bit(place)
    num_plies = len(cells) - cells.count(".") - 4
    num_plies += (num_plies ^ player) & 1  # the fewest, with a pass if the other player would be to move
    state.ply = num_plies - 1
    apply_action(game, state, game.size**2)  # a pass also finds the moves


def draw(game, state, marks: dict[int, str]) -> str:
    return draw_board(_stones(game, state), game.size, marks, is_top_first=True)


def _stones(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""

    def stone(cell: int) -> str:
        word, place = _word_and_place(game, cell)
        return next((kind for k, kind in enumerate(PLAYERS) if has_bit(state.stones[k, word], place)), ".")

    return [stone(cell) for cell in range(game.size**2)]


def _word_and_place(game, cell: int) -> tuple[int, int]:
    """Returns where the bit of a cell is; `board.py` has the same for kernels."""
    row, column = divmod(cell, game.size)
    return (0, 8 * row + column) if game.size <= 8 else (row // 4, 16 * (row % 4) + column)


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    pass_action = game.size**2
    return Picture(
        squares(game.size, game.size, "felt", is_top_first=True),
        (BLACK, WHITE),
        pieces_from(_stones(game, state), {"X": (0, "disc"), "O": (1, "disc")}),
        {action: (action,) for action in legal if action < pass_action},
        [Button(pass_action, "Pass", "P")] if pass_action in legal else [],
    )
