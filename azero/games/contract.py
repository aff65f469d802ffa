"""The contract of a game: the methods and tables of its class of rules, and how kernels call the methods.

A game is a NamedTuple of its parameters. The compiled methods work on one record of `state_dtype` and allocate
nothing. The other methods are plain Python. Optional methods have defaults in `defaults.py`.
"""

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from azero.compiler.jit import bind_methods, shared_with_python

if TYPE_CHECKING:
    from azero.games.pictures.picture import Picture

WIN, DRAW, LOSS = 1, 0, -1
"""Outcomes and proven results, for the first player unless another player is named."""

ONGOING = 2
"""The value of `outcome` while the game goes on."""


@shared_with_python
def sign_of(player):
    """Returns 1 for player 0, -1 for player 1: the factor between the first player's value and that of `player`."""
    return 1 - 2 * player


COMPILED = {
    "reset": ("state",),
    "legal_actions": ("state", "out"),
    "apply_action": ("state", "action"),
    "current_player": ("state",),
    "outcome": ("state",),
    "encode": ("state", "planes"),
    "hash_key": ("state",),
    "rollout_action": ("state", "legal", "rng"),
    "rollout": ("state", "legal", "rng", "max_plies"),
    "final_score": ("state",),
    "ownership": ("state", "owners"),
    "target": ("state", "action"),
    "is_near_end": ("state",),
    "exchange_players": ("state",),
}
"""The compiled methods, with their parameters after the game."""

bind_methods(**COMPILED)


Ranges = dict[str, tuple[float, float]]
"""The least and the greatest value of each parameter, by name."""


class Symmetries(NamedTuple):
    """The S symmetries of a game as gathers, the identity first.

    Symmetry s maps the planes of a position to `planes.reshape(C, H * W)[:, cells[s]]`, and a distribution over its
    actions to `policy[actions[s]]`.

    Attributes:
      cells: [S, H * W] int32.
      actions: [S, A] int32.
    """

    cells: np.ndarray
    actions: np.ndarray


class Exchange(NamedTuple):
    """What becomes of cells and actions when the players are exchanged, as gathers.

    If a player is to own the cells `owners` ([H * W]) at the end, `owners[cells]` are those of the player who has that
    player's place. In the same way `policy[actions]` is the policy of the exchanged position.

    Attributes:
      cells: [H * W] int32.
      actions: [A] int32.
    """

    cells: np.ndarray
    actions: np.ndarray


class Places(NamedTuple):
    """Where each action takes place: in a cell of a plane of actions, or in a slot beside the board.

    A net without layers that depend on the board's size learns a plane for each kind of move, e.g. a step to the left,
    and slots for the moves without a cell, e.g. a pass. All sizes of a game have the same planes and slots.

    Attributes:
      planes: P, the number of planes, each [H, W].
      slots: K, the number of slots.
      numbers: [A] int32, the place of each action: `plane * H * W + row * W + column`, or `P * H * W + slot`.
    """

    planes: int
    slots: int
    numbers: np.ndarray


class Rules(Protocol):
    """The rules of a game. The players are 0, who moves first, and 1. The A actions are numbered from 0."""

    # Compiled. `state` is a record of `state_dtype`. Only `reset`, `apply_action` and `exchange_players` change it.
    # Other methods may use fields as scratch memory if they restore them before they return, so one thread at a time
    # uses a state.
    # `rollout_action` may leave scratch fields changed.

    def reset(game, state) -> None:
        """Sets `state` to the initial position."""

    def legal_actions(game, state, out) -> int:
        """Writes the legal actions into `out` ([A] int32) in ascending order; returns their number."""

    def apply_action(game, state, action) -> None:
        """Plays a legal action; changes `state` in place."""

    def current_player(game, state) -> int:
        """Returns the player to move, 0 or 1. Turns need not alternate."""

    def outcome(game, state) -> int:
        """Returns WIN, DRAW or LOSS for the first player if the game is over, else ONGOING."""

    def encode(game, state, planes) -> None:
        """Writes the net's input into `planes` ([C, H, W] float32), from the point of view of the player to move.

        It must write every element, because `planes` may contain the input of another position.
        """

    def hash_key(game, state) -> int:
        """Returns a 64-bit key of the position. Searches treat positions with equal keys as the same position.

        Equal states must have equal keys. If the game is `is_history_free`, positions with equal keys must have the
        same player to move, outcome and legal actions, and each action must lead from both to equal keys again.
        """

    def rollout_action(game, state, legal, rng) -> int:
        """Optional: returns an action of the game's rollout policy. The default is a uniformly random legal action.

        The action must be legal if the game is `is_history_free`. In other games it may break rules that depend on the
        history, such as superko. `legal` ([A] int32) is scratch memory. `rng` is the random generator, for
        `random_below` and the like from `azero.authoring`.
        """

    def rollout(game, state, legal, rng, max_plies) -> int:
        """Optional: plays to the end by `rollout_action` and returns the outcome. `state` is not valid afterwards.

        Write it if the outcome of a random game can be computed without playing all of its moves.
        """

    def final_score(game, state) -> float:
        """Optional: returns the margin by which the first player has won, in the game's own units.

        Its sign is that of the outcome. The default is the outcome.
        """

    def ownership(game, state, owners) -> None:
        """Optional: writes the owner of each cell of the planes at the end of a game into `owners` ([H, W] int8).

        1 is the first player, -1 the second, 0 nobody. The default is nobody.
        """

    def target(game, state, action) -> int:
        """Optional: returns the cell, `row * W + column` of the planes, at which a legal action takes place.

        The default is the action's own number. A number outside the board means that the action has no cell: a pass.
        """

    def is_near_end(game, state) -> bool:
        """Optional: returns whether the game may well end within some ten plies. The default is False.

        A search that looks ahead then tries to prove the position by alpha-beta. Write it if a game can end suddenly.
        """

    def exchange_players(game, state) -> None:
        """Optional: gives each player what the other one has, and the turn, so that the mover's prospects are the same.

        It changes `state` in place, and leaves it as it is if there is no such position. Training then learns from both
        positions. Write it if `encode` shows who of the players is to move, and the rules are the same for both: in Hex
        the stones change their colours and are mirrored. Searches do not use it. The default leaves the state.
        """

    # Plain Python.

    def ranges(game) -> Ranges:
        """Optional: returns the least and the greatest value of each parameter that is bounded. The default is none."""

    def check(game) -> None:
        """Optional: raises BadInput if the parameters are not valid although each is within its range."""

    @property
    def state_dtype(game) -> np.dtype:
        """The structured dtype of a state. If all sizes of a game have the same dtype, one compilation serves them."""

    @property
    def num_actions(game) -> int:
        """A, the number of actions."""

    @property
    def max_plies(game) -> int:
        """An upper bound on the plies of a game."""

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        """(C, H, W), the shape of the planes that `encode` writes."""

    @property
    def is_history_free(game) -> bool:
        """Optional: whether positions with equal `hash_key` have the same future. The default is True."""

    @property
    def is_about_mobility(game) -> bool:
        """Optional: whether a move is better, as a rule, the fewer replies it leaves. The default is False.

        Alpha-beta then tries such moves first. It proves the same values, as a rule with fewer positions.
        """

    @property
    def calls_python(game) -> bool:
        """Optional: whether the compiled methods call Python. The default is False.

        If so, threads would wait for each other, so searches with rollouts take one, and `azero train --minutes`
        chooses settings with fewer calls.
        """

    def symmetries(game) -> Symmetries:
        """Optional: returns symmetries that leave the rules and the initial position unchanged.

        The default is the identity alone.
        """

    def exchange(game) -> Exchange:
        """Optional: returns where `exchange_players` takes cells and actions. The default leaves them in place."""

    def places(game) -> Places:
        """Optional: returns where each action takes place. `net.name = any_size` needs it.

        No two actions have the same place. Symmetries map the cells of actions as they map those of the planes.
        """

    def action_to_text(game, state, action: int) -> str:
        """Optional: returns a legal action of `state` in the game's notation. The default is its number."""

    def text_to_action(game, state, text: str) -> int:
        """Optional: returns the action that `text` names in `state`, legal or not; raises BadInput if there is none."""

    def split_moves(game, text: str) -> list[str]:
        """Optional: splits a record in the game's usual notation into moves.

        The default splits at spaces, commas and semicolons.
        """

    def position_to_text(game, state) -> str:
        """Optional: returns the position in one line. The default is the moves that led to it.

        A game defines this method and the next one, or neither of them.
        """

    def text_to_position(game, state, text: str) -> None:
        """Optional: changes `state`, the initial position, to the position that `text` describes.

        It sets all fields that differ, as if the position had been played. It raises BadInput for a text that is not a
        position, and should do so for a position that no game reaches. `text` may have several lines.
        """

    def draw(game, state, marks: dict[int, str]) -> str:
        """Optional: returns the board as lines of text, with `marks` (action to short text) at the actions' places.

        If several marks have the same place, the first is shown. The default lists the fields of the state.
        """

    def winning_cells(game, state) -> list[int]:
        """Optional: returns the cells of the planes, `row * W + column`, that decided a finished game.

        E.g. four in a row. `azero play` marks them. The default is none.
        """

    def picture(game, state, legal: list[int], history: list[int]) -> "Picture":
        """Optional: returns the board as data, from which a page draws it and reads clicks.

        `legal` has the legal actions, none if the game is over. `history` has the actions that led to the position,
        and is empty if they are not known. The default shows the cells of the planes.
        """
