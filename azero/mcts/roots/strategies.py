"""Root strategies: what a search does differently at its root. A strategy is a NamedTuple of its constants.

    begin_search(tree, nodes, temperature)  prepares the root for a new search
    add_noise(tree, nodes, weights)         called once per root, as soon as it is expanded; `weights` ([A] float64) is
                                            scratch memory
    root_child(tree, nodes)                 the child that a simulation goes to, or LEFT_TO_SELECTION
    write_target(selection, tree, nodes, visits)
                                            writes the policy target of a finished search into all of `visits`
                                            ([A] uint16), in any unit; returns the search's value in [-1, 1], for the
                                            player to move. Only counts of the root's moves are kept
    best_child(settings, tree, nodes)       the best child of a finished search
    child_to_play(settings, tree, nodes, temperature)
                                            the child whose move is played; drawn if the temperature is above 0
    may_keep_tree()                         whether the next search may reuse the subtree of the move played

`tree` and `nodes` are a record and an array of `tree.py`. A child is given by its place in `nodes`; the root is at
place 0. `begin_search` finds `tree.target` set. `tree.is_fast` marks a fast search of self-play. `tree.rng` is for the
strategy to draw from; `tree.search_seed` and `tree.temperature` are for it to store. Methods allocate nothing. A
strategy needs at least one field, and no field may have the name of a method that kernels call.

A search takes a strategy as it is, by `Settings(root=...)` or `azero.Search(root=...)`. A run's setting `selfplay.root`
names one in `ROOTS`, or in a user's file. Root strategies need an evaluator; searches with rollouts alone
have a plain root.

Source: DeepMind's mctx, which separates `root_action_selection_fn` from `interior_action_selection_fn`.
"""

from collections.abc import Callable
from typing import Any, Protocol

from azero.compiler.jit import bind_strategies
from azero.config.schema import Config
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.users_strategies import make_users_strategy

bind_strategies(
    begin_search=("tree", "nodes", "temperature"),
    add_noise=("tree", "nodes", "weights"),
    root_child=("tree", "nodes"),
    write_target=("selection", "tree", "nodes", "visits"),
    best_child=("settings", "tree", "nodes"),
    child_to_play=("settings", "tree", "nodes", "temperature"),
    may_keep_tree=(),
)


class Root(Protocol):
    """A root strategy; see the module's docstring."""

    def begin_search(root, tree: Any, nodes: Any, temperature: float) -> None: ...
    def add_noise(root, tree: Any, nodes: Any, weights: Any) -> None: ...
    def root_child(root, tree: Any, nodes: Any) -> int: ...
    def write_target(root, selection: Any, tree: Any, nodes: Any, visits: Any) -> float: ...
    def best_child(root, settings: Any, tree: Any, nodes: Any) -> int: ...
    def child_to_play(root, settings: Any, tree: Any, nodes: Any, temperature: float) -> int: ...
    def may_keep_tree(root) -> bool: ...


ROOTS: dict[str, Callable[[Config], Root]] = {"noise": VisitsRoot.from_config, "gumbel": GumbelRoot.from_config}
"""Root strategies, by their names in a run's settings."""


def root_from_config(config: Config) -> Root:
    """Returns the root strategy of a run's self-play; raises BadInput, Untrusted for a user's."""
    name = config.selfplay.root
    return ROOTS[name](config) if name in ROOTS else users_root(name)


def users_root(name: str) -> Root:
    """Returns the root strategy in a user's file; raises BadInput, Untrusted."""
    return make_users_strategy(name, "root", Root)
