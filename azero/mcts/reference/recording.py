"""The reference searches, which record each simulation, and change nothing of the search."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from azero.compiler.plain import call
from azero.compiler.rng import new_rng
from azero.errors import BrokenRules
from azero.games import ONGOING, State, kernels
from azero.games.contract import Rules
from azero.games.state import new_states
from azero.mcts.evaluation.evaluator import Evaluator
from azero.mcts.reference.gumbel import GumbelReference
from azero.mcts.reference.search import Node, Reference
from azero.mcts.search.settings import Settings
from azero.mcts.selection import Puct, Uct


class RecordedRollout:
    """Plays out by the rules' own rollout, as `OwnRollout` does, and remembers the moves.

    Attributes:
      actions: of the last rollout; None if the rules computed its result without playing moves.
    """

    def __init__(self) -> None:
        self.actions: list[int] | None = None

    def play_out(self, rules: Rules, state: np.record, scratch: np.record, rng: np.record) -> int:
        """Plays to the end and returns the outcome. `state` is not valid afterwards."""
        again, same_rng = new_states(rules, 1), new_rng(int(rng.counter))
        again[0] = state
        legal = np.zeros(rules.num_actions, np.int32)
        outcome = int(call(kernels.rollout, rules, state, legal, rng, rules.max_plies))
        actions = _play_moves(rules, again[0], legal, same_rng)
        is_same = actions is not None and same_rng.counter == rng.counter
        self.actions = actions if is_same and _outcome(rules, again[0], legal) == outcome else None
        return outcome


def _play_moves(rules: Rules, state: np.record, legal: np.ndarray, rng: np.record) -> list[int] | None:
    """Plays to the end, move by move; returns the actions, or None if the rollout policy cannot do that."""
    actions: list[int] = []
    while _outcome(rules, state, legal) == ONGOING:
        if len(actions) > rules.max_plies:
            return None
        try:
            actions.append(int(call(kernels.rollout_action, rules, state, legal, rng)))
            call(kernels.advance, rules, state, actions[-1], legal)
        except BrokenRules:
            return None
    return actions


def _outcome(rules: Rules, state: np.record, legal: np.ndarray) -> int:
    """Returns the outcome of a position; writes its legal actions."""
    _, _, outcome = call(kernels.look, rules, state, legal)
    return int(outcome)


@dataclass(frozen=True)
class Candidate:
    """A child when its parent selected. Q, U and score are for the player to move at the parent.

    Attributes:
      U: the exploration term; inf for UCT's unvisited children.
      score: Q + U.
      is_left_out: whether the child is proven lost, so that it gets no visit.
    """

    action: int
    N: int
    P: float
    Q: float
    U: float
    score: float
    proven: int | None  # the first player's result
    is_left_out: bool


@dataclass(frozen=True)
class Choice:
    """A selection: at the node that is `depth` plies below the root, before the simulation.

    Attributes:
      N, Q: of the node; Q for the player to move there.
      constant: c of UCT, c(s) of PUCT.
      candidates: in ascending order of their actions.
      chosen: the action that was selected.
      num_equal: how many had the same, greatest score; the first in the tree's order is taken, or a random one of UCT's
        unvisited ones.
    """

    depth: int
    player: int
    N: int
    Q: float
    constant: float
    candidates: list[Candidate]
    num_equal: int
    chosen: int = -1

    @property
    def reason(self) -> str:
        """Why: only, unvisited, equal or greatest."""
        if len(self.candidates) == 1:
            return "only"
        if math.isinf(max(each.score for each in self.candidates)):
            return "unvisited"
        return "equal" if self.num_equal > 1 else "greatest"


@dataclass(frozen=True)
class Considered:
    """A move of a Gumbel root when it selected. Q, sigma and score are for the player to move there.

    Attributes:
      g: the noise, drawn once for each search.
      logit: ln P.
      Q: completed: v_mix of a move without a value.
      sigma: of Q.
      score: g + logit + sigma.
      is_nearest: whether its N is closest to the number of visits whose turn it is, so that it can be selected.
      is_left_out: whether the move is proven lost, so that it gets no visit and has no score.
    """

    action: int
    N: int
    P: float
    g: float
    logit: float
    Q: float
    sigma: float
    score: float
    proven: int | None  # the first player's result
    is_nearest: bool
    is_left_out: bool


@dataclass(frozen=True)
class Halving:
    """A selection by sequential halving: at the root, before the simulation.

    Attributes:
      N: visits of the moves that are not proven lost.
      visits: the number of visits whose turn it is.
      num_considered: how many moves halving began with.
      candidates: in ascending order of their actions.
      chosen: the action that was selected.
    """

    player: int
    N: int
    visits: int
    num_considered: int
    candidates: list[Considered]
    chosen: int


@dataclass
class Simulation:
    """One simulation. Values are the first player's, unless said otherwise.

    Attributes:
      actions: from the root to the leaf.
      halving: the selection at a Gumbel root; None at another root.
      choices: one for each of the other actions.
      expanded: depth of the node that got children; None if none did.
      priors: of these children, by action.
      kind: how the leaf got its value: net, rollout, over (the game is over there) or proven.
      rollout: the actions of the rollout; None if there was none, or if it computed its result without moves.
      before, after: the nodes of the path, before and after the backup. They have no children.
    """

    actions: list[int] = field(default_factory=list)
    halving: Halving | None = None
    choices: list[Choice] = field(default_factory=list)
    expanded: int | None = None
    priors: dict[int, float] = field(default_factory=dict)
    kind: str = "proven"
    value: float = 0.0
    rollout: list[int] | None = None
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)


class RecordingSearch(Reference):
    """Runs the reference search by UCT or PUCT and records it: `next` returns the next simulation."""

    selection: Uct | Puct

    def __init__(self, state: State, selection: Uct | Puct, settings: Settings, evaluator: Evaluator | None, seed: int):
        self._rollouts = RecordedRollout()
        super().__init__(state, selection, settings, evaluator, seed, self._rollouts)  # type: ignore[arg-type]
        self._current = Simulation()

    def next(self) -> Simulation | None:
        """Runs a simulation; returns None if the search is over: its root is proven, or it has made all of them."""
        self._current = Simulation()
        visits = self.root.N
        self.simulate()
        return None if visits == self.root.N else self._current

    def select(self, node: Node, depth: int) -> Node:
        scored = [
            Candidate(
                action=each.child.action,
                N=each.child.N,
                P=each.child.P,
                Q=each.Q,
                U=each.score - each.Q,
                score=each.score,
                proven=each.child.proven,
                is_left_out=self.settings.is_proving and each.child.proven == -node.sign,
            )
            for each in self.score_children(node, depth)
        ]
        greatest = max(each.score for each in scored if not each.is_left_out)
        choice = Choice(
            depth=depth,
            player=node.player,
            N=node.N,
            Q=node.sign * node.W / max(node.N, 1),
            constant=self._constant(node.N),
            candidates=sorted(scored, key=lambda each: each.action),
            num_equal=sum(each.score == greatest and not each.is_left_out for each in scored),
        )
        child = super().select(node, depth)
        self._current.choices.append(replace(choice, chosen=child.action))
        self._current.actions.append(child.action)
        return child

    def _constant(self, visits: int) -> float:
        """Returns c of UCT, or c(s) of PUCT for a node with this number of visits."""
        if isinstance(self.selection, Uct):
            return self.selection.c
        return self.selection.exploration(visits, 0, 0.0) / math.sqrt(visits)

    def expand(self, node: Node, state: State, priors: dict[int, float]) -> None:
        super().expand(node, state, priors)
        self._current.expanded = len(self._current.actions)
        self._current.priors = {child.action: child.P for child in node.children}

    def rollout(self, state: State) -> float:
        self._current.kind = "rollout"
        result = super().rollout(state)
        self._current.rollout = self._rollouts.actions
        return result

    def judge(self, node: Node, state: State) -> float:
        self._current.kind = "net"
        return super().judge(node, state)

    def back_up(self, path: list[Node], value: float) -> None:
        current, leaf = self._current, path[-1]
        if current.kind == "proven" and leaf.N == 0:
            current.kind = "over"
        current.value = value
        current.before = [replace(node, children=[]) for node in path]
        super().back_up(path, value)
        current.after = [replace(node, children=[]) for node in path]


class RecordingGumbel(RecordingSearch, GumbelReference):
    """Runs and records the reference search with a Gumbel root.

    Args:
      num_simulations: without the first one, which evaluates the root.
      temperature: of the noise.
    """

    def __init__(
        self,
        state: State,
        selection: Puct,
        settings: Settings,
        evaluator: Evaluator,
        seed: int,
        num_simulations: int,
        temperature: float,
    ):
        super().__init__(state, selection, settings, evaluator, seed)
        self.begin(temperature)
        self.num_left = num_simulations

    def next(self) -> Simulation | None:
        if self.root.N and self.num_left == 0:
            return None
        is_counted = self.root.N > 0
        done = super().next()
        self.num_left -= is_counted
        return done

    def select(self, node: Node, depth: int) -> Node:
        if depth:
            return super().select(node, depth)
        visits, values, logits = self.scheduled_visits(), self.values(), self.improved_logits()
        nearest, child = self.nearest(visits), self.best_of_visits(visits)
        self._current.halving = Halving(
            player=node.player,
            N=sum(each.N for each in self.open_moves),
            visits=visits,
            num_considered=min(len(self.open_moves), self.strategy.num_considered),
            candidates=[
                self._considered(each, each in nearest, values, logits)
                for each in sorted(node.children, key=lambda each: each.action)
            ],
            chosen=child.action,
        )
        self._current.actions.append(child.action)
        return child

    def _considered(
        self, child: Node, is_nearest: bool, values: dict[int, float], logits: dict[int, float]
    ) -> Considered:
        """Returns a move of the root as halving sees it, by its completed Q and improved logit."""
        is_open, g, logit = child.action in values, self.g[child.action], self.logit(child)
        sigma = logits[child.action] - logit if is_open else math.nan
        return Considered(
            action=child.action,
            N=child.N,
            P=child.P,
            g=g,
            logit=logit,
            Q=values.get(child.action, -1.0),
            sigma=sigma,
            score=g + logit + sigma,
            proven=child.proven,
            is_nearest=is_nearest,
            is_left_out=not is_open,
        )
