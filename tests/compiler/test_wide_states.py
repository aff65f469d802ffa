"""Tests of wide states: small integers are widened, cut when stored, and misfits are found by field and line."""

import sys

import numpy as np

from azero.compiler.wide_states import line_of_misfit, misfit, on_wide_states, store, wide_copy, widened
from azero.games import new_states

INNER = np.dtype([("x", np.int16), ("is_on", np.bool_)])
DTYPE = np.dtype(
    [("cells", np.int8, (2, 3)), ("ply", np.uint8), ("score", np.float32), ("key", np.uint64), ("inner", INNER)],
    align=True,
)


class Rules:
    state_dtype = DTYPE


def state_with(ply: int) -> np.record:
    state = new_states(Rules, 1)[0]
    state.ply = ply
    return state


def test_small_integers_are_widened_and_the_rest_is_as_it_was():
    wide = widened(DTYPE)
    assert wide["cells"] == np.dtype((np.int64, (2, 3)))
    assert [wide[name] for name in ("ply", "score", "key")] == [np.uint32, np.float32, np.uint64]
    assert wide["inner"] == np.dtype([("x", np.int64), ("is_on", np.bool_)])
    assert widened(wide) == wide


def test_fields_that_share_memory_are_not_widened():
    shared = np.dtype({"names": ["a", "b"], "formats": [np.int8, np.int16], "offsets": [0, 0]})
    assert widened(shared) == shared


def test_a_wide_copy_is_of_its_own_and_computes_in_64_bits():
    state = state_with(200)
    wide = wide_copy(state)
    wide.cells[1, 2] = 100
    assert (wide.cells[1, 2] * wide.cells[1, 2], wide.ply + wide.ply) == (10_000, 400)
    assert state.cells[1, 2] == 0 and state.ply == 200
    assert wide_copy(wide) is wide


def test_what_is_stored_is_cut_as_compiled_rules_cut_it():
    state = state_with(3)
    wide = wide_copy(state)
    wide.inner.x, wide.key = -5, 2**63
    assert store(wide, state) and (state.inner.x, state.key, state.ply) == (-5, 2**63, 3)
    assert misfit(wide, DTYPE) == ""
    wide.cells[1, 0] = 300
    assert not store(wide, state) and state.cells[1, 0] == 44
    assert misfit(wide, DTYPE) == "state.cells[1, 0] becomes 300, which int8 cannot hold; give it a wider dtype"
    wide.cells[1, 0], wide.inner.x = 0, 40_000
    assert misfit(wide, DTYPE).startswith("state.inner.x becomes 40000, which int16 cannot hold")


def test_the_line_that_leaves_a_misfit_is_found():
    wide = wide_copy(state_with(0))

    def work():
        wide.cells[0] = 100
        wide.ply += 256
        wide.cells[0] = 5

    line = work.__code__.co_firstlineno + 2
    tracing = sys.gettrace()
    assert line_of_misfit(wide, DTYPE, __file__, work) == f", line {line}"
    assert sys.gettrace() is tracing


def test_methods_run_on_wide_states_and_keep_what_they_write():
    def move(game, state, action):
        state.cells[0, 0] += action
        return state.cells[0, 0] * 100

    state = state_with(0)
    assert on_wide_states(move)(None, state, 120) == 12_000
    assert state.cells[0, 0] == 120
