"""A program that drives azero as an engine, in this process."""

import contextlib
import os
import queue
import random
import string
import threading
import time

import psutil

from azero.arena.agents.make import make_agent
from azero.interfaces.engines.lines import PART, Lines, Log

SOON_S = 60.0
"""How long a test waits for a line; kernels may have to be compiled."""


class Output:
    """Takes what the engine writes, and puts its lines into a queue, each with the time when it was whole."""

    def __init__(self):
        self.lines, self._begun = queue.Queue(), ""

    def write(self, text):
        *whole, self._begun = (self._begun + text).split("\n")
        for line in whole:
            self.lines.put((time.perf_counter(), line))

    def flush(self):
        pass

    def fileno(self):
        raise OSError("it is no file")


class Controller:
    """Drives a protocol's engine. `told_s` is when the last line was sent."""

    def __init__(self, protocol, name, game=None, *more):
        heard, self._pipe = os.pipe()
        self.output = Output()
        lines = Lines(lambda: os.read(heard, PART), self.output, Log())
        self.engine = protocol(lambda other: make_agent(name, other or game), lines, *more)
        self.error = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            self.engine.run()
        except BaseException as error:  # a test shows it
            self.error = error

    def send(self, *lines):
        data = "".join(f"{line}\n" for line in lines).encode(errors="surrogateescape")
        self.told_s = time.perf_counter()
        while data:
            data = data[os.write(self._pipe, data) :]

    def line(self, timeout=SOON_S):
        """Returns the next line of the engine, after how many seconds it came in `came_s`."""
        at, line = self.output.lines.get(timeout=timeout)
        self.came_s = at - self.told_s
        return line

    def until(self, *beginnings):
        """Returns the lines up to one that begins so; an empty beginning means an empty line."""
        lines = [self.line()]
        while not any(lines[-1].startswith(each) if each else not lines[-1] for each in beginnings):
            lines.append(self.line())
        return lines

    def ask(self, command):
        """Sends a command of GTP; returns the answer, without the empty line that ends it."""
        self.send(command)
        lines = [self.line()]
        while lines[-1]:
            lines.append(self.line())
        return "\n".join(lines[:-1])

    def report(self, command):
        """Sends a command of GTP that analyses, and ends it after its first line, which is returned."""
        self.send(command)
        assert self.line() == "="
        line = self.line()
        self.send("")
        self.until("")
        return line

    def silence(self, seconds=0.05):
        """Asserts that the engine says nothing for a while."""
        with contextlib.suppress(queue.Empty):
            raise AssertionError(f"it said {self.line(seconds)!r}")

    def hang_up(self):
        os.close(self._pipe)
        self._pipe = None

    def close(self):
        if self._pipe is not None:
            self.hang_up()
        self.thread.join(SOON_S)
        assert not self.thread.is_alive() and self.engine.close(), "it has ended"
        assert self.error is None, self.error


def stand_malformed(answer_all, script, commands):
    """Lets `answer_all` send 10,000 malformed lines, after some more, and asserts that they cost no memory."""
    answer_all(script, malformed(2, 2000, commands))
    before = psutil.Process().memory_info().rss
    answer_all(script, malformed(3, 10_000, commands))
    assert psutil.Process().memory_info().rss - before < 30 << 20


def malformed(seed, number, commands):
    """Yields lines that a controller should not send: parts of commands, wrong numbers, other characters, long ones."""
    rng = random.Random(seed)
    odd = ["", "-1", "0", "99999999999999999999", "1e999", "nan", "%s", "\x1b[2J", "é", "\udcff", "a" * 300, '"', "{}"]
    for _ in range(number):
        words = rng.choice(commands).split(" ")
        kind = rng.randrange(6)
        if kind == 0:
            words = words[: rng.randrange(len(words) + 1)]
        elif kind == 1:
            words[rng.randrange(len(words))] = rng.choice(odd)
        elif kind == 2:
            words += [rng.choice(odd) for _ in range(rng.randrange(1, 4))]
        elif kind == 3:
            rng.shuffle(words)
        elif kind == 4:
            words = ["".join(rng.choices(string.printable.replace("\n", ""), k=rng.randrange(1, 60)))]
        else:
            text = list(" ".join(words))
            text[rng.randrange(len(text))] = chr(rng.randrange(1, 127)).replace("\n", " ")
            words = ["".join(text)]
        yield " ".join(words).replace("\n", " ")
