"""Tests of the script that makes lessons from a book of Connect Four, against the compiled rules."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from azero.games import State, make_game

SCRIPT = Path(__file__).parent.parent / "benchmarks" / "positions.py"
GAME = make_game("connect_four")


def load_script():
    spec = importlib.util.spec_from_file_location("positions", SCRIPT)
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def number_of(state: State) -> np.ndarray:
    """Returns a position in the script's encoding, [1] uint64."""
    first, second = state.record.stones
    return np.array([first + (first | second)])


@pytest.mark.slow
def test_positions_their_moves_and_lines_are_those_of_the_rules():
    script, rng = load_script(), np.random.default_rng(0)
    num_won = 0
    for _ in range(30):
        state = GAME.new_initial_state()
        while not state.is_terminal():
            position, ply = number_of(state), len(state.history())
            assert [int(each[0]) for each in script.stones_of(position)] == [int(each) for each in state.record.stones]
            assert GAME.state_from_moves(script.moves_to(position[0])).hash_key() == state.hash_key()
            for action, (after, goes_on, wins) in enumerate(script.moves_of(position, ply)):
                assert bool(goes_on[0] or wins[0]) == (action in state.legal_actions())
                if goes_on[0] or wins[0]:
                    played = state.clone()
                    played.apply_action(action)
                    assert after == script.in_standard_view(number_of(played))
                    assert bool(wins[0]) == bool(played.record.has_line)
                    num_won += bool(wins[0])
            state.apply_action(int(rng.choice(state.legal_actions())))
    assert num_won > 30


def test_mirror_images_are_seen_as_one():
    script = load_script()
    left, right = (number_of(GAME.state_from_moves(moves)) for moves in ("1121", "7767"))
    assert left != right and script.in_standard_view(left) == script.in_standard_view(right)


def test_the_book_s_code_tells_stones_from_the_left_and_from_below():
    script = load_script()
    code = int(script.code_of(number_of(GAME.state_from_moves("112")))[0])
    assert bin(code % (1 << 32)).removeprefix("0b").rjust(14, "0") == "10110" + "100" + "0" * 6
