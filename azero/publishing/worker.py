"""The process that compiles modules: a job on stdin, and the answer on stdout.

It compiles for WebAssembly (`compiler/machine.py`), so it can call no kernel: rules run as plain Python here.
"""

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
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


class Wanted(NamedTuple):
    """An agent that is compiled.

    Attributes:
      rollout: its policy of rollouts.
      solve_nodes: the most positions that its solver of roots visits; 0 without one.
      checkpoint: the net's file; None without a net.
    """

    rollout: Any
    solve_nodes: int
    checkpoint: Path | None


class Job(NamedTuple):
    """What is compiled: agents of a game.

    Attributes:
      game: its name.
      identity: of the code of a user's own game; empty for azero's.
    """

    game: str
    identity: str
    agents: Sequence[Wanted]


class Made(NamedTuple):
    """What an agent gets.

    Attributes:
      module: the same object for agents that share it: nets of one form, and those without a net.
      places: of arrays and tables that `engine.js` uses, for the manifest.
      weights: [n] float32 of the net, as little-endian bytes.
      exact: see `net.PortableGraph`.
    """

    module: bytes
    places: dict[str, Any]
    weights: bytes
    exact: list[tuple[int, int, float]]


def compile_apart(job: Job) -> list[Made]:
    """Does a job in a process of its own, whose answers are in the order of the agents; raises BadInput."""
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


def do(job: Job) -> list[Made]:
    """Compiles modules; raises BadInput."""
    from azero.compiler.plain import plain_python

    with plain_python():
        return _do(job)


def _do(job: Job) -> list[Made]:
    from azero.games import Game
    from azero.games.make import parse_game
    from azero.games.user.trust import trust_identity

    if job.identity:
        trust_identity(job.identity)
    game = Game(parse_game(job.game, compiles=False))
    solve_nodes = max(each.solve_nodes for each in job.agents)
    modules, made = dict[bytes, tuple[bytes, dict[str, Any]]](), dict[int, Made]()
    for number in sorted(range(len(job.agents)), key=lambda k: job.agents[k].checkpoint is None):  # nets come first
        wanted = job.agents[number]
        graph, model = _program_of(wanted.checkpoint, game)
        key = pickle.dumps(wanted.rollout)
        others = [each for each in modules if each.startswith(key)]
        if model is not None:
            key += pickle.dumps(_without_weights(model))
        elif others:
            key = others[0]
        if key not in modules:
            modules[key] = _compile(game, wanted.rollout, solve_nodes, model)
        weights = b"" if model is None else model.program.weights.astype("<f4").tobytes()
        made[number] = Made(*modules[key], weights, graph.exact)
    return [made[number] for number in range(len(made))]


def _program_of(checkpoint: Path | None, game: Any) -> tuple[Any, Any]:
    """Returns the graph of a net, and its program; None without a net."""
    from azero.nets.architectures.drawing import drawing_of
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.publishing.net import PortableGraph

    graph = PortableGraph()
    if checkpoint is None:
        return graph, None
    file = read_checkpoint(checkpoint, game)
    drawing = drawing_of(file.config.name, file.weights, game)
    assert drawing is not None, "nets of the user's are refused before"
    return graph, drawing.on(graph, has_heads=True)


def _without_weights(model: Any) -> Any:
    """Returns what a module has of a net."""
    return model._replace(program=model.program._replace(weights=len(model.program.weights)))


def _compile(game: Any, rollout: Any, solve_nodes: int, model: Any) -> tuple[bytes, dict[str, Any]]:
    """Returns a module, and the places of what `engine.js` uses."""
    from azero.compiler.wasm.compiling import FAILED, compile_entries
    from azero.mcts.tree import NODE_DTYPE
    from azero.publishing.entries import make_module

    module = make_module(game, rollout, solve_nodes, model)
    compiled = compile_entries(module.entries, module.room)
    memory: Any = module.memory
    of_module = {name: getattr(memory, name) for name in _READ} | {"batch_planes": memory.batch.planes}
    of_module |= {"is_open": memory.slots.is_open, "path": memory.scratch.path}
    of_module |= {"tree": memory.forest.trees, "root": memory.forest.root_states}
    heads = dict[str, Any]()
    if module.weights is not None:
        of_module["weights"] = module.weights
        heads = _heads_of(model)
    numbers, of_tree, of_node = memory.numbers, memory.forest.trees, cast(Any, NODE_DTYPE)
    return compiled.module, {
        "failed": FAILED,
        "errors": {str(number): list(error) for number, error in compiled.errors.items()},
        "arrays": {name: placed.to_json() for name, placed in of_module.items()},
        "numbers": {name: [numbers.address + at, kind.name] for name, (kind, at) in numbers.dtype.fields.items()},
        "tree": {name: of_tree.address + at for name, (_, at) in of_tree.dtype.fields.items()},
        "node": {name: [at, kind.name] for name, (kind, at) in of_node.fields.items()},
        "nodeBytes": NODE_DTYPE.itemsize,
        "heads": heads,
        "end": compiled.end,
    }


def _heads_of(model: Any) -> dict[str, Any]:
    """Returns where the answers of kept heads are among a net's answers, their shapes, and how they are rounded."""
    from azero.heads import HEADS

    found, at = dict[str, Any](), 0
    for name, shape in model.shapes.items():
        if name in HEADS:
            found[name] = {"at": at, "shape": list(shape), "decimals": HEADS[name].decimals}
        at += math.prod(shape)
    return found


def main() -> None:
    """Does the job on stdin."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a user's file may print
    try:
        answer: list[Made] | str = do(pickle.loads(sys.stdin.buffer.read()))
    except BadInput as error:
        answer = str(error)
    with out:
        out.write(pickle.dumps(answer))
