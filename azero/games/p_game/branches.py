"""The branches of a P-game's tree, and the picture of the tree around a position."""

from collections.abc import Sequence

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import mix
from azero.games.contract import sign_of
from azero.games.pictures import UNNAMED, Board, Cell, Label, Picture, Piece

_PLIES_ABOVE = 3  # of the path, that are shown
_LEVELS_BELOW = 3
_MOST_LEAVES = 32  # in the lowest level
_MOST_SIBLINGS = 8  # of a node on the path; of more, none are shown
_MOST_IN_A_ROW = 20  # branches below the position; more of them fill several rows, without lines
_LEVEL = 1.5  # height of a ply


@subroutine
def path_of(path, action):
    """Returns the random word (uint64) of the path after `action`. Its top 7 bits are the action's value."""
    return mix(path ^ mix(np.uint64(action + 1)))


def value_of(path: np.uint64, action: int, ply: int) -> int:
    """Returns the value of an action, played at `ply` after `path`, for the first player."""
    return int(path_of(path, np.int64(action)) >> np.uint64(57)) * sign_of(ply & 1)


class _Tree:
    """The nodes, lines and values of a tree that is drawn downwards."""

    def __init__(self) -> None:
        self.cells: list[Cell] = []
        self.rows: list[list[int]] = []
        self.lines: list[tuple[float, float, float, float]] = []
        self.texts: list[Label] = []

    def add(self, name: str, x: float, level: int, above: int | None = None, value: int | None = None) -> int:
        """Adds a node below the node `above`, with a line and a value if they are given; returns its number."""
        y = (level + 0.5) * _LEVEL
        self.cells.append(Cell(name, round(x, 3), y, "node"))
        if level == len(self.rows):
            self.rows.append([])
        self.rows[level].append(len(self.cells) - 1)
        if above is not None:
            top = self.cells[above]
            self.lines.append((top.x, top.y, round(x, 3), y))
            if value is not None:
                self.write(f"{value:+d}", 0.3 * top.x + 0.7 * x, 0.3 * top.y + 0.7 * y)
        return len(self.cells) - 1

    def write(self, text: str, x: float, y: float) -> None:
        """Adds a text."""
        self.texts.append(Label(text, round(x, 3), round(y, 3)))


def draw_tree(game, state, legal: Sequence[int], history: Sequence[int]) -> Picture:
    """Returns a picture of the last plies of the path with the branches beside them, and of the branches below.

    The path hangs straight down, and its nodes have pieces. Values and the sum are the first player's.
    """
    tree, ply, levels = _Tree(), int(state.ply), _levels_below(game)
    is_known, is_list = len(history) == ply, game.branching > _MOST_IN_A_ROW
    num_rows = -(-game.branching // _MOST_IN_A_ROW) if is_list else levels
    siblings = 2 * game.branching - 1 if game.branching <= _MOST_SIBLINGS else 1
    width = _MOST_IN_A_ROW if is_list else max(game.branching**levels, siblings, 5)
    path = _add_path(tree, game, history if is_known else [], 0 if is_known else ply, width)
    tree.write(f"sum {int(state.total):+d}", 1, _LEVEL / 2)
    if is_list:
        below = _add_list(tree, state, legal, len(path))
    else:
        below = _add_branches(tree, game, state, path[-1], len(path), min(levels, game.depth - ply), width)
    height = (_PLIES_ABOVE + 1 + num_rows) * _LEVEL  # the same throughout a game
    board = Board("tree", width, height, tree.cells, tree.rows, lines=tree.lines)
    clicks = {action: (cell,) for action, cell in zip(legal, below, strict=True)}
    pieces = [Piece(cell, None, "disc") for cell in path]
    return Picture(board, UNNAMED, pieces, clicks, steps=("Branch",), texts=tree.texts)


def _levels_below(game) -> int:
    """Returns the number of levels of branches that are shown below a position."""
    levels = 1
    while levels < _LEVELS_BELOW and game.branching ** (levels + 1) <= _MOST_LEAVES:
        levels += 1
    return levels


def _add_path(tree: _Tree, game, history: Sequence[int], ply: int, width: float) -> list[int]:
    """Adds the last nodes of the path, and those beside it; returns the numbers of the nodes on the path.

    Args:
      ply: the plies before `history`.
    """
    begin = max(0, len(history) - _PLIES_ABOVE)
    word = mix(~np.uint64(game.seed))
    for action in history[:begin]:
        word = path_of(word, np.int64(action))
    path = [tree.add(f"ply {ply + begin}", width / 2, 0)]
    for number, taken in enumerate(history[begin:], start=begin):
        above, level = path[-1], number - begin + 1
        for action in range(game.branching) if game.branching <= _MOST_SIBLINGS else [taken]:
            x = width / 2 + (action - taken) * min(2.0, width / (2 * game.branching - 1))
            node = tree.add(f"ply {number + 1}: {action}", x, level, above, value_of(word, action, number))
            if action == taken:
                path.append(node)
        word = path_of(word, np.int64(taken))
    return path


def _add_branches(tree: _Tree, game, state, here: int, level: int, levels: int, width: float) -> list[int]:
    """Adds the levels below the position; returns the numbers of its branches' nodes."""
    above, below = [(here, "")], list[int]()
    for down in range(levels):
        added = []
        for parent, (node, name) in enumerate(above):
            for action in range(game.branching):
                x = (parent * game.branching + action + 0.5) * width / game.branching ** (down + 1)
                value = value_of(state.path, action, int(state.ply)) if down == 0 else None
                text = f"{name} {action}".strip()
                added.append((tree.add(text, x, level + down, node, value), text))
        below = below or [node for node, _ in added]
        above = added
    return below


def _add_list(tree: _Tree, state, legal: Sequence[int], level: int) -> list[int]:
    """Adds the branches in rows, each with its value below; returns the numbers of their nodes."""
    below = []
    for number, action in enumerate(legal):
        row, column = divmod(number, _MOST_IN_A_ROW)
        node = tree.add(str(action), column + 0.5, level + row)
        tree.write(f"{value_of(state.path, action, int(state.ply)):+d}", column + 0.5, tree.cells[node].y + 0.5)
        below.append(node)
    return below
