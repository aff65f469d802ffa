"""`Recorder`: the reference search, which writes down what each simulation does. It changes nothing of the search."""

import math
from dataclasses import replace

from azero.games import State
from azero.interfaces.web.learn.rollouts import RecordedRollout
from azero.interfaces.web.learn.simulation import Candidate, Choice, Simulation
from azero.mcts import Puct, Settings, Uct
from azero.mcts.evaluation.evaluator import Evaluator
from azero.mcts.reference.search import Node, Reference


class Recorder(Reference):
    """Runs the reference search by UCT or PUCT and records it: `next` returns the next simulation."""

    selection: Uct | Puct

    def __init__(self, state: State, selection: Uct | Puct, settings: Settings, evaluator: Evaluator | None, seed: int):
        self._rollouts = RecordedRollout()
        super().__init__(state, selection, settings, evaluator, seed, self._rollouts)  # type: ignore[arg-type]
        self._current = Simulation()

    def next(self) -> Simulation | None:
        """Runs a simulation; returns None if the root is proven, so that the search is over."""
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
            candidates=sorted(scored),
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
