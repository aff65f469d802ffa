"""The losses of a batch."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from azero.config.schema import TrainingConfig
from azero.nets.architectures.contract import Prediction


class Losses(NamedTuple):
    """The losses of a batch, and entropies of the policies; in nats, except for some auxiliary heads.

    The first, third and fourth are means over the positions of a pass that have a policy target, and those of a batch
    are weighted means of its passes. Some lessons have no policy target.
    """

    policy: Tensor  # cross-entropy of the net's policy to the target
    value: Tensor  # cross-entropy of the net's win, draw and loss probabilities to the target
    policy_entropy: Tensor  # of the net's policy
    target_entropy: Tensor  # of the policy target; the least possible policy loss
    auxiliary: dict[str, Tensor]  # of auxiliary heads, by their names

    def total(self, config: TrainingConfig) -> Tensor:
        """Returns the loss that a step minimises: the weighted sum of all losses."""
        total = self.policy + config.value_loss_weight * self.value
        for name, loss in self.auxiliary.items():
            total = total + config.loss_weight(name) * loss
        return total

    def by_name(self) -> dict[str, Tensor]:
        """Returns losses and entropies by name, those of auxiliary heads last."""
        own = {name: loss for name, loss in self._asdict().items() if name != "auxiliary"}
        return own | self.auxiliary


def map_losses(function: Callable[..., Tensor], *losses: Losses) -> Losses:
    """Applies a function to the losses of the same name, field by field."""
    policy, value, policy_entropy, target_entropy = map(function, *(one[:-1] for one in losses))
    auxiliary = {name: function(*(one.auxiliary[name] for one in losses)) for name in losses[0].auxiliary}
    return Losses(policy, value, policy_entropy, target_entropy, auxiliary)


def losses_of(prediction: Prediction, policies: Tensor, results: Tensor) -> Losses:
    """Returns the losses of B predictions, without auxiliary heads.

    Args:
      policies: [B, A], the search's; a row of zeros if there is no policy target.
      results: [B, 3], probabilities of win, draw and loss for the player to move.
    """
    log_policy = F.log_softmax(prediction.policy_logits, dim=1)
    is_learnt = policies.sum(1) > 0
    num_learnt = is_learnt.sum().clamp(min=1)
    return Losses(
        policy=-(policies * log_policy).sum() / num_learnt,
        value=F.cross_entropy(prediction.result_logits, results),
        policy_entropy=-((log_policy.exp() * log_policy).sum(1) * is_learnt).sum() / num_learnt,
        target_entropy=-torch.xlogy(policies, policies).sum() / num_learnt,
        auxiliary={},
    )
