"""The branches of a P-game's tree, and the picture of the tree around a position."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games.contract import sign_of
from azero.games.pictures import UNNAMED, Board, Cell, Label, Picture, Piece

_PLIES_ABOVE = 3  # of the path, that are shown
_MOST_LEAVES = 32  # in the lowest level that is shown
_MOST_IN_A_ROW = 20  # branches; more of them are shown without lines
_LEVEL = 1.5  # height of a ply


@subroutine
def path_of(path, action):
    """Returns the random word (uint64) of the path after `action`. Its top 7 bits are the action's value."""
    return mix(path ^ mix(np.uint64(action + 1)))


def value_of(path: np.uint64, ply: int) -> int:
    """Returns the value of the branch that leads to `path`, for the first player. It is played at `ply`."""
    return int(path >> np.uint64(57)) * sign_of(ply & 1)


class _Tree:
    """The nodes, lines and values of a tree while it is drawn."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.rows: list[list[int]] = []
        self.lines: list[tuple[float, float, float, float]] = []
        self.values: list[Label] = []

    def add(self, name: str, x: float, level: int, above: int | None = None, value: int | None = None) -> int:
        """Adds a node under the cell `above`; returns its number."""
        y = (level + 0.5) * _LEVEL
        self.cells.append(Cell(name, x, y, "node"))
        self.rows += [[] for _ in range(level + 1 - len(self.rows))]
        self.rows[level].append(len(self.cells) - 1)
        if above is not None:
            top = self.cells[above]
            self.lines.append((top.x, top.y, x, y))
            if value is not None:
                self.values.append(Label(f"{value:+d}", (top.x + x) / 2, (top.y + y) / 2))
        return len(self.cells) - 1


def picture_of(game, state, legal: list[int], history: list[int]) -> Picture:
    """Returns a picture of the last plies of the path, with the branches not taken, and of the branches below.

    The path hangs straight down. The page marks its nodes by pieces. Values are the first player's.
    """
    tree, ply = _Tree(), int(state.ply)
    levels = _levels_below(game, len(legal), game.depth - ply)
    width = float(max(game.branching**levels, 2 * game.branching - 1 if game.branching <= _MOST_IN_A_ROW else 0, 4))
    width = (
        min(
            width,
            float(_MOST_LEAVES),
        )
        if game.branching <= _MOST_IN_A_ROW
        else float(_MOST_IN_A_ROW)
    )
    path = _add_path(tree, game, history, ply, width)
    here = path[-1]
    if game.branching > _MOST_IN_A_ROW:
        below = [
            tree.add(str(action), action % _MOST_IN_A_ROW + 0.5, len(path) + action // _MOST_IN_A_ROW)
            for action in legal
        ]
        tree.values += [
            Label(
                f"{value_of(path_of(state.path, np.int64(action)), ply):+d}",
                tree.cells[cell].x,
                tree.cells[cell].y + 0.6,
            )
            for action, cell in zip(legal, below, strict=True)
        ]
    else:
        below = _add_branches(tree, game, state, legal, here, len(path), levels, width)
    pieces = [Piece(cell, None, "disc") for cell in path]
    total = Label(f"sum {int(state.total):+d}", tree.cells[here].x + 1.2, tree.cells[here].y)
    height = len(tree.rows) * _LEVEL
    board = Board("tree", width, height, tree.cells, tree.rows, lines=tree.lines)
    clicks = {action: (cell,) for action, cell in zip(legal, below, strict=True)}
    return Picture(board, UNNAMED, pieces, clicks, steps=("Branch",), texts=[*tree.values, total])


def _levels_below(game, num_legal: int, plies_left: int) -> int:
    """Returns the number of levels of branches below the position."""
    levels = min(1, num_legal)
    while levels and levels < min(3, plies_left) and game.branching ** (levels + 1) <= _MOST_LEAVES:
        levels += 1
    return levels


def _add_path(tree: _Tree, game, history: list[int], ply: int, width: float) -> list[int]:
    """Adds the last nodes of the path, and the branches that it did not take; returns the cells of the path."""
    begin = max(0, len(history) - _PLIES_ABOVE) if len(history) == ply else len(history)
    first_ply = begin if len(history) == ply else ply
    word = np.uint64(~np.uint64(game.seed))
    word = mix(word)
    for action in history[:begin]:
        word = path_of(word, np.int64(action))
    path = [tree.add(f"ply {first_ply}", width / 2, 0)]
    for number, taken in enumerate(history[begin:], start=begin):
        above, level = path[-1], number - begin + 1
        actions = range(game.branching) if game.branching <= _MOST_IN_A_ROW // 2 else [taken]
        for action in actions:
            after = path_of(word, np.int64(action))
            x = width / 2 + (action - taken) * min(2.0, width / (2 * game.branching))
            cell = tree.add(f"ply {number + 1}: {action}", x, level, above, value_of(after, number))
            if action == taken:
                path.append(cell)
        word = path_of(word, np.int64(taken))
    return path


def _add_branches(tree: _Tree, game, state, legal, here: int, level: int, levels: int, width: float) -> list[int]:
    """Adds the levels below the position; returns the cells of its branches."""
    above, below = [(here, "")], []
    for down in range(levels):
        gap = width / game.branching ** (down + 1)
        added = []
        for parent, (cell, name) in enumerate(above):
            for action in range(game.branching):
                value = value_of(path_of(state.path, np.int64(action)), int(state.ply)) if down == 0 else None
                x = (parent * game.branching + action + 0.5) * gap
                text = f"{name} {action}".strip()
                added.append((tree.add(text, x, level + down, cell, value), text))
        below = below or [cell for cell, _ in added]
        above = added
    return below
