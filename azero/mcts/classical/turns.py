"""Whole turns as moves of the root: all sequences of actions that one player can play until the other moves.

The root of a search then has a child for each turn instead of each action. In Amazons these are 2,176 at the start, as
in the UCT paper. Kernels take `TurnRules` in place of the game's own rules; actions from `first` on are turns. Below
the root, and in rollouts, actions are the game's.
"""

from typing import Any, NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.errors import NO_ACTION, TOO_LONG, BrokenRules
from azero.games import ONGOING
from azero.games.contract import Rules
from azero.mcts.tree import clear_node, clear_tree

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
