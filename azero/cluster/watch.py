"""The ends of a process that uses a cluster: the cluster's head ends, this process is terminated, or it is done.

If the head ends, this process says so, before Ray ends it without a line. Local clusters leave no process behind.
"""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import ray

from azero.cluster.local_processes import LocalProcesses
from azero.system.console import say

_EVERY_S, _PATIENCE_S = 0.25, 5.0

_MOST_FAILURES = {"head": 12, "node here": 2}
"""If so many calls in a row have failed, it has ended. Ray ends this process soon after its node, without a line."""


@contextmanager
def watched(local: LocalProcesses | None, advice: str) -> Iterator[None]:
    """Watches, within the block, the head and this machine's node of the cluster to which this process is connected.

    If one of them ends, a line says so, and the process exits with code 2; a run's files are whole at any time.

    Args:
      local: the processes of a cluster that was started here, which then end, too.
      advice: what to do then, for the end of the line.
    """
    context = ray.get_runtime_context()
    own = next(node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
    places = {"head": context.gcs_address, "node here": f"{own['NodeManagerAddress']}:{own['NodeManagerPort']}"}
    is_over = threading.Event()
    if local:
        local.note()
    threading.Thread(target=_watch, args=(places, is_over, local, advice), daemon=True).start()
    try:
        yield
    finally:
        is_over.set()


def _watch(places: dict[str, str], is_over: threading.Event, local: LocalProcesses | None, advice: str) -> None:
    failures = dict.fromkeys(places, 0)
    while not is_over.wait(_EVERY_S):
        for what, address in places.items():
            failures[what] = 0 if _answers(address) else failures[what] + 1
            if failures[what] >= _MOST_FAILURES[what] and not is_over.is_set() and not (local and local.is_ending):
                say("; ".join(filter(None, [f"the Ray cluster's {what}, at {address}, has ended", advice])))
                if local:
                    local.end()
                    local.remove_files()
                os._exit(2)


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
    except OSError:
        return False
    return True


def end_by(number: int, local: LocalProcesses | None) -> NoReturn:
    """Ends this process by a signal, as it would end without a handler, and a local cluster before."""
    if local:
        local.note()
        local.end()
        local.remove_files()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # the signal is blocked
