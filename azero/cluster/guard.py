"""Ends the processes of a local cluster. As a program, this file is their guard: it ends them after `kill -9`."""

import contextlib
import os
import select
import shutil
import subprocess
import sys
import time
from types import TracebackType

_BEGINNING_S = 60.0  # in which a cluster's processes are started
_EVERY_S, _LATER_EVERY_S = 0.25, 5.0


class LocalProcesses:
    """The processes of a local cluster, which end with the block, or with the process that has started them.

    Those that lose their parent by a crash would stay for a minute.

    Args:
      folder: the cluster's.
      pid: of the process that has started them; by default this one.

    Attributes:
      is_ending: whether this process ends them.
    """

    is_ending = False

    def __init__(self, folder: str, pid: int | None = None) -> None:
        import psutil  # Ray brings it

        self._psutil, self._owner, self._folder = psutil, psutil.Process(pid), folder
        self._known: set = set()
        self._guard: subprocess.Popen | None = None

    def __enter__(self) -> "LocalProcesses":
        words = [sys.executable, "-P", __file__, self._folder, str(os.getpid())]
        nothing = subprocess.DEVNULL
        # Its stdin ends with this process. In a session of its own, it does not end with this process's group.
        self._guard = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=nothing, stderr=nothing, start_new_session=True
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def note(self) -> None:
        """Notes the processes that there are now."""
        with contextlib.suppress(self._psutil.Error):  # the one that has started them has ended
            for each in self._owner.children(recursive=True):
                if each not in self._known and each.pid != os.getpid():
                    with contextlib.suppress(self._psutil.Error):
                        words = each.cmdline()
                        if any(self._folder in word or word.startswith("ray::") for word in words):
                            self._known.add(each)

    def end(self) -> None:
        """Ends those that are left."""
        self.is_ending = True
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()
        for each in self._known:
            with contextlib.suppress(self._psutil.Error):
                each.kill()
        self._psutil.wait_procs(self._known, timeout=5)

    def remove_files(self) -> None:
        """Removes the cluster's folder, where the processes have ended."""
        shutil.rmtree(self._folder, ignore_errors=True)


def _guard(folder: str, pid: int) -> None:
    """Ends the processes of a local cluster when stdin ends."""
    local, begin = LocalProcesses(folder, pid), time.monotonic()
    is_over = False
    while not is_over:
        local.note()
        every_s = _EVERY_S if time.monotonic() - begin < _BEGINNING_S else _LATER_EVERY_S
        is_over = bool(select.select([sys.stdin], [], [], every_s)[0])
    local.end()
    local.remove_files()


if __name__ == "__main__":
    _guard(sys.argv[1], int(sys.argv[2]))
