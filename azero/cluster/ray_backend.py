"""Ray as a backend. Attempts are Ray's tasks, which Ray places, so that nodes may join and leave.

A task is a generator of two messages: that it has begun, and where; and its answer, or why its node is refused.

Each rank of a trainer is an actor, and has a GPU, or the CPUs that its node has. On CPUs an actor takes none of those
that Ray counts: it works while the workers wait, and waits while they play, unless self-play is ahead.
"""

import os
import pickle
import socket
from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from azero.cluster.fingerprint import Fingerprint, Terms
from azero.cluster.node_side import listen_on_own_interface
from azero.errors import BadInput
from azero.system.machine import count_cores
from azero.system.process_backend import GLOO_INTERFACE, MOST_AHEAD, Begun, Death, Event, Host, Peer, PeerDied, Refused
from azero.system.worker_side import Answer

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
      is_mixed: whether nodes may differ in libraries and CPUs.
    """

    is_cluster = True
    most_ahead = MOST_AHEAD

    def __init__(self, cpus_per_worker: float, is_on_gpu: bool, is_mixed: bool = False):
        self._cpus, self._is_on_gpu, self.is_mixed = cpus_per_worker, is_on_gpu, is_mixed
        self._taken = Counter[str]()  # GPUs of nodes that ranks have
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

    def _terms(self) -> tuple:
        return tuple(Terms(tuple(Fingerprint.here()), self.is_mixed))

    def share(self, name: str, packed: bytes) -> object:
        """Puts what tasks have in common into the object store; each node fetches it once."""
        return self._terms(), name, ray.put(packed)

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

    @contextmanager
    def launch(self, num_processes: int) -> Iterator[Host]:
        """Opens the nodes as the host of ranks; raises BadInput if the cluster has too few GPUs."""
        with ExitStack() as stack:
            if GLOO_INTERFACE not in os.environ:
                listen_on_own_interface()
                stack.callback(os.environ.pop, GLOO_INTERFACE, None)
            resource = "GPU" if self._is_on_gpu else "CPU"
            nodes = {each["NodeID"]: int(each["Resources"].get(resource, 0)) for each in ray.nodes() if each["Alive"]}
            if self._is_on_gpu:
                places, num_threads = gpus_for(nodes, num_processes), max(1, count_cores() // num_processes)
                self._taken.update(places)
                stack.callback(self._taken.clear)
            else:
                own = ray.get_runtime_context().get_node_id()
                places, num_threads = shared_out(nodes, own, num_processes, count_cores())
            pins = [NodeAffinitySchedulingStrategy(place, soft=False) for place in places]

            def start(make: Callable[[], Any], number: int) -> Peer:
                place = {"num_gpus": int(self._is_on_gpu), "scheduling_strategy": pins[number - 1]}
                peer = _RayPeer(self._terms(), make, number, place)
                stack.callback(peer.end)
                return peer

            yield Host(_rendezvous(ray.util.get_node_ip_address()), num_threads, start)

    def end(self) -> None:
        """Leaves the cluster as it is: whoever has connected to it ends the connection."""


def _next_of(attempt: Any) -> Begun | Answer | Refused | Death:
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
            from azero.cluster.node_side import attempt
        except Exception as error:
            yield node, platform.node(), f"cannot import azero: {type(error).__name__}: {error}"
            return
        yield attempt(terms, name, packed, place, task)

    return azero_task


# --- ranks ---


def gpus_for(nodes: Mapping[str, int], num_processes: int) -> list[str]:
    """Returns the nodes of processes 1 to N - 1, each of which takes a GPU; raises BadInput if there are too few.

    Args:
      nodes: the GPUs of each node.
    """
    num_all, num_wanted = sum(nodes.values()), num_processes - 1
    if num_all <= num_wanted:
        raise BadInput(
            f"cluster.trainers = {num_processes} needs {num_wanted} GPUs beside that of this process, and self-play "
            f"needs one; the cluster has {num_all}"
        )
    left = dict(nodes)
    places = []
    for _ in range(num_wanted):
        places.append(max(left, key=lambda node: left[node]))
        left[places[-1]] -= 1
    return places


def shared_out(nodes: Mapping[str, int], own: str, num_processes: int, num_cores: int) -> tuple[list[str], int]:
    """Returns the nodes of processes 1 to N - 1, and how many threads each process can use.

    Args:
      nodes: the CPUs that each node has for others.
      own: this process's node; its cores are this process's, too.
      num_cores: of this machine.
    """
    cores = {**nodes, own: max(num_cores, nodes.get(own, 0))}
    count, places = Counter({own: 1}), []
    for _ in range(1, num_processes):
        able = [node for node in nodes if nodes[node]] or [own]
        places.append(max(able, key=lambda node: (cores[node] / (count[node] + 1), node != own)))
        count[places[-1]] += 1
    return places, max(1, min(cores[node] // num for node, num in count.items()))


def _rendezvous(address: str) -> str:
    """Returns a free port of this machine, as tcp://ADDRESS:PORT."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as server:
        server.bind((address, 0))
        port = server.getsockname()[1]
    return f"tcp://[{address}]:{port}" if ":" in address else f"tcp://{address}:{port}"


class _RayPeer:
    def __init__(self, terms: tuple, make: Callable[[], Any], number: int, place: dict):
        self._number = number
        self._actor = ray.remote(max_restarts=0, num_cpus=0, **place)(_class_of_peer()).remote()
        self._results = deque([self._actor.make.remote(terms, pickle.dumps(make, protocol=5))])

    def call(self, method: str, *arguments: Any) -> None:
        self._results.append(self._actor.call.remote(method, pickle.dumps(arguments, protocol=5)))

    def result(self, timeout_s: float) -> Any:
        who = f"process {self._number} of the trainer"
        try:
            answer = ray.get(self._results[0], timeout=timeout_s)
        except ray.exceptions.GetTimeoutError:
            raise TimeoutError(f"{who} does not answer") from None
        except ray.exceptions.RayError as error:
            raise PeerDied(f"{who} has ended, or its node has ({type(error).__name__})") from None
        self._results.popleft()
        if isinstance(answer, str):
            raise BadInput(f"the trainer cannot use a node: {answer}")
        is_done, value = answer[0], pickle.loads(answer[1])
        if is_done:
            return value
        raise value.error()

    def end(self) -> None:
        """Ends the process."""
        ray.kill(self._actor)


def _class_of_peer() -> type:
    """Returns the class of the actors, whose name is in Ray's dashboard.

    Being local, it travels by value, so a node without azero can say so.
    """

    class azero_trainer:
        def make(self, terms: tuple, packed: bytes) -> Any:
            import platform

            try:
                from azero.cluster.node_side import PeerOnNode
            except Exception as error:
                return f"{platform.node()} cannot import azero: {type(error).__name__}: {error}"
            self._peer = PeerOnNode()
            return self._peer.make(terms, packed)

        def call(self, method: str, packed: bytes) -> Any:
            return self._peer.call(method, packed)

    return azero_trainer
