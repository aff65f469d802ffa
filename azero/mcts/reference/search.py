"""The search in plain Python, for people to read. Tests compare the compiled kernels with it, visit for visit.

Read it from the bottom up: `Reference.simulate` is one simulation, and `look_ahead` is the recursive form of the
look-ahead whose kernel keeps a stack. Values in the tree are the first player's; `sign`
converts them to the mover's. Only the kernels have batches of several leaves, random symmetries, a limit on nodes, and
an early stop when no move can overtake the leader.
"""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from azero.compiler.rng import new_rng
from azero.games import LOSS, WIN, State
from azero.games.contract import sign_of
from azero.mcts.evaluation.evaluator import Evaluator
from azero.mcts.proving.lookahead import HAS_NO_REFUTATION, LONGEST_LINE, look_ahead_positions
from azero.mcts.rollouts.policies import OwnRollout, RolloutPolicy
from azero.mcts.roots.visits import LEAST_TOTAL, VisitsRoot
from azero.mcts.scratch import new_scratch
from azero.mcts.search.kernels import VISITS_BEFORE_REPLIES
from azero.mcts.search.settings import Settings
from azero.mcts.selection import Selection


class Known(NamedTuple):
    """Bounds on a position's result: the lowest and the highest possible, for the player of `sign`, who moves."""

    sign: int
    low: int
    high: int

    def for_first(self) -> tuple[int, int]:
        """Returns the bounds for the first player."""
        return (self.low, self.high) if self.sign > 0 else (-self.high, -self.low)


class OutOfPositions(Exception):
    """The limit on positions is reached."""


class Lines:
    """Follows all lines from a position, up to a limit on positions."""

    def __init__(self, max_positions: int):
        self.max_positions = max_positions
        self.num_seen = 0

    def follow(self, state: State, limit: int, before: Known | None = None) -> tuple[int, int]:
        """Returns the first player's lowest and highest possible result, after lines of `limit` plies.

        Args:
          before: the bounds found so far for the position one ply earlier.

        Raises:
          OutOfPositions: the limit on positions is reached.
        """
        sign = sign_of(state.current_player())
        positions = [after(state, action) for action in state.legal_actions()]
        for position in positions if limit > 1 else []:
            self.num_seen += 1
            if position.is_terminal() and position.returns()[0] == sign:
                return sign, sign
        known = Known(sign, LOSS, LOSS)
        for position in positions:
            if is_settled(known, before):
                return known._replace(high=WIN).for_first()
            if self.num_seen >= self.max_positions:
                raise OutOfPositions
            self.num_seen += 1
            first_low, first_high = self.judge(position, limit - 1, known)
            low, high = Known(sign, first_low, first_high).for_first()  # the same flip converts back to the mover
            known = Known(sign, max(known.low, low), max(known.high, high))
        return known.for_first()

    def judge(self, state: State, limit: int, before: Known) -> tuple[int, int]:
        """Returns the bounds of a position, which may be the end of the game or of the line."""
        if state.is_terminal():
            return int(state.returns()[0]), int(state.returns()[0])
        return self.follow(state, limit, before) if limit else (LOSS, WIN)


def is_settled(known: Known, before: Known | None) -> bool:
    """Returns whether tighter bounds of a position could not change those of the position one ply earlier."""
    if known.low == WIN:
        return True
    return before is not None and before.sign != known.sign and -known.high <= before.low and -known.low <= before.high


def after(state: State, action: int) -> State:
    """Returns the position after a move."""
    state = state.clone()
    state.apply_action(action)
    return state


def look_ahead(state: State, max_positions: int) -> dict[int, tuple[int, int]]:
    """Returns, for each move with a provable result, the first player's result and the plies to it after the move."""
    sign = sign_of(state.current_player())
    positions = {action: after(state, action) for action in state.legal_actions()}
    proven = {action: (int(each.returns()[0]), 0) for action, each in positions.items() if each.is_terminal()}
    if any(result == sign for result, _ in proven.values()):
        return proven
    num_seen = 0
    for limit in range(1, LONGEST_LINE + 1):
        for action in [each for each in positions if each not in proven] if max_positions else []:
            lines = Lines(max_positions - num_seen)
            try:
                low, high = lines.follow(positions[action], limit)
            except OutOfPositions:
                return proven
            num_seen += lines.num_seen
            if low == high:
                proven[action] = low, limit
            if low == high == sign or num_seen >= max_positions:
                return proven
    return proven


_MASK = (1 << 64) - 1


class SplitMix:
    """The random generator of the kernels (azero/compiler/rng.py), in Python integers."""

    def __init__(self, seed: int):
        self.counter = seed

    def bits(self) -> int:
        self.counter = (self.counter + 0x9E3779B97F4A7C15) & _MASK
        return self.mix(self.counter)

    @staticmethod
    def mix(word: int) -> int:
        word &= _MASK
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _MASK
        word = (word ^ word >> 27) * 0x94D049BB133111EB & _MASK
        return word ^ word >> 31

    def below(self, bound: int) -> int:
        return (self.bits() >> 32) * bound >> 32

    def unit(self) -> float:
        return (self.bits() >> 11) / (1 << 53)

    def normal(self) -> float:
        radius = math.sqrt(-2.0 * math.log(1.0 - self.unit()))
        return radius * math.cos(2.0 * math.pi * self.unit())

    def gamma(self, shape: float) -> float:
        boost = 1.0
        if shape < 1.0:
            boost = (1.0 - self.unit()) ** (1.0 / shape)
            shape += 1.0
        d = shape - 1.0 / 3.0
        c = 1.0 / math.sqrt(9.0 * d)
        while True:
            x = self.normal()
            v = (1.0 + c * x) ** 3
            if v > 0.0 and math.log(1.0 - self.unit()) < 0.5 * x * x + d - d * v + d * math.log(v):
                return boost * d * v


@dataclass
class Node:
    """A position in the tree, and the action that leads to it."""

    action: int
    P: float = 0.0
    N: int = 0
    W: float = 0.0  # for the first player
    proven: int | None = None  # the first player's result under best play, if proven
    proven_plies: int = 0  # HAS_NO_REFUTATION: see `prove_by_replies`
    player: int = 0
    children: list["Node"] = field(default_factory=list)
    num_visited: int = 0

    @property
    def sign(self) -> int:
        """1 if the first player moves, -1 if the second does."""
        return sign_of(self.player)


@dataclass(frozen=True)
class Scored:
    """A child as selection sees it: Q in [-1, 1] and the score, both for the player to move at the parent."""

    child: Node
    Q: float
    score: float


class Reference:
    """One tree. Each call of `simulate` runs one simulation; `root.children` has the statistics."""

    def __init__(
        self,
        state: State,
        selection: Selection,
        settings: Settings,
        evaluator: Evaluator | None,
        seed: int,
        rollout: RolloutPolicy = OwnRollout(),
    ):
        self.state, self.selection, self.settings, self.evaluator = state, selection, settings, evaluator
        self.rollout_policy = rollout
        self.random = SplitMix(seed)
        self.length = 0.0  # expected plies of a game from the root, if the selection rule needs it
        self.root = Node(action=-1)

    def advance(self, action: int) -> None:
        """Plays a move: the child becomes the root and keeps its subtree."""
        matching = [child for child in self.root.children if child.action == action]
        self.state.apply_action(action)
        root = matching[0] if matching else Node(action=-1)
        is_proven_ahead = root.proven is not None and not root.children and not self.state.is_terminal()
        self.root = Node(action=-1) if is_proven_ahead else root
        if self.evaluator is not None and self.root.children:
            self.add_noise()

    def add_noise(self) -> None:
        """Mixes Dirichlet noise into the priors of the root's moves, if it is switched on."""
        strategy = self.settings.root
        if isinstance(strategy, VisitsRoot) and strategy.dirichlet_epsilon > 0.0:
            epsilon = strategy.dirichlet_epsilon
            eta = [self.random.gamma(strategy.dirichlet_alpha) for _ in self.root.children]
            if np.sum(eta) < LEAST_TOTAL:
                return
            for child, share in zip(self.root.children, eta, strict=True):
                child.P = float(np.float32((1.0 - epsilon) * child.P + epsilon * share / np.sum(eta)))

    def rollout(self, state: State) -> float:
        """Plays `state` to the end by the rollout policy; returns the first player's result. Changes `state`."""
        rules = self.state.game.rules
        generator = new_rng(self.random.counter)
        outcome = self.rollout_policy.play_out(rules, state.record, new_scratch(rules), generator)
        self.random.counter = int(generator.counter)
        return float(outcome)

    def expand(self, node: Node, state: State, priors: dict[int, float]) -> None:
        """Expands a leaf: creates its children."""
        node.player = state.current_player()
        node.children = [Node(action, P=float(np.float32(priors[action]))) for action in state.legal_actions()]

    def visit(self, node: Node, taken: int) -> Node:
        """Returns the child `taken`, at its first visit, and moves it in front of the other unvisited ones."""
        children, front = node.children, node.num_visited
        children[front], children[taken] = children[taken], children[front]
        node.num_visited += 1
        return children[front]

    def select(self, node: Node, depth: int) -> Node:
        """Returns the child that a simulation goes to."""
        children = node.children
        if self.settings.min_visits > node.N:
            k = self.random.below(len(children))
            return children[k] if k < node.num_visited else self.visit(node, k)
        if self.selection.is_sweeping() and node.num_visited < len(children):
            return self.visit(node, node.num_visited + self.random.below(len(children) - node.num_visited))

        scored = self.score_children(node, depth)
        if self.settings.is_proving:
            scored = [each for each in scored if each.child.proven != -node.sign]
        return max(scored, key=lambda each: each.score).child

    def score_children(self, node: Node, depth: int) -> list[Scored]:
        """Returns the children with their scores, in the tree's order. In a sweep unvisited ones score inf."""
        selection, scored = self.selection, []
        first_play_value = 0.0
        if not selection.is_sweeping():
            visited_prior = sum(child.P for child in node.children if child.N > 0)
            first_play_value = selection.first_play_value(node.sign * node.W / max(node.N, 1), visited_prior)
        exploration = selection.exploration(node.N, depth, self.length)
        for child in node.children:
            if child.proven is not None:
                Q = float(node.sign * child.proven)
            else:
                Q = node.sign * child.W / child.N if child.N else first_play_value
            is_first_play = child.N == 0 and selection.is_sweeping()
            score = math.inf if is_first_play else selection.score(exploration, child.N, Q, child.P)
            scored.append(Scored(child, Q, float(score)))
        return scored

    def prove(self, node: Node) -> bool:
        """Proves a node from its children if they allow it; returns whether the proof is new."""
        wins = [child.proven_plies for child in node.children if child.proven == node.sign]
        draws = [child.proven_plies for child in node.children if child.proven == 0]
        losses = [child.proven_plies for child in node.children if child.proven == -node.sign]
        if wins:
            proof = node.sign, 1 + min(wins)
        elif len(draws) + len(losses) < len(node.children):
            return False
        else:
            proof = (0, 1 + max(draws)) if draws else (-node.sign, 1 + max(losses))
        is_news = proof != (node.proven, node.proven_plies)
        node.proven, node.proven_plies = proof
        return is_news

    def judge(self, node: Node, state: State) -> float:
        """Evaluates and expands a leaf; returns its value for the first player."""
        assert self.evaluator is not None
        logits, values = self.evaluator.evaluate(state.planes()[None])
        node.player = state.current_player()
        value = node.sign * float(values[0])
        legal = state.legal_actions()
        highest = max(logits[0][action] for action in legal)
        weights = [math.exp(np.float64(logits[0][action] - highest)) for action in legal]
        total = sum(weights)
        priors = {action: float(np.float32(weight)) / total for action, weight in zip(legal, weights, strict=True)}
        self.expand(node, state, priors)
        if node is self.root:
            self.add_noise()
        if self.settings.is_looking_ahead:
            proven = look_ahead(state, look_ahead_positions(state.game.rules, self.settings, state.record))
            for child in node.children:
                child.proven, child.proven_plies = proven.get(child.action, (None, 0))
            if self.settings.is_proving and self.prove(node):
                value = float(node.proven or 0)
        a = self.settings.rollout_weight
        return (1.0 - a) * value + a * self.rollout(state) if a > 0.0 and node.proven is None else value

    def simulate(self) -> None:
        """Runs one simulation: selects a leaf, evaluates it, and backs up its value."""
        if self.settings.is_proving and self.root.proven is not None:
            return
        self.back_up(*self.descend())

    def descend(self) -> tuple[list[Node], float]:
        """Returns the nodes from the root to the leaf that a simulation reaches, and the leaf's value."""
        state = self.state.clone()
        node = self.root
        path = [node]
        while True:
            is_new = node.N == 0 and node is not self.root
            if is_new and state.is_terminal():
                node.proven = int(state.returns()[0])
            if node.proven is not None and node is not self.root:
                return path, float(node.proven)
            if not node.children and self.evaluator is not None:
                return path, self.judge(node, state)
            if not node.children and is_new:
                return path, self.rollout(state)
            if not node.children:
                legal = state.legal_actions()
                self.expand(node, state, dict.fromkeys(legal, 1.0 / len(legal)))
            node = self.select(node, len(path) - 1)
            state.apply_action(node.action)
            path.append(node)
            if len(path) == 2 and self.settings.is_proving and node.N >= VISITS_BEFORE_REPLIES:
                self.prove_by_replies(node, state)

    def prove_by_replies(self, child: Node, state: State) -> None:
        """Proves a move of the root if one reply wins at once. A look-ahead has seen the replies already."""
        is_known = child.proven is not None or child.proven_plies == HAS_NO_REFUTATION
        if not is_known and not state.is_terminal() and not (self.settings.is_looking_ahead and child.children):
            for reply in child.children:
                after = state.clone()
                after.apply_action(reply.action)
                if after.is_terminal():
                    reply.proven, reply.proven_plies = int(after.returns()[0]), 0
            low, high = Lines(max_positions=1 << 30).follow(state, limit=1)
            child.proven, child.proven_plies = (low, 1) if low == high else (None, HAS_NO_REFUTATION)

    def back_up(self, path: list[Node], value: float) -> None:
        """Adds a leaf's value, the first player's, to all nodes of the path, and proves them if it is proven."""
        for visited in path:
            visited.N += 1
            visited.W += value
        if self.settings.is_proving and path[-1].proven is not None:
            for parent in reversed(path[:-1]):
                if not self.prove(parent):
                    break
