"""Searches with rollouts in which the root's moves are whole turns: one search chooses all actions of a turn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from azero.errors import BadInput
from azero.games import State
from azero.games.reasons import after_actions
from azero.mcts.classical.flat import FlatSearch
from azero.mcts.classical.table_kernels import take_over_turns
from azero.mcts.classical.table_search import TableSearch
from azero.mcts.classical.turns import MOST_ACTIONS, TurnRules, Turns, lay_out_turns, list_turns, new_turns
from azero.mcts.scratch import Scratch
from azero.mcts.search.rollouts import RolloutTrees
from azero.mcts.search.search import Search
from azero.mcts.search.settings import SearchParts
from azero.mcts.tree import Forest, new_forest, start_tree
from azero.system.threads import Slices


class WholeTurns(Search):
    """Mixin for a search with whole turns at the root; it comes before the class of the search.

    `choose` returns the actions of a turn one after another as they are played. `running` does not search a tree while
    such a turn is under way. The tree is not reused between turns, since below the root it has actions, not turns.
    """

    def __init__(self, *arguments: Any, **options: Any):
        super().__init__(*arguments, **options)
        assert isinstance(self._trees, RolloutTrees), "whole turns need a search without an evaluator"
        num_trees = len(self.histories)
        self._turns = new_turns(self.game.rules, num_trees)
        self._most = self._turns.starts.shape[1] - 1
        self._trees.make_room(1 + self._most)
        self._is_listed = [False] * num_trees
        self._chosen: list[list[int]] = [[] for _ in range(num_trees)]  # the turn that `choose` returned last, per root
        self._left: list[list[int]] = [[] for _ in range(num_trees)]  # its actions left to play, once begun

    def prepare(self) -> None:
        super().prepare()
        forest, turns = new_forest(self.game.rules, 1, 1 + self._most), new_turns(self.game.rules, 1)
        start_tree(forest, 0, self.game.new_initial_state().record, np.uint64(0))
        self._lay_out_turns(turns, forest, 0, self._trees.scratch)

    def start(self, b: int, state: State, seed: int, is_repeatable: bool = True) -> None:
        super().start(b, state, seed, is_repeatable)
        self._is_listed[b], self._chosen[b], self._left[b] = False, [], []

    def advance(self, b: int, action: int) -> None:
        turn = self._left[b] or self._chosen[b]
        self._left[b] = turn[1:] if turn[:1] == [action] else []
        super().advance(b, action)
        self._is_listed[b], self._chosen[b] = False, []

    def running(self, trees: Sequence[int], *limits: Any, **more: Any) -> Slices[None]:
        yield from super().running([b for b in trees if not self._left[b]], *limits, **more)

    def choose(self, b: int, temperature: float = 0.0) -> int:
        if self._left[b]:
            return self._left[b][0]
        self._chosen[b] = self.actions_of(b, super().choose(b, temperature))
        return self._chosen[b][0]

    def actions_of(self, b: int, move: int) -> list[int]:
        turn = move - self.game.num_actions
        if turn < 0:
            return [move]
        starts, actions = self._turns.starts[b], self._turns.actions[b]
        return actions[starts[turn] : starts[turn + 1]].tolist()

    def is_within_turn(self, b: int) -> bool:
        return bool(self._left[b])

    def simulate(self, parts: SearchParts, forest: Forest, scratch: Scratch, b: int, num_simulations: int) -> bool:
        if num_simulations > 0 and not self._is_listed[b]:
            self._lay_out_turns(self._turns, forest, b, scratch)
            self._is_listed[b] = True
        return super().simulate(self.parts_of(b), forest, scratch, b, num_simulations)

    def parts_of(self, b: int) -> SearchParts:
        return super().parts_of(b)._replace(rules=self._turn_rules(self._turns, b))

    def _turn_rules(self, turns: Turns, b: int) -> TurnRules:
        """Returns the game's rules with the turns of root b."""
        return TurnRules(self.game.rules, self.game.num_actions, turns.starts[b], turns.actions[b])

    def _lay_out_turns(self, turns: Turns, forest: Forest, b: int, scratch: Scratch) -> None:
        """Makes the turns of root b's position its children; raises BadInput if there are too many."""
        rules, state = self.game.rules, forest.root_states[b]
        num_turns = int(list_turns(rules, turns, b, state, scratch.states, scratch.legal))
        if num_turns < 0:
            raise BadInput(
                f"root=turns: {self.game} has more than {self._most:,} turns, or {MOST_ACTIONS:,} actions in them"
                f"{after_actions(self.histories[b])}; use root=actions"
            )
        lay_out_turns(rules, forest, b, self.game.num_actions, num_turns)


class TurnSearch(WholeTurns, Search):
    """UCT on a tree, with whole turns at the root."""


class FlatTurnSearch(WholeTurns, FlatSearch):
    """Plain Monte Carlo, with whole turns at the root."""


class TableTurnSearch(WholeTurns, TableSearch):
    """UCT on a transposition table, with whole turns at the root."""

    def _lay_out_turns(self, turns: Turns, forest: Forest, b: int, scratch: Scratch) -> None:
        super()._lay_out_turns(turns, forest, b, scratch)
        take_over_turns(self._turn_rules(turns, b), self.settings, forest, self.tables, scratch, b)
