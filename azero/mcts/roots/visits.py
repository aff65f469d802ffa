"""AlphaZero's root: visits decide the move and the policy target. Noise is optional."""

from typing import NamedTuple

from azero.config.schema import Config
from azero.games.contract import sign_of
from azero.mcts.roots.choice import LEFT_TO_SELECTION, chosen_child, greedy_child, value_for
from azero.mcts.roots.noise import mix_noise
from azero.mcts.roots.target import write_policy_target


class VisitsRoot(NamedTuple):
    """The selection rule chooses at the root as below it.

    Dirichlet noise makes the search explore moves with a low prior. Fast searches have none.
    """

    dirichlet_alpha: float = 1.0
    dirichlet_epsilon: float = 0.0  # the noise's share of the root's priors

    def begin_search(root, tree, nodes, temperature):
        pass

    def add_noise(root, tree, nodes, weights):
        if root.dirichlet_epsilon > 0.0 and not tree.is_fast:
            mix_noise(nodes, tree.rng, root.dirichlet_alpha, root.dirichlet_epsilon, weights)

    def root_child(root, tree, nodes):
        return LEFT_TO_SELECTION

    def write_target(root, selection, tree, nodes, visits):
        write_policy_target(nodes, visits)
        return value_for(nodes[0], sign_of(nodes[0].player))

    def best_child(root, settings, tree, nodes):
        return greedy_child(nodes, settings.chosen_by)

    def child_to_play(root, settings, tree, nodes, temperature):
        return chosen_child(nodes, tree.rng, temperature, settings.chosen_by)

    def may_keep_tree(root):
        return True

    @classmethod
    def from_config(cls, config: Config) -> "VisitsRoot":
        """Returns the root of a run's self-play."""
        return cls(config.selfplay.dirichlet_alpha, config.selfplay.dirichlet_epsilon)
