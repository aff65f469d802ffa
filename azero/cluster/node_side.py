"""What Ray's processes do on a node: a worker attempts a task, and a rank of a trainer does calls."""

import os
import pickle
import sys
import zlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import ray

from azero.cluster.fingerprint import check_machine
from azero.system.packed_files import unpack_into
from azero.system.process_backend import GLOO_INTERFACE, Refused
from azero.system.worker_side import Answer, CarriedError, do_task


def attempt(terms: tuple, name: str, packed: bytes, place: int, task: bytes) -> Answer | tuple[str, str, str]:
    """Returns the answer to a task, or, as plain data, why this node is refused. See `do_task`."""
    if refused := _join(terms):
        return refused.node, refused.host, refused.how
    return do_task(name, packed, place, task, ray.get_runtime_context().get_node_id())


class PeerOnNode:
    """An object of a driver's in this process. Its calls are done one after another; after an error it is gone."""

    def make(self, terms: tuple, packed: bytes) -> tuple[bool, bytes] | str:
        """Makes the object by a function; returns (True, None), (False, an error), or why this node is refused.

        Args:
          packed: the function, pickled. What is returned is pickled, too.
        """
        if refused := _join(terms):
            return f"{refused.host} {refused.how}"
        if GLOO_INTERFACE not in os.environ:
            listen_on_own_interface()

        def make() -> None:
            self._own = pickle.loads(packed)()

        return self._answer(make)

    def call(self, method: str, packed: bytes) -> tuple[bool, bytes]:
        """Calls a method with pickled arguments; returns (True, its result), or (False, an error), pickled."""
        return self._answer(lambda: getattr(self._own, method)(*pickle.loads(packed)))

    def _answer(self, do: Callable[[], Any]) -> tuple[bool, bytes]:
        try:
            return True, pickle.dumps(do(), protocol=5)
        except Exception as error:
            self._own = None
            return False, pickle.dumps(CarriedError.of(error, "In another process"), protocol=5)


def listen_on_own_interface() -> None:
    """Makes gloo listen on the interface with this node's address.

    By default it takes the address of the host's name, which may be another one.
    """
    import psutil  # Ray brings it

    address = ray.util.get_node_ip_address()
    for name, own in psutil.net_if_addrs().items():
        if address in (each.address for each in own):
            os.environ[GLOO_INTERFACE] = name


def _join(terms: tuple) -> Refused | None:
    """Settles where this process writes packed files, and which cores it may use, if it may work for the driver.

    Otherwise it returns why this node is refused.
    """
    context = ray.get_runtime_context()
    own = context.get_node_id()
    if refused := check_machine(terms, own):
        return refused
    unpack_into(Path(context.get_temp_dir()) / context.get_session_name() / "azero-files")
    if gpus := context.get_accelerator_ids().get("GPU", []):
        num_gpus = next(int(node["Resources"].get("GPU", 1)) for node in ray.nodes() if node["NodeID"] == own)
        take_share_of_cores(gpus[0], num_gpus)
    return None


@cache
def take_share_of_cores(gpu: str, num_gpus: int) -> None:
    """Gives a process with a GPU its share of the cores that it may use, which `count_cores` then counts.

    Args:
      gpu: its number or its name, such as a UUID.
      num_gpus: of the node.
    """
    if sys.platform == "linux":
        number = int(gpu) if gpu.isdecimal() else zlib.crc32(gpu.encode())
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[number % num_gpus :: num_gpus] or cores)
