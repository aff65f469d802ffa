"""The ranks of a trainer as a process group, which shares weights and adds gradients up."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor

from azero.system.process_backend import GLOO_INTERFACE
from azero.training.learning.losses import map_losses
from azero.training.learning.passes import Pass

PATIENCE = timedelta(minutes=2)
"""How long rank 0 waits for other ranks' part of a step, which takes seconds. They wait for rank 0 without end: whoever
launched them ends them.
"""

_ENDLESS = timedelta(days=365)
_CHUNK = 1 << 16
"""Numbers that a rank adds and sends on at once, so that ranks add different chunks side by side."""

Rendezvous = Path | str
"""Where ranks meet: a file that does not exist yet, or tcp://HOST:PORT, where rank 0 is HOST."""


class GroupBroken(Exception):
    """A rank has left the group, or does not answer."""


class Group:
    """R ranks of a process group. All of them call the same methods in the same order.

    Rank 0 has the weights, and others get them before each step. So weights cannot drift apart, and only rank 0 has
    optimiser and average. Ranks have consecutive passes of a batch. Their gradients are added in the order of the
    passes: rank 0 sends the sum of its own to rank 1, which adds its own one by one and sends the sum on; the last one
    sends it back to rank 0. On a CPU the sum is therefore the same for any number of ranks, bit for bit. On GPUs it is
    a reduction of NCCL, in an order that depends on their number.
    """

    def __init__(
        self, rendezvous: Rendezvous, rank: int, num_ranks: int, device: torch.device, is_in_order: bool | None = None
    ):
        """Joins the group; returns when all ranks have joined. By default, sums are in order on a CPU only."""
        self.rank, self.num_ranks, self.device = rank, num_ranks, device
        self.is_in_order = device.type == "cpu" if is_in_order is None else is_in_order
        store = dist.FileStore(str(rendezvous), num_ranks) if isinstance(rendezvous, Path) else None
        with _broken_is_named(), _loopback_only(rendezvous):
            dist.init_process_group(
                "nccl" if device.type == "cuda" else "gloo",
                store=store,
                init_method=None if store else str(rendezvous),
                rank=rank,
                world_size=num_ranks,
                timeout=_ENDLESS if rank else PATIENCE,
            )

    def leave(self) -> None:
        """Leaves the group. Ranks that wait for this one get an error."""
        dist.destroy_process_group()

    def share_weights(self, parameters: Sequence[Tensor]) -> None:
        """Gives all ranks the parameters of rank 0."""
        with _broken_is_named(), torch.no_grad():
            flat = torch.cat([each.detach().reshape(-1) for each in parameters])
            dist.broadcast(flat, src=0)
            if self.rank:
                torch._foreach_copy_(list(parameters), _split(flat, parameters))

    def add_up(self, passes: Sequence[Pass]) -> Pass:
        """Returns the sum of all ranks' passes; only on rank 0 it is complete. Each rank has a pass or more."""
        own = [_flat(each) for each in passes]
        total = torch.zeros_like(own[0])
        with _broken_is_named():
            if self.is_in_order:
                self._add_in_order(total, own)
            else:
                for each in own:
                    total += each
                dist.reduce(total, dst=0)
        losses, gradients = passes[0]
        numbers = iter(total[-len(losses.by_name()) :])
        return Pass(map_losses(lambda loss: next(numbers), losses), _split(total, gradients))

    def _add_in_order(self, total: Tensor, own: Sequence[Tensor]) -> None:
        previous, following = (self.rank - 1) % self.num_ranks, (self.rank + 1) % self.num_ranks
        chunks = total.split(_CHUNK)
        sent: list[dist.Work | None] = []
        for number, chunk in enumerate(chunks):
            if self.rank:
                dist.recv(chunk, previous)
            for each in own:
                chunk += each.narrow(0, number * _CHUNK, len(chunk))
            sent.append(dist.isend(chunk, following))
        for work in sent:
            if work:
                work.wait()
        if not self.rank:
            for chunk in chunks:
                dist.recv(chunk, previous)


def _flat(one: Pass) -> Tensor:
    """Returns gradients and losses of a pass as one vector."""
    return torch.cat([*(each.reshape(-1) for each in one.gradients), torch.stack([*one.losses.by_name().values()])])


def _split(flat: Tensor, like: Sequence[Tensor]) -> list[Tensor]:
    """Returns views of a vector in the shapes of `like`, one after another."""
    parts = flat[: sum(each.numel() for each in like)].split([each.numel() for each in like])
    return [part.view(each.shape) for part, each in zip(parts, like, strict=True)]


@contextmanager
def _broken_is_named() -> Iterator[None]:
    """Raises GroupBroken in place of torch's errors of a group, whose messages are for its developers."""
    try:
        yield
    except RuntimeError as error:
        raise GroupBroken(str(error).splitlines()[0]) from error


@contextmanager
def _loopback_only(rendezvous: Rendezvous) -> Iterator[None]:
    """Within the block, gloo listens on the loopback interface if the ranks meet at a file, so on one host.

    By default it would listen on the address of the host's name. If the user's variable names an interface, that one
    counts.
    """
    name = {"linux": "lo", "darwin": "lo0"}.get(sys.platform) if isinstance(rendezvous, Path) else None
    is_set_here = name is not None and GLOO_INTERFACE not in os.environ
    if is_set_here and name:
        os.environ[GLOO_INTERFACE] = name
    try:
        yield
    finally:
        if is_set_here:
            del os.environ[GLOO_INTERFACE]
