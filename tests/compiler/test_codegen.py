"""Tests of the changes to Numba that other tests do not cover."""

import importlib.util
import subprocess
import sys

import pytest

from azero.compiler.jit import IS_COMPILED

pytestmark = [
    pytest.mark.skipif(not IS_COMPILED, reason="in plain Python, Numba is not changed"),
    pytest.mark.skipif(importlib.util.find_spec("scipy") is None, reason="scipy is not installed"),
]

PROGRAM = """
import sys
import numba
import numpy as np
from azero.games import make_game

make_game("tic_tac_toe").new_initial_state()
print("scipy.linalg" in sys.modules)
print(numba.njit(lambda x: np.dot(x, x))(np.full((2, 2), 3.0))[0, 0])
print("scipy.linalg" in sys.modules)
"""


def test_scipy_is_imported_only_by_a_function_that_uses_it():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "False\n18.0\nTrue\n", done.stderr
