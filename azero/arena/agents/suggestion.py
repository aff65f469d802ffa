"""What an agent says of a position: its moves, ranked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from azero.games import Game, State
from azero.mcts import MoveStatistics, Search, rank_moves, root_value

RESIGN = -1
"""What an agent answers in place of an action where it gives the game up."""


class Move(NamedTuple):
    """One move. Value and proof are for the player to move."""

    action: int  # the first of a whole turn
    move: str  # in the game's notation, all of a whole turn
    visits: int
    value: float  # in [-1, 1], exact where proven; 0 where neither visited nor proven
    prior: float
    proven: str | None  # "win", "draw" or "loss"
    proven_plies: int | None  # to the end of the game, this move included, where they are counted
    pv: list[str]  # principal variation, action by action, this move first
    is_bound: bool = False  # whether the move may be worth less than its value: alpha-beta has refuted it
    following: tuple[int, ...] = ()  # the other actions of a whole turn

    @property
    def actions(self) -> list[int]:
        """The actions of the move: one, or all of a whole turn."""
        return [self.action, *self.following]


@dataclass(frozen=True)
class Suggestion:
    """A search's answer."""

    game: str
    to_move: int  # 0 or 1
    simulations: int  # done for this answer
    elapsed_s: float  # of the whole answer, compiling left out
    value: float  # of the position, in [-1, 1] for the player to move
    best: str  # the move to play; "resign" from an agent that gives the game up
    moves: list[Move]  # best first; none where it resigns
    is_tree_full: bool = False  # whether the search went on without growing
    runtime: str | None = None  # the library that ran the net that judged, e.g. "openvino"
    precision: str | None = None  # in which it did: "fp32", "bf16" or "int8"

    @property
    def action(self) -> int:
        """The first action of the best move, or RESIGN."""
        return self.moves[0].action if self.moves else RESIGN

    @property
    def actions(self) -> list[int]:
        """The actions of the best move: one, or all of a whole turn; RESIGN alone."""
        return self.moves[0].actions if self.moves else [RESIGN]

    def to_json(self, top: int | None = None) -> dict:
        """Returns the object that `azero suggest --json` prints, with all moves or the `top` best."""
        fields = {name: value for name, value in vars(self).items() if name != "is_tree_full"}
        moves = [move._asdict() for move in self.moves[:top]]
        fields["moves"] = [
            {key: move[key] for key in move if key not in ("action", "following", "proven_plies")} for move in moves
        ]
        return fields


def describe_moves(state: State, ranked: Sequence[MoveStatistics]) -> list[Move]:
    """Returns moves of `state` in the game's notation."""
    moves = []
    for found, line in zip(ranked, state.game.lines_to_text(state, [found.pv for found in ranked]), strict=True):
        action, *following = found.actions
        text = turn_to_text(state.game, line[: len(found.actions)]) if following else line[0]
        values = (found.visits, found.value, found.prior, found.proven, found.proven_plies)
        moves.append(Move(action, text, *values, line, found.is_bound, tuple(following)))
    return moves


def turn_to_text(game: Game, actions: list[str]) -> str:
    """Returns a turn's actions, each in the game's notation, as `azero play` and `--moves` take it.

    E.g. `d1-d7/g7` in Amazons; with commas, `3,5`, where actions written together would be read as another.
    """
    written = (separator.join(actions) for separator in ("", ",", " "))
    return next((text for text in written if game.rules.split_moves(text) == actions), " ".join(actions))


def suggestion_of(search: Search, state: State, b: int = 0) -> Suggestion:
    """Returns what tree b, whose root is `state`, has found; `elapsed_s` is left at 0."""
    moves = describe_moves(state, rank_moves(search, b))
    tree = search.forest.trees[b]
    value, player = root_value(search, b), state.current_player()
    is_full = bool(tree.is_full)
    return Suggestion(str(state.game), player, int(tree.simulations), 0.0, value, moves[0].move, moves, is_full)
