"""Selects the child that a simulation goes to. The selection rule (`strategies.py`) scores the children."""

import math

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import random_below
from azero.games.contract import sign_of
from azero.mcts.tree import UNPROVEN


@subroutine
def visit(nodes, node, taken):
    """Moves the child `taken`, at its first visit, in front of the other unvisited ones. Returns its new place."""
    front = node.first_child + node.num_visited
    node.num_visited += 1
    a, b = nodes[front], nodes[taken]
    action, prior, proven, plies = a.action, a.P, a.proven, a.proven_plies
    a.action, a.P, a.proven, a.proven_plies = b.action, b.P, b.proven, b.proven_plies
    b.action, b.P, b.proven, b.proven_plies = action, prior, proven, plies
    return front


@subroutine
def random_child(nodes, node, rng):
    """Returns a random child of `node`."""
    k = random_below(rng, node.num_children)
    return node.first_child + k if k < node.num_visited else visit(nodes, node, node.first_child + k)


@subroutine
def select_child(selection, settings, tree, nodes, index, depth):
    """Returns the child of node `index` that a simulation goes to.

    A move that is proven lost gets no visit, unless it is chosen at random or in a sweep. A node with fewer than
    `min_visits` visits selects at random.

    A descent that is not backed up yet counts as a visit, but not in Q, so that the next descent may go elsewhere. A
    leaf that waits for its evaluation counts as lost. Source: Liu et al., Watch the unobserved (2020).
    """
    node = nodes[index]
    if settings.min_visits > node.N:
        return random_child(nodes, node, tree.rng)
    if selection.is_sweeping() and node.num_visited < node.num_children:
        unvisited = random_below(tree.rng, node.num_children - node.num_visited)
        return visit(nodes, node, node.first_child + node.num_visited + unvisited)
    sign = sign_of(node.player)
    first, last = node.first_child, node.first_child + node.num_children
    first_play_value = 0.0
    if not selection.is_sweeping():
        visited_prior = 0.0
        for child in range(first, last):
            if nodes[child].N > 0:
                visited_prior += np.float64(nodes[child].P)
        first_play_value = selection.first_play_value(sign * node.W / max(node.N, 1), visited_prior)
    exploration = selection.exploration(node.N + node.in_flight, depth, tree.length)
    best = first
    best_score = -math.inf
    for child in range(first, last):
        c = nodes[child]
        if settings.is_proving and c.proven == -sign:
            continue
        visits = c.N + c.in_flight
        value = first_play_value
        if c.proven != UNPROVEN:
            value = float(sign * c.proven)
        elif c.N > 0:
            value = sign * c.W / c.N
        elif c.in_flight > 0:
            value = -1.0
        score = selection.score(exploration, visits, value, float(c.P))
        if score > best_score:
            best, best_score = child, score
    return best
