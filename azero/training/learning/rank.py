"""A further rank of the trainer: it computes its passes of each batch, from its own copy of the replay window."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games.names import identity_of
from azero.games.sizes import games_of
from azero.games.user.trust import trust_identity
from azero.nets.devices import pick_device, take_gpu
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import SizedShard
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.tasks import with_files_here
from azero.system.machine import keep_freed_memory
from azero.system.packed_files import PackedFiles
from azero.system.tensor_files import Tensors
from azero.training.learning.group import Group, Rendezvous
from azero.training.learning.learner import Learner, heads_of
from azero.training.learning.passes import Passes, count_passes, share_of


@dataclass(frozen=True)
class RankPlan:
    """What all further ranks have in common. It is plain data, without a path of this machine.

    Attributes:
      config: the run's settings; none of its arithmetic is "auto".
      identities: of the sources of a user's own game and net, which may run; empty for azero's own.
      learner: the learner's tensors when the ranks begin.
      lessons: the run's lessons.
      num_threads: of each rank.
      files: those that the settings name, from `pack_files`.
    """

    config: Config
    identities: tuple[str, str]
    learner: Tensors
    lessons: Lessons | None
    num_threads: int
    files: PackedFiles


class Rank:
    """Rank `rank` of a trainer's `num_ranks`, from 1 on. Rank 0 is the trainer itself, which calls its methods."""

    def __init__(self, plan: RankPlan, rank: int, num_ranks: int):
        """Makes the learner; raises BadInput if a user's own game or net has changed since the run began."""
        keep_freed_memory()
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.set_num_threads(1)
        take_gpu(rank)
        self.config = with_files_here(plan.config, plan.files)
        for identity in filter(None, plan.identities):
            trust_identity(identity)
        games = games_of(self.config.game)
        device = pick_device(self.config.device.device)
        learner = Learner(self.config, games[-1]).to(device)
        if (identity_of(games[-1].rules), learner.net.identity) != plan.identities:
            raise BadInput("the game or the net has changed since the run began; undo that, and continue with --resume")
        learner.load_state_dict({name: torch.from_numpy(array) for name, array in plan.learner.items()})
        canvas = Canvas(games) if len(games) > 1 else None
        self.passes = Passes(learner, self.config, [device], canvas)
        self.passes.use_threads(plan.num_threads)
        targets = targets_of(self.config.training, heads_of(self.config.training, games[-1]))
        if plan.lessons is not None:
            plan.lessons.game = games[-1]
        self.replay = Replay(games, Window(1), targets, 0, plan.lessons)
        self.device, self.rank, self.num_ranks = device, rank, num_ranks

    def join(self, rendezvous: Rendezvous) -> None:
        """Joins the other ranks."""
        self.group = Group(rendezvous, self.rank, self.num_ranks, self.device)

    def follow(self, names: Sequence[str], new: Mapping[str, SizedShard]) -> None:
        """Takes over rank 0's replay window, whose shards are `names`; those that are not here yet are `new`."""
        self.replay.follow(names, new)

    def learn(self, iteration: int, steps: range) -> None:
        """Takes part in steps of an iteration, those that rank 0 takes. If it fails, the other ranks get an error."""
        size = self.config.training.batch_size
        num_passes = count_passes(size, self.device, self.num_ranks)
        rows, own_passes = share_of(self.rank, self.num_ranks, size, num_passes)
        parameters = list(self.passes.twins[0].parameters())
        try:
            for sample in self.replay.samples(size, generators_of(self.config.seed, iteration, steps), rows):
                self.group.share_weights(parameters)
                self.group.add_up(self.passes.run(sample, size, own_passes))
        except BaseException:
            self.group.leave()
            raise


def generators_of(seed: int, iteration: int, steps: range) -> Iterator[np.random.Generator]:
    """Yields the generator of each step's batch. It does not depend on the steps before."""
    return (np.random.default_rng([seed, iteration, step]) for step in steps)
