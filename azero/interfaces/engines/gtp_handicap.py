"""Handicap stones by GTP."""

from collections.abc import Sequence

from azero.errors import BadInput
from azero.games.boards import GO_LETTERS
from azero.games.position_text import PLAYERS
from azero.interfaces.engines.gtp_table import Refused, Table, whole
from azero.interfaces.engines.positions import points_name, stones_of, with_stones


class Handicap(Table):
    """The commands that put them on the board."""

    def _do_fixed_handicap(self, words: list[str]) -> str:
        return self._place(handicap_points(self._size(), whole(words[0] if words else "")))

    def _do_place_free_handicap(self, words: list[str]) -> str:
        return self._place(free_points(self._size(), whole(words[0] if words else "")))

    def _do_set_free_handicap(self, words: list[str]) -> str:
        self._size()
        if len(words) < 2:
            raise Refused("bad vertex list")
        return self._place(words) and ""

    def _size(self) -> int:
        if points_name(self._engine.game) != "Go":
            raise Refused("this game has no handicap")
        if set(stones_of(self._engine.state)) != {"."}:
            raise Refused("board not empty")
        return self._engine.game.planes_shape[1]

    def _place(self, points: Sequence[str]) -> str:
        """Puts Black's handicap stones on the empty board, White to move; returns their points."""
        game = self._engine.game
        cells = stones_of(self._engine.state)
        for point in points:
            try:
                action = game.rules.text_to_action(self._engine.state.record, self._vertices.read(point))
            except BadInput:
                action = len(cells)
            if action >= len(cells) or cells[action] != ".":
                raise Refused("bad vertex list")
            cells[action] = PLAYERS[0]
        self._engine.set_up(with_stones(game, cells, 1))
        return " ".join(self._vertices.write(point.lower()) for point in points)


def handicap_points(size: int, number: int) -> list[str]:
    """Returns the points of a fixed handicap, by section 4.1.1 of the specification; raises BadInput if it has none."""
    if not 2 <= number <= _most_fixed(size):
        raise BadInput("invalid number of stones")
    low = 2 if size < 13 else 3
    middle, high = size // 2, size - 1 - low
    sides = [(low, low), (high, high), (low, high), (high, low), (low, middle), (high, middle)]
    sides += [(middle, low), (middle, high)]
    chosen = [*sides[: number - 1], (middle, middle)] if number >= 5 and number % 2 else sides[:number]
    return [f"{GO_LETTERS[column]}{row + 1}" for column, row in chosen]


def _most_fixed(size: int) -> int:
    return 0 if size < 7 else 9 if size % 2 and size > 7 else 4


def free_points(size: int, number: int) -> list[str]:
    """Returns points for a free handicap: the fixed ones, then others that leave room between them.

    Raises BadInput if there are fewer than two, or too many for the board.
    """
    if not 2 <= number < size * size:
        raise BadInput("invalid number of stones")
    chosen = handicap_points(size, min(number, _most_fixed(size))) if _most_fixed(size) else []
    lines = range(size)
    others = sorted(((x + y) % 2, -min(x, y, size - 1 - x, size - 1 - y), y, x) for x in lines for y in lines)
    rest = [name for *_, y, x in others if (name := f"{GO_LETTERS[x]}{y + 1}") not in chosen]
    return (chosen + rest)[: min(number, (size * size + 1) // 2)]  # the engine may place fewer
