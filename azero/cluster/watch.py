"""A watch over the cluster's head: if it ends, this process ends with one line, before Ray ends it with none."""

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import ray

from azero.system.console import say

_EVERY_S, _PATIENCE_S = 1.0, 5.0

_MOST_FAILURES = 3
"""If so many calls in a row have failed, the head has ended. A raylet's death lets Ray end this process in seconds."""


@contextmanager
def watched(folder: str | None) -> Iterator[None]:
    """Watches, within the block, the head and this machine's node of the cluster to which this process is connected.

    If one of them ends, a line says so, and the process exits with code 2; a run's files are whole at any time.

    Args:
      folder: that of a cluster which was started here, whose processes all end with the block.
    """
    context = ray.get_runtime_context()
    own = next(node for node in ray.nodes() if node["NodeID"] == context.get_node_id())
    places = {"head": context.gcs_address, "node here": f"{own['NodeManagerAddress']}:{own['NodeManagerPort']}"}
    is_over = threading.Event()
    children = _Children(folder) if folder else None
    threading.Thread(target=_watch, args=(places, is_over, children), daemon=True).start()
    try:
        yield
    finally:
        is_over.set()
        if children:
            children.note()
        ray.shutdown()
        if children:
            children.end()


def _watch(places: dict[str, str], is_over: threading.Event, children: "_Children | None") -> None:
    failures = dict.fromkeys(places, 0)
    while not is_over.wait(_EVERY_S):
        for what, address in places.items():
            failures[what] = 0 if _answers(address) else failures[what] + 1
            if failures[what] >= _MOST_FAILURES and not is_over.is_set():
                say(
                    f"the Ray cluster's {what}, at {address}, has ended; a run's files are whole; "
                    "continue with --resume"
                )
                if children:
                    children.end()
                os._exit(2)


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE_S).close()
    except OSError:
        return False
    return True


class _Children:
    """The processes of a local cluster. Those that lose their parent by a crash would stay for a minute."""

    def __init__(self, folder: str) -> None:
        import psutil  # Ray brings it

        self._psutil, self._own, self._folder = psutil, psutil.Process(), folder
        self._known: set = set()
        self.note()

    def note(self) -> None:
        """Notes the processes that there are now."""
        for each in self._own.children(recursive=True):
            if each not in self._known:
                with contextlib.suppress(self._psutil.Error):
                    words = each.cmdline()
                    if any(self._folder in word or word.startswith("ray::") for word in words):
                        self._known.add(each)

    def end(self) -> None:
        """Ends those that are left."""
        for each in self._known:
            with contextlib.suppress(self._psutil.Error):
                each.kill()
        self._psutil.wait_procs(self._known, timeout=5)
