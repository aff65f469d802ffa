"""The search itself: select a leaf, expand it, back up its value.

With rollouts alone `simulate` runs whole simulations. With an evaluator, `walk_trees` (`lockstep.py`) collects a
batch of leaves, the evaluator evaluates it, and `expand_and_backup` applies the answer. Searches differ in
the selection rule, the root strategy, the leaf value and the rollout policy. These are arguments, compiled into the
kernel. `reference/search.py` is the same algorithm in plain Python.
"""

import numpy as np

from azero.compiler.jit import kernel, subroutine
from azero.errors import NO_CHILD, NO_TARGET, TOO_LONG, BrokenRules, BrokenSearch
from azero.games import ONGOING
from azero.mcts.proving.lookahead import needs_replies, prove_by_replies
from azero.mcts.proving.proofs import carry_proof_up, prove_from_children
from azero.mcts.roots.ranking import LEFT_TO_SELECTION, cannot_be_overtaken
from azero.mcts.selection import select_child
from azero.mcts.tree import UNPROVEN, backup, create_children

ROUNDING = 1e-5
"""By so much a value may be beyond 1, e.g. as a difference of probabilities."""

VISITS_BEFORE_REPLIES = 8
"""Visits of a root move before its replies are looked at. Without a net, few of many moves get so many."""


@subroutine
def start_search(settings, tree, nodes, num_simulations, temperature, weights):
    """Sets a tree's number of simulations and prepares its root. `weights` ([A] float64) is scratch memory."""
    tree.simulations = 0
    tree.target = num_simulations
    tree.held_back = 0
    settings.root.begin_search(tree, nodes, temperature)
    if nodes[0].first_child > 0:
        add_noise_once(settings, tree, nodes, weights)


@subroutine
def add_noise_once(settings, tree, nodes, weights):
    """Calls the root strategy's `add_noise` on an expanded root: once, even if several searches start from it."""
    if not tree.has_noise:
        tree.has_noise = 1
        settings.root.add_noise(tree, nodes, weights)


@subroutine
def checked_child(nodes, child):
    """Returns the child that a root strategy chose, or 0; raises BrokenSearch if it is neither."""
    first = nodes[0].first_child
    if child != 0 and not first <= child < first + nodes[0].num_children:
        raise BrokenSearch(NO_CHILD)
    return np.int64(child)


@subroutine
def descend(parts, tree, nodes, path, state, scratch):
    """Goes from the root to a leaf: a node that is new, proven, or not expanded. Returns its depth.

    Writes the nodes on the way into `path`. `state` is the root's position and becomes the leaf's. Without an
    evaluator, the first visit of a node is a rollout, and the second visit expands it.

    Raises BrokenRules if a game is longer than the rules' `max_plies`; BrokenSearch as `checked_child`.
    """
    rules, settings = parts.rules, parts.settings
    index = np.int64(0)
    depth = 0
    path[0] = 0
    while True:
        node = nodes[index]
        if node.proven != UNPROVEN and depth > 0:
            return depth
        if node.first_child == 0:
            if node.N == 0 and depth > 0:
                outcome = rules.outcome(state)
                if outcome != ONGOING:
                    node.proven = outcome
                return depth
            if not settings.is_rollout_only or not create_children(rules, tree, nodes, index, state, scratch.legal):
                return depth
        chosen = checked_child(nodes, settings.root.root_child(tree, nodes)) if depth == 0 else LEFT_TO_SELECTION
        if chosen == LEFT_TO_SELECTION:
            chosen = select_child(parts.selection, settings, tree, nodes, index, depth)
        index = chosen
        rules.apply_action(state, np.int64(nodes[index].action))
        depth += 1
        if depth == len(path):
            raise BrokenRules(TOO_LONG)
        path[depth] = index
        if depth == 1 and nodes[index].N >= VISITS_BEFORE_REPLIES and needs_replies(settings, nodes[index]):
            prove_by_replies(rules, nodes, nodes[index], state, scratch.line)


@subroutine
def is_done(settings, tree, nodes):
    """Returns whether a tree has reached its target, or needs no more simulations."""
    if settings.is_proving and nodes[0].proven != UNPROVEN:
        return True
    goal = tree.target - tree.held_back
    num_left = goal - tree.simulations - tree.pending
    if num_left <= 0:
        return True
    # A leader without visits from before is not safe in the first half. So only the second half checks, now and then.
    may_stop = settings.is_stopping_early and num_left * 2 <= goal and num_left % 16 == 0
    return may_stop and cannot_be_overtaken(nodes, num_left + tree.pending)


@subroutine
def finish_simulation(settings, tree, nodes, path, depth, value):
    """Backs up a value, and a proof if there is one, from the leaf at `depth`."""
    backup(nodes, path, depth, value)
    if settings.is_proving and nodes[path[depth]].proven != UNPROVEN:
        carry_proof_up(nodes, path, depth)
    tree.simulations += 1


@kernel
def start_searches(settings, forest, trees, num_simulations, temperature, weights):
    """Starts a search in each of `trees` ([n] int64); see `start_search`."""
    for b in trees:
        start_search(settings, forest.trees[b], forest.nodes[b], num_simulations, temperature, weights)


@kernel
def simulate(parts, forest, scratch, b, num_simulations):
    """Runs up to `num_simulations` simulations with rollouts in tree b; returns whether the tree is done."""
    settings, tree, nodes = parts.settings, forest.trees[b], forest.nodes[b]
    path, state = scratch.path, scratch.states[0]
    for _ in range(num_simulations):
        if is_done(settings, tree, nodes):
            return True
        scratch.states[0] = forest.root_states[b]
        depth = descend(parts, tree, nodes, path, state, scratch)
        leaf = nodes[path[depth]]
        value = float(leaf.proven)
        if leaf.proven == UNPROVEN:
            value = float(parts.rollout_policy.play_out(parts.rules, state, scratch, tree.rng))
        finish_simulation(settings, tree, nodes, path, depth, value)
    return is_done(settings, tree, nodes)


@subroutine
def child_to_play(parts, forest, scratch, b, temperature):
    """Returns the child of tree b's root that the root strategy plays; see `prove_by_replies`. 0 without a child."""
    settings, tree, nodes = parts.settings, forest.trees[b], forest.nodes[b]
    while True:
        child = checked_child(nodes, settings.root.child_to_play(settings, tree, nodes, temperature))
        if child == 0 or not needs_replies(settings, nodes[child]):
            return child
        scratch.states[0] = forest.root_states[b]
        parts.rules.apply_action(scratch.states[0], np.int64(nodes[child].action))
        prove_by_replies(parts.rules, nodes, nodes[child], scratch.states[0], scratch.line)
        prove_from_children(nodes, 0)


@subroutine
def write_target(parts, tree, nodes, target):
    """Writes the root strategy's policy target into `target` ([A] uint16); returns its value, for the player to move.

    Raises BrokenSearch if all moves have 0, or if the value is not in [-1, 1].
    """
    value = parts.settings.root.write_target(parts.selection, tree, nodes, target)
    total = 0
    for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
        total += target[nodes[child].action]
    if total == 0 or not abs(value) <= 1.0 + ROUNDING:
        raise BrokenSearch(NO_TARGET)
    return value


@kernel
def choose_action(parts, forest, scratch, b, temperature):
    """Returns the action that the root strategy plays in tree b."""
    return forest.nodes[b][child_to_play(parts, forest, scratch, b, temperature)].action
