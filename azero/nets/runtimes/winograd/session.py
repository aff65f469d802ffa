"""A net ready to run in azero's own kernels, in fp32."""

import threading

import numpy as np

from azero.nets.architectures.drawing import Drawing
from azero.nets.runtimes.winograd.graph import Model, WinogradGraph
from azero.nets.runtimes.winograd.kernels import GROUP, LANES, NUM_POINTS, Memory, run_program, whole_groups

_FLOATS_OF_BLOCK = 3 << 15
"""Floats of a block's products, which the cache should hold beside weights."""

_MOST_POSITIONS = 48  # of a block


class WinogradSession:
    """A net ready to run: passes of any number of rows, and any number of threads."""

    def __init__(self, model: Model):
        self._model = model
        self._own = threading.local()

    def run(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns logits [B, A] and values [B], both float32, of planes [B, C, H, W] float32."""
        answers = self.answers(planes)
        results = answers["result_logits"]
        likelihoods = np.exp(results - results.max(axis=1, keepdims=True))
        return answers["policy_logits"].copy(), (likelihoods[:, 0] - likelihoods[:, 2]) / likelihoods.sum(axis=1)

    def answers(self, planes: np.ndarray) -> dict[str, np.ndarray]:
        """Returns the model's outputs by name, for planes [B, C, H, W] float32."""
        if not hasattr(self._own, "memory"):
            self._own.memory = new_memory(self._model)
        program, shapes = self._model.program, self._model.shapes
        out = np.empty((len(planes), len(program.answers)), np.float32)
        flat = np.require(planes, np.float32, ["C", "ALIGNED", "WRITEABLE"]).reshape(
            *planes.shape[:2], planes[0, 0].size
        )
        run_program(flat, out, program, self._own.memory)
        ends = np.cumsum([np.prod(each, dtype=int) for each in shapes.values()])
        parts = np.split(out, ends[:-1], axis=1)
        return {name: part.reshape(-1, *shapes[name]) for name, part in zip(shapes, parts, strict=True)}


def open_drawing(drawing: Drawing) -> WinogradSession:
    """Returns a session of a net; raises RuntimeError if the kernels cannot run it."""
    return WinogradSession(drawing.on(WinogradGraph()))


def new_memory(model: Model) -> Memory:
    """Returns memory for a thread. Its lines are no multiples of a page apart, so they share no sets of caches."""
    program, depth = model.program, model.depth
    num_columns, num_tiles = len(program.sharing_columns), len(program.rows) * len(program.columns)
    of_position = int(program.sharing_rows.sum() * program.sharing_columns.sum()) * depth
    block = min(max(1, _FLOATS_OF_BLOCK // of_position), _MOST_POSITIONS)
    block = whole_groups(block) if block >= GROUP // 2 else block
    size = model.size + LANES * (1 - model.size // LANES % 2)
    slot = whole_groups(num_tiles * block) * depth + LANES
    height = int(program.rows["outputs"].sum())
    lines = (height + NUM_POINTS) * len(program.columns) * NUM_POINTS * LANES
    return Memory(
        positions=np.zeros((whole_groups(block) + 1) * size + GROUP * depth, np.float32),
        size=size,
        block=block,
        points=np.zeros((len(program.sharing_rows) * num_columns + 1) * slot, np.float32),
        slot=slot,
        row_slots=num_columns * slot,
        depth=depth,
        lines=np.zeros(lines, np.float32),
    )
