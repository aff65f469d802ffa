"""Suggestions: an agent's ranking of the moves of a position."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.games import Game, State
from azero.games.position_text import turn_to_text
from azero.heads import HEADS
from azero.mcts import RESULT_NAMES, MoveStatistics, TreeSearch, rank_moves, root_result, root_value
from azero.mcts.roots.visits import VisitsRoot

RESIGN = -1
"""An agent that resigns answers this instead of an action."""

_SHOWN = 5  # moves of a suggestion in its `repr`

VALUES = {"win": 1.0, "draw": 0.0, "loss": -1.0}
"""Values of proven results, for the player to move."""


class Move(NamedTuple):
    """One move. Value and proof are for the player to move.

    Attributes:
      action: the move's action; if the move is a whole turn, its first action.
      move: the move in the game's notation; if it is a whole turn, all its actions.
      visits: number of simulations of this move.
      value: in [-1, 1]; exact if proven; 0 if the move has no visits and no proof.
      prior: its probability before the search, in [0, 1].
      proven: "win", "draw" or "loss"; None without a proof.
      proven_plies: plies to the end of the game, this move included; None if unknown.
      pv: principal variation, one text per action, this move first.
      is_bound: whether `value` is only an upper bound, because alpha-beta refuted the move.
      following: the other actions of a whole turn.
    """

    action: int
    move: str
    visits: int
    value: float
    prior: float
    proven: str | None
    proven_plies: int | None
    pv: list[str]
    is_bound: bool = False
    following: tuple[int, ...] = ()

    @property
    def actions(self) -> list[int]:
        """All actions of the move: one, or several in a whole turn."""
        return [self.action, *self.following]


@dataclass(frozen=True, repr=False)
class Suggestion:
    """An agent's answer for a position.

    Attributes:
      game: the game's name with its parameters.
      to_move: the player to move, 0 or 1.
      simulations: simulations of this search; in a report of an analysis, all visits of the position, kept ones too.
      elapsed_s: seconds of the whole answer, without compilation.
      value: value of the position, in [-1, 1], for the player to move.
      best: the suggested move, or "resign".
      moves: the moves, best first; empty if the agent resigns.
      is_tree_full: whether the tree reached its limit of nodes.
      runtime: the library that ran the net, e.g. "openvino"; None without a net.
      precision: the net's arithmetic, "fp32", "bf16" or "int8"; None without a net.
      heads: the answers of the auxiliary heads that the net keeps, without a search, for the player to move: [H, W]
        float32 for the cells of `State.planes`, or numbers. Each head of `azero/heads/` is an attribute, too, such as
        `ownership` and `score`: None if the net does not keep it. == ignores them.
      simulations_per_s: simulations a second of an analysis; None for a single suggestion.
      proven: the position's result for the player to move, "win", "draw" or "loss"; None without a proof. The proof of
        `moves[0]` is another thing: if it is a draw, another move may still win. If moves are left out, it is the
        result of the others.
    """

    game: str
    to_move: int
    simulations: int
    elapsed_s: float
    value: float
    best: str
    moves: list[Move]
    is_tree_full: bool = False
    runtime: str | None = None
    precision: str | None = None
    heads: Mapping[str, Any] = field(default_factory=dict, compare=False)
    simulations_per_s: float | None = None
    proven: str | None = None

    def __repr__(self) -> str:
        player = ("first", "second")[self.to_move]
        others = ", ".join(each.move for each in self.moves[1:_SHOWN]) + ", ..." * (len(self.moves) > _SHOWN)
        found = f"{self.best}, value {self.value:+.3f} after {self.simulations} simulations"
        return f"<Suggestion for the {player} player of {self.game}: {found}{others and f'; then {others}'}>"

    @property
    def action(self) -> int:
        """The first action of the best move, or RESIGN."""
        return self.moves[0].action if self.moves else RESIGN

    @property
    def actions(self) -> list[int]:
        """All actions of the best move: one, or several in a whole turn; [RESIGN] if the agent resigns."""
        return self.moves[0].actions if self.moves else [RESIGN]

    def to_json(self, top: int | None = None) -> dict:
        """Returns the object that `azero suggest --json` prints, with the `top` best moves or all of them."""
        fields: dict[str, Any] = {}
        for name, value in vars(self).items():
            if name == "heads":
                fields |= {head.name: head.to_json(self.heads.get(head.name)) for head in HEADS.values()}
            elif name != "is_tree_full":
                fields[name] = value
        fields["moves"] = [{key: getattr(move, key) for key in _JSON_FIELDS} for move in self.moves[:top]]
        return fields

    def __getattr__(self, name: str) -> Any:
        """Returns the answer of an auxiliary head; None if the net does not keep it."""
        if name in HEADS:
            return self.heads.get(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def check_state(game: Game, state: State) -> None:
    """Raises BadInput if `state` is of another game or the game is over."""
    if state.game != game:
        raise BadInput(f"the position is of {state.game}, but this agent plays {game}")
    if state.is_terminal():
        raise BadInput("there is nothing to suggest: the game is over")


def lone_move(state: State, action: int, elapsed_s: float = 0.0) -> Suggestion:
    """Returns the suggestion of an agent that tells its move, an action, and nothing else."""
    text = state.game.action_to_text(state, action)
    move = Move(action, text, 0, 0.0, 1.0, None, None, [text])
    return Suggestion(str(state.game), state.current_player(), 0, elapsed_s, 0.0, text, [move])


def resigned(suggestion: Suggestion) -> Suggestion:
    """Returns the answer of an agent that resigns instead of this move."""
    return replace(suggestion, best="resign", moves=[])


_JSON_FIELDS = ("move", "visits", "value", "prior", "proven", "pv", "is_bound", "proven_plies")


def describe_moves(state: State, ranked: Sequence[MoveStatistics]) -> list[Move]:
    """Returns ranked moves of `state`, with their texts in the game's notation."""
    moves = []
    for found, line in zip(ranked, state.game.lines_to_text(state, [found.pv for found in ranked]), strict=True):
        action, *following = found.actions
        text = turn_to_text(state.game.rules, line[: len(found.actions)]) if following else line[0]
        values = (found.visits, found.value, found.prior, found.proven, found.proven_plies)
        moves.append(Move(action, text, *values, line, found.is_bound, tuple(following)))
    return moves


def suggestion_of(search: TreeSearch, state: State, b: int = 0) -> Suggestion:
    """Returns the suggestion of tree `b`, whose root is `state`. Its `elapsed_s` is 0."""
    chosen = search.choose(b)  # proves the best move lost if a reply refutes it
    ranked = rank_moves(search, b)
    if type(search.settings.root) is not VisitsRoot:  # it may play another move than that with most visits
        ranked.sort(key=lambda each: each.action != chosen)
    moves = describe_moves(state, ranked)
    tree = search.forest.trees[b]
    value, player = root_value(search, b), state.current_player()
    return Suggestion(
        *(str(state.game), player, int(tree.simulations), 0.0, value, moves[0].move, moves),
        is_tree_full=bool(tree.is_full),
        proven=RESULT_NAMES.get(root_result(search, b)),
    )
