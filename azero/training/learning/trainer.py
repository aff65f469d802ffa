"""The trainer: a net, the moving average of its weights, and the training step."""

import copy
import functools
from collections.abc import Iterable

import torch
from torch import Tensor

from azero.compiler.cache import cache_directory
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.nets.architectures.contract import Net, Prediction
from azero.nets.devices import pick_devices
from azero.nets.users_net import LARGEST_WEIGHT
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.samples import Sample
from azero.system.machine import keep_freed_memory, keep_torch_files
from azero.training.learning.group import Group
from azero.training.learning.learner import Learner, judge_on
from azero.training.learning.losses import Losses, map_losses
from azero.training.learning.optimizer import (
    Muon,
    check_state,
    learning_rate,
    make_optimizer,
    set_learning_rate,
    update_average,
)
from azero.training.learning.passes import Passes, count_passes, share_of

LARGEST_LOSS = 1e9


class Trainer:
    """Net, average and optimiser. `tensors` returns all of their state, and `restore` sets it.

    On a CPU a batch is split into passes of at most `PASS_ROWS` rows. Each pass runs in one thread, and gradients are
    added in order. So the weights do not depend on the number of threads, and threads do not wait for each other in a
    layer. On a GPU a batch is one pass, and no step waits for the GPU. Several GPUs share a batch evenly. Each has a
    copy of the weights; the first one updates them. If `group` is set, this is rank 0, and further ranks share the
    batch.

    Weights, gradients, optimiser and average are always float32. With bf16, convolutions and linear layers compute in
    bf16. "auto" is fp32 here, and convolutions of torch; `settle_training` replaces it by what is fastest.
    """

    def __init__(self, config: Config, game: Game, canvas: Canvas | None = None):
        """Makes the net for a game; of several sizes, the largest, and samples are on `canvas`."""
        keep_freed_memory()
        keep_torch_files(cache_directory())
        torch.manual_seed(config.seed)
        self.config = config.training
        self.devices = pick_devices(config.device.device)[: 1 if config.cluster.trainers > 1 else None]
        self.device = self.devices[0]
        self.learner = Learner(config, game).to(self.device)
        self.net = self.learner.net
        self.average = copy.deepcopy(self.net).eval()
        self.optimizer = make_optimizer(self.learner, config.training)
        self.steps = 0
        self.passes = Passes(self.learner, config, self.devices, canvas)
        if isinstance(self.optimizer, Muon) and self.device.type == "cpu":
            self.optimizer.map = self.passes.map
        self.group: Group | None = None

    def begin_with(self, net: Net) -> None:
        """Makes the weights of net and average those of `net`. Call it before the first step."""
        self.net.load_state_dict(net.state_dict())
        self.average.load_state_dict(net.state_dict())

    def candidate(self) -> Net:
        """Returns the net that goes to the gate: the moving average. With a decay of 0 it equals the net."""
        return self.average

    @torch.inference_mode()
    def predict(self, sample: Sample) -> Prediction:
        """Returns the candidate's prediction for a sample."""
        planes, *_ = self.passes.to_device(sample)
        return judge_on(self.candidate(), planes, self.passes.board_of(sample, self.device))[1]

    @property
    def rows(self) -> slice:
        """The rows of each batch that `step` takes; all of them, if this is the only rank."""
        return self._share()[0] if self.group else slice(None)

    def step(self, sample: Sample, progress: float) -> Losses:
        """Takes one step; returns the losses before it. `progress` is the share of the run that is over, in [0, 1].

        With further ranks, the sample is this rank's `rows` of a batch.
        """
        torch.set_num_threads(1)
        parameters = list(self.learner.parameters())
        if self.group is None:
            size = len(sample.results)
            passes = self.passes.run(sample, size, count_passes(size, self.device, len(self.devices)))
        else:
            self.group.share_weights(parameters)
            passes = [self.group.add_up(self.passes.run(sample, self.config.batch_size, self._share()[1]))]
        _set_gradients(parameters, [each.gradients for each in passes])
        set_learning_rate(self.optimizer, learning_rate(self.config, self.steps, progress))
        if self.config.gradient_clip > 0:
            torch.nn.utils.clip_grad_norm_(self.learner.parameters(), self.config.gradient_clip)
        self.optimizer.step()
        self.steps += 1
        update_average(self.average, self.net, self.config.ema_decay, self.steps)
        return map_losses(lambda *parts: functools.reduce(torch.add, parts), *(each.losses for each in passes))

    def _share(self) -> tuple[slice, int]:
        """Returns this rank's rows of a batch, and the number of its passes."""
        assert self.group is not None
        size, num_ranks = self.config.batch_size, self.group.num_ranks
        return share_of(0, num_ranks, size, count_passes(size, self.device, num_ranks))

    def largest_weight(self) -> float:
        """Returns the largest absolute weight or running statistic; NaN if any of them is NaN. Waits for the GPU."""
        tensors = [tensor for tensor in self.learner.state_dict().values() if tensor.is_floating_point()]
        return float(torch.stack([tensor.abs().max() for tensor in tensors]).max())

    def tensors(self) -> dict[str, Tensor]:
        """Returns the whole state as tensors on the CPU, by name."""
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
        """Restores what `tensors` returned after `steps` steps; raises BadInput if it does not fit."""
        parts: dict[str, dict[str, Tensor]] = {"net": {}, "heads": {}, "average": {}, "optimizer": {}}
        for name, tensor in tensors.items():
            part, _, rest = name.partition(".")
            if part not in parts:
                raise BadInput(f"the run's state has {name!r}, which this version of azero does not know")
            parts[part][rest] = tensor
        state: dict[int, dict[str, Tensor]] = {}
        try:
            for name, tensor in parts["optimizer"].items():
                index, _, key = name.partition(".")
                state.setdefault(int(index), {})[key] = tensor
            self.net.load_state_dict(parts["net"])
            self.learner.heads.load_state_dict(parts["heads"])
            self.average.load_state_dict(parts["average"])
            check_state(state, self.learner, self.config, steps)
            groups = self.optimizer.state_dict()["param_groups"]
            self.optimizer.load_state_dict({"state": state, "param_groups": groups})
        except (RuntimeError, ValueError, KeyError) as error:
            raise BadInput(
                f"the saved training state does not fit the settings: {str(error).splitlines()[0]}"
            ) from None
        self.steps = steps


def check_divergence(trainer: Trainer, losses: list[Losses]) -> None:
    """Raises BadInput if training has diverged: a new loss is not finite, or a weight is too large.

    Call it before saving, so that the last good state is kept.
    """
    totals = torch.stack([each.total(trainer.config) for each in losses]) if losses else torch.zeros(0)
    wrong = (~(totals.abs() <= LARGEST_LOSS)).nonzero()
    largest = trainer.largest_weight()
    if len(wrong):
        step = trainer.steps - len(losses) + int(wrong[0]) + 1
        fault = f"above {LARGEST_LOSS:g}" if totals[wrong[0]].isfinite() else "not a finite number"
        what = f"the loss of step {step} is {fault}"
    elif largest <= LARGEST_WEIGHT:
        return
    else:  # also if it is NaN
        what = f"the largest weight after step {trainer.steps} is {largest:.2g}"
    rates = {"learning_rate": trainer.config.learning_rate}
    if trainer.config.optimizer == "muon":
        rates["muon_learning_rate"] = trainer.config.muon_learning_rate
    lower = " and a ".join(f"training.{name} lower than {rate}" for name, rate in rates.items())
    raise BadInput(f"training has diverged: {what}; the last good state is kept: go on with --resume and a {lower}")


def _set_gradients(parameters: list[torch.nn.Parameter], parts: Iterable[list[Tensor]]) -> None:
    """Sets the parameters' gradients to the sum of the parts, added in order.

    A gradient gets the strides of its parameter. A fused optimiser pairs their memory element by element and ignores
    strides, and gradients of convolutions have other strides.
    """
    gradients = [torch.zeros_like(parameter) for parameter in parameters]
    for part in parts:
        torch._foreach_add_(gradients, part)
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = gradient
