"""Feeds hostile inputs of every kind to azero: each must be read, or refused in one line, soon and in little memory.

Files have right digests, since an attacker can compute them. Each input has a number; the same number gives the same
input. Inputs that once did harm are in `corpus.json`, and come first.

    PYTHONPATH=tests .venv/bin/python -m torture.fuzz --kinds card,state --inputs 10000
    PYTHONPATH=tests .venv/bin/python -m torture.fuzz --kinds card --inputs 200 --as-commands
"""

import argparse
import contextlib
import io
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from azero.errors import BadInput, BrokenRules

from .kinds import KINDS, Kind, make_samples

MOST_SECONDS, MOST_MIB = 0.5, 500

CORPUS = Path(__file__).with_name("corpus.json")


class Harm(AssertionError):
    """An input did what it should not."""


def inputs_of(kind: Kind, number: int) -> Iterator[object]:
    """Yields the corpus of a kind, then as many drawn inputs."""
    yield from json.loads(CORPUS.read_text()).get(kind.name, [])
    for each in range(number):
        yield kind.draw(random.Random(f"{kind.name} {each}"))


def feed(kind: Kind, given: object, folder: Path) -> str:
    """Lets azero read an input; returns the message with which it is refused, empty if it is not. Raises Harm."""
    before, begin = begin_of_peak(), time.perf_counter()
    try:
        with contextlib.redirect_stderr(io.StringIO()) as errors, warnings.catch_warnings():
            warnings.simplefilter("error")
            kind.read(given, folder)
        message = ""
    except (BadInput, BrokenRules) as error:
        message = str(error)
        if not message:
            raise Harm("it is refused without a message") from None
    except Exception as error:
        raise Harm(f"{type(error).__name__}: {str(error)[:300]}") from error
    if not errors.getvalue().replace("\n", "").isprintable():
        raise Harm(f"it prints {errors.getvalue()[:200]!r}")
    elapsed, taken = time.perf_counter() - begin, peak_mib() - before
    if taken > MOST_MIB:
        raise Harm(f"it takes {taken:.0f} MiB; {message[:200]}")
    if elapsed > MOST_SECONDS:
        raise Harm(f"it takes {elapsed:.2f} s; {message[:200]}")
    return message


def begin_of_peak() -> float:
    """Makes `peak_mib` count from now, where the system can; returns the memory in use, in MiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return peak_mib()


def peak_mib() -> float:
    """Returns the most memory that this process has had, in MiB, since `begin_of_peak` where the system can."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def fuzz(kind: Kind, number: int, folder: Path, on_harm: Callable[[object, Harm], None]) -> tuple[int, int, float]:
    """Feeds inputs of a kind; returns how many were refused, how many were read, and the longest time in seconds."""
    refused = read = 0
    longest = 0.0
    for given in inputs_of(kind, number):
        begin = time.perf_counter()
        try:
            if feed(kind, given, folder):
                refused += 1
            else:
                read += 1
            longest = max(longest, time.perf_counter() - begin)
        except Harm:
            begin = time.perf_counter()
            try:  # again, since another process may have had the core
                feed(kind, given, folder)
            except Harm as again:
                on_harm(given, again)
    return refused, read, longest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", default="", help=f"separated by commas; all by default: {','.join(KINDS)}")
    parser.add_argument("--inputs", type=int, default=1000, help="of each kind")
    parser.add_argument("--as-commands", action="store_true", help="run a command with each input")
    arguments = parser.parse_args()
    num_harms = 0

    def tell(given: object, harm: Harm) -> None:
        nonlocal num_harms
        num_harms += 1
        print(f"  {json.dumps(given)[:500]}\n    {harm}", flush=True)

    with tempfile.TemporaryDirectory(prefix="azero-fuzz-") as name:
        folder = Path(name)
        make_samples(folder)
        for each in arguments.kinds.split(",") if arguments.kinds else KINDS:
            begin = time.perf_counter()
            if arguments.as_commands:
                from .commands import fuzz_commands

                figures = fuzz_commands(KINDS[each], arguments.inputs, folder, tell)
            else:
                figures = fuzz(KINDS[each], arguments.inputs, folder, tell)
            elapsed = time.perf_counter() - begin
            print(
                f"{each}: {figures[0]} refused, {figures[1]} read, longest {figures[2]:.2f} s, in {elapsed:.0f} s",
                flush=True,
            )
    sys.exit(1 if num_harms else 0)


if __name__ == "__main__":
    main()
