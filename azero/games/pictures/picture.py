"""A picture of a position: cells, pieces, and which cells an action is. A program draws it, e.g. a page in a browser.

Lengths are in sides of a square cell. x goes to the right, y down, from the top left corner of the board.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

STYLES = ("squares", "felt", "points", "holes", "hexes", "lines", "tree", "plain")
SHAPES = ("square", "hexagon", "point", "hole", "node")
COLOURS = ("red", "yellow", "black", "white", "orange", "blue")
KINDS = ("disc", "stone", "cross", "ring", "pawn", "queen", "blocked", "text")


class Player(NamedTuple):
    """A player as people call them, and a colour of `COLOURS`."""

    name: str
    colour: str


class Cell(NamedTuple):
    """A cell with its centre. `name` is its place in the game's notation; `tone` is 0 or 1 on chequered boards."""

    name: str
    x: float
    y: float
    shape: str = "square"
    tone: int | None = None


class Label(NamedTuple):
    """A short text with its centre."""

    text: str
    x: float
    y: float


class Edge(NamedTuple):
    """A line along a side of the board that belongs to a player."""

    player: int
    points: Sequence[tuple[float, float]]


class Piece(NamedTuple):
    """What lies on a cell. `player` is 0, 1 or None; `text` is what a piece of kind "text" shows."""

    cell: int
    player: int | None
    kind: str = "stone"
    text: str = ""


class Button(NamedTuple):
    """A legal action without a cell, e.g. a pass. `key` is the letter that presses the button."""

    action: int
    label: str
    key: str = ""


@dataclass(frozen=True)
class Board:
    """What stays the same throughout a game.

    Attributes:
      style: the ground, one of `STYLES`.
      cells: the cells; the number of a cell is its index.
      rows: the cells by rows from the top, for the order of a keyboard; None is a gap.
      labels: names of rows and columns beside the board.
      lines: x1, y1, x2, y2 of each line.
      dots: x, y of each star point.
      edges: the sides that belong to players.
    """

    style: str
    width: float
    height: float
    cells: Sequence[Cell]
    rows: Sequence[Sequence[int | None]]
    labels: Sequence[Label] = ()
    lines: Sequence[tuple[float, float, float, float]] = ()
    dots: Sequence[tuple[float, float]] = ()
    edges: Sequence[Edge] = ()

    @functools.cached_property
    def json(self) -> dict:
        """The board as an object of JSON. Pictures share it, so nobody should change it."""
        return _as_json({each.name: getattr(self, each.name) for each in dataclasses.fields(self)})


@dataclass(frozen=True)
class Picture:
    """A position as it is drawn.

    Attributes:
      players: the first and the second player.
      pieces: what lies on the board.
      clicks: for each legal action that has cells, these cells in the order in which they are clicked, one per step.
      buttons: legal actions without cells. Other actions that are not in `clicks` appear in a list of moves only.
      steps: what the steps of a turn are called.
      step: the step that the first cell of each action is. It is 0 unless a turn is several actions.
      begun: the cells of the steps before it in this turn.
      drops: the cells of each column from the bottom if pieces fall. Any cell of a column then means the action.
      texts: texts on the board.
      winning: the cells that decided the game.
      is_path: whether `winning` is a line, in its order.
      moves: each legal action in the game's notation. `Game.picture` adds it.
      problem: why this picture is the default instead of the game's own; None if it is not. `Game.picture` adds it.
    """

    board: Board
    players: tuple[Player, Player]
    pieces: Sequence[Piece] = ()
    clicks: Mapping[int, Sequence[int]] = field(default_factory=dict)
    buttons: Sequence[Button] = ()
    steps: Sequence[str] = ("",)
    step: int = 0
    begun: Sequence[int] = ()
    drops: Sequence[Sequence[int]] | None = None
    texts: Sequence[Label] = ()
    winning: Sequence[int] = ()
    is_path: bool = False
    moves: Mapping[int, str] = field(default_factory=dict)
    problem: str | None = None

    def to_json(self) -> dict:
        """Returns the picture as an object of JSON. docs/rules_of_a_game.md describes its fields."""
        actions = [
            {"action": action, "move": move, "cells": list(self.clicks.get(action, ()))}
            for action, move in self.moves.items()
        ]
        buttons = [{**button._asdict(), "move": self.moves[button.action]} for button in self.buttons]
        own = ("players", "pieces", "steps", "step", "begun", "drops", "texts", "winning", "is_path", "problem")
        found = {name: getattr(self, name) for name in own}
        return {**self.board.json, **_as_json({**found, "actions": actions, "buttons": buttons})}


def _as_json(value):
    """Returns a value with lists for sequences, objects for named tuples, and Python's numbers for NumPy's."""
    if isinstance(value, str | int | float | None):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):
        return {key: _as_json(each) for key, each in value.items()}
    if hasattr(value, "_asdict"):
        return _as_json(value._asdict())
    return [_as_json(each) for each in value]


BLACK = Player("Black", "black")
WHITE = Player("White", "white")
RED = Player("Red", "red")
YELLOW = Player("Yellow", "yellow")
ORANGE = Player("Orange", "orange")
BLUE = Player("Blue", "blue")
"""Names and colours of players. A game's picture says who is first."""

UNNAMED = Player("First", "orange"), Player("Second", "blue")
"""The players of a game that does not name them."""
