"""Tests of alpha-beta to a horizon: its values equal plain minimax's, and its proofs are true."""

from pathlib import Path

import pytest
from cases import thorough
from mcts.minimax import Minimax, RandomPlay, moves_of

from azero.compiler.jit import IS_COMPILED
from azero.exact.alphabeta import Work, estimate, new_search, search_on, start_iteration
from azero.exact.transpositions import PROOF, draft_above
from azero.games import State, make_game

from .test_solver import random_positions

RACE = f"{Path(__file__).parents[1] / 'data' / 'race.py'}:Race"
NO_LIMIT = 1 << 62
GAMES = [
    "tic_tac_toe",
    "connect_four(rows=4,columns=4)",
    "othello(size=4)",
    "clobber(rows=3,columns=4)",
    "breakthrough(rows=4,columns=3)",
    "amazons(rows=4,columns=4)",
]


def estimate_of(state: State, num_rollouts: int, seed: int) -> float:
    return estimate(state.game.rules, new_search(state, False, 0, num_rollouts, seed), 0)


def plain_value(state: State, horizon: int, num_rollouts: int, seed: int) -> float:
    """Returns the value at a horizon by searching every line."""
    if state.is_terminal():
        return state.returns()[0]
    if horizon == 0:
        return estimate_of(state, num_rollouts, seed)
    sign = 1 - 2 * state.current_player()
    return sign * max(sign * plain_value(after, horizon - 1, num_rollouts, seed) for _, after in moves_of(state))


def run(state: State, work: Work) -> None:
    assert search_on(state, work, False, NO_LIMIT, NO_LIMIT)


@pytest.mark.thorough
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("num_rollouts", [0, 3])
def test_values_at_a_horizon_are_those_of_minimax(name, num_rollouts):
    """With a table too, in games whose equal positions have the same ply."""
    for state in random_positions(make_game(name), 5, 3 if name != "amazons(rows=4,columns=4)" else 18):
        for horizon in (1, 2, 3):
            value = plain_value(state, horizon, num_rollouts, seed=8)
            for max_entries in (0, 2, 1 << 12) if name != "othello(size=4)" else (0,):
                work = new_search(state, False, max_entries, num_rollouts, 8, horizon)
                run(state, work)
                assert work.frames[0].value == value
                assert work.frames[0].action in state.legal_actions()


def test_estimates_are_means_of_random_games_drawn_to_zero():
    exact = RandomPlay()
    n = 4000 if IS_COMPILED else 400
    for state in random_positions(make_game("tic_tac_toe"), 5, 2):
        wins, draws, _ = exact.expect(state)
        mean = float(2 * wins + draws - 1)
        assert estimate_of(state, n, 1) == pytest.approx(mean, abs=4 * ((1 - mean**2) / n) ** 0.5 + 1 / n)
        assert abs(estimate_of(state, 1, 1)) in (0, 1 / 2)
        assert estimate_of(state, 0, 1) == 0
        assert estimate_of(state, 30, 1) == estimate_of(state, 30, 1)
    start = make_game("tic_tac_toe").new_initial_state()
    assert len({estimate_of(start, 30, seed) for seed in range(10)}) > 1


RACES = [f"{RACE}(length=18,seed={seed})" for seed in range(30 if IS_COMPILED else 3)]
LATE = 6 if IS_COMPILED else 8


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "min_plies"),
    [
        ("tic_tac_toe", 1 if IS_COMPILED else 3),
        ("connect_four(rows=4,columns=4)", LATE),
        ("othello(size=4)", LATE),
        ("clobber(rows=3,columns=4)", 2),
        ("breakthrough(rows=4,columns=3)", 6),
        *((name, 0) for name in RACES),
    ],
    ids=lambda value: value.rpartition(":")[2] if isinstance(value, str) else None,
)
def test_what_is_called_a_proof_is_one(name, min_plies):
    """Checks every bound with draft PROOF in the table, after each iteration, and those of the root's moves."""
    minimax = Minimax()
    num_proofs = 0
    for state in random_positions(make_game(name), 3, min_plies):
        truth = minimax.solve(state)[0]
        work = new_search(state, False, 1 << 12, 1, 4)
        for horizon in range(1, 9):
            start_iteration(work, False, horizon, work.frames[0].action if horizon > 1 else -1)
            run(state, work)
            assert work.frames[0].value == truth if work.frames[0].draft == PROOF else abs(work.frames[0].value) < 1
            check_root_moves(work, minimax, state)
            num_proofs += check_table(work, minimax)
    assert num_proofs > 0


def check_table(work: Work, minimax: Minimax) -> int:
    """Asserts that the proven bounds in the table are true; returns their number."""
    entries = work.table[work.table.effort > 0]
    for entry in entries:
        value = minimax.solved[int(entry.key)][0]
        assert entry.low <= value or not (entry.low_draft == PROOF or entry.low == 1)
        assert entry.high >= value or not (entry.high_draft == PROOF or entry.high == -1)
    return (entries.low_draft == PROOF).sum() + (entries.high_draft == PROOF).sum()


def check_root_moves(work: Work, minimax: Minimax, state: State) -> None:
    """Asserts that the proven values of root moves are true."""
    for action, after in moves_of(state):
        move = work.root_moves[action]
        if move.draft == PROOF:
            value = minimax.solve(after)[0]
            sign = 1 - 2 * state.current_player()
            assert sign * value <= sign * move.value if move.is_bound else value == move.value


@pytest.mark.parametrize("name", ["tic_tac_toe", *thorough(*RACES[:20])])
def test_no_horizon_is_met_when_it_lies_beyond_the_end(name):
    """The value is proven too, even with entries of shallower iterations in the table."""
    state = make_game(name).new_initial_state()
    work = new_search(state, False, 1 << 12, 1, 4)
    for horizon in range(1, 19):
        start_iteration(work, False, horizon)
        run(state, work)
    assert work.frames[0].draft == draft_above(PROOF)
    assert work.frames[0].value == Minimax().solve(state)[0]


def test_a_search_halts_at_its_limit_of_leaves():
    state = make_game("connect_four").new_initial_state()
    work = new_search(state, False, 1 << 12, 1, 0, 6)
    for leaves in (1, 2, 50, 51):
        assert not search_on(state, work, False, NO_LIMIT, leaves)
        assert work.progress[0].num_leaves == leaves == work.root_moves.num_leaves.sum()


def test_a_search_goes_on_where_it_was_halted():
    state = make_game("connect_four").state_from_moves("4453")
    unbroken, broken = (new_search(state, False, 1 << 12, 2, 3, 4) for _ in range(2))
    run(state, unbroken)
    while not search_on(state, broken, False, broken.progress[0].num_nodes + 7, NO_LIMIT):
        pass
    assert unbroken.progress[0] == broken.progress[0]
    assert (unbroken.root_moves == broken.root_moves).all() and (unbroken.table == broken.table).all()
