"""The further ranks of a trainer, as rank 0 sees them: it starts them, and sends them the replay window."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch.distributed as dist

from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import Game
from azero.games.names import identity_of
from azero.nets.devices import pick_device
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.replay import Replay
from azero.selfplay.tasks import pack_files
from azero.system.backend import Launcher, Peer, PeerDied
from azero.training.learning.group import Group, GroupBroken
from azero.training.learning.passes import count_passes
from azero.training.learning.rank import Rank, RankPlan
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
