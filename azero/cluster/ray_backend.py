"""Ray as a backend: attempts are Ray's tasks, which Ray places, so that nodes may join and leave.

A task is a generator of two messages: that it has begun, and where; and its answer, or why its node is refused.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import ray
import ray.exceptions

from azero.cluster.backend import Death, Event
from azero.cluster.messages import Begun, Message, Refused, Terms
from azero.cluster.ray_host import ray_host
from azero.system.peers import Host

_FETCH_S = 120.0
"""How long the bytes of an answer may take."""

_NODE_ID = "ray.io/node-id"

_OF_NODE = (
    ray.exceptions.NodeDiedError,
    ray.exceptions.ObjectLostError,
    ray.exceptions.GetTimeoutError,
    ray.exceptions.RpcError,
)


class RayBackend:
    """The cluster to which this process is connected.

    Args:
      cpus_per_worker: CPUs that each worker takes, if nets run on CPUs.
      is_on_gpu: whether each worker takes a GPU.
    """

    def __init__(self, cpus_per_worker: float, is_on_gpu: bool):
        self._cpus, self._is_on_gpu = cpus_per_worker, is_on_gpu
        self._taken = Counter[str]()  # GPUs of nodes that the trainer has
        needs = {"num_gpus": 1, "num_cpus": 0} if is_on_gpu else {"num_cpus": cpus_per_worker}
        self._task = ray.remote(max_retries=0, num_returns="streaming", **needs)(_task_of_worker())

    def slots(self) -> dict[str, int]:
        """Returns how many tasks each living node can do at the same time."""
        living = [node for node in ray.nodes() if node["Alive"]]
        return {node["NodeID"]: self._fitting(node["NodeID"], node["Resources"]) for node in living}

    def _fitting(self, node: str, resources: dict[str, float]) -> int:
        if self._is_on_gpu:
            return max(0, int(resources.get("GPU", 0)) - self._taken[node])
        return int(resources.get("CPU", 0) / self._cpus + 1e-9)

    def share(self, terms: Terms, name: str, packed: bytes) -> object:
        """Puts what tasks have in common into the object store; each node fetches it once."""
        return tuple(terms), name, ray.put(packed)

    def submit(self, shared: Any, place: int, task: bytes, title: str, avoided: Collection[str]) -> Hashable:
        """Begins an attempt at a task, on any node but the avoided ones; returns its handle."""
        terms, name, packed = shared
        selector = {_NODE_ID: f"!in({','.join(sorted(avoided))})"} if avoided else None
        return self._task.options(name=title, label_selector=selector).remote(terms, name, packed, place, task)

    def wait(self, attempts: Sequence[Hashable], timeout_s: float) -> list[Event]:
        """Returns what has happened since the last call; waits until something happens, but not longer than that."""
        if not attempts:
            return []
        ready, _ = ray.wait(list(attempts), num_returns=1, timeout=timeout_s, fetch_local=False)
        if ready:
            ready, _ = ray.wait(list(attempts), num_returns=len(attempts), timeout=0, fetch_local=False)
        return [Event(each, _next_of(each)) for each in ready]

    def cancel(self, attempt: Hashable) -> None:
        """Ends an attempt, and the process in which it runs."""
        ray.cancel(attempt, force=True)

    def launch(self, terms: Terms, num_processes: int) -> AbstractContextManager[Host]:
        """Opens the cluster's nodes as the host of a trainer's processes, this one among them."""
        return ray_host(terms, num_processes, self._is_on_gpu, self._taken)


def _next_of(attempt: Any) -> Message | Death:
    """Returns the next message of an attempt, which has one, or how it has ended without an answer."""
    try:
        message = ray.get(next(attempt), timeout=_FETCH_S)
        plain = {1: Begun, 3: Refused}
        return plain[len(message)](*message) if type(message) is tuple else message
    except StopIteration:
        return Death("ended without an answer", False)
    except _OF_NODE as error:
        return Death(f"was lost with its node ({type(error).__name__})", True)
    except ray.exceptions.OutOfMemoryError:
        return Death("was ended by Ray, since its machine ran out of memory", False)
    except ray.exceptions.WorkerCrashedError:
        return Death("was killed", False)
    except ray.exceptions.RayError as error:
        return Death(f"failed ({_last_line(error)})", False)


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1] if lines else type(error).__name__


def _task_of_worker() -> Any:
    """Returns the function that workers run. Being local, it travels by value, so a node without azero can say so."""

    def azero_task(terms: tuple, name: str, packed: bytes, place: int, task: bytes) -> Iterator[Any]:
        import platform

        import ray

        node = ray.get_runtime_context().get_node_id()
        yield (node,)  # from now on the deadline counts
        try:
            from azero.cluster.on_node import attempt
        except Exception as error:
            yield node, platform.node(), f"cannot import azero: {type(error).__name__}: {error}"
            return
        yield attempt(terms, name, packed, place, task)

    return azero_task
