"""Selection rules: how a simulation selects children on its way down. A rule is a NamedTuple of its constants.

    is_sweeping()                      whether unvisited children go first, in random order
    exploration(N(s), depth, length)   the part of the score that all children of s share; computed once per node
    first_play_value(Q(s), visited_P)  Q(s, a) of an unvisited child; visited_P is the sum of the visited ones' priors
    score(exploration, N(s, a), Q(s, a), P(s, a))
                                       the score of a child; the greatest score is selected

Q is in [-1, 1], for the player to move at s. `depth` is the number of plies from the root to s. `length` is the
expected number of plies of a game from the root, for rules that need it (`needs_length`), else 0.

A rule is given to a search as it is, by `azero.Search(selection=...)`. A run's setting `search.selection` names one in
`RULES`, or in a user's file. A rule needs at least one field, and no field may have the name of a method that
kernels call. Methods allocate nothing.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from azero.compiler.jit import bind_methods, subroutine
from azero.compiler.rng import random_below
from azero.config.schema import C_UCT, SearchConfig
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN
from azero.mcts.users_strategies import make_users_strategy

bind_methods(
    is_sweeping=(),
    exploration=("parent_visits", "depth", "length"),
    first_play_value=("parent_value", "visited_prior"),
    score=("exploration", "visits", "value", "prior"),
)


class Selection(Protocol):
    """A selection rule; see the module's docstring."""

    def is_sweeping(selection) -> bool: ...
    def exploration(selection, parent_visits: int, depth: int, length: float) -> Any: ...
    def first_play_value(selection, parent_value: float, visited_prior: float) -> float: ...
    def score(selection, exploration: Any, visits: int, value: float, prior: float) -> float: ...


_DEFAULTS = SearchConfig()


class Puct(NamedTuple):
    """PUCT of AlphaGo Zero [1] and AlphaZero [2]: selects the child with the greatest Q(s, a) + U(s, a),

        U(s, a) = c(s) P(s, a) sqrt(N(s)) / (1 + N(s, a))
        c(s)    = c_puct + c_puct_factor ln((1 + N(s) + c_puct_base) / c_puct_base)

    N(s) includes the visit that evaluated s itself, so the prior counts on the first descent already. A factor of 0
    gives AlphaGo Zero's constant, a factor of 1 AlphaZero's growth.

    First-play urgency: the Q of an unvisited child is Q(s) - fpu_reduction sqrt(sum of the visited children's
    priors) [3]. If `is_fpu_absolute`, it is `fpu_value`.

    Source:
      [1] Silver et al., Mastering the game of Go without human knowledge, Nature 550 (2017), Methods.
      [2] Silver et al., A general reinforcement learning algorithm ..., Science 362 (2018), pseudocode.
      [3] First-play urgency as in Leela Zero and KataGo (Wu 2019).
    """

    c_puct: float = _DEFAULTS.c_puct
    c_puct_base: float = _DEFAULTS.c_puct_base
    c_puct_factor: float = _DEFAULTS.c_puct_factor
    is_fpu_absolute: bool = _DEFAULTS.fpu == "absolute"
    fpu_value: float = _DEFAULTS.fpu_value
    fpu_reduction: float = _DEFAULTS.fpu_reduction

    def is_sweeping(selection):
        return False

    def exploration(selection, parent_visits, depth, length):
        growth = math.log((1.0 + parent_visits + selection.c_puct_base) / selection.c_puct_base)
        return (selection.c_puct + selection.c_puct_factor * growth) * math.sqrt(parent_visits)

    def first_play_value(selection, parent_value, visited_prior):
        if selection.is_fpu_absolute:
            return selection.fpu_value
        return parent_value - selection.fpu_reduction * math.sqrt(visited_prior)

    def score(selection, exploration, visits, value, prior):
        return value + exploration * prior / (1 + visits)

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Puct":
        """Returns the rule that a run's settings describe."""
        named = {name: getattr(config, name) for name in cls._fields if name in SearchConfig.model_fields}
        return cls(**named, is_fpu_absolute=config.fpu == "absolute")


# ln N(s) of most nodes. Computing it at each node took a tenth of a search's time.
_LOGARITHMS = np.array([0.0, *(math.log(visits) for visits in range(1, 1 << 12))])


class Uct(NamedTuple):
    """UCB1 applied to trees [1], [2]: visits every child once, in random order, then the child with the greatest

        Q(s, a) + c sqrt(ln N(s) / N(s, a))

    Q is a mean of results in [-1, 1], not a win rate in [0, 1], so constants for win rates are doubled here. UCB1's
    own sqrt(2 ln N / n) is c = 2.83; so is C_p = 1 / sqrt 2. The default c = 1 is sqrt(ln N / n) / 2 on win rates, or
    C_p = 1 / 4, or K = 1.12. docs/lab.md has the reasons for it.

    Source:
      [1] Auer, Cesa-Bianchi & Fischer, Finite-time analysis of the multiarmed bandit problem (2002), UCB1.
      [2] Kocsis & Szepesvari, Bandit based Monte-Carlo planning (2006), section 2.
      [3] Sensei's Library, UCT for Monte Carlo computer Go.
    """

    c: float = C_UCT

    @classmethod
    def of_bias(cls, C_p: float) -> "Uct":
        """Returns the rule with the bias 2 C_p sqrt(ln t / s) on win rates ([2], section 2.3)."""
        return cls(4.0 * C_p)

    @classmethod
    def of_win_rate(cls, K: float) -> "Uct":
        """Returns the rule `winrate + K sqrt(ln N / (5 n))` ([3])."""
        return cls(2.0 * K / math.sqrt(5.0))

    @classmethod
    def from_config(cls, config: SearchConfig) -> "Uct":
        """Returns the rule that a run's settings describe."""
        return cls(config.c_uct)

    def is_sweeping(selection):
        return True

    def exploration(selection, parent_visits, depth, length):
        is_known = parent_visits < len(_LOGARITHMS)
        return selection.c * selection.c * (_LOGARITHMS[parent_visits] if is_known else math.log(parent_visits))

    def first_play_value(selection, parent_value, visited_prior):
        return 0.0

    def score(selection, exploration, visits, value, prior):
        return value + math.sqrt(exploration / visits)


class DepthBias(NamedTuple):
    """UCT whose bias shrinks with the depth d of a node, since results vary less below deep nodes: the greatest

        Q(s, a) + c (ln N(s) / N(s, a))^((D + d) / (2 D + d))

    D is the expected number of plies of a game from the node. At the root the exponent is 1 / 2, as in UCB1. It goes
    to 1 towards the end of the game.

    Source: Kocsis & Szepesvari (2006), section 2.1. Their c is 1 on win rates.
    """

    c: float = 2.0

    def is_sweeping(selection):
        return True

    def exploration(selection, parent_visits, depth, length):
        left = max(length - depth, 1.0)
        return math.log(max(parent_visits, 1)), (left + depth) / (2.0 * left + depth)

    def first_play_value(selection, parent_value, visited_prior):
        return 0.0

    def score(selection, exploration, visits, value, prior):
        logarithm, exponent = exploration
        return value + selection.c * (logarithm / visits) ** exponent


def needs_length(selection: Selection) -> bool:
    """Returns whether a rule needs the expected length of a game from the root."""
    return isinstance(selection, DepthBias)


RULES: dict[str, Callable[[SearchConfig], Selection]] = {"puct": Puct.from_config, "uct": Uct.from_config}
"""Selection rules, by their names in a run's settings."""


def selection_from_config(config: SearchConfig) -> Selection:
    """Returns the selection rule that a run's settings describe; raises BadInput, Untrusted for a user's."""
    if config.selection in RULES:
        return RULES[config.selection](config)
    return make_users_strategy(config.selection, "rule", Selection)


@subroutine
def visit(nodes, node, taken):
    """Moves the child `taken`, at its first visit, in front of the other unvisited ones. Returns its new place."""
    front = node.first_child + node.num_visited
    node.num_visited += 1
    a, b = nodes[front], nodes[taken]
    action, prior, proven, plies = a.action, a.P, a.proven, a.proven_plies
    a.action, a.P, a.proven, a.proven_plies = b.action, b.P, b.proven, b.proven_plies
    b.action, b.P, b.proven, b.proven_plies = action, prior, proven, plies
    return front


@subroutine
def random_child(nodes, node, rng):
    """Returns a random child of `node`."""
    k = random_below(rng, node.num_children)
    return node.first_child + k if k < node.num_visited else visit(nodes, node, node.first_child + k)


@subroutine
def select_child(selection, settings, tree, nodes, index, depth):
    """Returns the child of node `index` that a simulation goes to.

    A move that is proven lost gets no visit, unless it is chosen at random or in a sweep. A node with fewer than
    `min_visits` visits selects at random.

    A descent that is not backed up yet counts as a visit, but not in Q, so that the next descent may go elsewhere. A
    leaf that waits for its evaluation counts as lost. Source: Liu et al., Watch the unobserved (2020).
    """
    node = nodes[index]
    if settings.min_visits > node.N:
        return random_child(nodes, node, tree.rng)
    if selection.is_sweeping() and node.num_visited < node.num_children:
        unvisited = random_below(tree.rng, node.num_children - node.num_visited)
        return visit(nodes, node, node.first_child + node.num_visited + unvisited)
    sign = sign_of(node.player)
    first, last = node.first_child, node.first_child + node.num_children
    first_play_value = 0.0
    if not selection.is_sweeping():
        visited_prior = 0.0
        for child in range(first, last):
            if nodes[child].N > 0:
                visited_prior += np.float64(nodes[child].P)
        first_play_value = selection.first_play_value(sign * node.W / max(node.N, 1), visited_prior)
    exploration = selection.exploration(node.N + node.in_flight, depth, tree.length)
    best = first
    best_score = -math.inf
    for child in range(first, last):
        c = nodes[child]
        if settings.is_proving and c.proven == -sign:
            continue
        visits = c.N + c.in_flight
        value = first_play_value
        if c.proven != UNPROVEN:
            value = float(sign * c.proven)
        elif c.N > 0:
            value = sign * c.W / c.N
        elif c.in_flight > 0:
            value = -1.0
        score = selection.score(exploration, visits, value, float(c.P))
        if score > best_score:
            best, best_score = child, score
    return best
