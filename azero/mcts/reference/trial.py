"""The trial of a user's selection rule and root strategy: searches in plain Python, in which every answer is checked.

The strategies are wrapped in ones that note which laws they break. The search is that of the kernels, run as Python.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.jit import kernel, strategies_compiled
from azero.compiler.plain import plain_kernels
from azero.errors import Allocates, BadInput
from azero.games import Game, State, make_game
from azero.games.names import identity_of
from azero.games.reasons import fails_with, place_of, short
from azero.games.user.timeouts import TimedOut, time_limit
from azero.mcts.roots.strategies import Root
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.search import Search, SearchResult
from azero.mcts.search.settings import Settings
from azero.mcts.selection import Puct, Selection
from azero.mcts.tree import new_forest

GAME = "connect_four(rows=4,columns=5)"

POSITIONS = ("", "3", "3342", "343441134321")
"""Positions of the trial, as moves. The last one is near the end of the game."""

SETTINGS = {"look_ahead": False}
"""Settings of the trial's searches. They prove results, so a root meets children that are proven won and lost."""

SEED = 7

_TRIAL_SIMULATIONS = 8

RULE_LAWS = ("methods", "numbers")
ROOT_LAWS = ("methods", "children", "noise", "targets", "hands off")


class _Failed(Exception):
    """A method has raised an error, which is noted."""


class Watch:
    """Calls the methods of a strategy, and notes the first mistake of each law.

    Attributes:
      name: of the strategy, in messages.
      broken: how laws are broken, by their names.
    """

    def __init__(self, strategy: Any):
        self.strategy = strategy
        self.name = getattr(type(strategy), "file_name", type(strategy).__name__)
        self.broken: dict[str, str] = {}
        self._method = ""

    def note(self, law: str, what: str) -> None:
        """Notes a mistake."""
        self.broken.setdefault(law, f"{self.name}.{what}")

    def call(self, method: str, *arguments: Any) -> Any:
        """Returns what a method returns; raises _Failed if it fails."""
        self._method = method
        try:
            return getattr(self.strategy, method)(*arguments)
        except Exception as error:
            file = self.name.rpartition(":")[0]
            self.note("methods", f"{method} {fails_with(error, place_of(error, file) if file else '')}")
            raise _Failed from None

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Ends the block when a method has failed, or takes too long, which is noted."""
        try:
            with time_limit():
                yield
        except _Failed:
            pass
        except TimedOut as late:
            self.note("methods", f"{self._method} {late}")

    def number(self, law: str, method: str, *arguments: Any) -> float:
        """Returns the finite number that a method returns; 0 if it is something else, which is noted."""
        value = self.call(method, *arguments)
        if is_finite(value):
            return float(value)
        given = ", ".join(f"{each:g}" for each in arguments if isinstance(each, int | float | np.number))
        self.note(law, f"{method}({given}) returns {short(value)}; it should be a finite number")
        return 0.0

    def truth(self, method: str) -> bool:
        """Returns whether a method returns true."""
        value = self.call(method)
        if not isinstance(value, bool | np.bool_):
            self.note("methods", f"{method} returns {short(value)}; it should be True or False")
        return bool(value)


def is_finite(value: object) -> bool:
    """Returns whether a value is a finite number."""
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and math.isfinite(value)


class WatchedRule(NamedTuple):
    """A selection rule whose answers are checked."""

    watch: Watch

    def is_sweeping(rule) -> bool:
        return rule.watch.truth("is_sweeping")

    def exploration(rule, parent_visits: int, depth: int, length: float) -> Any:
        value = rule.watch.call("exploration", int(parent_visits), int(depth), float(length))
        parts = value if isinstance(value, tuple) else (value,)
        if not all(map(is_finite, parts)):
            given = f"{parent_visits:g}, {depth:g}, {length:g}"
            rule.watch.note("numbers", f"exploration({given}) returns {short(value)}; it should be a finite number")
        return value

    def first_play_value(rule, parent_value: float, visited_prior: float) -> float:
        return rule.watch.number("numbers", "first_play_value", float(parent_value), float(visited_prior))

    def score(rule, exploration: Any, visits: int, value: float, prior: float) -> float:
        return rule.watch.number("numbers", "score", exploration, int(visits), float(value), float(prior))


class WatchedRoot(NamedTuple):
    """A root strategy whose answers are checked. `nodes` may change in two methods only."""

    watch: Watch

    def begin_search(root, tree: Any, nodes: Any, temperature: float) -> None:
        before = _bytes_of(tree, nodes)
        root.watch.call("begin_search", tree, nodes, float(temperature))
        if tree.num_nodes != 1 and _bytes_of(tree, nodes) != before:
            root.watch.note("hands off", "begin_search changes nodes; it may only remove all but the root")

    def add_noise(root, tree: Any, nodes: Any, weights: Any) -> None:
        first, last = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children
        priors = nodes.P[first:last].copy()
        before = _bytes_of(tree, nodes, without_priors=(first, last))
        root.watch.call("add_noise", tree, nodes, weights)
        if _bytes_of(tree, nodes, without_priors=(first, last)) != before:
            root.watch.note("hands off", "add_noise changes more than the priors of the root's children")
        found = nodes.P[first:last]
        if not (np.isfinite(found) & (found >= 0)).all() or abs(float(found.sum()) - 1) > 1e-3:
            root.watch.note("noise", f"add_noise leaves priors that are not probabilities, {short(found.tolist())}")
            nodes.P[first:last] = priors

    def root_child(root, tree: Any, nodes: Any) -> int:
        return root._child("root_child", tree, nodes, tree, nodes, or_zero=True)

    def write_target(root, selection: Any, tree: Any, nodes: Any, visits: Any) -> float:
        before = _bytes_of(tree, nodes)
        value = root.watch.number("targets", "write_target", selection, tree, nodes, visits)
        if _bytes_of(tree, nodes) != before:
            root.watch.note("hands off", "write_target changes nodes")
        if abs(value) > 1.0 + 1e-5:
            root.watch.note("targets", f"write_target returns {value:g}; a value is from -1 to 1")
        moves = nodes.action[nodes[0].first_child : nodes[0].first_child + nodes[0].num_children]
        if not visits[moves].any():
            root.watch.note("targets", "write_target gives all moves 0; one at least should have a count")
            visits[moves] = 1
        others = np.delete(visits, moves)
        if others.any():
            root.watch.note(
                "targets", "write_target gives counts to actions that are no moves of the root; begin with 0"
            )
        return max(-1.0, min(1.0, value))

    def best_child(root, settings: Any, tree: Any, nodes: Any) -> int:
        return root._child("best_child", tree, nodes, settings, tree, nodes)

    def child_to_play(root, settings: Any, tree: Any, nodes: Any, temperature: float) -> int:
        child = root._child("child_to_play", tree, nodes, settings, tree, nodes, float(temperature))
        rng = tree.rng.copy()  # the kernels leave `best_child` to `child_to_play`
        root.best_child(settings, tree, nodes)
        tree.rng = rng
        return child

    def may_keep_tree(root) -> bool:
        return root.watch.truth("may_keep_tree")

    def _child(root, method: str, tree: Any, nodes: Any, *arguments: Any, or_zero: bool = False) -> int:
        """Returns the child that a method returns, or 0; the first child if it is no child, which is noted."""
        before = _bytes_of(tree, nodes)
        child = root.watch.call(method, *arguments)
        if _bytes_of(tree, nodes) != before:
            root.watch.note("hands off", f"{method} changes nodes")
        first, last = int(nodes[0].first_child), int(nodes[0].first_child + nodes[0].num_children)
        if isinstance(child, int | np.integer) and (first <= child < last or (or_zero and child == 0)):
            return int(child)
        right = f"the place of a child, here {first} to {last - 1}" + ", or LEFT_TO_SELECTION" * or_zero
        root.watch.note("children", f"{method} returns {short(child)}; it should be {right}")
        return first


def _bytes_of(tree: Any, nodes: Any, without_priors: tuple[int, int] = (0, 0)) -> bytes:
    """Returns the nodes of a tree as bytes, without the priors of some."""
    own = np.array(nodes[: max(1, int(tree.num_nodes))])
    own["P"][slice(*without_priors)] = 0
    return own.tobytes()


class TrialEvaluator:
    """Evaluates by sums of the planes with arbitrary weights, so that positions have different priors and values."""

    rows = 0
    is_on_device = False

    def __init__(self, game: Game):
        size, rng = int(np.prod(game.planes_shape)), np.random.default_rng(1)
        self._logits = rng.normal(0, 0.5, (game.num_actions, size))
        self._values = rng.normal(0, 0.3, size)

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = planes.reshape(len(planes), 1, -1).astype(np.float64)  # a row's sum depends on that row alone
        values = np.tanh((flat[:, 0] * self._values).sum(-1))
        return (flat * self._logits).sum(-1).astype(np.float32), values.astype(np.float32)


def trial_states(game: Game) -> list[State]:
    """Returns the positions of a trial."""
    return [game.state_from_moves(moves) for moves in POSITIONS]


def new_search(game: Game, rule: Selection, root: Root, num_simulations: int) -> Search:
    """Returns a search of the trial."""
    evaluate = TrialEvaluator(game).evaluate
    return Search(game, evaluate, num_simulations, settings=SETTINGS, selection=rule, root=root)


def watch_search(
    rule: Selection, root: Root, num_simulations: int, is_rule: bool
) -> tuple[Watch, list[tuple[Search, SearchResult]]]:
    """Searches in plain Python with a watched strategy, the rule or else the root, at the temperatures 0 and 1.

    Returns:
      what it has found, and the searches that came to their ends, with their results.
    """
    watch = Watch(rule if is_rule else root)
    game, done = make_game(GAME), []
    parts: tuple[Selection, Root] = (WatchedRule(watch), root) if is_rule else (rule, WatchedRoot(watch))
    with watch.ending(), plain_kernels():
        if is_rule:
            try_numbers(WatchedRule(watch))
        for temperature in (0.0, 1.0):
            search = new_search(game, *parts, num_simulations)
            done.append((search, search.run(trial_states(game), SEED, temperature)))
    return watch, done


def try_numbers(rule: WatchedRule) -> None:
    """Calls the methods of a rule with many numbers, also such as occur late in a search or without a prior."""
    is_sweeping = rule.is_sweeping()
    for parent_value in (-1.0, -0.3, 0.0, 1.0):
        for visited_prior in () if is_sweeping else (0.0, 0.4, 1.0):
            rule.first_play_value(parent_value, visited_prior)
    for parent_visits in (1, 2, 30, 5000, 1_000_000):
        for depth, length in ((0, 0.0), (1, 40.0), (50, 40.0)):
            exploration = rule.exploration(parent_visits, depth, length)
            for visits in _visits(parent_visits, is_sweeping):
                for value in (-1.0, -0.3, 0.0, 1.0):
                    for prior in (0.0, 1e-6, 0.3, 1.0):
                        rule.score(exploration, visits, value, prior)


def _visits(parent_visits: int, is_sweeping: bool) -> list[int]:
    """Returns numbers of visits that a child may have when it is scored. After a sweep there is one at least."""
    return sorted({0, 1, min(7, parent_visits), parent_visits} - ({0} if is_sweeping else set()))


def try_strategies(rule: Selection, root: Root) -> None:
    """Raises BadInput, with method and line, if a user's own rule or root breaks a law or cannot be compiled.

    It does nothing with azero's own.
    """
    strategies: tuple[Any, Any] = (rule, root)
    for strategy in strategies:
        if identity_of(strategy):
            _try(strategy, strategy is rule)


@lru_cache(maxsize=None, typed=True)  # strategies of two classes are equal if their parameters are
def _try(strategy: Any, is_rule: bool) -> None:
    rule, root = (strategy, VisitsRoot()) if is_rule else (Puct(), strategy)
    watch, _ = watch_search(rule, root, _TRIAL_SIMULATIONS, is_rule)
    for what in watch.broken.values():
        raise BadInput(what)
    compile_strategy(strategy, is_rule)


def compile_strategy(strategy: Any, is_rule: bool) -> None:
    """Compiles the methods of a strategy, or loads them from the cache; raises BadInput if that is not possible."""
    game = make_game(GAME)
    forest = new_forest(game.rules, 1, game.num_actions + 1)
    forest.trees[:], forest.nodes[:] = 0, 0
    name = getattr(type(strategy), "file_name", type(strategy).__name__)
    try:
        with strategies_compiled():
            if is_rule:
                call_rule(strategy)
            else:
                weights, target = np.zeros(game.num_actions), np.zeros(game.num_actions, np.uint16)
                call_root(Puct(), Settings(root=strategy), forest, weights, target, False)
    except Allocates:
        raise BadInput(
            f"{name} allocates memory (an array, list, set, dict or text), which its methods must not"
        ) from None


@kernel
def call_rule(rule):
    """Calls the methods of a selection rule; returns a score."""
    first = 0.0 if rule.is_sweeping() else rule.first_play_value(0.0, 0.5)
    return rule.score(rule.exploration(2, 0, 0.0), 1, first, 0.5)


@kernel
def call_root(rule, settings, forest, weights, target, is_called):
    """Compiles calls of all methods of a root strategy; makes them if `is_called`."""
    if is_called:
        tree, nodes, root = forest.trees[0], forest.nodes[0], settings.root
        root.begin_search(tree, nodes, 0.0)
        root.add_noise(tree, nodes, weights)
        child = root.root_child(tree, nodes) + root.best_child(settings, tree, nodes)
        child += root.child_to_play(settings, tree, nodes, 1.0)
        return root.write_target(rule, tree, nodes, target) + child + root.may_keep_tree()
    return 0.0
