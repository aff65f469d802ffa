"""Tic-tac-toe: three in a row on a 3x3 board."""

import re
from typing import NamedTuple

import numpy as np

from azero.compiler.bits import bit_of_rank
from azero.compiler.rng import mix, random_below
from azero.errors import BadInput
from azero.games.boards import board_symmetries, draw_grid, places_by_plane
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Places, Symmetries
from azero.games.pictures import Picture, Player, pieces_from, squares
from azero.games.position_text import PLAYERS, board_to_text, cells_in_rows, read_row_game
from azero.games.registry import game

STATE_DTYPE = np.dtype(
    [
        ("stones", np.int32, (2,)),  # by player, bit 3 * row + column, row 0 at the top
        ("ply", np.int32),
        ("has_line", np.int32),  # whether the last move made a line
    ],
    align=True,
)

FULL = 0b111_111_111


@game("tic_tac_toe")
class TicTacToe(NamedTuple):
    """Three in a row wins; a full board is a draw. Action 3 * row + column, written a1 (top left) to c3."""

    def reset(game, state):
        state.stones[0] = 0
        state.stones[1] = 0
        state.ply = 0
        state.has_line = 0

    def legal_actions(game, state, out):
        occupied = state.stones[0] | state.stones[1]
        count = 0
        for action in range(9):
            if not occupied >> action & 1:
                out[count] = action
                count += 1
        return count

    def rollout_action(game, state, legal, rng):
        empty = np.uint64(FULL & ~(state.stones[0] | state.stones[1]))
        return bit_of_rank(empty, random_below(rng, 9 - state.ply))

    def apply_action(game, state, action):
        player = state.ply & 1
        own = state.stones[player] | 1 << action
        state.stones[player] = own
        state.ply += 1
        columns = own & own >> 3 & own >> 6
        rows = own & own >> 1 & own >> 2 & 0b001_001_001
        falling = own & 0b100_010_001 == 0b100_010_001
        rising = own & 0b001_010_100 == 0b001_010_100
        if columns or rows or falling or rising:
            state.has_line = 1

    def current_player(game, state):
        return state.ply & 1

    def outcome(game, state):
        if state.has_line:
            return WIN if state.ply & 1 else LOSS
        return DRAW if state.ply == 9 else ONGOING

    def encode(game, state, planes):
        """Planes: own stones, the opponent's, empty cells."""
        own = state.stones[state.ply & 1]
        theirs = state.stones[1 - (state.ply & 1)]
        for cell in range(9):
            row, column = cell // 3, cell % 3
            planes[0, row, column] = own >> cell & 1
            planes[1, row, column] = theirs >> cell & 1
            planes[2, row, column] = 1 - ((own | theirs) >> cell & 1)

    def hash_key(game, state):
        return mix(np.uint64(state.stones[0]) << 9 | np.uint64(state.stones[1]))

    @property
    def state_dtype(game) -> np.dtype:
        return STATE_DTYPE

    @property
    def num_actions(game) -> int:
        return 9

    @property
    def max_plies(game) -> int:
        return 9

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        return 3, 3, 3

    def symmetries(game) -> Symmetries:
        cells = board_symmetries(3, 3)
        return Symmetries(cells=cells, actions=cells)

    def places(game) -> Places:
        return places_by_plane(3, 3)

    def action_to_text(game, state, action: int) -> str:
        return "abc"[action % 3] + "123"[action // 3]

    def text_to_action(game, state, text: str) -> int:
        if not re.fullmatch("[a-c][1-3]", text.lower()):
            raise BadInput(f"{text!r} is not a move of tic_tac_toe; moves are a1 (top left) to c3")
        return "123".index(text[1]) * 3 + "abc".index(text[0].lower())

    def split_moves(game, text: str) -> list[str]:
        return re.findall(r"[A-Za-z]\d|[^\s,;]+", text)

    def position_to_text(game, state) -> str:
        return board_to_text(_stones(state), 3, PLAYERS[state.ply & 1])

    def text_to_position(game, state, text: str) -> None:
        cells, state.ply, state.has_line = read_row_game(text, 3, 3, 3)
        for player in range(2):
            state.stones[player] = sum(1 << cell for cell in range(9) if cells[cell] == PLAYERS[player])

    def draw(game, state, marks: dict[int, str]) -> str:
        cells = [marks.get(cell, stone) for cell, stone in enumerate(_stones(state))]
        return draw_grid([cells[0:3], cells[3:6], cells[6:9]], columns="abc", rows="123")

    def winning_cells(game, state) -> list[int]:
        return cells_in_rows(_stones(state), 3, PLAYERS[1 - (state.ply & 1)], 3)

    def picture(game, state, legal: list[int], history: list[int]) -> Picture:
        pieces = pieces_from(_stones(state), {"X": (0, "cross"), "O": (1, "ring")})
        return Picture(
            squares(3, 3, "lines", is_top_first=True),
            (Player("X", "orange"), Player("O", "blue")),
            pieces,
            {cell: (cell,) for cell in legal},
        )


def _stones(state) -> list[str]:
    """Returns the stone on each cell, by rows from the top left."""
    return ["X" if state.stones[0] >> cell & 1 else "O" if state.stones[1] >> cell & 1 else "." for cell in range(9)]
