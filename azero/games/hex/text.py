"""Hex as text: how moves are written and read, and how the board is drawn."""

from azero.errors import BadInput
from azero.games.boards import LETTERS, cell_to_text, split_cells, text_to_cell


def action_to_text(game, state, action: int) -> str:
    if action == game.size**2:
        return "swap"
    return cell_to_text(action // game.size, action % game.size, game.size, is_top_first=True)


def text_to_action(game, state, text: str) -> int:
    if game.swap and text.lower() == "swap":
        return game.size**2
    cell = text_to_cell(text, game.size, game.size, is_top_first=True)
    if cell is None:
        last = cell_to_text(game.size - 1, game.size - 1, game.size, is_top_first=True)
        raise BadInput(
            f"{text!r} is not a move of hex; moves are a1 (top left) to {last}{', swap' if game.swap else ''}"
        )
    return cell[0] * game.size + cell[1]


def split_moves(game, text: str) -> list[str]:
    return split_cells(text)


def draw(game, state, marks: dict[int, str]) -> str:
    """Draws each row half a cell to the right of the row above. X connects top and bottom, O left and right."""
    width = max([len(mark) for mark in marks.values()] + [1])
    lines = [" " * 4 + " ".join(f"{letter:>{width}}" for letter in LETTERS[: game.size])]
    for row in range(game.size):
        texts = []
        for column in range(game.size):
            stone = "XO."[state.stones[(row + 1) * (game.size + 2) + column + 1]]
            texts.append(f"{marks.get(row * game.size + column, stone):>{width}}")
        lines.append(" " * (row * (width + 1) // 2) + f"{row + 1:>3} " + " ".join(texts))
    return "\n".join(lines)
