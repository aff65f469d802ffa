"""Go as text: how moves are written and read, and how the board is drawn."""

from azero.errors import BadInput
from azero.games.boards import GO_LETTERS, cell_to_text, draw_board, split_cells, text_to_cell


def action_to_text(game, state, action: int) -> str:
    if action == game.size**2:
        return "pass"
    return cell_to_text(action // game.size, action % game.size, game.size, GO_LETTERS)


def text_to_action(game, state, text: str) -> int:
    if text.lower() == "pass":
        return game.size**2
    cell = text_to_cell(text, game.size, game.size, GO_LETTERS)
    if cell is None:
        last = cell_to_text(0, game.size - 1, game.size, GO_LETTERS)
        raise BadInput(f"{text!r} is not a move of go; moves are a1 (bottom left) to {last}, without i, and pass")
    return cell[0] * game.size + cell[1]


def split_moves(game, text: str) -> list[str]:
    return split_cells(text)


def draw(game, state, marks: dict[int, str]) -> str:
    stride = game.size + 1
    points = [(row + 1) * stride + column + 1 for row in range(game.size) for column in range(game.size)]
    return draw_board(["XO."[state.stones[point]] for point in points], game.size, marks, GO_LETTERS)
