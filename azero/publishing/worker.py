"""The process that compiles a module: a job on stdin, and the answer on stdout.

It compiles for WebAssembly (`compiler/machine.py`), so it can call no kernel: rules run as plain Python here.
"""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple, cast

from azero.compiler.machine import VARIABLE, WASM
from azero.errors import BadInput

_READ = (
    *("states", "legal", "planes", "kinds", "cells", "order", "line", "noted", "rng", "moved"),
    *("logits", "values", "answers"),
)
"""The arrays of `entries.Memory` that `engine.js` uses."""


_BEGIN = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that waits for this one ends it
sys.path[:] = sys.argv[1:]
from azero.publishing.worker import main
main()
"""


class Job(NamedTuple):
    """What is compiled.

    Attributes:
      game: its name.
      identity: of the code of a user's own game; empty for azero's.
      rollout: the policy of rollouts.
      solve_nodes: the most positions that the solver of roots visits; 0 without one.
      checkpoint: the net's file; None without a net.
    """

    game: str
    identity: str
    rollout: Any
    solve_nodes: int
    checkpoint: Path | None


class Made(NamedTuple):
    """What a job gives.

    Attributes:
      places: of arrays and tables that `engine.js` uses, for the manifest.
      weights: [n] float32 of the net, as little-endian bytes.
    """

    module: bytes
    places: dict[str, Any]
    weights: bytes


def compile_apart(job: Job) -> Made:
    """Does a job in a process of its own; raises BadInput."""
    environment = {**os.environ, VARIABLE: WASM, "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-P", "-c", _BEGIN, *sys.path]  # so it finds modules where this one does
    done = subprocess.run(command, input=pickle.dumps(job), env=environment, stdout=subprocess.PIPE, check=False)
    try:
        answer = pickle.loads(done.stdout)
    except (EOFError, pickle.UnpicklingError):
        raise RuntimeError(f"the process that compiles for browsers ended with code {done.returncode}") from None
    if isinstance(answer, str):
        raise BadInput(answer)
    return answer


def do(job: Job) -> Made:
    """Compiles a module; raises BadInput."""
    from azero.compiler.plain import plain_python

    with plain_python():
        return _do(job)


def _do(job: Job) -> Made:
    from azero.compiler.wasm.compiling import FAILED, compile_entries
    from azero.games import Game
    from azero.games.make import parse_game
    from azero.games.user.trust import trust_identity
    from azero.mcts.tree import NODE_DTYPE
    from azero.nets.architectures.drawing import drawing_of
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.publishing.entries import make_module
    from azero.publishing.net import PortableGraph

    if job.identity:
        trust_identity(job.identity)
    game = Game(parse_game(job.game, compiles=False))
    graph, model = PortableGraph(), cast(Any, None)
    if job.checkpoint is not None:
        file = read_checkpoint(job.checkpoint, game)
        drawing = drawing_of(file.config.name, file.weights, game)
        assert drawing is not None, "nets of the user's are refused before"
        model = drawing.on(graph)
    module = make_module(game, job.rollout, job.solve_nodes, model)
    compiled = compile_entries(module.entries, module.room)
    memory: Any = module.memory
    of_module = {name: getattr(memory, name) for name in _READ} | {"batch_planes": memory.batch.planes}
    of_module |= {
        "is_open": memory.slots.is_open,
        "path": memory.scratch.path,
        "tree": memory.forest.trees,
        "root": memory.forest.root_states,
    }
    numbers, of_tree, of_node = memory.numbers, memory.forest.trees, cast(Any, NODE_DTYPE)
    places = {
        "failed": FAILED,
        "errors": {str(number): list(error) for number, error in compiled.errors.items()},
        "arrays": {name: placed.to_json() for name, placed in of_module.items()},
        "numbers": {name: [numbers.address + at, kind.name] for name, (kind, at) in numbers.dtype.fields.items()},
        "tree": {name: of_tree.address + at for name, (_, at) in of_tree.dtype.fields.items()},
        "node": {name: [at, kind.name] for name, (kind, at) in of_node.fields.items()},
        "nodeBytes": NODE_DTYPE.itemsize,
        "end": compiled.end,
    }
    weights = b""
    if module.weights is not None:
        places |= {"weights": module.weights.to_json(), "exact": graph.exact}
        weights = model.program.weights.astype("<f4").tobytes()
    return Made(compiled.module, places, weights)


def main() -> None:
    """Does the job on stdin."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a user's file may print
    job = pickle.loads(sys.stdin.buffer.read())
    try:
        answer: Made | str = do(job)
    except BadInput as error:
        answer = str(error)
    with out:
        out.write(pickle.dumps(answer))
