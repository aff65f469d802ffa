"""The search with a Gumbel root in plain Python, for people to read. Tests compare `roots/gumbel.py` with it.

Read `GumbelReference.search` first. Below the root the search is that of `search.py`.
"""

import math

from azero.games import State
from azero.mcts.reference.search import Node, Reference, SplitMix
from azero.mcts.roots.gumbel import LEAST_PRIOR, GumbelRoot


def halving_schedule(num_simulations: int, num_considered: int) -> list[int]:
    """Returns the schedule of sequential halving: for each simulation, a number of visits.

    The simulation goes to the best of the moves with that many visits.
    """
    num_rounds = max(1, math.ceil(math.log2(num_considered)))
    schedule: list[int] = []
    visits = 0
    while len(schedule) < num_simulations:
        num_each = max(1, num_simulations // (num_rounds * num_considered))
        schedule += [visits + k for k in range(num_each) for _ in range(num_considered)]
        visits += num_each
        num_considered = min(num_considered, max(2, num_considered // 2))
    return schedule[:num_simulations]


class GumbelReference(Reference):
    """One tree, rebuilt by each `search`. `policy` and `choose` then return the result."""

    @property
    def strategy(self) -> GumbelRoot:
        """The root strategy's constants."""
        assert isinstance(self.settings.root, GumbelRoot)
        return self.settings.root

    root_value = 0.0  # the evaluator's value of the root, for the player to move
    num_left = 0  # simulations left, including the current one

    def search(self, num_simulations: int, temperature: float) -> None:
        """Draws g and searches. The simulation that evaluates the root is not counted."""
        self.begin(temperature)
        self.simulate()
        for self.num_left in range(num_simulations, 0, -1):
            self.simulate()

    def begin(self, temperature: float) -> None:
        """Begins a search: draws g."""
        self.root = Node(action=-1)
        seed = self.random.bits()
        self.g = [temperature * self.draw_gumbel(seed, action) for action in range(self.state.game.num_actions)]

    @staticmethod
    def draw_gumbel(seed: int, action: int) -> float:
        """Returns -ln(-ln u), with u uniform in (0, 1), made of 52 bits derived from seed and action."""
        bits = SplitMix.mix(seed + action)
        return -math.log(-math.log(((bits >> 12) + 0.5) / (1 << 52)))

    def judge(self, node: Node, state: State) -> float:
        value = super().judge(node, state)
        if node is self.root:
            self.root_value = node.sign * value
        return value

    def select(self, node: Node, depth: int) -> Node:
        return super().select(node, depth) if depth else self.halve()

    @property
    def open_moves(self) -> list[Node]:
        """The moves that are not proven lost. All others are ignored."""
        return [child for child in self.root.children if child.proven != -self.root.sign]

    def halve(self) -> Node:
        """Returns the child of the root that sequential halving selects."""
        return self.best_of_visits(self.scheduled_visits())

    def scheduled_visits(self) -> int:
        """Returns the number of visits whose turn it is."""
        num_done = sum(child.N for child in self.open_moves)
        num_considered = min(len(self.open_moves), self.strategy.num_considered)
        return halving_schedule(num_done + self.num_left, num_considered)[num_done]

    def best_of_visits(self, visits: int) -> Node:
        """Returns the move with the greatest g + logits + sigma(q) among those with visits closest to `visits`."""
        logits = self.improved_logits()
        return max(self.nearest(visits), key=lambda child: self.g[child.action] + logits[child.action])

    def nearest(self, visits: int) -> list[Node]:
        """Returns the moves with visits closest to `visits`."""
        distance = min(abs(child.N - visits) for child in self.open_moves)
        return [child for child in self.open_moves if abs(child.N - visits) == distance]

    def values(self) -> dict[int, float]:
        """Returns each open move's completed Q, for the player to move."""
        values = {}
        for child in self.open_moves:
            if child.proven is not None:
                values[child.action] = float(self.root.sign * child.proven)
            elif child.N:
                values[child.action] = self.root.sign * child.W / child.N
        valued = [child for child in self.open_moves if child.action in values]
        num_visits = sum(child.N for child in valued)
        mixed = self.root_value
        if valued:
            mean = sum(child.P * values[child.action] for child in valued) / sum(child.P for child in valued)
            mixed = (mixed + num_visits * mean) / (1 + num_visits)
        return {child.action: values.get(child.action, mixed) for child in self.open_moves}

    def improved_logits(self) -> dict[int, float]:
        """Returns logits + sigma(completed q) of each open move."""
        most_visits = max(child.N for child in self.open_moves)
        factor = (self.strategy.c_visit + most_visits) * self.strategy.c_scale
        values = self.values()
        return {child.action: self.logit(child) + factor * (1 + values[child.action]) / 2 for child in self.open_moves}

    @staticmethod
    def logit(child: Node) -> float:
        """Returns ln P."""
        return math.log(max(child.P, LEAST_PRIOR))

    def policy(self) -> dict[int, float]:
        """Returns pi' of the open moves, the softmax of their improved logits."""
        logits = self.improved_logits()
        weights = {action: math.exp(logit - max(logits.values())) for action, logit in logits.items()}
        return {action: weight / sum(weights.values()) for action, weight in weights.items()}

    def choose(self) -> int:
        """Returns the move to play if proofs do not decide it: the best of the moves with most visits.

        A move that one reply refutes is proven lost, and another one is chosen, if there is one.
        """
        chosen = self.best_of_visits(max(child.N for child in self.open_moves))
        if self.settings.is_proving:
            state = self.state.clone()
            state.apply_action(chosen.action)
            self.prove_by_replies(chosen, state)
            if chosen.proven == -self.root.sign and self.open_moves:
                return self.choose()
        return chosen.action
