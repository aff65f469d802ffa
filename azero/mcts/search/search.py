"""`azero.Search`: a search with an evaluator of one's own, which its caller may step.

Answers of the evaluator come from outside. They are checked before kernels use them.

`TreeSearch` is what agents use: it can keep trees between moves, mix in rollouts and stop by the clock.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from azero.compiler.jit import kernel, strategies_compiled
from azero.compiler.rng import derive_seed
from azero.config.reading import override_section
from azero.config.schema import SearchConfig
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.contract import sign_of
from azero.games.state import check_states
from azero.mcts.evaluation.cache import new_cache
from azero.mcts.evaluation.evaluator import UniformEvaluator
from azero.mcts.evaluation.views import new_views
from azero.mcts.rollouts.weights import rollout_from_config
from azero.mcts.roots.strategies import Root
from azero.mcts.search.analysis import SearchTree, mean_values, tree_of
from azero.mcts.search.kernels import ROUNDING, child_to_play, write_target
from azero.mcts.search.lockstep import Answer
from azero.mcts.search.settings import SearchParts, Settings, check_parts
from azero.mcts.search.tree_search import affordable_nodes
from azero.mcts.search.trees import EvaluatedTrees, rules_named
from azero.mcts.selection import Selection, selection_from_config
from azero.mcts.tree import UNPROVEN, children_of, start_tree

_LOWEST = np.finfo(np.float32).min


def checked_answer(logits: Any, values: Any, num_rows: int, num_actions: int) -> Answer:
    """Returns an evaluator's answer as arrays of float32. A logit of -inf, for never, becomes the lowest number.

    Args:
      logits: [R, A]; arrays, torch tensors or lists.
      values: [R].

    Raises BadInput if a shape is wrong, a logit is NaN or +inf, or a value is not in [-1, 1].
    """
    logits = _array_of("logits", logits, (num_rows, num_actions), "one row per leaf, one column per action")
    values = _array_of("values", values, (num_rows,), "one per leaf")
    wrong = np.argwhere(np.isnan(logits) | (logits == np.inf))
    if len(wrong):
        row, action = wrong[0].tolist()
        found = logits[row, action]
        raise BadInput(f"the evaluator's logits[{row}, {action}] is {found}; it should be a finite number or -inf")
    bad = np.flatnonzero(~(np.abs(values) <= 1.0 + ROUNDING))
    if len(bad):
        raise BadInput(f"the evaluator's values[{bad[0]}] is {values[bad[0]]}; it should be from -1 to 1")
    return np.maximum(logits, _LOWEST), values.clip(-1.0, 1.0)


def _array_of(name: str, given: Any, shape: tuple[int, ...], meaning: str) -> np.ndarray:
    """Returns what an evaluator gave as float32; raises BadInput if it is not an array of numbers of this shape."""
    if hasattr(given, "detach"):  # a torch tensor, which may be on a device, in bfloat16, or need a gradient
        given = given.detach().cpu().float()
    try:
        with np.errstate(over="ignore"):
            array = np.ascontiguousarray(given, np.float32)
    except (TypeError, ValueError):
        raise BadInput(f"the evaluator's {name} are not an array of numbers") from None
    if array.shape != shape:
        raise BadInput(f"the evaluator's {name} have the shape {list(array.shape)}; expected {list(shape)}, {meaning}")
    return array


Evaluate = Callable[[np.ndarray], tuple[Any, Any]]
"""Takes planes [R, C, H, W] float32; returns logits [R, A], and values [R] in [-1, 1] for the player to move."""

MOST_SIMULATIONS = 1 << 30


@dataclass(frozen=True)
class SearchResult:
    """What a search found for B positions. Values are for the player to move. Illegal actions have zeros.

    Attributes:
      N: [B, A] int32, visits of each action.
      P: [B, A] float32, priors; they sum to 1, and include the noise of the root, if there is any.
      Q: [B, A] float64 in [-1, 1], mean values; exact if proven, 0 with neither a visit nor a proof.
      policies: [B, A] float32, what a net should learn; it sums to 1.
      values: [B] float32 in [-1, 1].
      actions: [B] int32, the actions to play.
      is_full: [B] bool, whether the tree stopped growing for lack of nodes.
    """

    N: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    policies: np.ndarray
    values: np.ndarray
    actions: np.ndarray
    is_full: np.ndarray


class Search:
    """A search of several positions side by side, with an evaluator of your own.

    `run` searches positions to the end. To step a search yourself, call `begin`, then `leaves` and `backup` in turn,
    until there are no more leaves:

        search.begin(states)
        while len(planes := search.leaves()):
            search.backup(*evaluate(planes))
        result = search.result()

    The result depends on the positions, the evaluator's answers and the seed, and on nothing else.

    Args:
      game: the game.
      evaluate: takes planes [R, C, H, W] float32. It returns logits [R, A] of the prior, before the softmax, and values
        [R] in [-1, 1] for the player to move; each is a NumPy array, a torch tensor or a list. Logits of illegal
        actions are not used; they may be -inf. `backup` does not need it.
      num_simulations: simulations of each position.
      settings: settings of the section `[search]`, by name; docs/configuration.md describes them. `cache_mib` is 0
        here by default. `{"prove": False, "look_ahead": False}` searches as AlphaZero did.
      selection: the selection rule; by default the one that `settings` describe, PUCT.
      root: the root strategy; by default that of AlphaZero without noise.
      leaves_per_tree: most leaves of a position that are evaluated together.
      max_nodes: most nodes of a tree; by default as many as the search needs, and as fit into 2 GiB.

    Raises BadInput if a setting or a strategy is not valid.
    """

    def __init__(
        self,
        game: Game,
        evaluate: Evaluate | None = None,
        num_simulations: int = 200,
        *,
        settings: Mapping[str, object] | None = None,
        selection: Selection | None = None,
        root: Root | None = None,
        leaves_per_tree: int = 1,
        max_nodes: int | None = None,
    ):
        if not isinstance(game, Game):
            raise BadInput(f"game = {game!r} should be a game: azero.make_game(name)")
        if not (evaluate is None or callable(evaluate)):
            raise BadInput(f"evaluate = {evaluate!r} should be a function from planes to logits and values")
        if not isinstance(settings, Mapping | None):
            raise BadInput(f"settings = {settings!r} should be a dict, such as {{'c_puct': 2.0}}")
        config = override_section(SearchConfig, {"cache_mib": 0, **(settings or {})}, {})
        if config.solve_nodes > 0:
            raise BadInput(f"solve_nodes = {config.solve_nodes} should be 0: azero.Search does not solve roots")
        for name, value, most in (
            ("num_simulations", num_simulations, MOST_SIMULATIONS),
            ("leaves_per_tree", leaves_per_tree, 1 << 12),
            ("max_nodes", 1 if max_nodes is None else max_nodes, affordable_nodes(1)),
        ):
            if not (isinstance(value, int) and 1 <= value <= most):
                raise BadInput(f"{name} = {value!r} should be a whole number from 1 to {most:,}")
        self.game, self.evaluate, self.num_simulations = game, evaluate, num_simulations
        self._max_nodes = max_nodes
        chosen = Settings.from_config(config)._replace(leaves_per_tree=leaves_per_tree)
        chosen = chosen if root is None else chosen._replace(root=root)
        selection = selection_from_config(config) if selection is None else selection
        rollout = rollout_from_config(config, game)
        self._parts = SearchParts(game.rules, selection, rollout, chosen, new_views(game))
        check_parts(self._parts)
        self._trees: EvaluatedTrees | None = None
        self._size = self._num_open = 0
        self._temperature = 0.0

    def run(self, states: Sequence[State], seed: int = 0, temperature: float = 0.0) -> SearchResult:
        """Searches these positions with the evaluator; the arguments are those of `begin`.

        Raises BadInput as `begin` and `backup`.
        """
        if self.evaluate is None:
            raise BadInput("run needs an evaluator: azero.Search(game, evaluate); or use begin, leaves and backup")
        self.begin(states, seed, temperature)
        while len(planes := self.leaves()):
            self.backup(*_pair(self.evaluate(planes)))
        return self.result()

    def begin(self, states: Sequence[State], seed: int = 0, temperature: float = 0.0) -> None:
        """Begins a search of these positions. It ends the search before.

        Args:
          seed: of all random choices.
          temperature: of `SearchResult.actions`: 0 for the best action, 1 to draw it in proportion to the visits.

        Raises BadInput if there is no position, one is of another game, or its game is over.
        """
        check_states(self.game, states)
        if not 0 <= temperature < float("inf"):
            raise BadInput(f"temperature = {temperature} should be a number of 0 or more")
        self._temperature, self._size = float(temperature), len(states)
        self._trees = self._new_trees(self._size)
        for b, state in enumerate(states):
            start_tree(self._trees.forest, b, state.record, np.uint64(derive_seed(seed, "position", b)))
        with strategies_compiled():
            self._trees.begin(range(self._size), self.num_simulations, self._temperature)
        self._num_open = self._trees.open(range(self._size))

    def _new_trees(self, size: int) -> EvaluatedTrees:
        """Returns `size` empty trees. The operating system allocates their memory as they grow."""
        actions = self.game.num_actions
        wanted = self._max_nodes or (self.num_simulations + 1) * actions + 1  # a root may begin with one more
        max_nodes = max(min(wanted, affordable_nodes(size)), actions + 1)
        parts = self._parts._replace(cache=new_cache(self._parts.settings.cache_mib))
        return EvaluatedTrees(self.game, parts, UniformEvaluator(actions), size, max_nodes)

    def leaves(self) -> np.ndarray:
        """Returns the planes of the leaves that wait for `backup`, [R, C, H, W] float32. R is 0 if the search is over.

        There is at most one leaf of each position, or `leaves_per_tree`. Until `backup` is called, the leaves stay the
        same. With a cache, a leaf may be a symmetric image of its position. Raises BrokenRules if the game's rules are
        broken.
        """
        walker = self._begun().walker
        with rules_named(self.game), strategies_compiled():
            while self._num_open and not len(walker.planes):
                self._num_open -= walker.walk()
        return walker.planes.copy()

    def backup(self, logits: Any, values: Any) -> None:
        """Expands the leaves with the evaluator's answer, and backs up its values.

        Args:
          logits: [R, A], as `evaluate` returns them.
          values: [R] in [-1, 1], for the player to move.

        Raises BadInput if a shape is wrong, a logit is NaN or infinite (-inf is possible), or a value is outside
        [-1, 1]. The leaves keep waiting then.
        """
        trees = self._begun()
        answer = checked_answer(logits, values, len(trees.walker.planes), self.game.num_actions)
        with rules_named(self.game), strategies_compiled():
            trees.backup(answer)

    def result(self) -> SearchResult:
        """Returns what the search has found so far; raises BadInput before the first `backup`."""
        forest, parts = self._begun().forest, self._parts
        if (forest.nodes["first_child"][:, 0] == 0).any():
            raise BadInput("there is no result yet: call leaves and backup first")
        shape = self._size, self.game.num_actions
        N, P, Q = np.zeros(shape, np.int32), np.zeros(shape, np.float32), np.zeros(shape)
        for b in range(self._size):
            children = forest.nodes[b][children_of(forest.nodes[b])].view(np.ndarray)
            sign, actions = sign_of(int(forest.nodes[b][0].player)), children["action"]
            N[b, actions], P[b, actions] = children["N"], children["P"]
            is_open = children["proven"] == UNPROVEN
            Q[b, actions] = np.where(is_open, mean_values(sign, children), sign * children["proven"])
        targets, values, chosen = (
            np.zeros(shape, np.uint16),
            np.zeros(shape[0], np.float32),
            np.zeros(shape[0], np.int32),
        )
        rng = forest.trees.rng.copy()
        with strategies_compiled():
            _judge_roots(parts, forest, self._begun().scratch, self._temperature, targets, values, chosen)
        forest.trees.rng[:] = rng  # a second call draws the same actions
        policies = targets / targets.sum(axis=1, keepdims=True, dtype=np.int64)
        return SearchResult(N, P, Q, policies.astype(np.float32), values, chosen, forest.trees.is_full != 0)

    def tree(self, b: int = 0) -> SearchTree:
        """Returns the tree of the position `b` of the last search, as arrays."""
        trees = self._begun()
        if not 0 <= b < self._size:
            raise BadInput(f"there is no position {b}: the search has {self._size}, numbered from 0")
        return tree_of(trees.forest, b)

    def _begun(self) -> EvaluatedTrees:
        if self._trees is None:
            raise BadInput("there is no search yet: call begin or run first")
        return self._trees


def _pair(answer: object) -> tuple[Any, Any]:
    """Returns the two parts of an evaluator's answer; raises BadInput if it does not have two."""
    if isinstance(answer, tuple | list) and len(answer) == 2:
        return answer[0], answer[1]
    raise BadInput(f"the evaluator returned a {type(answer).__name__}; it should be a pair: logits and values")


@kernel
def _judge_roots(parts, forest, scratch, temperature, targets, values, actions):
    """Writes the root strategy's action, policy target and value of each tree."""
    for b in range(len(values)):
        tree, nodes = forest.trees[b], forest.nodes[b]
        actions[b] = nodes[child_to_play(parts, forest, scratch, b, temperature)].action
        values[b] = write_target(parts, tree, nodes, targets[b])
