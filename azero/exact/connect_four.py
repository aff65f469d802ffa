"""A solver of Connect Four, for boards of columns * (rows + 1) <= 64: win, draw or loss.

A search answers one question: "is the position worth at least a draw (or a win) to the player to move?" The positions
below it ask the same kind of question for the opponent, and the answers are negated. The table keeps proven bounds
between searches, so it serves all questions on boards of one size.

A board is two bitboards, in which a column has one bit more than the board has rows.

Source: Pons, "Solving Connect 4: how to build a perfect AI" (2016), blog.gamesolver.org, parts 6, 7
and 9: moves ordered by threats, safe moves, keys; Tromp, Fhourstones: replacement by the work of an entry.
"""

from typing import NamedTuple

import numpy as np

from azero.compiler.bits import ONE, ZERO, count_bits, leading_zeros, low_bits
from azero.compiler.jit import kernel, subroutine
from azero.compiler.rng import mix
from azero.errors import BadInput
from azero.games import DRAW, LOSS, WIN, State
from azero.games.connect_four.rules import ConnectFour
from azero.system.threads import Slices, finish

_EMPTY_CELLS_MIRRORED = 18
"""A position and its mirror image have the same key if at least this many cells are empty.

Later in the game that costs too much.
"""


class Board(NamedTuple):
    """A board size, as bitboards."""

    rows: int
    columns: int
    bottom: np.uint64  # the lowest cell of each column
    cells: np.uint64  # all cells


def board_of(rules: ConnectFour) -> Board:
    """Returns the board of a game with columns * (rows + 1) <= 64."""
    bottom = sum(1 << (rules.rows + 1) * column for column in range(rules.columns))
    return Board(rules.rows, rules.columns, np.uint64(bottom), np.uint64(bottom * ((1 << rules.rows) - 1)))


@subroutine
def key_of(board, own, mask):
    """Returns the key (uint64) of a position. Different positions have different keys, except for mirror images.

    Each column holds its stones, 1 for those of the player to move, and a 1 above them. If many cells are empty, the
    key is the lesser of the position's and its mirror image's.
    """
    key = own + mask + board.bottom
    if count_bits(board.cells ^ mask) < _EMPTY_CELLS_MIRRORED:
        return key
    stride = board.rows + 1
    column = low_bits(stride)
    rest, mirrored = key, ZERO
    for _ in range(board.columns):
        mirrored = mirrored << stride | rest & column
        rest = rest >> stride
    return min(key, mirrored)


@subroutine
def winning_cells(board, own, mask):
    """Returns the empty cells, reachable or not, that complete four in a row for the stones `own`."""
    found = own << 1 & own << 2 & own << 3
    for step in range(board.rows, board.rows + 3):  # falling, level, rising
        pair = own << step & own << 2 * step
        found |= pair & (own << 3 * step | own >> step)
        pair = own >> step & own >> 2 * step
        found |= pair & (own >> 3 * step | own << step)
    return found & (board.cells ^ mask)


@subroutine
def safe_moves(board, own, mask):
    """Returns the playable cells after which the opponent cannot win at once."""
    playable = mask + board.bottom & board.cells
    threats = winning_cells(board, own ^ mask, mask)
    forced = playable & threats
    if forced:
        playable = forced if forced & (forced - ONE) == 0 else ZERO
    return playable & ~(threats >> 1)


@subroutine
def is_lineless(board, own, mask):
    """Returns whether the stones `own` cannot make four in a row even with every empty cell."""
    could = own | board.cells ^ mask
    lines = could & could >> 1 & could >> 2 & could >> 3
    for step in range(board.rows, board.rows + 3):
        pair = could & could >> step
        lines |= pair & pair >> 2 * step
    return lines == 0


_NO, _YES, _OPEN = 0, 1, -1
_TWO_BITS, _SIX_BITS = np.uint64(0b11), np.uint64(0b111111)

_NODES_A_CALL = 1 << 18
"""Nodes of one call of compiled code, which takes about 0.05 s. Ctrl-C takes effect between calls."""

_EMPTY_CELLS_LOOKED_UP = 14
"""Moves are looked up in the table if at least this many cells are empty. Later in the game that costs too much."""

FRAME_DTYPE = np.dtype(
    [
        ("own", np.uint64),  # stones of the player to move: bit (rows + 1) column + row, row 0 at the bottom
        ("mask", np.uint64),  # all stones
        ("key", np.uint64),
        ("moves", np.uint64, (8,)),  # the moves' cells, the most promising first
        ("promises", np.int32, (8,)),  # the moves' scores, in descending order
        ("first_node", np.int64),  # nodes visited before this one
        ("least", np.int32),  # the question: is the position worth at least this, DRAW or WIN, to the player to move?
        ("num_moves", np.int32),  # moves that do not lose at once; -1 before the frame is opened
        ("num_tried", np.int32),
        ("answer", np.int32),  # _NO, _YES or _OPEN
    ],
    align=True,
)
PROGRESS_DTYPE = np.dtype([("ply", np.int64), ("num_nodes", np.int64)])


@subroutine
def find_bounds(table, key):
    """Returns the table's bounds on a position's value for the player to move: least and most.

    They are LOSS and WIN if there is no entry. An entry (uint64) holds, from the highest bits: the part of the mixed
    key that its place does not determine, the bit length of the number of nodes searched (6 bits, never 0), least + 1
    (2 bits) and most + 1 (2 bits).
    """
    first, tag = place_of(table, key)
    for place in range(first, first + 2):
        entry = table[place]
        if entry >> 10 == tag and entry:
            return np.int64(entry >> 2 & _TWO_BITS) - 1, np.int64(entry & _TWO_BITS) - 1
    return LOSS, WIN


@subroutine
def place_of(table, key):
    """Returns the first place of a key's bucket of two, and the rest of the mixed key. Both determine the key."""
    mixed = mix(key)
    log_buckets = 62 - leading_zeros(np.uint64(len(table)))
    return 2 * np.int64(mixed >> 64 - log_buckets), mixed << log_buckets >> 10


@subroutine
def store_bounds(table, key, least, most, num_nodes):
    """Stores bounds on a position's value, combined with those in its entry.

    If it has no entry, it replaces the entry of its bucket with less work.
    """
    known_least, known_most = find_bounds(table, key)
    least, most = max(least, known_least), min(most, known_most)
    first, tag = place_of(table, key)
    work = np.uint64(64 - leading_zeros(np.uint64(num_nodes)))
    entry = tag << 10 | work << 4 | np.uint64(least + 1) << 2 | np.uint64(most + 1)
    place = first
    if table[first] >> 10 != tag or table[first] == 0:
        one, other = table[first] >> 4, table[first + 1] >> 4
        if other >> 6 == tag or other & _SIX_BITS <= one & _SIX_BITS:
            place = first + 1
    table[place] = entry


@subroutine
def open_frame(board, table, frame):
    """Answers a frame's question without a search if possible; otherwise writes the moves to try."""
    own, mask = frame.own, frame.mask
    frame.num_moves, frame.num_tried = 0, 0
    safe = safe_moves(board, own, mask)
    num_empty = count_bits(board.cells ^ mask)
    if safe == 0:
        frame.answer = _YES if num_empty == 0 and frame.least == DRAW else _NO
        return
    is_drawn = num_empty <= 2
    if frame.least == WIN and (is_drawn or is_lineless(board, own, mask)):
        frame.answer = _NO
        return
    if frame.least == DRAW and (is_drawn or is_lineless(board, own ^ mask, mask)):
        frame.answer = _YES
        return
    frame.key = key_of(board, own, mask)
    least, most = find_bounds(table, frame.key)
    if least >= frame.least or most < frame.least:
        frame.answer = _YES if least >= frame.least else _NO
        return
    lay_out_moves(board, table, frame, safe)


@subroutine
def lay_out_moves(board, table, frame, safe):
    """Writes the moves, ordered by the number of threats after them, then by closeness to the middle.

    A move directly below a threat of its own player counts less, because the opponent then blocks the threat. Far from
    the end of the game, each move is looked up in the table. A move with a sufficient value answers the question. A
    move with an insufficient value is omitted.
    """
    column = low_bits(board.rows)
    below_threats = winning_cells(board, frame.own, frame.mask) >> 1
    is_looking_up = count_bits(board.cells ^ frame.mask) >= _EMPTY_CELLS_LOOKED_UP
    for k in range(board.columns):
        index = board.columns // 2 + (1 - 2 * (k % 2)) * (k + 1) // 2
        move = safe & column << (board.rows + 1) * index
        if move == 0:
            continue
        if is_looking_up:
            least, most = find_bounds(table, key_of(board, frame.own ^ frame.mask, frame.mask | move))
            if most < 1 - frame.least:
                frame.answer = _YES
                return
            if least >= 1 - frame.least:
                continue
        threats = 4 * count_bits(winning_cells(board, frame.own | move, frame.mask | move))
        promise = threats - 3 if move & below_threats else threats
        place = frame.num_moves
        while place > 0 and promise > frame.promises[place - 1]:
            frame.moves[place], frame.promises[place] = frame.moves[place - 1], frame.promises[place - 1]
            place -= 1
        frame.moves[place], frame.promises[place] = move, promise
        frame.num_moves += 1


@kernel
def _begin(board, frames, progress, own, mask, least):
    """Writes a question at the root; returns _YES if the player to move can win at once, else _OPEN."""
    _ask(frames[0], own, mask, least)
    progress[0].ply, progress[0].num_nodes = 0, 0
    return _YES if winning_cells(board, own, mask) & mask + board.bottom & board.cells else _OPEN


@subroutine
def _ask(frame, own, mask, least):
    frame.own, frame.mask, frame.least = own, mask, least
    frame.num_moves, frame.answer = -1, _OPEN


@kernel
def _search_on(board, table, frames, progress, node_limit):
    """Searches until the total of nodes reaches `node_limit`; returns the answer to the root's question, or _OPEN.

    A move is worth at least `least` if the position after it is not worth `1 - least` or more to the opponent.
    """
    ply, num_nodes = progress[0].ply, progress[0].num_nodes
    while ply >= 0 and num_nodes < node_limit:
        frame = frames[ply]
        if frame.num_moves < 0:
            frame.first_node = num_nodes
            open_frame(board, table, frame)
            num_nodes += 1
        if frame.answer == _OPEN and frame.num_tried < frame.num_moves:
            move = frame.moves[frame.num_tried]
            frame.num_tried += 1
            ply += 1
            _ask(frames[ply], frame.own ^ frame.mask, frame.mask | move, 1 - frame.least)
            continue
        if frame.answer == _OPEN:
            frame.answer = _NO
        if frame.num_moves > 0:
            is_yes = frame.answer == _YES
            least, most = (frame.least, WIN) if is_yes else (LOSS, frame.least - 1)
            store_bounds(table, frame.key, least, most, num_nodes - frame.first_node)
        ply -= 1
        if ply >= 0 and frame.answer == _NO:
            frames[ply].answer = _YES
    progress[0].ply, progress[0].num_nodes = ply, num_nodes
    return frames[0].answer if ply < 0 else _OPEN


class ConnectFourSolver:
    """Answers questions about positions on boards of one size, and keeps the results in a table.

    Args:
      rules: the board size, columns * (rows + 1) <= 64.
      log_entries: the table has 2^log_entries entries of 8 bytes, at least 2^11.

    Raises:
      BadInput: the board is too large.
    """

    def __init__(self, rules: ConnectFour, log_entries: int = 22):
        if rules.columns * (rules.rows + 1) > 64:
            raise BadInput(f"the solver takes boards of columns * (rows + 1) <= 64 cells, not {rules}")
        self.rules = rules
        self._board = board_of(rules)
        self._table = np.zeros(1 << max(log_entries, 11), np.uint64)
        self._frames = np.zeros(rules.max_plies + 2, FRAME_DTYPE).view(np.recarray)
        self._progress = np.zeros(1, PROGRESS_DTYPE).view(np.recarray)

    @property
    def num_nodes(self) -> int:
        """Number of positions visited for the last question."""
        return int(self._progress[0].num_nodes)

    def is_at_least(self, state: State, result: int, node_limit: int = 1 << 62) -> bool | None:
        """Returns whether a position is worth `result` or more to the player to move; None: the limit came first.

        Args:
          state: a position that is not terminal.
          result: LOSS, DRAW or WIN.
          node_limit: most nodes to visit.
        """
        return finish(self.asking(state, result, node_limit))

    def asking(self, state: State, result: int, node_limit: int = 1 << 62) -> Slices[bool | None]:
        """As `is_at_least`, in slices. It is over before the next question is asked, or it is given up."""
        assert not state.is_terminal(), "nobody is to move"
        if result == LOSS:
            return True
        own, other = (self._packed(state.record.stones[(state.current_player() + k) % 2]) for k in (0, 1))
        answer = _begin(self._board, self._frames, self._progress, own, own | other, result)
        while answer == _OPEN and self.num_nodes < node_limit:
            limit = min(self.num_nodes + _NODES_A_CALL, node_limit)
            answer = _search_on(self._board, self._table, self._frames, self._progress, limit)
            yield
        return None if answer == _OPEN else bool(answer == _YES)

    def solve(self, state: State, node_limit: int = 1 << 62) -> int | None:
        """Returns WIN, DRAW or LOSS for the player to move in a position that is not terminal.

        Each of its two questions may visit `node_limit` nodes. Returns None if one of them reaches the limit.
        """
        for result in (WIN, DRAW):
            answer = self.is_at_least(state, result, node_limit)
            if answer is None or answer:
                return result if answer else None
        return LOSS

    def _packed(self, stones: np.uint64) -> np.uint64:
        """Returns stones in the solver's encoding, `rows` + 1 bits per column, from a state's 8 bits per column."""
        columns = range(self.rules.columns)
        return np.uint64(sum((int(stones) >> 8 * k & 0xFF) << (self.rules.rows + 1) * k for k in columns))
