"""Tests of iterative deepening: best play if it finishes, no false proofs otherwise, and always a sensible move."""

import time

import pytest
from exact.test_alphabeta import RACE
from exact.test_solver import random_positions

from azero.compiler.jit import IS_COMPILED
from azero.exact.solver import solve
from azero.games import State, make_game
from azero.mcts.classical.deepening import Deepening

from .minimax import Minimax, moves_of

pytestmark = pytest.mark.slow  # it compiles kernels of its own

UNLIMITED = 1 << 30
SIGN_OF = {"win": 1, "draw": 0, "loss": -1}


def search(state: State, max_leaves: int = UNLIMITED, num_rollouts: int = 1, seed: int = 0, entries: int = 1 << 16):
    found = Deepening(state, num_rollouts, entries, seed)
    found.run(max_leaves)
    return found


def true_values(state: State) -> dict[int, float]:
    """Returns each move's value for the player to move."""
    sign = 1 - 2 * state.current_player()
    return {action: sign * solve(after).value for action, after in moves_of(state)}


def check_proofs(found: Deepening, values: dict[int, float]) -> int:
    """Asserts that the proven values of moves are true; returns the number of proven moves."""
    proven = {move.action: SIGN_OF[move.proven] for move in found.rank_moves() if move.proven}
    assert all(values[action] == value for action, value in proven.items())
    return len(proven)


@pytest.mark.parametrize(
    ("name", "num", "min_plies"),
    [
        ("tic_tac_toe", 20, 0),
        ("connect_four(rows=4,columns=4)", 6, 5),
        ("connect_four(rows=4,columns=5)", 3, 8),
        ("connect_four(rows=5,columns=5)", 3, 12),
        ("clobber(rows=3,columns=4)", 5, 1),
        ("clobber(rows=4,columns=4)", 3, 3),
        ("othello(size=4)", 6, 3),
        ("breakthrough(rows=4,columns=3)", 6, 2),
        ("amazons(rows=4,columns=4)", 6, 18),
        *((f"p_game(branching=3,depth=7,seed={seed})", 2, 0) for seed in range(6)),
        *((f"{RACE}(length=15,seed={seed})", 2, 0) for seed in range(10)),
    ],
    ids=lambda value: value.rpartition(":")[2] if isinstance(value, str) else None,
)
def test_play_is_the_best_where_the_search_finishes(name, num, min_plies):
    if not IS_COMPILED:
        num, min_plies = 1, max(min_plies, min(min_plies + 4, 18))
    for state in random_positions(make_game(name), num, min_plies):
        found, values = search(state), true_values(state)
        assert found.value == max(values.values()) == values[found.best_action]
        assert found.rank_moves()[0].proven and check_proofs(found, values) > 0


def test_connect_four_on_a_small_board_from_the_start():
    found = search(make_game("connect_four(rows=4,columns=5)").new_initial_state(), entries=1 << 20)
    assert found.value == 0 and found.rank_moves()[0].proven == "draw"


@pytest.mark.parametrize("num_rollouts", [0, 2])
def test_nothing_false_is_proven_however_early_the_search_ends(num_rollouts):
    num_proven = 0
    for state in random_positions(make_game("connect_four"), *((12, 26) if IS_COMPILED else (1, 34))):
        values = true_values(state)
        for max_leaves in (3, 20, 100, 500, 2000):
            found = search(state, max_leaves, num_rollouts)
            num_proven += check_proofs(found, values)
            lost = {move.action for move in found.rank_moves() if move.proven == "loss"}
            assert found.best_action not in lost or len(lost) == len(values)
            assert abs(found.value) < 1 or found.value == values[found.best_action]
    assert num_proven > 0


@pytest.mark.parametrize("max_leaves", [1, 2, 3, 10, 137, 3000])
def test_leaves_are_as_many_as_allowed(max_leaves):
    found = search(make_game("connect_four").state_from_moves("4453"), max_leaves)
    moves = found.rank_moves()
    assert found.num_leaves == max_leaves == sum(move.visits for move in moves)
    assert moves[0].action == found.best_action and moves[0].value == found.value
    assert sorted(move.action for move in moves) == list(range(7))


def test_the_same_seed_gives_the_same_answer_and_another_seed_another():
    state = make_game("clobber(size=5)").new_initial_state()
    answers = [search(state, 500, 2, seed).rank_moves() for seed in (1, 1, 2)]
    assert answers[0] == answers[1] != answers[2]


@pytest.mark.parametrize(("name", "min_plies"), [("tic_tac_toe", 2), ("connect_four(rows=4,columns=4)", 7)])
def test_the_quickest_win_is_played(name, min_plies):
    minimax, lengths = Minimax(), []
    for state in random_positions(make_game(name), *((60, min_plies) if IS_COMPILED else (12, min_plies + 2))):
        result, length = minimax.solve(state)
        if result == 1 - 2 * state.current_player():
            after = dict(moves_of(state))[search(state).best_action]
            assert minimax.solve(after) == (result, length - 1)
            lengths.append(length)
    assert max(lengths) >= 3


def test_who_loses_anyway_holds_out():
    """Every move loses, and all but one lose at once."""
    game = make_game("connect_four")
    state = game.state_from_moves("44556")
    found = search(state)
    assert game.action_to_text(state, found.best_action) in ("3", "7")


def test_a_history_is_not_forgotten():
    """The first player wins by superko. A table that ignores the history would call it a loss."""
    game = make_game("go(size=2,komi=0,max_game_length=14)")
    state = game.state_from_moves("a1 a2 b1")
    sign = 1 - 2 * state.current_player()
    assert search(state).value == sign * 1
    assert Minimax().solve(state)[0] != 1  # Minimax keeps results by board


def test_lines_can_be_played():
    game = make_game("clobber(size=5)")
    lengths = []
    for state in random_positions(game, 5, 2):
        for move in search(state, 2000).rank_moves():
            after = state.clone()
            for action in move.pv:
                after.apply_action(action)
            lengths.append(len(move.pv))
            assert move.pv[0] == move.action
    assert max(lengths) >= 4


def test_a_limit_of_seconds_is_kept():
    found = Deepening(make_game("clobber").new_initial_state(), 2, 1 << 16, 0)
    found.run(1)
    found = Deepening(make_game("clobber").new_initial_state(), 2, 1 << 16, 0)
    begin = time.perf_counter()
    found.run(UNLIMITED, 0.2)
    assert 0.2 <= time.perf_counter() - begin < (1 if IS_COMPILED else 20)
