"""The connection to a cluster: one that is started here, the one of this machine, or one at an address.

Nothing of this package imports Ray before this module connects. Its usage statistics are off in this process and in all
that it starts. A cluster that is started here has a token of its own, and its files are in a temporary folder: Ray
writes nothing into the home folder.

The connection ends if the cluster's head ends, this process is terminated, or it is done. If the head ends, this
process says so, before Ray ends it without a line. Local clusters leave no process behind.
"""

import contextlib
import importlib.util
import logging
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NoReturn

from azero.cluster.guard import LocalProcesses
from azero.config.schema import ClusterConfig, Config, DeviceConfig
from azero.errors import BadInput
from azero.games.reasons import failures_named
from azero.nets.devices import pick_device
from azero.system.console import say
from azero.system.files import PACKAGE, held
from azero.system.interrupt import interruption_blocked
from azero.system.machine import count_cores
from azero.system.worker_pool import Workers

_CONNECT_S, _HEALTH_S = 4.0, 8.0

_EVERY_S, _PATIENCE_S = 0.25, 5.0

_MOST_FAILURES = {"head": 12, "node here": 2}
"""If so many calls in a row have failed, it has ended. Ray ends this process soon after its node, without a line."""

_STORE_BYTES = 256 << 20
"""Ray's object store on this machine: it holds an iteration's net, and the shards that are on their way."""

_YOUNG_S = 60.0
"""A local cluster's folder that is younger may not be locked yet."""

_PREFIX = "azero-ray-"
"""How the names of local clusters' folders begin."""

_RUN_ADVICE = "try fewer selfplay.parallel_games; --resume continues the run"

_QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_BACKEND_LOG_LEVEL": "fatal"}


class Cluster:
    """A cluster to which this process is connected.

    Args:
      is_local: whether it consists of this machine, and was started for this process.
    """

    def __init__(self, is_local: bool):
        self._is_local = is_local

    def pool(self, config: Config, tell: Callable[[str], None] = lambda text: None) -> Workers:
        """Returns the pool of the cluster's workers for a run of these settings."""
        return self.workers(config.device, config.cluster, config.selfplay.num_workers, tell, _RUN_ADVICE)

    def workers(
        self,
        device: DeviceConfig,
        cluster: ClusterConfig,
        num_workers: int,
        tell: Callable[[str], None],
        advice: str = "",
    ) -> Workers:
        """Returns the pool of the cluster's workers for nets that run on this device.

        Args:
          num_workers: workers of a cluster that was started here; 0: as many as there are cores.
          advice: what to do if a task is given up, for the end of a line.
        """
        from azero.cluster.ray_backend import RayBackend

        is_on_gpu = pick_device(device.device).type == "cuda"
        cpus = cluster.cpus_per_worker
        if self._is_local and num_workers:
            cpus = int(1e4 * count_cores() / num_workers) / 1e4  # Ray counts ten thousandths
        backend = RayBackend(cpus, is_on_gpu, cluster.mixed)
        return Workers(backend, tell, advice, cluster.deadline_s, failures_named)


@contextmanager
def connected(address: str, advice: str = "") -> Iterator[Cluster]:
    """Connects to a cluster within the block.

    Args:
      address: "local" starts one here, which ends with the block; "auto" is the one whose node this machine is; or
        the HOST:PORT of its head.
      advice: what to do if the cluster ends, for the end of a line.

    Raises BadInput: Ray is not installed, there is no cluster, or it cannot be used.
    """
    if importlib.util.find_spec("ray") is None:
        raise BadInput("--cluster needs Ray; install it with: pip install -c constraints.txt -e '.[ray]'")
    _check(address)
    os.environ.update(_QUIET)  # before Ray is imported
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))  # which is ignored at the end
        if address == "local":
            stack.enter_context(_started(advice))
        else:
            _probe(address)
            stack.enter_context(_initialised(f"cannot use {_named(address)}", advice, None, address=address))
        yield Cluster(is_local=address == "local")


def _check(address: str) -> None:
    host, _, port = address.rpartition(":")
    if address not in ("local", "auto") and not (host and "/" not in host and port.isdecimal() and int(port) < 1 << 16):
        raise BadInput(f"--cluster {address!r} should be local, auto, or the HOST:PORT of a Ray cluster's head")


def _named(address: str) -> str:
    return "the Ray cluster of this machine" if address == "auto" else f"the Ray cluster at {address}"


@contextmanager
def _started(advice: str) -> Iterator[None]:
    """Starts a cluster of this machine within the block."""
    os.environ.setdefault("RAY_worker_niceness", "0")  # by default, workers give way to everything else
    _check_loopback()
    short = "/tmp" if Path("/tmp").is_dir() else None  # the names of sockets may have some 100 bytes
    with (
        _own_token(),
        tempfile.TemporaryDirectory(prefix=_PREFIX, dir=short, ignore_cleanup_errors=True) as folder,
        held(Path(folder), f"{folder} is in use"),
    ):
        _remove_abandoned(Path(folder).parent)
        options = {
            "address": "local",
            "num_cpus": count_cores(),
            "object_store_memory": _STORE_BYTES,
            "include_dashboard": False,
            "_temp_dir": f"{folder}/ray",  # Ray lets everyone write there, but only this user can reach it
        }
        with _initialised("a Ray cluster cannot be started here", advice, folder, **options):
            yield


def _check_loopback() -> None:
    """Raises BadInput if this machine cannot talk to itself. Ray would wait for that without end."""
    try:
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(server.getsockname(), timeout=_CONNECT_S).close()
    except OSError as error:
        raise BadInput(f"a Ray cluster cannot be started here: this machine has no network ({error})") from None


@contextmanager
def _own_token() -> Iterator[None]:
    """Gives a cluster within the block a token of its own. Otherwise Ray writes one into the home folder."""
    if "RAY_AUTH_TOKEN" in os.environ:
        yield
        return
    os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
    try:
        yield
    finally:
        del os.environ["RAY_AUTH_TOKEN"]


def _remove_abandoned(place: Path) -> None:
    """Removes the folders of local clusters whose processes were killed."""
    for folder in place.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError, BadInput):
            if time.time() - folder.stat().st_mtime > _YOUNG_S:
                with held(folder, "it is in use"):
                    shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _initialised(failure: str, advice: str, folder: str | None, **options: object) -> Iterator[None]:
    """Connects this process within the block; raises BadInput, which begins with `failure`.

    Whatever ends the block, also Ctrl-C at its beginning, a local cluster ends with it. From then on Ctrl-C is ignored:
    if it interrupted Ray's end, Ray would go on later, and write into a folder that has been removed.
    """
    import ray
    import ray._private.worker

    logging.getLogger("ray").setLevel(logging.CRITICAL)
    # Ray prints what happens to nodes and workers; the pool says it in a line of its own.
    ray._private.worker.print_to_stdstream = lambda *args, **kwargs: None
    before = signal.getsignal(signal.SIGTERM)
    with ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGTERM, before)  # Ray's handler writes a trace of its compiled code
        local = stack.enter_context(LocalProcesses(folder)) if folder else None
        stack.callback(ray.shutdown)
        if local:
            stack.callback(local.note)
        stack.callback(signal.signal, signal.SIGINT, signal.SIG_IGN)
        try:
            # Ray makes workers import modules from the working folder, which may be anyone's.
            with contextlib.chdir(PACKAGE.parent), _silence(), interruption_blocked():
                ray.init(log_to_driver=False, configure_logging=False, logging_level=logging.CRITICAL, **options)
        except (Exception, SystemExit) as error:
            stack.close()
            if isinstance(error, SystemExit) and error.code == signal.SIGTERM:  # by Ray's handler
                _end_by(signal.SIGTERM, local)
            raise BadInput(f"{failure}: {' '.join(str(error).split()) or type(error).__name__}") from None
        signal.signal(signal.SIGTERM, (lambda number, frame: _end_by(number, local)) if local else before)
        with _watched(local, advice):
            yield


@contextmanager
def _silence() -> Iterator[None]:
    """Within the block, nothing is written to stderr, not even by Ray's compiled code."""
    sys.stderr.flush()
    before = os.dup(2)
    with open(os.devnull, "wb") as nothing:
        os.dup2(nothing.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def _probe(address: str) -> None:
    """Raises BadInput if there is no cluster. Ray itself would wait for minutes, and write many lines."""
    place = f"at {address}"
    if address == "auto":  # Ray prefers the variable
        named = os.environ.get("RAY_ADDRESS")
        place = f"at RAY_ADDRESS = {named}" if named else "on this machine"
    advice = "start one with `ray start --head`, or use --cluster local; one with a token needs it here, too"
    lacking = BadInput(f"there is no Ray cluster {place} that answers; {advice}")
    if address != "auto":
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECT_S).close()
        except OSError:
            raise lacking from None
    command = [sys.executable, "-P", "-m", "ray.scripts.scripts", "health-check"]
    if address != "auto":
        command += ["--address", address]
    try:
        is_there = subprocess.run(command, capture_output=True, timeout=_HEALTH_S).returncode == 0
    except subprocess.TimeoutExpired:
        is_there = False
    if not is_there:
        raise lacking


# --- the ends of a process that uses a cluster ---


@contextmanager
def _watched(local: LocalProcesses | None, advice: str) -> Iterator[None]:
    """Watches, within the block, the head and this machine's node of the cluster to which this process is connected.

    If one of them ends, a line says so, and the process exits with code 2; a run's files are whole at any time.

    Args:
      local: the processes of a cluster that was started here, which then end, too.
      advice: what to do then, for the end of the line.
    """
    import ray

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


def _end_by(number: int, local: LocalProcesses | None) -> NoReturn:
    """Ends this process by a signal, as it would end without a handler, and a local cluster before."""
    if local:
        local.note()
        local.end()
        local.remove_files()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # the signal is blocked
