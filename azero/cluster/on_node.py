"""A worker in a process of Ray's: what it finds there, and the two messages of an attempt."""

import os
from collections.abc import Iterator
from pathlib import Path

import ray

from azero.cluster.messages import Begun, Message
from azero.cluster.worker import check_machine, do_task
from azero.system.parcels import unpack_into


def attempt(terms: tuple, name: str, packed: bytes, place: int, task: bytes) -> Iterator[Message]:
    """Yields that a task has begun, and its answer; or only why this node is refused. See `do_task`."""
    context = ray.get_runtime_context()
    node = context.get_node_id()
    if refused := check_machine(terms, node):
        yield refused
        return
    yield Begun(node)
    unpack_into(Path(context.get_temp_dir()) / context.get_session_name() / "azero-parcels")
    _take_share_of_cores(context.get_accelerator_ids().get("GPU", []))
    yield do_task(name, packed, place, task, node)


def _take_share_of_cores(gpus: list[str]) -> None:
    """Gives a worker with a GPU its share of the node's cores, which `count_cores` then counts."""
    if not gpus or not hasattr(os, "sched_setaffinity"):
        return
    own = ray.get_runtime_context().get_node_id()
    num_gpus = next(int(node["Resources"].get("GPU", 1)) for node in ray.nodes() if node["NodeID"] == own)
    cores = range(os.cpu_count() or 1)
    os.sched_setaffinity(0, cores[int(gpus[0]) % num_gpus :: num_gpus] or cores)
