"""What a simulation did, as data: selections, the expansion, the evaluation, the backup."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from azero.mcts.reference.search import Node


class Candidate(NamedTuple):
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


@dataclass
class Simulation:
    """One simulation. Values are the first player's, unless said otherwise.

    Attributes:
      actions: from the root to the leaf.
      choices: one for each of them.
      expanded: depth of the node that got children; None if none did.
      priors: of these children, by action.
      kind: how the leaf got its value: net, rollout, over (the game is over there) or proven.
      rollout: the actions of the rollout; None if there was none, or if it computed its result without moves.
      before, after: the nodes of the path, before and after the backup. They have no children.
    """

    actions: list[int] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    expanded: int | None = None
    priors: dict[int, float] = field(default_factory=dict)
    kind: str = "proven"
    value: float = 0.0
    rollout: list[int] | None = None
    before: list[Node] = field(default_factory=list)
    after: list[Node] = field(default_factory=list)
