"""Searches with rollouts in which the root's moves are whole turns: one search chooses all actions of a turn.

A turn is a sequence of actions that one player can play until the other moves. In Amazons there are 2,176 at the start,
as in the UCT paper. Kernels take `TurnRules` in place of the game's own rules; actions from `first` on are turns. Below
the root, and in rollouts, actions are the game's.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.errors import NO_ACTION, TOO_LONG, BadInput, BrokenRules
from azero.games import ONGOING, State
from azero.games.contract import Rules
from azero.games.reasons import after_actions
from azero.mcts.classical.monte_carlo import FlatSearch
from azero.mcts.classical.table_search import TableSearch, take_over_turns
from azero.mcts.scratch import Scratch
from azero.mcts.search.settings import SearchParts
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.search.trees import RolloutTrees
from azero.mcts.tree import Forest, clear_node, clear_tree, new_forest, start_tree
from azero.system.threads import Slices

MOST_CODES = 1 << 15
"""Limit on the number of actions plus turns: a node has 16 bits for both."""

MOST_ACTIONS = 1 << 17
"""Limit on the actions in all turns of a position."""


class Turns(NamedTuple):
    """The turns of B roots, one after another, and scratch memory for listing them."""

    starts: np.ndarray  # [B, T + 1] int32, turn k is actions[b, starts[b, k] : starts[b, k + 1]]
    actions: np.ndarray  # [B, MOST_ACTIONS] int16
    ranks: np.ndarray  # [B, max_plies + 1] int32, index of each of a turn's actions among the legal ones
    widths: np.ndarray  # [B, max_plies + 1] int32, number of legal actions at each of a turn's actions


def new_turns(rules: Rules, num_trees: int) -> Turns:
    """Returns arrays for the turns of `num_trees` roots. Memory is allocated when turns are listed."""
    most = MOST_CODES - rules.num_actions
    return Turns(
        starts=np.empty((num_trees, most + 1), np.int32),
        actions=np.empty((num_trees, MOST_ACTIONS), np.int16),
        ranks=np.zeros((num_trees, rules.max_plies + 1), np.int32),
        widths=np.zeros((num_trees, rules.max_plies + 1), np.int32),
    )


class TurnRules(NamedTuple):
    """A game's rules with the turns of one root as additional actions, numbered from `first` on."""

    rules: Any  # the game's own, a NamedTuple
    first: int  # A
    starts: np.ndarray  # [T + 1] int32
    actions: np.ndarray  # [MOST_ACTIONS] int16

    def apply_action(game, state, action):
        if action < game.first:
            game.rules.apply_action(state, action)
        else:
            for place in range(game.starts[action - game.first], game.starts[action - game.first + 1]):
                game.rules.apply_action(state, np.int64(game.actions[place]))

    def legal_actions(game, state, out):
        return game.rules.legal_actions(state, out)

    def current_player(game, state):
        return game.rules.current_player(state)

    def outcome(game, state):
        return game.rules.outcome(state)

    def encode(game, state, planes):
        game.rules.encode(state, planes)

    def hash_key(game, state):
        return game.rules.hash_key(state)

    def target(game, state, action):
        return game.rules.target(state, action)

    def rollout(game, state, legal, rng, max_plies):
        return game.rules.rollout(state, legal, rng, max_plies)


@kernel
def list_turns(rules, turns, b, root_state, states, legal):
    """Lists the turns of a position, by their actions in ascending order; returns their number, or -1 if too many.

    `states` ([1 or more]) and `legal` ([A] int32) are scratch memory. Each turn is replayed from the root, since states
    on the way are not stored. Raises BrokenRules if a turn does not end or a position has no legal action.
    """
    starts, actions, ranks, widths = turns.starts[b], turns.actions[b], turns.ranks[b], turns.widths[b]
    mover = rules.current_player(root_state)
    state = states[0]
    starts[0] = 0
    ranks[:] = 0
    count = 0
    while True:
        states[0] = root_state
        length = 0
        while length == 0 or (rules.outcome(state) == ONGOING and rules.current_player(state) == mover):
            if length + 1 == len(ranks):
                raise BrokenRules(TOO_LONG)
            if count + 1 == len(starts) or starts[count] + length == len(actions):
                return -1
            widths[length] = rules.legal_actions(state, legal)
            if widths[length] == 0:
                raise BrokenRules(NO_ACTION)
            action = legal[ranks[length]]
            actions[starts[count] + length] = action
            rules.apply_action(state, np.int64(action))
            length += 1
        count += 1
        starts[count] = starts[count - 1] + length
        # The next turn has the next action at the last place that has one left, and the first actions after it.
        while length > 0 and ranks[length - 1] + 1 == widths[length - 1]:
            length -= 1
            ranks[length] = 0
        if length == 0:
            return count
        ranks[length - 1] += 1


@kernel
def lay_out_turns(rules, forest, b, first, num_turns):
    """Makes the turns of root b its unvisited children, and drops all nodes that were below it."""
    tree, nodes = forest.trees[b], forest.nodes[b]
    clear_tree(tree, nodes)
    root = nodes[0]
    root.first_child = 1
    root.num_children = num_turns
    root.player = rules.current_player(forest.root_states[b])
    prior = np.float32(1.0 / num_turns)
    for k in range(num_turns):
        clear_node(nodes[1 + k], first + k, prior)
    tree.num_nodes = 1 + num_turns


class WholeTurns(TreeSearch):
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

    def prepare(self, state: State | None = None, others: Callable[[], object] = lambda: None) -> None:
        super().prepare(state, others)
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


class TurnSearch(WholeTurns, TreeSearch):
    """UCT on a tree, with whole turns at the root."""


class FlatTurnSearch(WholeTurns, FlatSearch):
    """Plain Monte Carlo, with whole turns at the root."""


class TableTurnSearch(WholeTurns, TableSearch):
    """UCT on a transposition table, with whole turns at the root."""

    def _lay_out_turns(self, turns: Turns, forest: Forest, b: int, scratch: Scratch) -> None:
        super()._lay_out_turns(turns, forest, b, scratch)
        take_over_turns(self._turn_rules(turns, b), self.settings, forest, self.tables, scratch, b)
