"""Go as text: how moves are written and read, and how the board is drawn."""

import re
from collections.abc import Sequence

from azero.errors import BadInput
from azero.games.boards import GO_LETTERS, cell_to_text, draw_board, split_cells, text_to_cell
from azero.games.pictures import BLACK, WHITE, Button, Picture, pieces_from, squares, star_points
from azero.games.position_text import PLAYERS, board_to_text, put_stones, read_player, text_to_board


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


def position_to_text(game, state) -> str:
    """Returns the board, the player to move, and what else there is: the ko, passes just before, and the plies so far.

    An example is `9/9/9/9/4X4/9/9/9/9 O passes:2 ply:3`. Without `ply` it is the fewest that are possible.
    """
    cells, fields = _stones(game, state), []
    if state.ko:
        row, column = divmod(int(state.ko), game.size + 1)
        fields.append("ko:" + cell_to_text(row - 1, column - 1, game.size, GO_LETTERS))
    if state.passes:
        fields.append(f"passes:{state.passes}")
    if state.ply != _fewest_plies(cells, int(state.passes), state.ply & 1):
        fields.append(f"ply:{state.ply}")
    return board_to_text(cells, game.size, PLAYERS[state.ply & 1], *fields)


def text_to_position(game, state, text: str) -> None:
    """Reads a position. Of its history, superko knows the empty board, this one, and by `ko` the one before."""
    cells, fields = text_to_board(text, game.size, game.size)
    player, named = read_player(fields[:1]), _read_fields(fields[1:])
    passes = int(named.get("passes", 0))
    fewest = _fewest_plies(cells, passes, player)
    ply = int(named.get("ply", fewest))
    if not fewest <= ply <= game.max_plies or (ply ^ player) & 1:
        side = f"with {PLAYERS[player]} to move it should be {('even', 'odd')[player]}"
        raise BadInput(f"it is at ply {ply}; {side}, at least {fewest} and at most {game.max_plies}")
    put_stones(game, state, cells)
    for cell, stone in enumerate(_stones(game, state)):
        if stone != cells[cell]:
            raise BadInput(f"the {cells[cell]} at {action_to_text(game, state, cell)} has no liberties")
    state.ko = _read_ko(game, cells, player, named["ko"]) if "ko" in named and not passes else 0
    state.passes, state.ply = passes, ply
    state.history[:] = 0
    state.history[ply] = state.board_key


def _fewest_plies(cells: Sequence[str], passes: int, player: int) -> int:
    """Returns the fewest plies after which these stones can be on the board and `player` is to move."""
    least = sum(cell != "." for cell in cells) + passes
    return least + ((least ^ player) & 1)


def _read_fields(fields: list[str]) -> dict[str, str]:
    """Returns the values of ko, passes and ply, as far as they are given."""
    for field in fields:
        if not re.fullmatch(r"ko:[a-z][0-9]{1,2}|passes:[0-2]|ply:[0-9]{1,6}", field):
            raise BadInput(f"{field!r} should be like ko:e5, passes:1 or ply:40")
    return dict(field.split(":") for field in fields)


def _read_ko(game, cells: str, player: int, text: str) -> int:
    """Returns the point that simple ko forbids: an empty point among stones of the player who has moved last."""
    place = text_to_cell(text, game.size, game.size, GO_LETTERS)
    if place is None:
        raise BadInput(f"the ko {text} is not on the board")
    row, column = place
    around = {
        cells[y * game.size + x]
        for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
        if 0 <= y < game.size and 0 <= x < game.size
    }
    if cells[row * game.size + column] != "." or around != {PLAYERS[1 - player]}:
        raise BadInput(f"{text} is no ko: it should be an empty point among stones of {PLAYERS[1 - player]}")
    return (row + 1) * (game.size + 1) + column + 1


def draw(game, state, marks: dict[int, str]) -> str:
    return draw_board(_stones(game, state), game.size, marks, GO_LETTERS)


def _stones(game, state) -> list[str]:
    """Returns the stone on each point, by rows from the top left."""
    stride, stones = game.size + 1, state.stones
    points = [(row + 1) * stride + column + 1 for row in range(game.size) for column in range(game.size)]
    return ["XO."[stones[point]] for point in points]


def picture(game, state, legal: list[int], history: list[int]) -> Picture:
    pass_action = game.size**2
    return Picture(
        squares(game.size, game.size, "points", "point", GO_LETTERS, stars=star_points(game.size, game.size)),
        (BLACK, WHITE),
        pieces_from(_stones(game, state), {"X": (0, "stone"), "O": (1, "stone")}),
        {action: (action,) for action in legal if action < pass_action},
        [Button(pass_action, "Pass", "P")] if pass_action in legal else [],
    )
