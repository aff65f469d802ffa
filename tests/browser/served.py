"""A server of the page in a process of its own."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

COMMAND = sys.executable, "-c", "from azero.cli import main; main()", "serve"
ROOT = Path(__file__).parents[2]


class Server:
    """`azero serve` with some options, on a port that stays the same when it is stopped and started again."""

    def __init__(self, *options: str):
        self.options = options
        self.port = 0
        self.start()

    def start(self) -> None:
        """Starts it, and waits until it has printed its address."""
        words = [*COMMAND, "--port", str(self.port), *self.options]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, cwd=ROOT
        )
        assert self.process.stdout
        line = self.process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", line)
        assert found, f"{line}{self.kill()}"
        self.address, self.port = found[0], int(found[1])

    def stop(self) -> str:
        """Ends it by Ctrl-C, and returns what it has written to stderr."""
        self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=20)
        return errors

    def kill(self) -> str:
        """Ends it at once."""
        self.process.kill()
        return self.process.communicate()[1]


@contextlib.contextmanager
def serving(*options: str) -> Iterator[Server]:
    """Runs a server; it must say nothing on stderr and end by Ctrl-C."""
    server = Server(*options)
    try:
        yield server
    except BaseException:
        server.kill()
        raise
    errors = server.stop()
    assert "Traceback" not in errors, errors
