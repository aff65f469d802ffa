"""Root strategies: what is special about a root. A strategy is a NamedTuple of its constants, as a selection rule is.

    begin_search(tree, nodes, temperature)  prepares a root for the search about to begin
    add_noise(tree, nodes, weights)         once a root, as soon as it has moves; `weights` is room, [A] float64
    root_child(tree, nodes)                 the child that a simulation goes to, or LEFT_TO_SELECTION
    write_target(selection, tree, nodes, visits)
                                            writes the policy to learn when a search is over, into all of `visits`
                                            ([A] uint16), in any unit; returns the search's value in [-1, 1], for the
                                            player to move
    best_child(settings, tree, nodes)       the child that a finished search found best
    child_to_play(settings, tree, nodes, temperature)
                                            the child whose move is played, drawn where the temperature is above 0
    may_keep_tree()                         whether the next search may begin with what is below the move played

`tree` and `nodes` are records and arrays of `tree.py`; a child is its place in `nodes`, whose place 0 is the root.
`tree.target` has been set, `tree.is_fast` tells a fast search of self-play, `tree.rng` draws, and `tree.search_seed`
and `tree.temperature` are the strategy's own. Methods allocate nothing. A strategy has a field at least, and none by
the name of a method that kernels call.

A strategy of one's own goes into `Settings(root=...)`. To be chosen in a run's settings it also takes a name in
`ROOTS`, and in `selfplay.root` (azero/config/selfplay.py). Strategies plan searches that an evaluator judges; with
rollouts alone the root is a plain one.

Source: the seam of DeepMind's mctx, `root_action_selection_fn` beside `interior_action_selection_fn`.
"""

from collections.abc import Callable
from typing import Any, Protocol

from azero.compiler.jit import bind_strategies
from azero.config.schema import Config
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.visits import VisitsRoot

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
    """A root strategy, as this module describes it."""

    def begin_search(root, tree: Any, nodes: Any, temperature: float) -> None: ...
    def add_noise(root, tree: Any, nodes: Any, weights: Any) -> None: ...
    def root_child(root, tree: Any, nodes: Any) -> int: ...
    def write_target(root, selection: Any, tree: Any, nodes: Any, visits: Any) -> float: ...
    def best_child(root, settings: Any, tree: Any, nodes: Any) -> int: ...
    def child_to_play(root, settings: Any, tree: Any, nodes: Any, temperature: float) -> int: ...
    def may_keep_tree(root) -> bool: ...


ROOTS: dict[str, Callable[[Config], Root]] = {"noise": VisitsRoot.from_config, "gumbel": GumbelRoot.from_config}
"""Root strategies by their names in a run's settings."""


def root_from_config(config: Config) -> Root:
    """Returns the root strategy of a run's self-play."""
    return ROOTS[config.selfplay.root](config)
