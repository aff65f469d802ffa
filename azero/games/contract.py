"""What a game is: the methods and tables that a class of rules provides, and how kernels come to call them.

A game is a NamedTuple of its parameters. The compiled methods work on one record of `state_dtype` and allocate
nothing; the rest is plain Python, used at the edges. What is marked optional has a default in `defaults.py`.
"""

from typing import NamedTuple, Protocol

import numpy as np

from azero.compiler.jit import bind_methods, shared_with_python

WIN, DRAW, LOSS = 1, 0, -1
"""Outcomes and proven results, for the first player wherever no other player is named."""

ONGOING = 2
"""What `outcome` returns while the game goes on."""


@shared_with_python
def sign_of(player):
    """Returns 1 for the first player, -1 for the second: the factor between the first player's value and `player`'s."""
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
}
"""The methods that are compiled, with their parameters after the game."""

bind_methods(**COMPILED)


Ranges = dict[str, tuple[float, float]]
"""The least and the greatest value of parameters, by name."""


class Symmetries(NamedTuple):
    """Symmetries as gathers, the identity first.

    A position seen through symmetry s has `planes.reshape(C, H * W)[:, cells[s]]`, and a distribution over actions
    belonging to the position becomes `policy[actions[s]]`.

    Attributes:
      cells: [S, H * W] int32.
      actions: [S, A] int32.
    """

    cells: np.ndarray
    actions: np.ndarray


class Rules(Protocol):
    """A game's rules. Players are 0, who moves first, and 1; A actions are numbered from 0."""

    # Compiled. `state` is a record of `state_dtype`; it belongs to one thread, since even those that only look may use
    # parts of it to work in.

    def reset(game, state) -> None:
        """Makes `state` the initial position."""

    def legal_actions(game, state, out) -> int:
        """Writes the legal actions, ascending, into `out` ([A] int32); returns how many."""

    def apply_action(game, state, action) -> None:
        """Plays a legal action, in place."""

    def current_player(game, state) -> int:
        """Returns who moves, 0 or 1. Turns need not alternate."""

    def outcome(game, state) -> int:
        """Returns WIN, DRAW or LOSS for the first player where the game is over, else ONGOING."""

    def encode(game, state, planes) -> None:
        """Writes the net's input into `planes` ([C, H, W] float32), all of it, as the player to move sees it."""

    def hash_key(game, state) -> int:
        """Returns a 64-bit key of the position; searches take positions of one key for one position.

        Equal states have equal keys. Where games are `is_history_free`, positions with equal keys have the same player
        to move, outcome and legal actions, and each action leads from both to equal keys again.
        """

    def rollout_action(game, state, legal, rng) -> int:
        """Optional: returns an action of the game's rollout policy; a uniformly random legal one unless written.

        Legal where games are `is_history_free`; else it may overlook what only the history forbids.

        `legal` ([A] int32) is room to work in; `rng` is for `random_below` and others of `azero.authoring`.
        """

    def rollout(game, state, legal, rng, max_plies) -> int:
        """Optional: returns the outcome of a game played to its end by `rollout_action`; `state` is used up.

        Worth writing where the outcome of a random game can be had for less than all of its moves.
        """

    def final_score(game, state) -> float:
        """Optional: returns by how much the first player has won, in the game's own units; its sign is the result."""

    def ownership(game, state, owners) -> None:
        """Optional: writes who holds each cell of the planes, where the game is over, into `owners` ([H, W] int8).

        1 stands for the first player, -1 for the second, 0 for nobody.
        """

    def target(game, state, action) -> int:
        """Optional: returns the cell, `row * W + column` of the planes, at which a legal action takes place.

        The action itself unless written. A number that is no cell's stands for no place: a pass.
        """

    # Plain Python.

    def ranges(game) -> Ranges:
        """Optional: returns the least and the greatest value of the parameters that have such."""

    def check(game) -> None:
        """Optional: raises BadInput where parameters, each within its range, will not do."""

    @property
    def state_dtype(game) -> np.dtype:
        """The structured dtype of a state; the same for all sizes where one compilation is to serve them all."""

    @property
    def num_actions(game) -> int:
        """A."""

    @property
    def max_plies(game) -> int:
        """No game lasts longer than this."""

    @property
    def planes_shape(game) -> tuple[int, int, int]:
        """[C, H, W] of what `encode` writes."""

    @property
    def is_history_free(game) -> bool:
        """Optional: whether positions with equal `hash_key` have the same future; so unless written."""

    def symmetries(game) -> Symmetries:
        """Optional: returns the symmetries under which neither the rules nor the initial position change."""

    def action_to_text(game, state, action: int) -> str:
        """Optional: returns a legal action of `state` in the game's notation."""

    def text_to_action(game, state, text: str) -> int:
        """Optional: returns the action that `text` is in `state`, legal or not; raises BadInput where it is none."""

    def split_moves(game, text: str) -> list[str]:
        """Optional: splits a record of moves, in the game's usual notation, into moves."""

    def draw(game, state, marks: dict[int, str]) -> str:
        """Optional: returns the board in lines of text, with `marks` (action to short text) at the actions' places.

        Of several marks that belong at one place the first is shown.
        """
