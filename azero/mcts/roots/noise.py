"""Dirichlet noise: self-play mixes it into the root's priors, so that every move is explored now and then."""

import numpy as np

from azero.compiler.jit import subroutine
from azero.compiler.rng import random_gamma

LEAST_TOTAL = 1e-300
"""Least sum of the gamma variates. Smaller ones may be subnormal, whose shares are wrong."""


@subroutine
def mix_noise(nodes, rng, alpha, epsilon, eta):
    """Mixes Dirichlet noise into the root's priors: P(s, a) = (1 - epsilon) p_a + epsilon eta_a, eta ~ Dir(alpha).

    `eta` ([A] float64) is scratch memory. If all variates underflow, with a tiny alpha, the priors stay as they are.

    Source: Silver et al., AlphaGo Zero (2017), Methods, self-play.
    """
    root = nodes[0]
    total = 0.0
    for k in range(root.num_children):
        eta[k] = random_gamma(rng, alpha)
        total += eta[k]
    if total < LEAST_TOTAL:
        return
    for k in range(root.num_children):
        node = nodes[root.first_child + k]
        node.P = np.float32((1.0 - epsilon) * np.float64(node.P) + epsilon * eta[k] / total)
