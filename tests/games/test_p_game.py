"""Tests of P-games: uniform values, one tree per seed, sums against plain Python, solved small trees, the laws."""

import math
import random
from itertools import product

import numpy as np
import pytest
from cases import thorough
from mcts.minimax import Minimax

from azero.compiler.jit import IS_COMPILED
from azero.games import Game, State, make_game
from azero.games.laws.laws import check_laws

SIZES = [(2, 20, 0), (8, 8, 3), (1, 5, 1), (1000, 2, 7), (3, 1, 999_999_999)]


def make_p_game(branching: int = 2, depth: int = 20, seed: int = 0) -> Game:
    return make_game(f"p_game(branching={branching},depth={depth},seed={seed})")


def mixed(word: int) -> int:
    """Returns the mix of splitmix64, computed with Python integers."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def values_along(seed: int, path: list[int]) -> list[int]:
    """Returns the values of a path's moves, computed only from the seed and the path."""
    word, values = mixed(2**64 - 1 - seed), []
    for action in path:
        word = mixed(word ^ mixed(action + 1))
        values.append(word >> 57)
    return values


def values_at(state: State) -> list[int]:
    """Returns the values of a position's moves, by playing them."""
    values = []
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        values.append((after.final_score() - state.final_score()) * (1 - 2 * state.current_player()))
    return values


def chi_square(values: list[int]) -> float:
    """Returns the chi-square statistic of the counts of 0 to 127, in standard deviations above its mean."""
    counts = np.bincount(np.array(values, dtype=int), minlength=128)
    assert len(counts) == 128
    mean = len(values) / 128
    return float((np.sum((counts - mean) ** 2) / mean - 127) / math.sqrt(2 * 127))


def first_moves() -> list[int]:
    return [values_at(make_p_game(1, 1, seed).new_initial_state())[0] for seed in range(3000)]


def siblings() -> list[int]:
    chooser, state, values = random.Random(1), make_p_game(1000, 100).new_initial_state(), []
    for _ in range(10):
        values += values_at(state)
        state.apply_action(chooser.randrange(1000))
    return values


def one_path() -> list[int]:
    state, values = make_p_game(1, 1000, seed=5).new_initial_state(), []
    while not state.is_terminal():
        values += values_at(state)
        state.apply_action(0)
    return values


def last_moves() -> list[int]:
    game, values = make_p_game(2, 11), []
    for path in product("01", repeat=10):
        values += values_at(game.state_from_moves(" ".join(path)))
    return values


@pytest.mark.parametrize("draw_values", [first_moves, siblings, one_path, last_moves])
def test_values_are_uniform_from_0_to_127_and_independent(draw_values):
    """Values of the first move for many seeds, of a node's moves, along a path, and at all leaves of a tree."""
    values = draw_values()
    assert set(values) == set(range(128)) and chi_square(values) < 4
    for distance in (1, 2):  # between seeds, siblings, plies or leaves
        correlation = np.corrcoef(values[:-distance], values[distance:])[0, 1]
        assert abs(correlation) < 4 / math.sqrt(len(values))


def test_trees_of_different_seeds_have_no_subtree_in_common():
    keys = [make_p_game(20, 3, seed).state_from_moves(str(move)).hash_key() for seed in range(20) for move in range(20)]
    assert len(set(keys)) == len(keys) and 0 not in keys


def test_a_seed_has_one_tree_and_another_seed_another():
    values = [tuple(values_at(make_p_game(8, 3, seed).state_from_moves("4 7"))) for seed in range(100)]
    assert len(set(values)) == 100
    assert values == [tuple(values_at(make_p_game(8, 3, seed).state_from_moves("4 7"))) for seed in range(100)]


def test_moves_in_another_order_lead_elsewhere():
    game = make_p_game(2, 8)
    leaves = [game.state_from_moves(" ".join(path)) for path in product("01", repeat=8)]
    assert len({leaf.hash_key() for leaf in leaves}) == len(leaves) == 256


@pytest.mark.parametrize(("branching", "depth", "seed"), SIZES)
def test_random_games_have_the_sum_and_result_of_their_path(branching, depth, seed):
    """The first player adds values, the second subtracts them. The sign of the sum is the result."""
    game, chooser = make_p_game(branching, depth, seed), random.Random(seed)
    for _ in range(20 if IS_COMPILED else 3):
        state = game.new_initial_state()
        path = [chooser.randrange(branching) for _ in range(depth)]
        for ply, value in enumerate(values_along(seed, path)):
            assert not state.is_terminal() and state.returns() == [0, 0] and state.current_player() == ply % 2
            assert state.legal_actions() == list(range(branching))
            before = state.final_score()
            state.apply_action(path[ply])
            assert state.final_score() == before + (value if ply % 2 == 0 else -value)
        assert state.is_terminal() and state.returns() == [np.sign(state.final_score()), -np.sign(state.final_score())]


def test_result_is_a_draw_where_the_sum_is_0():
    game = make_p_game(200, 2)
    first = values_at(game.state_from_moves(""))[3]
    after = game.state_from_moves("3")
    answers = values_at(after)
    assert min(answers) < first < max(answers) and first in answers
    for action, value in enumerate(answers):
        result = game.state_from_moves(f"3 {action}").returns()[0]
        assert result == (first > value) - (first < value)


def solve(seed: int, path: list[int], depth: int) -> int:
    """Returns the first player's result under best play after a path of moves 0 to 2."""
    if len(path) == depth:
        total = sum(value if ply % 2 == 0 else -value for ply, value in enumerate(values_along(seed, path)))
        return (total > 0) - (total < 0)
    results = [solve(seed, [*path, action], depth) for action in range(3)]
    return max(results) if len(path) % 2 == 0 else min(results)


def test_small_trees_are_solved_as_by_a_plain_recomputation():
    found = [Minimax().solve(make_p_game(3, 4, seed).new_initial_state()) for seed in range(20 if IS_COMPILED else 5)]
    assert found == [(solve(seed, [], 4), 4) for seed in range(len(found))] and len(set(found)) > 1


def test_planes_are_the_sum_the_share_of_plies_and_the_moves_values():
    game = make_p_game(4, 5)
    for moves, sign in (("", 1), ("2", -1), ("2 3 0", -1)):
        state = game.state_from_moves(moves)
        total, share, values = state.planes()[:, 0] * 127
        assert total == pytest.approx([sign * state.final_score()] * 4)
        assert share == pytest.approx([127 * len(state.history()) / 5] * 4)
        assert values == pytest.approx(values_at(state))


def test_sizes_are_those_of_the_tree():
    game = make_p_game(3, 7)
    assert (game.num_actions, game.max_plies, game.planes_shape) == (3, 7, (3, 1, 3))


def test_moves_are_written_as_numbers():
    game = make_p_game(12, 5)
    state = game.new_initial_state()
    assert [game.action_to_text(state, action) for action in (0, 11)] == ["0", "11"]
    assert game.state_from_moves("11, 0;3").history() == [11, 0, 3]


def test_drawing_tells_what_each_move_is_worth():
    state = make_p_game(2, 3).state_from_moves("1")
    (first,), (left, right) = values_along(0, [1]), [values_along(0, [1, action])[1] for action in (0, 1)]
    assert state.draw({1: "best"}) == f"ply 1 of 3, sum {first:+d}\n   0: {-left:+4d}\n   1: {-right:+4d}  best"
    assert str(make_p_game(1, 1).state_from_moves("0")) == f"ply 1 of 1, sum {values_along(0, [0])[0]:+d}"


@pytest.mark.parametrize(("branching", "depth", "seed"), [*SIZES[:3], *thorough(*SIZES[3:], (2, 200, 1))])
def test_laws(branching, depth, seed):
    check_laws(make_p_game(branching, depth, seed), num_games=10 if IS_COMPILED and depth <= 8 else 1, seed=seed)
