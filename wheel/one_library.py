"""Makes the library of a board from warm runs of commands: `one_library.py OUT COMMANDS`, one command a line of a file.

It runs in a process of its own, with the CPU level of the library as Numba's target and an empty cache of kernels.
"""

import shlex
import sys
from pathlib import Path

import numba

from azero.cli import main
from azero.compiler import jit
from azero.compiler.arguments import packed
from azero.compiler.linking import Used, link

USED: dict = {}


def note_and_call(kernel, *arguments):
    """In place of a kernel's call: notes the types of its arguments, and has Numba compile it."""
    kinds, words = packed(arguments)
    result = kernel.by_numba(*arguments)
    USED.setdefault((kernel, kinds), (tuple(map(numba.typeof, arguments)), len(words) // 8))
    return result


def run(command: str) -> None:
    """Runs a command of azero in this process."""
    print("$ azero", command, file=sys.stderr, flush=True)
    sys.argv = ["azero", *shlex.split(command)]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise


def make(out: Path, commands: list[str]) -> None:
    """Makes the library of what these commands call."""
    jit.Kernel.__call__ = note_and_call
    for each in commands:
        run(each)
    used = []
    for (kernel, kinds), (signature, num_words) in USED.items():
        name = f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"
        used.append(Used(name, kinds, num_words, kernel.by_numba.overloads[signature]))
    link(used, out)
    print(f"{out}: {len(used)} kernels, {out.with_suffix('.so').stat().st_size >> 10} KiB", file=sys.stderr)


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]).read_text(encoding="utf-8").splitlines())
