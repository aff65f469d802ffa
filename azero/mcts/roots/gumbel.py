"""The Gumbel root: sequential halving among moves drawn without replacement, and the improved policy.

Each search draws g(a) ~ Gumbel(0) for every move. It considers the m moves with the greatest g + logits, which is a
draw from the priors without replacement. Sequential halving spends the simulations on them. Among the moves with most
visits it plays the one with the greatest

    g(a) + logits(a) + sigma(q(a)),    sigma(q) = (c_visit + max_b N(b)) c_scale q

The policy target is pi' = softmax(logits + sigma(completed q)). The completed q of a move without a value is v_mix:
the root's own value, mixed with the values of the visited moves, weighted by their priors.

q = (1 + Q) / 2 is in [0, 1]. On this scale the paper's c_scale for Go and chess is 1. mctx has 0.1, because it
rescales the q of every root to fill [0, 1]. Logits are ln P.

Ours, not the paper's: the temperature T scales the noise. If the values were known, the move would be drawn from
pi'^(1 / T); at T = 0 it is the best move. Moves that are proven lost are ignored, and so are their visits.

A search begins with the root alone, so that N counts the visits of this search. It evaluates one leaf at a time: see
docs/decisions/0009-gumbel-root.md. `reference/gumbel.py` is the same algorithm in plain Python.

Source: Danihelka et al., Policy improvement by planning with Gumbel (ICLR 2022), sections 3 and 4; v_mix: appendix D.
"""

import math
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import mix, random_bits
from azero.config.schema import Config, SelfPlayConfig
from azero.games.contract import sign_of
from azero.mcts.roots.ranking import BY_VISITS, greedy_child, has_value, is_decided, value_for
from azero.mcts.roots.visits import TARGET_TOTAL, write_policy_target
from azero.mcts.tree import clear_tree

_DEFAULTS = SelfPlayConfig()
LEAST_PRIOR = 1e-38  # keeps the logarithm of a prior finite


@subroutine
def gumbel_noise(tree, action):
    """Returns T g(a). It is a function of the search's seed and the action, so it is not stored."""
    bits = mix(tree.search_seed + np.uint64(action))
    unit = (np.float64(bits >> 12) + 0.5) / (1 << 52)  # neither 0 nor 1
    return -tree.temperature * math.log(-math.log(unit))


@subroutine
def scheduled_visits(num_simulations, num_considered, t):
    """Returns the number of visits of the move that simulation t = 0, 1, ... of sequential halving goes to.

    There are ceil(log2 m) rounds. In each, every move still considered gets n / (ceil(log2 m) moves) visits, rounded
    down, but at least one. Each round considers half as many moves as the last one, but at least two.
    """
    if num_considered <= 1:
        return t
    num_rounds = 0
    while 1 << num_rounds < num_considered:
        num_rounds += 1
    visits = 0
    while True:
        num_each = max(1, num_simulations // (num_rounds * num_considered))
        if t < num_each * num_considered:
            return visits + t // num_considered
        t -= num_each * num_considered
        visits += num_each
        num_considered = max(2, num_considered // 2)


@subroutine
def weigh_root(root, nodes):
    """Returns v_mix, in [-1, 1] for the player to move, and sigma's factor (c_visit + max_b N(b)) c_scale.

        v_mix = (v + sum_b N(b) sum_b P(b) Q(b) / sum_b P(b)) / (1 + sum_b N(b))

    The sums go over moves with a value. v is the evaluator's value of the root: W of the root minus W of its children.
    """
    first, last = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children
    sign = sign_of(nodes[0].player)
    own_value = nodes[0].W
    most_visits, num_visits, prior, weighted = 0, 0, 0.0, 0.0
    for child in range(first, last):
        node = nodes[child]
        own_value -= node.W
        if node.proven == -sign:
            continue
        most_visits = max(most_visits, node.N)
        num_visits += node.N
        if has_value(node):
            prior += node.P
            weighted += node.P * value_for(node, sign)
    mean = weighted / prior if prior > 0.0 else 0.0
    mixed = (sign * own_value + num_visits * mean) / (1 + num_visits)
    return mixed, (root.c_visit + most_visits) * root.c_scale


@subroutine
def completed_value(node, sign, mixed):
    """Returns Q of a move, or v_mix if it has none."""
    return value_for(node, sign) if has_value(node) else mixed


@subroutine
def improved_logit(node, sign, weighed):
    """Returns logits + sigma(completed q) of a move. `weighed` is the result of `weigh_root`."""
    mixed, factor = weighed
    return math.log(max(float(node.P), LEAST_PRIOR)) + factor * (1.0 + completed_value(node, sign, mixed)) / 2.0


@subroutine
def best_child_of_visits(root, tree, nodes, visits):
    """Returns the root's child with the greatest g + logits + sigma(q) among those whose N is closest to `visits`.

    Normally some child has exactly `visits`. If it has been proven lost, another one takes its place.
    """
    first, last = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children
    sign = sign_of(nodes[0].player)
    weighed = weigh_root(root, nodes)
    best, best_score = np.int64(first), -math.inf
    least_distance = np.int64(1 << 62)
    for child in range(first, last):
        node = nodes[child]
        distance = abs(np.int64(node.N + node.in_flight) - visits)
        if node.proven == -sign or distance > least_distance:
            continue
        score = gumbel_noise(tree, node.action) + improved_logit(node, sign, weighed)
        if distance < least_distance or score > best_score:
            best, best_score, least_distance = np.int64(child), score, distance
    return best


@subroutine
def write_improved_policy(root, nodes, visits):
    """Writes pi' times `TARGET_TOTAL` into `visits` ([A] uint16). If proofs decide the move, it gets everything.

    Returns:
      The value of pi', sum_a pi'(a) Q(a) in [-1, 1], for the player to move. The root's mean value would include the
      visits of moves that halving dropped.
    """
    sign = sign_of(nodes[0].player)
    if is_decided(nodes):
        write_policy_target(nodes, visits)
        return value_for(nodes[greedy_child(nodes, BY_VISITS)], sign)
    first, last = nodes[0].first_child, nodes[0].first_child + nodes[0].num_children
    weighed = weigh_root(root, nodes)
    highest = -math.inf
    for child in range(first, last):
        if nodes[child].proven != -sign:
            highest = max(highest, improved_logit(nodes[child], sign, weighed))
    total, value = 0.0, 0.0
    for child in range(first, last):
        if nodes[child].proven != -sign:
            weight = math.exp(improved_logit(nodes[child], sign, weighed) - highest)
            total += weight
            value += weight * completed_value(nodes[child], sign, weighed[0])
    visits[:] = 0
    for child in range(first, last):
        if nodes[child].proven != -sign:
            share = math.exp(improved_logit(nodes[child], sign, weighed) - highest) / total
            visits[nodes[child].action] = int(share * TARGET_TOTAL + 0.5)
    return value / total


class GumbelRoot(NamedTuple):
    """Draws the moves that a search considers, spends its simulations by sequential halving, and learns pi'."""

    num_considered: int = _DEFAULTS.gumbel_considered  # m, the number of moves that sequential halving begins with
    c_visit: float = 50.0  # the paper's in all games
    c_scale: float = _DEFAULTS.gumbel_scale

    def begin_search(root, tree, nodes, temperature):
        """Draws the noise's seed and clears the tree. The root's evaluation is an extra simulation, as in the paper."""
        clear_tree(tree, nodes)
        tree.target += 1
        tree.search_seed = random_bits(tree.rng)
        tree.temperature = temperature

    def add_noise(root, tree, nodes, weights):
        pass

    def root_child(root, tree, nodes):
        """Returns the child that a simulation goes to by sequential halving."""
        lost = -sign_of(nodes[0].player)
        num_open, t = 0, 0
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if nodes[child].proven != lost:
                num_open += 1
                t += nodes[child].N + nodes[child].in_flight
        num_left = tree.target - tree.simulations - tree.pending
        visits = scheduled_visits(t + num_left, min(num_open, root.num_considered), t)
        return best_child_of_visits(root, tree, nodes, visits)

    def write_target(root, selection, tree, nodes, visits):
        return write_improved_policy(root, nodes, visits)

    def best_child(root, settings, tree, nodes):
        """Returns the best of the children with most visits, or the child that proofs decide on."""
        if is_decided(nodes):
            return np.int64(greedy_child(nodes, settings.chosen_by))
        lost = -sign_of(nodes[0].player)
        most_visits = 0
        for child in range(nodes[0].first_child, nodes[0].first_child + nodes[0].num_children):
            if nodes[child].proven != lost:
                most_visits = max(most_visits, nodes[child].N)
        return best_child_of_visits(root, tree, nodes, most_visits)

    def child_to_play(root, settings, tree, nodes, temperature):
        """Returns the best child. The noise has scaled with the temperature since the search began."""
        return root.best_child(settings, tree, nodes)

    def may_keep_tree(root):
        return False

    @classmethod
    def from_config(cls, config: Config) -> "GumbelRoot":
        """Returns the root of a run's self-play."""
        play = config.selfplay
        return cls(play.gumbel_considered, c_scale=play.gumbel_scale)
