"""What an agent says of a position: its moves, ranked."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from azero.games import State
from azero.mcts import MoveStatistics, Search, rank_moves, root_value

RESIGN = -1
"""What an agent answers in place of an action where it gives the game up."""


@dataclass(frozen=True)
class Move:
    """One move. Value and proof are for the player to move."""

    action: int
    move: str  # in the game's notation
    visits: int
    value: float  # in [-1, 1], exact where proven; 0 where neither visited nor proven
    prior: float
    proven: str | None  # "win", "draw" or "loss"
    proven_plies: int | None  # to the end of the game, this move included, where they are counted
    pv: list[str]  # principal variation, this move first


@dataclass(frozen=True)
class Suggestion:
    """A search's answer."""

    game: str
    to_move: int  # 0 or 1
    simulations: int  # done for this answer
    elapsed_s: float
    value: float  # of the position, in [-1, 1] for the player to move
    best: str  # the move to play; "resign" from an agent that gives the game up
    moves: list[Move]  # best first; none where it resigns
    is_tree_full: bool = False  # whether the search went on without growing
    runtime: str | None = None  # the library that ran the net that judged, e.g. "openvino"
    precision: str | None = None  # in which it did: "fp32", "bf16" or "int8"

    @property
    def action(self) -> int:
        """The action of the best move, or RESIGN."""
        return self.moves[0].action if self.moves else RESIGN

    def to_json(self, top: int | None = None) -> dict:
        """Returns the object that `azero suggest --json` prints, with all moves or the `top` best."""
        fields = asdict(self)
        fields["moves"] = fields["moves"][:top]
        del fields["is_tree_full"]
        for move in fields["moves"]:
            del move["action"], move["proven_plies"]
        return fields


def describe_moves(state: State, ranked: Iterable[MoveStatistics]) -> list[Move]:
    """Returns moves of `state` in the game's notation."""
    game, moves = state.game, []
    for found in ranked:
        after, pv = state.clone(), []
        for action in found.pv:
            pv.append(game.action_to_text(after, action))
            after.apply_action(action)
        values = (found.visits, found.value, found.prior, found.proven, found.proven_plies)
        moves.append(Move(found.action, game.action_to_text(state, found.action), *values, pv))
    return moves


def suggestion_of(search: Search, state: State, simulations: int, elapsed_s: float, b: int = 0) -> Suggestion:
    """Returns what tree b, whose root is `state`, has found."""
    moves = describe_moves(state, rank_moves(search, b))
    value = root_value(search, b)
    is_full = bool(search.forest.trees[b].is_full)
    player = state.current_player()
    return Suggestion(str(state.game), player, simulations, elapsed_s, value, moves[0].move, moves, is_full)
