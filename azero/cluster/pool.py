"""The pool of a cluster's workers, with the protocol of the local pool."""

import pickle
import secrets
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from azero.cluster.attempts import Attempts
from azero.cluster.backend import Backend
from azero.cluster.fingerprint import Fingerprint
from azero.cluster.ledger import Ledger
from azero.cluster.messages import Call, Terms
from azero.config.cluster import ClusterConfig
from azero.config.schema import Config
from azero.errors import BadInput
from azero.system.interrupt import interruption_waits
from azero.system.peers import Host
from azero.system.workers import Work, WorkersDied

_POLL_S = 0.1

_NODES_EVERY_S = 1.0
"""How often the cluster is asked for its nodes."""


class ClusterPool:
    """Workers on the nodes of a cluster, which may join and leave.

    Args:
      tell: is called with a line when a worker has died, or a node is refused.
      advice: what to do if a task is given up, for the end of a line.
    """

    plays_matches = works_beside = True

    def __init__(
        self,
        backend: Backend,
        config: ClusterConfig,
        tell: Callable[[str], None] = lambda text: None,
        advice: str = "",
    ):
        self._backend, self._config, self._tell, self._advice = backend, config, tell, advice
        self._ledger = Ledger()
        self._slots: dict[str, int] = {}
        self._asked = -_NODES_EVERY_S
        self._seen: set[str] = set()  # all nodes that have had a worker
        self._is_waiting_told = False
        self._figures_before, self._figures_at = Ledger(), time.monotonic()
        self._spent_s = 0.0

    def __enter__(self) -> "ClusterPool":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leaves the cluster as it is: whoever has connected to it ends the connection."""

    @property
    def is_mixed(self) -> bool:
        """Whether each machine runs nets in its own fastest way, so that results depend on it."""
        return self._config.mixed

    @property
    def num_deaths(self) -> int:
        """Number of workers that have died at tasks so far."""
        return self._ledger.deaths

    def run(
        self,
        work: Work,
        tasks: Sequence[Any],
        on_progress: Callable[[int], None] = lambda num: None,
        shared: Any = None,
        title: str = "task",
    ) -> Generator[tuple[int, Any]]:
        """Runs all tasks; yields the place of each and its result as they finish.

        Args:
          on_progress: is called with what the work has reported, when a task is done.
          shared: what all tasks have in common. Each node receives it once.
          title: what the tasks are called in Ray's dashboard.

        Raises:
          BadInput: several workers have failed at one task, or the cluster has had no node that is not refused.
          Exception: what `work` has raised.
        """
        if not tasks:
            return
        begin = time.perf_counter()
        name, packed = self._pack(work, shared)
        attempts = Attempts(
            self._backend,
            name,
            self._backend.share(self._terms(), name, packed),
            [pickle.dumps(task, protocol=5) for task in tasks],
            [f"{title} {place + 1}/{len(tasks)}" for place in range(len(tasks))],
            self._ledger,
            self._tell,
            self._config.deadline_s,
        )
        self._ledger.add(bytes_out=len(packed) * max(1, len(self._usable())))
        try:
            with interruption_waits() as interrupted:
                while not attempts.is_over:
                    slots = self._usable()
                    attempts.begin(sum(slots.values()))
                    for answer in attempts.receive(_POLL_S):
                        if answer.kind == "error":
                            raise answer.value.error()
                        on_progress(answer.progress)
                        yield answer.place, answer.value
                    attempts.repeat_late_ones(slots)
                    if interrupted():
                        raise KeyboardInterrupt
        except WorkersDied as error:
            raise WorkersDied("; ".join(filter(None, [str(error), self._advice]))) from None
        finally:
            attempts.end()
            self._spent_s += time.perf_counter() - begin

    def launch(self, num_processes: int) -> AbstractContextManager[Host]:
        """Opens the cluster as the host of a trainer's processes, this one among them."""
        return self._backend.launch(self._terms(), num_processes)

    def settings_of_workers(self, config: Config) -> Config:
        """Returns the settings with which each worker plays games of a run: all cores that it sees are its own."""
        device = config.device.for_any_machine() if self.is_mixed else config.device
        play = config.selfplay.model_copy(update={"num_workers": 1})
        return config.model_copy(update={"device": device, "selfplay": play})

    def figures(self) -> dict[str, float]:
        """Returns metrics by name: of the cluster as it is now, and of what has happened since the last call."""
        before, now, at = self._figures_before, self._ledger.counts(), time.monotonic()
        done, spent_s, passed_s = now.done - before.done, self._spent_s, max(at - self._figures_at, 1e-9)
        self._figures_before, self._figures_at, self._spent_s = now, at, 0.0
        slots = self._usable()
        num_workers, busy_s = sum(slots.values()), now.busy_s - before.busy_s
        figures: dict[str, float] = {
            "cluster/nodes": len(slots),
            "cluster/workers": num_workers,
            "cluster/tasks_again": now.again - before.again,
            "cluster/refused_nodes": len(now.refused),
            "cluster/received_bytes": now.bytes_in - before.bytes_in,
            "cluster/sent_bytes": now.bytes_out - before.bytes_out,
            "cluster/queue_s": (now.queued_s - before.queued_s) / max(1, now.begun - before.begun),
            "cluster/waiting_share": 1 - min(1.0, busy_s / (max(1, num_workers) * passed_s)),
        }
        if done and spent_s:
            figures["cluster/most_games_per_s_of_a_node"] = max(done.values()) / spent_s
            figures["cluster/fewest_games_per_s_of_a_node"] = min(done.values()) / spent_s
        return figures

    def _terms(self) -> Terms:
        return Terms(tuple(Fingerprint.here()), self._config.mixed)

    def _pack(self, work: Work, shared: Any) -> tuple[str, bytes]:
        name = secrets.token_hex(16)
        return name, pickle.dumps(Call(name, work, shared), protocol=5)

    def _usable(self) -> dict[str, int]:
        """Returns the workers of each node that is not refused; raises BadInput if all nodes so far are refused."""
        if time.monotonic() - self._asked >= _NODES_EVERY_S:
            self._slots, self._asked = self._backend.slots(), time.monotonic()
            self._seen |= {node for node, num in self._slots.items() if num}
        refused = self._ledger.refused
        usable = {node: num for node, num in self._slots.items() if node not in refused and num}
        if self._seen and self._seen <= refused.keys():
            how = next(iter(refused.values()))
            raise BadInput(f"all nodes of the cluster are refused; one of them {how}")
        if not usable and not self._is_waiting_told:
            self._tell("the cluster has no node with a CPU or GPU for a worker; waiting for one")
        self._is_waiting_told = not usable
        return usable
