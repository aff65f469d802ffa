"""Hex as text: how moves are written and read, and how the board is drawn."""

from collections import deque

from azero.errors import BadInput
from azero.games.boards import LETTERS, cell_to_text, split_cells, text_to_cell
from azero.games.pictures import BLUE, ORANGE, Button, Picture, hexagons, pieces_from
from azero.games.position_text import PLAYERS, board_to_text, count_plies, put_stones, read_player, text_to_board


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


def position_to_text(game, state) -> str:
    return board_to_text(_board(game, state), game.size, PLAYERS[state.ply & 1])


def text_to_position(game, state, text: str) -> None:
    cells, fields = text_to_board(text, game.size, game.size)
    ply = _read_ply(game, cells, fields)
    has_joined = put_stones(game, state, cells)
    to_move = ply & 1
    if has_joined[to_move]:
        raise BadInput(f"{PLAYERS[to_move]} has won already, so {PLAYERS[1 - to_move]} could not have moved")
    state.ply, state.is_won = ply, has_joined[1 - to_move]
    state.opening = cells.index("X") if ply == 1 else -1


def _read_ply(game, cells: str, fields: list[str]) -> int:
    """Returns the number of plies, by the number of stones and by the player to move if there has been a swap."""
    first, second = (cells.count(stone) for stone in PLAYERS)
    is_swapped = second == first + 1 or (second == first > 0 and fields == ["O"])
    if game.swap and is_swapped:  # the second player's stone was the first on the board, and `swap` was a ply
        read_player(fields, 1 - (second - first))
        return first + second + 1
    ply = count_plies(cells)
    if game.swap and first == second > 0:
        return ply + read_player(fields)
    read_player(fields, ply & 1)
    return ply


def draw(game, state, marks: dict[int, str]) -> str:
    """Draws each row half a cell to the right of the row above. X connects top and bottom, O left and right."""
    width = max([len(mark) for mark in marks.values()] + [1])
    lines = [" " * 4 + " ".join(f"{letter:>{width}}" for letter in LETTERS[: game.size])]
    for row in range(game.size):
        stones = enumerate(_stones(game, state, row), start=row * game.size)
        texts = [f"{marks.get(cell, stone):>{width}}" for cell, stone in stones]
        lines.append(" " * (row * (width + 1) // 2) + f"{row + 1:>3} " + " ".join(texts))
    return "\n".join(lines)


def winning_cells(game, state) -> list[int]:
    """Returns a shortest path of stones that connects the winner's sides, by a breadth-first search."""
    size, stones, winner = game.size, _board(game, state), 1 - (state.ply & 1)
    paths = deque([cell] for cell in (range(size) if winner == 0 else range(0, size**2, size)))
    seen = set()
    while paths:
        path = paths.popleft()
        cell = path[-1]
        if stones[cell] != PLAYERS[winner] or cell in seen:
            continue
        row, column = divmod(cell, size)
        if (row, column)[winner] == size - 1:
            return path
        seen.add(cell)
        for y, x in ((-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0)):
            if 0 <= row + y < size and 0 <= column + x < size:
                paths.append([*path, cell + y * size + x])
    return []


def _board(game, state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""
    return [stone for row in range(game.size) for stone in _stones(game, state, row)]


def _stones(game, state, row: int) -> list[str]:
    """Returns the stones of a row, from the left."""
    begin = (row + 1) * (game.size + 2) + 1
    return ["XO."[stone] for stone in state.stones[begin : begin + game.size]]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    swap = game.size**2
    return Picture(
        hexagons(game.size),
        (ORANGE, BLUE),
        pieces_from(_board(game, state), {"X": (0, "disc"), "O": (1, "disc")}),
        {action: (action,) for action in legal if action < swap},
        [Button(swap, "Swap", "S")] if swap in legal else [],
    )
