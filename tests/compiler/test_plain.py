"""Tests of plain Python in place of compiled code, on states whose small integers are widened."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from azero.compiler.bits import bit_of_rank, count_bits, leading_zeros, lowest_bit
from azero.compiler.jit import IS_COMPILED, kernel
from azero.compiler.plain import (
    call,
    is_plain,
    line_of_misfit,
    misfit,
    on_wide_states,
    plain_python,
    store,
    wide_copy,
    widened,
)
from azero.compiler.rng import mix, new_rng, random_below
from azero.games import new_states, registered_games

WORDS = [np.uint64(word) for word in (0, 1, 2, 0b1011000, 1 << 63, (1 << 64) - 1, 0x9E3779B97F4A7C15)]


@pytest.mark.parametrize("word", WORDS)
def test_subroutines_have_the_same_results_in_plain_python(word):
    functions = [
        mix,
        count_bits,
        lowest_bit,
        leading_zeros,
        lambda each: bit_of_rank(each, 2) if word.bit_count() > 2 else 0,
    ]
    compiled = [function(word) for function in functions]
    with plain_python():
        assert [function(word) for function in functions] == compiled


def test_random_numbers_are_the_same_in_plain_python():
    one, other = new_rng(7), new_rng(7)
    drawn = [random_below(one, 1000) for _ in range(20)]
    with plain_python():
        assert [random_below(other, 1000) for _ in range(20)] == drawn


@kernel
def _raise_to(state, power):
    state.value = 1
    for _ in range(power):
        state.value = 100 * state.value - 99
    return state.value


def test_kernels_compute_with_states_like_the_compiler():
    states = np.zeros(2, [("value", np.int8)]).view(np.recarray)
    assert call(_raise_to, states[0], 1) == 1
    with plain_python():
        assert call(_raise_to, states[1], 1) == 1
    assert states[0] == states[1]


def test_a_block_ends_and_is_for_one_thread():
    seen = []
    with plain_python():
        thread = threading.Thread(target=lambda: seen.append(is_plain()))
        thread.start()
        thread.join()
        seen.append(is_plain())
    assert [*seen, is_plain()] == [False, True, False]
    with pytest.raises(ValueError), plain_python():
        raise ValueError
    assert not is_plain()


COLD = """
import sys, time
from numba.core import event
from azero.games import make_game, without_compiling
with event.install_recorder("numba:compile") as recorder:
    for name in sys.argv[1:]:
        game, begin = make_game(name), time.process_time()
        with without_compiling(game.rules):
            state = game.new_initial_state()
            for _ in range(3):
                state.apply_action(state.legal_actions()[0])
            game.picture(state).to_json(), state.to_text(), state.planes(), state.hash_key(), state.final_score()
            game.state_from_text(state.to_text())
        print(name, time.process_time() - begin)
print(len(recorder.buffer))
"""


@pytest.mark.skipif(not IS_COMPILED, reason="nothing is compiled")
def test_a_fresh_process_shows_positions_of_all_games_without_compiling(monkeypatch, tmp_path):
    monkeypatch.setenv("AZERO_CACHE_DIR", str(tmp_path))
    games = [name for name in registered_games() if name != "p_game"] + ["p_game(depth=9)", "hex(swap=true)"]
    done = subprocess.run([sys.executable, "-c", COLD, *games], capture_output=True, text=True, check=True)
    *seconds, num_compiled = done.stdout.splitlines()
    assert num_compiled == "0" and not list(tmp_path.iterdir())
    assert len(seconds) == 11 and max(float(line.split()[1]) for line in seconds) < 0.5


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
