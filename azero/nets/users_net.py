"""A user's net: a `torch.nn.Module` in a file, named `my_net.py:MyNet` or `my_net.py:MyNet(width=64)`.

Its constructor takes the game, and the numbers in the name. It turns planes, [B, C, H, W] float32, into the logits of
actions, [B, A], and of win, draw and loss for the player to move, [B, 3]. If it also has the methods `features` and
`judge`, whose composition it is, auxiliary heads can learn from its features, [B, channels, height, width].
"""

import copy
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from azero.errors import BadInput
from azero.games import Game
from azero.games.names import file_of, parts_of
from azero.games.parameters import PARAMETER_TYPES
from azero.games.reasons import fails_with, place_of
from azero.games.user.loading import load_class
from azero.games.user.timeouts import TimedOut, time_limit
from azero.nets.architectures.contract import Net, Prediction, with_noise
from azero.nets.runtimes.calibration import sample_positions

_TRIAL_ROWS = 8

LARGEST_WEIGHT = 1e6
"""Limit on weights in training, and on values of buffers. The spacing of float32 there is 0.06: most steps would not
change such a weight.
"""


class BrokenNet(BadInput, RuntimeError):
    """A user's net fails, or its output is not a net's. A runtime in which it fails is left out."""


class UsersNet(Net):
    """A user's module as a net.

    Attributes:
      name: as in the settings.
      has_features: whether the module has the methods `features` and `judge`.
    """

    def __init__(self, name: str, identity: str, module: nn.Module, game: Game):
        super().__init__(game)
        self.name, self.identity, self.module = name, identity, module
        self.features_shape = None
        self.has_features = all(callable(getattr(module, each, None)) for each in ("features", "judge"))

    def features(self, planes: Tensor) -> Tensor:
        """Returns the module's features; the planes if it has none."""
        planes = planes.contiguous()  # training and runtimes have the channels last
        return self._call("features", planes) if self.has_features else planes

    def judge(self, features: Tensor) -> Prediction:
        """Returns the module's output; raises BrokenNet if it is not two tensors of a net's shapes."""
        output = self._call("judge" if self.has_features else "__call__", features)
        wanted = [(len(features), self.game.num_actions), (len(features), 3)]
        found = [_describe(each) for each in output] if isinstance(output, tuple | list) else [_describe(output)]
        if found != [f"{list(shape)}" for shape in wanted]:
            raise BrokenNet(
                f"net {self.name} returns {', '.join(found) or 'nothing'} for {len(features)} positions; it should "
                f"return the logits of actions, {list(wanted[0])}, and of win, draw and loss, {list(wanted[1])}"
            )
        return Prediction(*output)

    @torch.no_grad()
    def note_features(self) -> None:
        """Notes the shape of the module's features, if it has any; raises BrokenNet if it fails."""
        if self.has_features:
            shape = self.features(torch.zeros(2, *self.game.planes_shape)).shape
            self.features_shape = (shape[1], shape[2], shape[3]) if len(shape) == 4 else None

    def _call(self, method: str, x: Tensor) -> Any:
        return _call(self.name, getattr(self.module, method), x)


def load_users_net(name: str, game: Game, is_tried: bool = True) -> UsersNet:
    """Returns a new net of the user's; raises BadInput, Untrusted, BrokenNet.

    Args:
      is_tried: whether the net is tried out, on some positions.
    """
    file, class_name, arguments = parts_of(name, "net")
    assert file is not None, "it is a user's net"
    options = _options_of(name, arguments or "")
    with torch.device("cpu"):  # the caller's may be "meta", and what a file makes when it is run stays
        kind, identity = load_class(file, class_name, "net")
    if not (isinstance(kind, type) and issubclass(kind, nn.Module)):
        raise BadInput(f"net file {file!r}: {class_name} is not a net: it should be a class {class_name}(nn.Module)")
    try:
        with time_limit():
            module = _call(name, lambda: kind(game, **options))
    except TimedOut as late:
        raise BrokenNet(f"net {name} {late}") from None
    net = UsersNet(name, identity, module, game)
    if is_tried:
        _check_tensors(net)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            _try_in_training(net)
            _try_in_play(net)
    return net


def _options_of(name: str, arguments: str) -> dict[str, object]:
    """Returns the options in the name of a net, `width=64,deep=true`; raises BadInput."""
    options: dict[str, object] = {}
    for part in filter(None, map(str.strip, arguments.split(","))):
        key, _, text = (each.strip() for each in part.partition("="))
        values = [convert(text) for pattern, convert, _ in PARAMETER_TYPES.values() if re.fullmatch(pattern, text)]
        if not key.isidentifier() or key in options or not values:
            raise BadInput(f"net {name!r}: {part!r} should be of the form option=number, once for each option")
        options[key] = values[0]
    return options


def _check_tensors(net: UsersNet) -> None:
    """Raises BrokenNet if a parameter is not float32, or a buffer has values that a run's files could not hold."""
    for name, each in net.named_parameters():
        if each.dtype != torch.float32:
            raise BrokenNet(
                f"net {net.name}: its parameter {name.removeprefix('module.')} is {each.dtype}, not float32"
            )
    for name, buffer in net.named_buffers():
        if buffer.is_floating_point() and not bool((buffer.abs() <= LARGEST_WEIGHT).all()):
            raise BrokenNet(
                f"net {net.name}: its buffer {name.removeprefix('module.')} has values beyond {LARGEST_WEIGHT:g}; "
                "make such a mask in `forward`"
            )


def _try_in_training(net: UsersNet) -> None:
    """Raises BrokenNet unless a copy of a user's net can be trained, and repeats its outputs to the last bit."""
    planes = torch.from_numpy(sample_positions(net.game)[:_TRIAL_ROWS])
    seen = planes.clone()
    if not all(each.isfinite().all() for each in _call(net.name, copy.deepcopy, net).train()(seen)):
        raise BrokenNet(f"net {net.name} returns numbers that are not finite")
    trial = with_noise(net).train()
    first, second = trial(seen), trial(seen)
    if not torch.equal(seen, planes):
        raise BrokenNet(f"net {net.name} changes the planes that it is given")
    if not all(torch.equal(one.nan_to_num(), other.nan_to_num()) for one, other in zip(first, second, strict=True)):
        raise BrokenNet(
            f"net {net.name} returns other numbers in training each time; remove randomness such as dropout: a resumed "
            "run must end as an unbroken one"
        )
    loss = sum(F.log_softmax(each, dim=1).square().sum() for each in second)
    gradients = _call(net.name, partial(torch.autograd.grad, allow_unused=True), loss, list(trial.parameters()))
    for (name, _), gradient in zip(net.named_parameters(), gradients, strict=True):
        if gradient is None:
            raise BrokenNet(f"net {net.name}: its parameter {name.removeprefix('module.')} takes no part")


@torch.no_grad()
def _try_in_play(net: UsersNet) -> None:
    """Raises BrokenNet unless the output for a position depends on it alone. Notes the shape of the net's features."""
    trial = with_noise(net).eval()
    planes = torch.from_numpy(sample_positions(net.game)[:_TRIAL_ROWS])
    for together, alone in zip(trial(planes), trial(planes[:1]), strict=True):
        if not torch.allclose(together[:1], alone, rtol=1e-3, atol=1e-4, equal_nan=True):
            raise BrokenNet(
                f"net {net.name}: its output for a position depends on the others that are evaluated with it"
            )
    trial.note_features()
    net.features_shape = trial.features_shape


def _call(name: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a user's function; raises BrokenNet, with the line, if it fails."""
    try:
        return function(*arguments)
    except BadInput:
        raise
    except Exception as error:
        place = place_of(error, str(file_of(name, "net")))
        raise BrokenNet(f"net {name} {fails_with(error, place)}") from None


def _describe(value: object) -> str:
    return f"{[int(size) for size in value.shape]}" if isinstance(value, Tensor) else type(value).__name__
