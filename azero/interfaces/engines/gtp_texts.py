"""What GTP writes: the lines of analyses, handicap points, chains of stones, and boards."""

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from azero.arena.agents.suggestion import Move, Suggestion
from azero.errors import BadInput
from azero.games import State
from azero.games.boards import GO_LETTERS
from azero.interfaces.engines.engine import Report
from azero.interfaces.engines.positions import Vertices, stones_of


class Wanted(NamedTuple):
    """What the lines of an analysis have.

    Attributes:
      is_in_parts: whether numbers are fractions, as KataGo writes them, or hundredths of percents, as Leela Zero does.
    """

    is_in_parts: bool
    fewest: int = 0  # moves
    most: int = 10_000
    has_root: bool = False
    has_ownership: bool = False
    has_ownership_of_moves: bool = False


def analysis_line(report: Report, wanted: Wanted, vertices: Vertices) -> str:
    """Returns a report as a line of an analysis. All values are for the player to move."""
    found = report.found
    assert found is not None, "the search has found something"
    seen = [move for move in found.moves if move.visits or move.proven]
    shown = (seen if len(seen) >= wanted.fewest else found.moves[: wanted.fewest])[: wanted.most]
    parts = [_move_part(order, move, report, wanted, vertices) for order, move in enumerate(shown or found.moves[:1])]
    if wanted.has_root:
        fields = {"visits": str(found.simulations), **_values(found.value, found.simulations)}
        parts.append(_fields("rootInfo", {**fields, **_scores(found.score)}))
    if wanted.has_ownership:
        parts.append(_owners("ownership", found.ownership))
    return " ".join(filter(None, parts))


def _move_part(order: int, move: Move, report: Report, wanted: Wanted, vertices: Vertices) -> str:
    pv, after = " ".join(vertices.write(text) for text in move.pv), report.after.get(move.action, {})
    head = {"move": vertices.write(move.pv[0] if move.pv else move.move), "visits": str(move.visits)}
    if not wanted.is_in_parts:
        winrate, bound = (f"{round(10_000 * each)}" for each in (win_rate(move.value), lower_bound(move)))
        fields = {**head, "winrate": winrate, "prior": f"{round(10_000 * move.prior)}", "lcb": bound}
    else:
        values = {**_values(move.value, move.visits), **_scores(after.get("score"))}
        fields = {**head, **values, "prior": f"{move.prior:.6f}"}
    owners = _owners(" movesOwnership", after.get("ownership")) if wanted.has_ownership_of_moves else ""
    return f"{_fields('info', fields)} order {order} pv {pv}{owners}"


def _owners(head: str, owners: np.ndarray | None) -> str:
    return "" if owners is None else f"{head} " + " ".join(f"{owner:.4f}" for owner in owners.ravel())


def _values(value: float, visits: int) -> dict[str, str]:
    low = bound_of(win_rate(value), visits)
    numbers = {"utility": value, "winrate": win_rate(value), "lcb": low, "utilityLcb": 2 * low - 1}
    return {name: f"{number:.6f}" for name, number in numbers.items()}


def _scores(score: float | None) -> dict[str, str]:
    return {} if score is None else {"scoreMean": f"{score:.6f}", "scoreLead": f"{score:.6f}"}


def _fields(head: str, fields: dict[str, str]) -> str:
    return " ".join([head, *(f"{name} {value}" for name, value in fields.items())])


def win_rate(value: float) -> float:
    """Returns the share of wins, in [0, 1], of a value in [-1, 1]; a draw is half a win."""
    return min(max((1.0 + value) / 2.0, 0.0), 1.0)


def lower_bound(move: Move) -> float:
    """Returns a lower bound of a move's win rate; the win rate itself where it is proven."""
    return win_rate(move.value) if move.proven else bound_of(win_rate(move.value), move.visits)


def bound_of(rate: float, visits: int) -> float:
    """Returns the lower end of a 95 % interval of a win rate, as if each visit were a game (Wilson 1927)."""
    if visits == 0:
        return 0.0
    z = 1.96
    centre = rate + z * z / (2 * visits)
    spread = z * math.sqrt(rate * (1 - rate) / visits + z * z / (4 * visits * visits))
    return (centre - spread) / (1 + z * z / visits)


def handicap_points(size: int, number: int) -> list[str]:
    """Returns the points of a fixed handicap, by section 4.1.1 of the specification; raises BadInput if it has none."""
    most = 0 if size < 7 else 9 if size % 2 and size > 7 else 4
    if not 2 <= number <= most:
        raise BadInput("invalid number of stones")
    low = 2 if size < 13 else 3
    middle, high = size // 2, size - 1 - low
    sides = [(low, low), (high, high), (low, high), (high, low), (low, middle), (high, middle)]
    sides += [(middle, low), (middle, high)]
    chosen = [*sides[: number - 1], (middle, middle)] if number >= 5 and number % 2 else sides[:number]
    return [f"{GO_LETTERS[column]}{row + 1}" for column, row in chosen]


def free_points(size: int, number: int) -> list[str]:
    """Returns points for a free handicap: the fixed ones, then others that leave room between them.

    Raises BadInput if there are fewer than two, or too many for the board.
    """
    if not 2 <= number < size * size:
        raise BadInput("invalid number of stones")
    fixed = next(
        (handicap_points(size, k) for k in (9, 4) if size >= (9 if k == 9 else 7) and (size % 2 or k == 4)), []
    )
    chosen = handicap_points(size, number) if number <= len(fixed) else fixed
    others = sorted(
        ((row + column) % 2, -min(row, column, size - 1 - row, size - 1 - column), row, column)
        for row in range(size)
        for column in range(size)
    )
    names = [f"{GO_LETTERS[column]}{row + 1}" for _, _, row, column in others]
    rest = [name for name in names if name not in chosen]
    most = min(number, (size * size + 1) // 2)  # the engine may place fewer
    return (chosen + rest)[:most]


def chains_of(state: State) -> list[list[str]]:
    """Returns the chains of stones on a board, each as points in the game's notation."""
    cells, (_, height, width) = stones_of(state), state.game.planes_shape
    left, chains = {cell for cell, stone in enumerate(cells) if stone in "XO"}, list[list[str]]()
    while left:
        chain, begun = list[int](), [left.pop()]
        while begun:
            cell = begun.pop()
            chain.append(cell)
            row, column = divmod(cell, width)
            for y, x in ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)):
                near = y * width + x
                if 0 <= y < height and 0 <= x < width and near in left and cells[near] == cells[cell]:
                    left.remove(near)
                    begun.append(near)
        chains.append([f"{GO_LETTERS[cell % width]}{height - cell // width}" for cell in sorted(chain)])
    return chains


def board_of(state: State, is_top_first: bool) -> str:
    """Returns the board as GoGui's rulers do: rows of X, O and `.`, the row with the highest number first."""
    cells, (_, height, width) = stones_of(state), state.game.planes_shape
    rows = [" ".join(cells[row * width : (row + 1) * width]) for row in range(height)]
    return "\n".join(rows[::-1] if is_top_first else rows)


def pairs(moves: Iterable[Move], text: dict[int, str], vertices: Vertices) -> str:
    """Returns points, each with a text, for programs that write them on the board."""
    return " ".join(f"{vertices.write(move.move)} {text[move.action]}" for move in moves if move.action in text)


def said_of(found: Suggestion) -> str:
    """Returns a sentence on a suggestion."""
    return f"value {found.value:+.3f} for the player to move, {found.simulations} simulations, best {found.best}"
