"""The further ranks of a trainer. Rank 0 is the trainer: it starts them, and sends them the replay window.

A further rank computes its passes of each batch, from its own copy of the replay window.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.distributed as dist

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import identity_of
from azero.games.sizes import games_of
from azero.games.user.trust import trust_identity
from azero.nets.devices import pick_device, take_gpu
from azero.selfplay.data.canvas import Canvas
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.replay import Replay, Window
from azero.selfplay.data.samples import targets_of
from azero.selfplay.data.shard import SizedShard
from azero.selfplay.tasks import pack_files, with_files_here
from azero.system.machine import keep_freed_memory
from azero.system.packed_files import PackedFiles
from azero.system.process_backend import Launcher, Peer, PeerDied
from azero.system.tensor_files import Tensors
from azero.training.learning.group import Group, GroupBroken, Rendezvous
from azero.training.learning.learner import Learner, heads_of
from azero.training.learning.passes import Passes, count_passes, share_of
from azero.training.learning.trainer import Trainer

_PATIENCE_S = 600.0
"""How long to wait for a call of a rank: it starts on a node, or reads the replay window."""

_SECONDS_FOR_CAUSE = 10.0
"""How long to look for the cause of a broken group. The process that failed first may end a little later."""


class Ranks:
    """The further ranks of a trainer. Without peers there are none, and methods do nothing."""

    def __init__(self, peers: Sequence[Peer] = ()):
        self._peers = peers
        self._sent: list[str] = []  # names of the shards in the peers' replay window

    @contextmanager
    def at_work(self, replay: Replay, iteration: int, steps: range) -> Iterator[None]:
        """Within the block, ranks take part in these steps of an iteration, all of which the trainer takes.

        Raises BadInput if a rank has ended, or does not answer.
        """
        shards = replay.sized_shards()
        new = {name: shard for name, shard in shards.items() if name not in self._sent}
        self._sent = list(shards)
        for peer in self._peers:
            peer.call("follow", self._sent, new)
            peer.call("learn", iteration, steps)
        self._take_results()  # of "follow": the first step needs all ranks
        try:
            yield
        except GroupBroken:
            raise self._cause() from None
        self._take_results()

    def _take_results(self) -> None:
        """Waits for the result of one call of each rank."""
        for peer in self._peers:
            _result_of(peer)

    def _cause(self) -> Exception:
        """Returns the error that has broken the group."""
        for peer in self._peers:
            try:
                peer.result(_SECONDS_FOR_CAUSE / len(self._peers))
            except (GroupBroken, TimeoutError):
                continue
            except Exception as error:
                return _as_bad_input(error)
        return _as_bad_input(TimeoutError("a process of the trainer does not answer"))


ALONE = Ranks()


@contextmanager
def joined_ranks(
    config: Config, game: Game, trainer: Trainer, lessons: Lessons | None, launch: Launcher
) -> Iterator[Ranks]:
    """Starts the ranks that the settings ask for beside the trainer, which is rank 0; they end with the block.

    Call it when the trainer has its weights. Raises BadInput if a rank cannot be started.
    """
    num_ranks = config.cluster.trainers
    if num_ranks == 1:
        yield ALONE
        return
    identities = identity_of(game.rules), trainer.net.identity
    tensors = {name: tensor.cpu().numpy() for name, tensor in trainer.learner.state_dict().items()}
    with launch(num_ranks) as host:
        num_threads = config.device.threads or host.num_threads
        trainer.passes.use_threads(num_threads)
        plan = RankPlan(config, identities, tensors, lessons, num_threads, pack_files(config))
        peers = [host.start(partial(Rank, plan, rank, num_ranks), rank) for rank in range(1, num_ranks)]
        for peer in peers:
            _result_of(peer)
        for peer in peers:
            peer.call("join", host.rendezvous)
        try:
            trainer.group = Group(host.rendezvous, 0, num_ranks, trainer.device)
        except GroupBroken:
            raise _as_bad_input(TimeoutError("the processes of the trainer do not reach each other")) from None
        try:
            for peer in peers:
                _result_of(peer)
            yield Ranks(peers)
        finally:
            trainer.group.leave()
            trainer.group = None


def check_ranks(config: Config) -> None:
    """Raises BadInput if the ranks that the settings ask for are not possible: a batch has too few passes for them."""
    num_ranks, size = config.cluster.trainers, config.training.batch_size
    device = pick_device(config.device.device)
    if num_ranks > 1 and (device.type not in ("cpu", "cuda") or not dist.is_available()):
        raise BadInput(f"cluster.trainers = {num_ranks} is not possible with {device.type} and this torch; use 1")
    num_passes = count_passes(size, device, num_ranks)
    if num_ranks > num_passes:
        raise BadInput(
            f"cluster.trainers = {num_ranks} is more than the {num_passes} passes that a batch of "
            f"training.batch_size = {size} has"
        )


def _result_of(peer: Peer) -> None:
    """Waits for the result of a call; raises BadInput if the rank has ended, or does not answer."""
    try:
        peer.result(_PATIENCE_S)
    except Exception as error:
        raise _as_bad_input(error) from None


def _as_bad_input(error: Exception) -> Exception:
    """Returns an error in one line that says how to go on, in place of one that has no line of its own."""
    if isinstance(error, PeerDied | TimeoutError):
        return BadInput(f"{error}; the run is saved: go on with --resume")
    return error


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
