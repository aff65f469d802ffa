"""The trainer: a net, its moving average, and the step that learns from a sample."""

import copy
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from azero.config.schema import Config
from azero.config.training import TrainingConfig
from azero.errors import BadInput
from azero.games import Game
from azero.nets.architectures.tower import Prediction, ResidualTower
from azero.nets.runtimes.choice import pick_devices, pick_dtype
from azero.selfplay.data.replay import Sample
from azero.system.machine import count_cores, keep_freed_memory
from azero.training.learning.heads import Learner, auxiliary_losses
from azero.training.learning.optimizer import make_optimizer, update_average
from azero.training.learning.schedule import learning_rate, set_learning_rate

NONE = torch.zeros(0)
"""The loss of an auxiliary head that there is none of."""


class Losses(NamedTuple):
    """What a batch costs, in nats but for `plies_left`; and how sure the net and the search are of their moves.

    What is said of policies is a mean over the positions that have one to learn: of lessons not all do.
    """

    policy: Tensor  # cross-entropy of the net's policy to the one to learn
    value: Tensor  # cross-entropy of the net's win, draw and loss to the results
    policy_entropy: Tensor  # of the net's policy
    target_entropy: Tensor  # of the policy to learn, below which the policy loss cannot fall
    reply: Tensor = NONE  # from here on of the auxiliary heads, as in `auxiliary_losses`
    plies_left: Tensor = NONE
    short_term: Tensor = NONE
    ownership: Tensor = NONE
    score: Tensor = NONE

    def total(self, config: TrainingConfig) -> Tensor:
        """Returns what a step is to lessen: the losses, by their weights; that of no head is 0."""
        return (
            self.policy
            + config.value_loss_weight * self.value
            + config.reply_loss_weight * self.reply.sum()
            + config.plies_left_loss_weight * self.plies_left.sum()
            + config.short_term_loss_weight * self.short_term.sum()
            + config.ownership_loss_weight * self.ownership.sum()
            + config.score_loss_weight * self.score.sum()
        )


def losses_of(prediction: Prediction, policies: Tensor, results: Tensor) -> Losses:
    """Returns the losses of B predictions, without auxiliary heads.

    Args:
      policies: [B, A], the search's; zeros where there is none to learn.
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
    )


PASS_ROWS = 128
"""Rows of a forward and backward pass on a CPU. Batch normalisation takes its statistics over these."""

LARGEST_WEIGHT = 1e6
"""Of a net that learns. What a step adds, 0.002 and less, is lost beside such a weight in float32's seven digits."""


class Trainer:
    """Holds what changes with every step; all of it can be taken out as tensors, and put back.

    On a CPU a batch goes in passes of the same number of rows, side by side, one thread each, their gradients added
    in order: so the weights do not depend on the number of threads, and no thread waits within a layer for another.
    On a GPU a batch goes in one pass, and nothing in a step waits for the GPU. Several GPUs share a batch evenly, each
    with a copy of the weights, which the first one steps.

    Weights, gradients, optimiser and average are float32 always; in bf16, convolutions and linear layers compute in it.
    A precision of "auto" is fp32 here: `settle_precision` says which is the faster.
    """

    def __init__(self, config: Config, game: Game):
        keep_freed_memory()
        torch.manual_seed(config.seed)
        self.config = config.training
        self.devices = pick_devices(config.device.device)
        self.device = self.devices[0]
        self.dtype = pick_dtype(config.training.precision.replace("auto", "fp32"), self.device)
        self.learner = Learner(config, game).to(self.device)
        self.net = self.learner.net
        self.average = copy.deepcopy(self.net).eval()
        self.optimizer = make_optimizer(self.learner, config.training)
        self.steps = 0
        self._twins = [self.learner]
        num_threads = config.device.threads or count_cores()
        self._threads = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))

    def candidate(self) -> ResidualTower:
        """Returns the net that goes to the gate: the average, which with a decay of 0 is the net itself."""
        return self.average

    def to_device(self, sample: Sample, device: torch.device | None = None) -> list[Tensor]:
        """Returns the arrays of a sample as tensors, in its order; a GPU copies them while the CPU goes on."""
        device = device or self.device
        tensors = [torch.from_numpy(array) for array in sample]
        if device.type == "cuda":
            tensors = [tensor.pin_memory().to(device, non_blocking=True) for tensor in tensors]
        planes, *targets = (tensor.to(device) for tensor in tensors)
        return [planes.contiguous(memory_format=torch.channels_last), *targets]

    def step(self, sample: Sample, progress: float) -> Losses:
        """Takes one step; returns the losses before it. `progress` is the share of the run that is over."""
        torch.set_num_threads(1)
        size = len(sample.results)
        rows = PASS_ROWS if self.device.type == "cpu" else -(-size // len(self.devices))
        parts = [Sample(*(array[at : at + rows] for array in sample)) for at in range(0, size, rows)]
        while len(self._twins) < len(parts):
            self._twins.append(_twin(self.learner, self._device_of(len(self._twins)), self.device))
        shares = [len(part.results) / size for part in parts]
        losses, gradients = zip(*self._threads.map(self._backward, range(len(parts)), parts, shares), strict=True)
        _set_gradients(list(self.learner.parameters()), gradients)
        set_learning_rate(self.optimizer, learning_rate(self.config, self.steps, progress))
        if self.config.gradient_clip > 0:
            torch.nn.utils.clip_grad_norm_(self.learner.parameters(), self.config.gradient_clip)
        self.optimizer.step()
        self.steps += 1
        update_average(self.average, self.net, self.config.ema_decay, self.steps)
        return Losses(*(sum(each) for each in zip(*losses, strict=True)))

    def _device_of(self, number: int) -> torch.device:
        return self.devices[number % len(self.devices)]

    def _backward(self, number: int, part: Sample, share: float) -> tuple[Losses, list[Tensor]]:
        """Returns the share of a batch's part in the losses, and in the gradient of each parameter."""
        learner, device = self._twins[number], self._device_of(number)
        if device != self.device:
            with torch.no_grad():
                torch._foreach_copy_([*learner.parameters()], [*self.learner.parameters()])
        planes, policies, results, *auxiliary = self.to_device(part, device)
        with torch.autocast(self.device.type, torch.bfloat16, self.dtype == torch.bfloat16, cache_enabled=False):
            prediction, outputs = learner(planes)
        losses = losses_of(Prediction(*(logits.float() for logits in prediction)), policies, results)
        of_heads = auxiliary_losses({name: output.float() for name, output in outputs.items()}, *auxiliary)
        losses = losses._replace(**of_heads)
        gradients = torch.autograd.grad(share * losses.total(self.config), list(learner.parameters()))
        on_first = [gradient.to(self.device, non_blocking=True) for gradient in gradients]
        return Losses(*(share * each.detach().to(self.device) for each in losses)), on_first

    def largest_weight(self) -> float:
        """Returns the largest absolute value of a weight or running statistic, NaN if one is; waits for the GPU."""
        tensors = [tensor for tensor in self.learner.state_dict().values() if tensor.is_floating_point()]
        return float(torch.stack([tensor.abs().max() for tensor in tensors]).max())

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes, by name."""
        state = self.optimizer.state_dict()["state"]
        optimizer = {f"{index}.{name}": tensor for index, own in state.items() for name, tensor in own.items()}
        parts = {
            "net": self.net.state_dict(),
            "heads": self.learner.heads.state_dict(),
            "average": self.average.state_dict(),
            "optimizer": optimizer,
        }
        named = {f"{part}.{name}": tensor for part, own in parts.items() for name, tensor in own.items()}
        return {name: tensor.detach().cpu().contiguous() for name, tensor in named.items() if tensor is not None}

    def restore(self, tensors: dict[str, Tensor], steps: int) -> None:
        """Takes up again from what `tensors` returned after `steps` steps; raises BadInput where it does not fit."""
        parts: dict[str, dict[str, Tensor]] = {"net": {}, "heads": {}, "average": {}, "optimizer": {}}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            if part not in parts:
                raise BadInput(f"the run's state has {name!r}, which this version of azero does not know")
            parts[part][rest] = tensor
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["optimizer"].items():
            index, _, key = name.partition(".")
            state.setdefault(int(index), {})[key] = tensor
        try:
            self.net.load_state_dict(parts["net"])
            self.learner.heads.load_state_dict(parts["heads"])
            self.average.load_state_dict(parts["average"])
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        except (RuntimeError, ValueError, KeyError) as error:
            raise BadInput(
                f"the saved training state does not fit the settings: {str(error).splitlines()[0]}"
            ) from None
        self.steps = steps


def check_divergence(trainer: Trainer, losses: list[Losses]) -> None:
    """Raises BadInput where training has diverged, by one of the newest losses or a weight now: no state to save."""
    totals = torch.stack([each.total(trainer.config) for each in losses]) if losses else torch.zeros(0)
    wrong = (~totals.isfinite()).nonzero()
    largest = trainer.largest_weight()
    if len(wrong):
        what = f"the loss of step {trainer.steps - len(losses) + int(wrong[0]) + 1} is not a finite number"
    elif largest <= LARGEST_WEIGHT:
        return
    else:  # also where it is NaN
        what = f"the largest weight after step {trainer.steps} is {largest:.2g}"
    rates = {"learning_rate": trainer.config.learning_rate}
    if trainer.config.optimizer == "muon":
        rates["muon_learning_rate"] = trainer.config.muon_learning_rate
    lower = " and a ".join(f"training.{name} lower than {rate}" for name, rate in rates.items())
    raise BadInput(f"training has diverged: {what}; what was saved before is kept: go on with --resume and a {lower}")


def _twin(learner: Learner, device: torch.device, home: torch.device) -> Learner:
    """Returns a learner with normalisation statistics of its own, and at `home` with the same parameters in memory."""
    twin = copy.deepcopy(learner).to(device)
    if device != home:
        return twin
    for own, shared in zip(twin.parameters(), learner.parameters(), strict=True):
        own.data = shared.data
    return twin


def _set_gradients(parameters: list[torch.nn.Parameter], parts: Iterable[list[Tensor]]) -> None:
    """Makes the sum of the parts, added in order, the parameters' gradient.

    It lies in memory as the parameter does: a fused optimiser takes them side by side, whatever their strides, and
    convolutions leave gradients with others.
    """
    gradients = [torch.zeros_like(parameter) for parameter in parameters]
    for part in parts:
        torch._foreach_add_(gradients, part)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
