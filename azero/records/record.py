"""The record of a game: where it began, a tree of moves, and who played."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from azero.errors import BadInput
from azero.games import Game, State

NO_ACTION = -1
"""Stands for the action of a tree's root."""

FIRST_WON, SECOND_WON, DRAWN, UNKNOWN = "1-0", "0-1", "1/2-1/2", "*"
RESULTS = {1.0: FIRST_WON, 0.0: DRAWN, -1.0: SECOND_WON}
"""Texts of results, by the return of the first player."""

RESIGNED, OUT_OF_TIME, ADJUDICATED = "resignation", "time forfeit", "adjudication"
"""Values of the tag Termination for games whose result is not that of the rules."""

RESERVED = {"Format", "Game", "Result", "Position"}
"""Names of tags that are not among a record's own."""

MOST_DEEP = 100
"""The most variations within each other in a file."""


class TooManyMoves(BadInput):
    """Records have more moves than a reader wants."""

    def __init__(self, most_moves: int):
        super().__init__(f"the records have more than {most_moves:,} moves, variations included")


@dataclass(eq=False, repr=False)
class Node:
    """A move, and the moves that may follow it. The root of a tree has no move.

    Attributes:
      action: the action played, NO_ACTION at the root.
      comment: any text.
      name: what the move or the line that it begins is called, one line; empty if it has no name.
      mark: what is thought of the move, one of `?? ? ?! !? ! !!`; empty if nothing is.
      value: the position's value before the move, in [-1, 1], for the player who moves, by this player's own search;
        None if it is not known.
      simulations: simulations of this search.
      seconds: the time that the move took.
      children: what may follow: the main line first, then the variations.
    """

    action: int = NO_ACTION
    comment: str = ""
    mark: str = ""
    value: float | None = None
    simulations: int | None = None
    seconds: float | None = None
    name: str = ""
    children: list["Node"] = field(default_factory=list)

    def __eq__(self, other: object) -> bool:
        """Returns whether both trees are the same. A long game is too deep for a comparison by recursion."""
        if not isinstance(other, Node):
            return NotImplemented
        left = [(self, other)]
        while left:
            one, two = left.pop()
            if one._content() != two._content() or len(one.children) != len(two.children):
                return False
            left += zip(one.children, two.children, strict=True)
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<Node of action {self.action} with {len(self.children)} children>"

    def _content(self) -> tuple:
        return self.action, self.comment, self.mark, self.value, self.simulations, self.seconds, self.name

    def line(self) -> list["Node"]:
        """Returns the nodes of the main line after this one."""
        nodes, node = list[Node](), self
        while node.children:
            node = node.children[0]
            nodes.append(node)
        return nodes

    def add_line(self, actions: Sequence[int]) -> list["Node"]:
        """Adds a line of play after this node, as its last variation; returns the new nodes."""
        nodes, node = list[Node](), self
        for action in actions:
            node.children.append(Node(action))
            node = node.children[-1]
            nodes.append(node)
        return nodes


@dataclass
class Record:
    """A game and its variations.

    Attributes:
      start: the position before the first move. Records may share it, so nobody plays on it.
      root: the tree's root, which stands for `start`.
      result: `1-0`, `0-1`, `1/2-1/2`, or `*` if it is not known. The first player's result comes first.
      tags: texts by name, such as First and Second, the players' names. Game, Position and Result are not among them.
    """

    start: State
    root: Node = field(default_factory=Node)
    result: str = UNKNOWN
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def game(self) -> Game:
        """The game of the record."""
        return self.start.game

    @property
    def num_opening_plies(self) -> int:
        """Number of random plies at the beginning of the main line."""
        text = self.tags.get("OpeningPlies", "0")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0

    @classmethod
    def of_game(cls, start: State, actions: Sequence[int], **tags: str) -> "Record":
        """Returns the record of a finished or unfinished game. Its result follows from the rules if the game is over.

        Raises BadInput if an action is not legal.
        """
        record = cls(start.clone(), tags=tags)
        record.root.add_line(actions)
        record.result = result_of(record.end())
        return record

    def award(self, winner: int, termination: str) -> None:
        """Gives the game to a player, 0 or 1, for a reason that is not in the rules; see `RESIGNED` and others."""
        self.tags["Termination"] = termination
        self.result = FIRST_WON if winner == 0 else SECOND_WON

    def line(self) -> list[Node]:
        """Returns the nodes of the main line."""
        return self.root.line()

    def actions(self) -> list[int]:
        """Returns the actions of the main line."""
        return [node.action for node in self.line()]

    def states(self) -> Iterator[State]:
        """Yields the positions of the main line, the start first. Each is a copy of its own."""
        state = self.start.clone()
        yield state
        for action in self.actions():
            state = state.clone()
            state.apply_action(action)
            yield state

    def state_at(self, ply: int) -> State:
        """Returns the position after the first `ply` moves of the main line, or after all if there are fewer."""
        state = self.start.clone()
        for action in self.actions()[:ply]:
            state.apply_action(action)
        return state

    def end(self) -> State:
        """Returns the position at the end of the main line."""
        return self.state_at(len(self.line()))


def result_of(state: State) -> str:
    """Returns the text of a position's result, `*` if the game goes on."""
    return RESULTS[state.returns()[0]] if state.is_terminal() else UNKNOWN
