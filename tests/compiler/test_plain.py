"""Tests of plain Python in place of compiled code."""

import subprocess
import sys
import threading

import numpy as np
import pytest

from azero.compiler.bits import bit_of_rank, count_bits, leading_zeros, lowest_bit
from azero.compiler.jit import IS_COMPILED, kernel
from azero.compiler.plain import call, is_plain, plain_python
from azero.compiler.rng import mix, new_rng, random_below
from azero.games import registered_games

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
