"""Ray's nodes as the host of a trainer's processes: each is an actor, and has a GPU, or the CPUs that its node has.

On CPUs an actor takes none of those that Ray counts: it works while the workers wait, and waits while they play, unless
self-play is ahead.
"""

import os
import pickle
import socket
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import ray
import ray.exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from azero.cluster.messages import Terms
from azero.cluster.on_node import listen_on_own_interface
from azero.errors import BadInput
from azero.system.machine import count_cores
from azero.system.peers import GLOO_INTERFACE, Host, Peer, PeerDied


@contextmanager
def ray_host(terms: Terms, num_processes: int, is_on_gpu: bool, taken: Counter[str]) -> Iterator[Host]:
    """Opens the cluster for a number of processes, this one among them; they end with the block.

    Args:
      taken: receives how many GPUs each node has lost to them, within the block.

    Raises BadInput if the cluster has too few GPUs.
    """
    address = ray.util.get_node_ip_address()
    with ExitStack() as stack:
        if GLOO_INTERFACE not in os.environ:
            listen_on_own_interface()
            stack.callback(os.environ.pop, GLOO_INTERFACE, None)
        resource = "GPU" if is_on_gpu else "CPU"
        nodes = {each["NodeID"]: int(each["Resources"].get(resource, 0)) for each in ray.nodes() if each["Alive"]}
        if is_on_gpu:
            places, num_threads = gpus_for(nodes, num_processes), max(1, count_cores() // num_processes)
            taken.update(places)
            stack.callback(taken.clear)
        else:
            own = ray.get_runtime_context().get_node_id()
            places, num_threads = shared_out(nodes, own, num_processes, count_cores())
        pins = [NodeAffinitySchedulingStrategy(place, soft=False) for place in places]
        options = [{"num_cpus": 0, "num_gpus": int(is_on_gpu), "scheduling_strategy": pin} for pin in pins]
        yield _RayHost(terms, _meeting(address), num_threads, options, stack)


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


def _meeting(address: str) -> str:
    """Returns a free port of this machine, as tcp://ADDRESS:PORT."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as server:
        server.bind((address, 0))
        port = server.getsockname()[1]
    return f"tcp://[{address}]:{port}" if ":" in address else f"tcp://{address}:{port}"


class _RayHost:
    def __init__(self, terms: Terms, meeting: str, num_threads: int, options: list[dict], stack: ExitStack):
        self.meeting: Path | str = meeting
        self.num_threads = num_threads
        self._terms, self._options, self._stack = terms, options, stack

    def start(self, make: Callable[[], Any], number: int) -> Peer:
        peer = _RayPeer(self._terms, make, number, self._options[number - 1])
        self._stack.callback(peer.end)
        return peer


class _RayPeer:
    def __init__(self, terms: Terms, make: Callable[[], Any], number: int, options: dict):
        self._number = number
        self._actor = ray.remote(max_restarts=0, **options)(_class_of_peer()).remote()
        self._results = deque([self._actor.make.remote(tuple(terms), pickle.dumps(make, protocol=5))])

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
                from azero.cluster.on_node import PeerOnNode
            except Exception as error:
                return f"{platform.node()} cannot import azero: {type(error).__name__}: {error}"
            self._peer = PeerOnNode()
            return self._peer.make(terms, packed)

        def call(self, method: str, packed: bytes) -> Any:
            return self._peer.call(method, packed)

    return azero_trainer
