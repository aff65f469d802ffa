"""Nodes of a Ray cluster in network namespaces of this machine, on one bridge. It needs root and `ip`."""

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CAN_MAKE_NODES = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("ip") is not None

PORT = 6379
_STORE_BYTES = 100_000_000
_START_S = 120


class Nodes:
    """A head without CPUs for workers, and nodes that come and go, each in a namespace of its own.

    Attributes:
      head: the address of the head, HOST:PORT.
      variables: the environment for a driver.
    """

    def __init__(self) -> None:
        number = os.getpid() % 250
        self._tag, self._net = f"azero{os.getpid()}", f"10.{77 + number // 125}.{number}"
        self._folder = tempfile.mkdtemp(prefix="azero-nodes-", dir="/tmp")
        self._count = 0
        self.living: list[str] = []
        self.head = f"{self._net}.2:{PORT}"
        self.variables = {key: value for key, value in os.environ.items() if not key.startswith("RAY_")} | {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_worker_niceness": "0",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
        }

    def __enter__(self) -> "Nodes":
        self._ip(f"link add {self._bridge} type bridge")
        self._ip(f"addr add {self._net}.1/24 dev {self._bridge}")
        self._ip(f"link set {self._bridge} up")
        try:
            self.add(num_cpus=0)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        for name in reversed(self.living[:]):
            self.take_away(name)
        self._ip(f"link del {self._bridge}")
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _bridge(self) -> str:
        return f"b{self._tag}"[:15]

    def add(self, num_cpus: int = 1) -> str:
        """Adds a node, the first one as the head; returns the name of its namespace."""
        number, self._count = self._count, self._count + 1
        name, link, address = f"{self._tag}n{number}", f"v{os.getpid()}x{number}", f"{self._net}.{number + 2}"
        self._ip(f"netns add {name}")
        self.living.append(name)
        self._ip(f"link add {link} type veth peer name eth0 netns {name}")
        self._ip(f"link set {link} master {self._bridge} up")
        self._ip(f"-n {name} addr add {address}/24 dev eth0")
        for each in ("lo", "eth0"):
            self._ip(f"-n {name} link set {each} up")
        place = ["--head", f"--port={PORT}", f"--temp-dir={self._folder}", "--include-dashboard=false"]
        options = [f"--num-cpus={num_cpus}", f"--node-ip-address={address}", f"--object-store-memory={_STORE_BYTES}"]
        options.append("--include-log-monitor=false")
        command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "start", *options]
        subprocess.run(
            self.inside(name, command + (place if number == 0 else [f"--address={self.head}"])),
            env=self.variables,
            check=True,
            timeout=_START_S,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        return name

    def take_away(self, name: str, is_abrupt: bool = False) -> None:
        """Ends a node's processes and its namespace.

        Args:
          is_abrupt: whether the link is cut first, so that the others hear nothing of the end.
        """
        self.living.remove(name)
        if is_abrupt:
            self._ip(f"-n {name} link set eth0 down")
        deadline = time.monotonic() + 20
        while (pids := self.processes(name)) and time.monotonic() < deadline:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        self._ip(f"netns del {name}")

    def processes(self, name: str) -> list[int]:
        """Returns the process ids of a node."""
        found = subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True).stdout.split()
        return [int(pid) for pid in found if (Path("/proc") / pid / "cmdline").exists()]

    def find(self, title: bytes, name: str = "") -> tuple[str, int] | None:
        """Returns the node and the id of a process whose title begins so; None if there is none.

        Args:
          name: of the only node to look at; empty: any.
        """
        for node in [name] if name else self.living:
            for pid in self.processes(node):
                with contextlib.suppress(OSError):
                    if (Path("/proc") / str(pid) / "cmdline").read_bytes().startswith(title):
                        return node, pid
        return None

    def kill_worker(self, name: str = "") -> bool:
        """Kills a worker that plays games on a node, or on any; returns whether there was one."""
        found = self.find(b"ray::self-play", name)
        if found:
            os.kill(found[1], signal.SIGKILL)
        return bool(found)

    def inside(self, name: str, command: list[str]) -> list[str]:
        """Returns the command that runs a command on a node."""
        return ["ip", "netns", "exec", name, *command]

    def _ip(self, words: str) -> None:
        subprocess.run(["ip", *words.split()], check=True)
