"""The ends of a process that uses a cluster: the cluster's head ends, this process is terminated, or it is done.

If the head ends, this process says so, before Ray ends it without a line. Local clusters leave no process behind.
"""

import contextlib
import os
import shutil
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NoReturn

import ray

from azero.system.console import say

_EVERY_S, _PATIENCE_S = 0.25, 5.0

_MOST_FAILURES = {"head": 12, "node here": 2}
"""If so many calls in a row have failed, it has ended. Ray ends this process soon after its node, without a line."""


@contextmanager
def watched(local: "LocalProcesses | None", advice: str) -> Iterator[None]:
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


def _watch(places: dict[str, str], is_over: threading.Event, local: "LocalProcesses | None", advice: str) -> None:
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


class LocalProcesses:
    """The processes of a local cluster, which end with the block.

    Those that lose their parent by a crash would stay for a minute.

    Args:
      folder: the cluster's.

    Attributes:
      is_ending: whether this process ends them.
    """

    is_ending = False

    def __init__(self, folder: str) -> None:
        import psutil  # Ray brings it

        self._psutil, self._own, self._folder = psutil, psutil.Process(), folder
        self._known: set = set()

    def __enter__(self) -> "LocalProcesses":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

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
        self.is_ending = True
        for each in self._known:
            with contextlib.suppress(self._psutil.Error):
                each.kill()
        self._psutil.wait_procs(self._known, timeout=5)

    def remove_files(self) -> None:
        """Removes the cluster's folder, where the processes have ended."""
        shutil.rmtree(self._folder, ignore_errors=True)


def end_by(number: int, local: LocalProcesses | None) -> NoReturn:
    """Ends this process by a signal, as it would end without a handler, and a local cluster before."""
    if local:
        local.note()
        local.end()
        local.remove_files()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # the signal is blocked
