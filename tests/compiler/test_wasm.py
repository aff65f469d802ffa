"""Modules of WebAssembly: what is compiled runs in node, and numbers are those of Python."""

import json
import math
import os
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest

from azero.compiler.machine import VARIABLE, WASM
from azero.compiler.wasm.linker import signed, unsigned

NODE = shutil.which("node")

MAKE = """
import json, sys
from typing import NamedTuple
import numpy as np
from azero.compiler.wasm.compiling import FAILED, STACK_BYTES, compile_entries
from azero.compiler.wasm.memory import Room
from azero.errors import BrokenRules
import math

class Memory(NamedTuple):
    x: np.ndarray
    y: np.ndarray
    out: np.ndarray
    table: np.ndarray

room = Room(STACK_BYTES)
m = room.place(Memory(np.zeros(1000), np.zeros(1000), np.zeros(1000), np.arange(3, dtype=np.int16)))

def calculate(kind: int) -> None:
    for k in range(1000):
        if kind == 0:
            m.out[k] = math.exp(m.x[k])
        elif kind == 1:
            m.out[k] = math.log(m.x[k])
        elif kind == 2:
            m.out[k] = m.x[k] ** m.y[k]
        elif kind == 3:
            m.out[k] = math.sin(m.x[k])
        else:
            m.out[k] = math.cos(m.x[k])

def fail(number: int) -> int:
    if number > 2:
        raise BrokenRules("it is more than two")
    return m.table[number]

def double(number: np.uint64) -> np.uint64:
    return number * np.uint64(2)

made = compile_entries({"calculate": calculate, "fail": fail, "double": double}, room)
open(sys.argv[1], "wb").write(made.module)
places = {name: getattr(m, name).address for name in ("x", "y", "out")}
json.dump({"errors": made.errors, "failed": FAILED, **places}, sys.stdout)
"""

RUN = """
const fs = require("fs");
const { places, x, y, kinds } = JSON.parse(fs.readFileSync(0, "utf8"));
WebAssembly.instantiate(fs.readFileSync(process.argv[1]), {}).then(({ instance }) => {
  const { memory, calculate, fail, double } = instance.exports;
  const view = (at) => new Float64Array(memory.buffer, at, 1000);
  const found = kinds.map((kind) => {
    view(places.x).set(x[kind]);
    view(places.y).set(y);
    calculate(kind);
    return Array.from(view(places.out));
  });
  const values = [fail(1), fail(2)], before = new Int32Array(memory.buffer)[places.failed / 4];
  fail(3);
  const number = new Int32Array(memory.buffer)[places.failed / 4];
  const error = places.errors[number];
  console.log(JSON.stringify({ found, values, before, error, double: String(double(1n << 62n)) }));
});
"""


@pytest.mark.parametrize("number", [0, 1, 63, 64, 127, 128, 300, 1 << 31])
def test_numbers_of_the_format(number):
    for size in (0, 5):
        assert _read(unsigned(number, size)) == (number, max(size, len(unsigned(number))))
        for each in (number, -number):
            value, length = _read(signed(each, size))
            assert value - ((1 << 7 * length) if signed(each, size)[-1] & 0x40 else 0) == each


def _read(content: bytes) -> tuple[int, int]:
    """Returns an unsigned LEB128, and its length."""
    assert all(byte & 0x80 for byte in content[:-1]) and not content[-1] & 0x80
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(content)), len(content)


@pytest.mark.slow
@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_a_module_computes_as_python_does(tmp_path):
    module = tmp_path / "module.wasm"
    done = subprocess.run(
        [sys.executable, "-c", MAKE, str(module)],
        env={**os.environ, VARIABLE: WASM},
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    places = json.loads(done.stdout)
    random = np.random.default_rng(0)
    x = [
        random.uniform(-700, 700, 1000),
        np.exp(random.uniform(-700, 700, 1000)),
        random.uniform(0, 30, 1000),
        *(random.uniform(-100, 100, 1000) for _ in range(2)),
    ]
    y = random.uniform(-40, 40, 1000)
    asked = {"places": places, "x": [each.tolist() for each in x], "y": y.tolist(), "kinds": list(range(5))}
    answer = subprocess.run(
        [NODE, "-e", RUN, str(module)], input=json.dumps(asked), stdout=subprocess.PIPE, check=True, text=True
    )
    found = json.loads(answer.stdout)
    exact = [[function(value) for value in x[kind]] for kind, function in ((0, math.exp), (1, math.log))]
    exact += [[math.pow(a, b) for a, b in zip(x[2], y, strict=True)]]
    exact += [[function(value) for value in x[kind]] for kind, function in ((3, math.sin), (4, math.cos))]
    for values, wanted in zip(found["found"], exact, strict=True):
        apart = [abs(_place(a) - _place(b)) for a, b in zip(values, wanted, strict=True)]
        assert max(apart) <= 1 and np.mean(np.array(apart) == 0) > 0.95
    assert found["values"] == [1, 2] and found["before"] == 0
    assert found["error"] == ["BrokenRules", "it is more than two"]
    assert found["double"] == str(-(1 << 63))  # a BigInt of JavaScript has a sign


def _place(number: float) -> int:
    """Returns the place of a float among all floats in ascending order."""
    bits = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits if bits >= 0 else -(bits & ((1 << 63) - 1))
