"""The trainer: a net, the moving average of its weights, and the training step."""

import copy
import functools
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from torch import Tensor

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.nets.architectures.board import WHOLE, Board
from azero.nets.architectures.contract import Net, Prediction
from azero.nets.runtimes.choice import pick_devices, pick_dtype
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.samples import Sample
from azero.system.machine import count_cores, keep_freed_memory
from azero.training.learning.learner import Learner, judge_on
from azero.training.learning.losses import Losses, losses_of, map_losses
from azero.training.learning.optimizer import check_state, make_optimizer, update_average
from azero.training.learning.schedule import learning_rate, set_learning_rate

PASS_ROWS = 128
"""Rows of one forward and backward pass on a CPU. Batch normalisation computes its statistics over these rows."""

LARGEST_LOSS = 1e9

LARGEST_WEIGHT = 1e6
"""Limit on weights. The spacing of float32 there is 0.06: most steps would not change such a weight."""


class Trainer:
    """Net, average and optimiser. `tensors` returns all of their state, and `restore` sets it.

    On a CPU a batch is split into passes of `PASS_ROWS` rows. Each pass runs in one thread, and gradients are added in
    order. So the weights do not depend on the number of threads, and threads do not wait for each other in a layer.
    On a GPU a batch is one pass, and no step waits for the GPU. Several GPUs share a batch evenly. Each has a copy of
    the weights; the first one updates them.

    Weights, gradients, optimiser and average are always float32. With bf16, convolutions and linear layers compute in
    bf16. A precision of "auto" is fp32 here; `settle_precision` replaces it by the faster one.
    """

    def __init__(self, config: Config, game: Game, canvas: Canvas | None = None):
        """Makes the net for a game; of several sizes, the largest, and samples are on `canvas`."""
        keep_freed_memory()
        torch.manual_seed(config.seed)
        self.config = config.training
        self.devices = pick_devices(config.device.device)
        self.device = self.devices[0]
        self.dtype = pick_dtype(config.training.precision.replace("auto", "fp32"), self.device)
        self.canvas = canvas
        self.learner = Learner(config, game).to(self.device)
        self.net = self.learner.net
        self.average = copy.deepcopy(self.net).eval()
        self.optimizer = make_optimizer(self.learner, config.training)
        self.steps = 0
        self._twins = [self.learner]
        num_threads = config.device.threads or count_cores()
        self._threads = ThreadPoolExecutor(num_threads, initializer=torch.set_num_threads, initargs=(1,))

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
        planes, *_ = self.to_device(sample)
        return judge_on(self.candidate(), planes, self._board_of(sample, self.device))[1]

    def _board_of(self, sample: Sample, device: torch.device) -> Board:
        """Returns where the boards of a sample are."""
        if sample.sizes is None or self.canvas is None:
            return WHOLE
        cells, places = self.canvas.cells[sample.sizes], self.canvas.places[sample.sizes]
        return Board(_tensor_on(device, cells), _tensor_on(device, places))

    def to_device(
        self, sample: Sample, device: torch.device | None = None
    ) -> tuple[Tensor, Tensor, Tensor, dict[str, Tensor]]:
        """Returns the arrays of a sample as tensors, in its order. Copies to a GPU are asynchronous."""
        device = device or self.device
        planes = _tensor_on(device, sample.planes).contiguous(memory_format=torch.channels_last)
        auxiliary = {name: _tensor_on(device, targets) for name, targets in sample.auxiliary.items()}
        return planes, _tensor_on(device, sample.policies), _tensor_on(device, sample.results), auxiliary

    def step(self, sample: Sample, progress: float) -> Losses:
        """Takes one step; returns the losses before it. `progress` is the share of the run that is over, in [0, 1]."""
        torch.set_num_threads(1)
        size = len(sample.results)
        rows = PASS_ROWS if self.device.type == "cpu" else -(-size // len(self.devices))
        parts = [sample.at(slice(at, at + rows)) for at in range(0, size, rows)]
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
        return map_losses(lambda *parts: functools.reduce(torch.add, parts), *losses)

    def _device_of(self, number: int) -> torch.device:
        return self.devices[number % len(self.devices)]

    def _backward(self, number: int, part: Sample, share: float) -> tuple[Losses, list[Tensor]]:
        """Returns the losses and gradients of a part of a batch, both times `share`, its share of the batch."""
        learner, device = self._twins[number], self._device_of(number)
        if device != self.device:
            with torch.no_grad():
                torch._foreach_copy_([*learner.parameters()], [*self.learner.parameters()])
        planes, policies, results, targets = self.to_device(part, device)
        with torch.autocast(self.device.type, torch.bfloat16, self.dtype == torch.bfloat16, cache_enabled=False):
            prediction, outputs = learner(planes, self._board_of(part, device))
        losses = losses_of(Prediction(*(logits.float() for logits in prediction)), policies, results)
        of_heads = {head.name: head.loss(outputs[head.name].float(), targets[head.name]) for head in learner.wanted}
        losses = losses._replace(auxiliary=of_heads)
        gradients = torch.autograd.grad(share * losses.total(self.config), list(learner.parameters()))
        on_first = [gradient.to(self.device, non_blocking=True) for gradient in gradients]
        return map_losses(lambda loss: share * loss.detach().to(self.device), losses), on_first

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
            check_state(state, self.learner, self.optimizer, self.config, steps)
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


def _tensor_on(device: torch.device, array: np.ndarray) -> Tensor:
    """Returns an array as a tensor. A copy to a GPU is asynchronous."""
    tensor = torch.from_numpy(array)
    if device.type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def _twin(learner: Learner, device: torch.device, home: torch.device) -> Learner:
    """Returns a copy of a learner with its own normalisation statistics. At `home` it shares the parameters' memory."""
    twin = copy.deepcopy(learner).to(device)
    if device != home:
        return twin
    for own, shared in zip(twin.parameters(), learner.parameters(), strict=True):
        own.data = shared.data
    return twin


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
