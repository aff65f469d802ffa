"""Tests of exact values: plain minimax's, and published ones."""

import math
import random
from pathlib import Path

import numpy as np
import pytest
from cases import long, thorough
from mcts.minimax import Minimax, moves_of

from azero.errors import BadInput
from azero.exact import solver
from azero.exact.alphabeta import new_search, search_on
from azero.exact.solver import solve
from azero.games import Game, State, make_game, registered_games

PONS = Path(__file__).parents[1] / "data" / "connect4_pons"


def value_of(name: str, moves: str = "", **settings) -> float | None:
    """Returns the value of the position after `moves`."""
    return solve(make_game(name).state_from_moves(moves), **settings).value


def random_positions(game: Game, num: int, min_plies: int, seed: int = 0) -> list[State]:
    """Returns positions of random games, at ply `min_plies` or later, that are not terminal."""
    source = random.Random(seed)
    positions: list[State] = []
    while len(positions) < num:
        state = game.new_initial_state()
        line = []
        while not state.is_terminal():
            line.append(state.clone())
            state.apply_action(source.choice(state.legal_actions()))
        if len(line) > min_plies:
            positions.append(source.choice(line[min_plies:]))
    return positions


def score_of(state: State) -> float:
    """Returns the final score under best play, by searching every game."""
    if state.is_terminal():
        return state.final_score()
    sign = 1 - 2 * state.current_player()
    return sign * max(sign * score_of(after) for _, after in moves_of(state))


def value_of_all(values: dict[int, float], state: State, by_score: bool) -> float:
    """Writes the values of `state` and all later positions into `values`, by key; returns that of `state`."""
    key = state.hash_key()
    if key not in values:
        if state.is_terminal():
            values[key] = state.final_score() if by_score else state.returns()[0]
        else:
            sign = 1 - 2 * state.current_player()
            values[key] = sign * max(sign * value_of_all(values, after, by_score) for _, after in moves_of(state))
    return values[key]


def check_action(state: State, **settings) -> None:
    """Asserts that the solution's action leads to its value."""
    solution = solve(state, **settings)
    assert solution.action in state.legal_actions()
    assert solve(dict(moves_of(state))[solution.action], **settings).value == solution.value


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "num", "min_plies"),
    [
        ("tic_tac_toe", 100, 0),
        ("connect_four(rows=4,columns=4)", 20, 7),
        ("othello(size=4)", 20, 4),
        ("amazons(rows=4,columns=4)", 20, 16),
        *long(
            ("clobber(rows=3,columns=4)", 20, 2),
            ("breakthrough(rows=4,columns=3)", 20, 3),
            ("hex(size=3,swap=True)", 20, 0),
            ("p_game(branching=3,depth=7,seed=3)", 10, 0),
        ),
    ],
)
def test_values_and_actions_are_those_of_minimax(name, num, min_plies):
    minimax = Minimax()
    for state in random_positions(make_game(name), num, min_plies):
        solution = solve(state)
        assert solution.value == minimax.solve(state)[0]
        assert solution.action in minimax.best_actions(state)
        assert solution.num_leaves <= solution.num_nodes


@pytest.mark.parametrize(
    ("name", "num", "min_plies"),
    [
        ("othello(size=4)", 20, 6),
        ("p_game(branching=2,depth=8,seed=1)", 10, 0),
        ("p_game(branching=5,depth=4,seed=2)", 10, 0),
        ("go(size=2,komi=0.5,max_game_length=7)", 10, 0),
        ("go(size=2,komi=0,max_game_length=7,superko=False,suicide=True)", 10, 0),
    ],
)
def test_scores_are_those_of_minimax(name, num, min_plies):
    for state in random_positions(make_game(name), num, min_plies):
        assert solve(state, by_score=True).value == score_of(state)
        check_action(state, by_score=True)


@pytest.mark.slow
def test_the_mover_may_move_again():
    """In Amazons, at each of the three actions of a move."""
    positions = random_positions(make_game("amazons(rows=4,columns=5)"), 30, 21)
    assert {int(state.record.phase) for state in positions} == {0, 1, 2}
    minimax = Minimax()
    for state in positions:
        assert solve(state).value == minimax.solve(state)[0]


@pytest.mark.parametrize(
    "name", ["connect_four(rows=4,columns=4)", "othello(size=4)", *thorough("clobber(rows=3,columns=5)")]
)
def test_values_do_not_depend_on_the_table(name):
    for state in random_positions(make_game(name), 10, 4):
        full = solve(state)
        for max_entries in (0, 1, 2, 3, 64):
            assert solve(state, max_table_entries=max_entries).value == full.value
            assert solve(state, by_score=True, max_table_entries=max_entries).value == solve(state, by_score=True).value


@pytest.mark.parametrize(
    ("name", "by_score", "moves"),
    [
        ("tic_tac_toe", False, ""),
        ("connect_four(rows=4,columns=4)", False, "2341"),
        ("othello(size=4)", True, "b1a1"),
        ("othello(size=6)", False, "e4e5d5e3f5f6d2c5b3a2a3b2d6e2b4e6a1c2b1a4a5f3e1"),
        *thorough(("clobber(rows=3,columns=4)", False, "")),
    ],
)
def test_what_the_table_holds_is_true(name, by_score, moves):
    """Checks every entry at the end of a search against the value of its position."""
    state = make_game(name).state_from_moves(moves)
    work = new_search(state, by_score, 1 << 16)
    while not search_on(state, work, by_score, work.progress[0].num_nodes + 1000, 1 << 62):
        pass
    values: dict[int, float] = {}
    value_of_all(values, state, by_score)
    entries = work.table[work.table.effort > 0]
    assert len(entries) > 50 and len({*entries.key}) == len(entries)
    assert (entries.low > -np.inf).any() and (entries.high < np.inf).any()
    for entry in entries:
        assert entry.low <= values[int(entry.key)] <= entry.high


@pytest.mark.thorough
def test_the_table_saves_most_of_the_work(monkeypatch):
    state = make_game("clobber(rows=4,columns=4)").new_initial_state()
    monkeypatch.setattr(type(state.game.rules), "is_about_mobility", False)  # it saves much of the same work
    assert 4 * solve(state).num_nodes < solve(state, max_table_entries=0).num_nodes


def test_few_replies_first_saves_most_of_the_work_and_changes_no_value(monkeypatch):
    states = random_positions(make_game("othello(size=6)"), 10, 18)
    ordered = [solve(state) for state in states]
    monkeypatch.setattr(type(states[0].game.rules), "is_about_mobility", False)
    plain = [solve(state) for state in states]
    assert [each.value for each in ordered] == [each.value for each in plain]
    assert 2 * sum(each.num_nodes for each in ordered) < sum(each.num_nodes for each in plain)


@pytest.mark.parametrize(("name", "num"), [("othello(size=4)", 30), *thorough(("clobber(rows=3,columns=4)", 30))])
def test_the_numbers_of_replies_are_those_of_the_open_moves(name, num):
    """Also where a player has to pass, so that the other one moves again, and after moves have changed places."""
    for state in random_positions(make_game(name), num, 4):
        for nodes in range(1, 40, 7):
            work = new_search(state, False, 1 << 10)
            search_on(state, work, False, nodes, 1 << 62)
            check_replies(state, work)


def check_replies(state, work):
    """Checks the numbers of replies in all frames of an unfinished search."""
    place = state.clone()
    for ply in range(int(work.progress[0].ply) + 1):
        frame, legal = work.frames[ply], work.legal[ply]
        if frame.num_legal > 0 and frame.num_looked == frame.num_legal:
            for k in range(frame.num_tried, frame.num_legal):
                after = place.clone()
                after.apply_action(int(legal[k]))
                sign = 1 if after.current_player() != place.current_player() else -1
                assert work.replies[ply, k] == sign * len(after.legal_actions())
        if ply < work.progress[0].ply:
            place.apply_action(int(frame.tried))


@pytest.mark.parametrize("steps", [1, 7])
def test_a_search_goes_on_where_it_was_halted(steps, monkeypatch):
    state = make_game("tic_tac_toe").new_initial_state()
    unbroken = solve(state)
    monkeypatch.setattr(solver, "_FIRST_NODES", steps)
    monkeypatch.setattr(solver, "next_size", lambda size, elapsed_s: size)
    assert solve(state) == unbroken


def test_there_is_no_value_where_the_limit_comes_first():
    state = make_game("connect_four").new_initial_state()
    solution = solve(state, node_limit=1000)
    assert (solution.value, solution.action) == (None, None) and 1000 <= solution.num_nodes < 1010
    assert solve(make_game("tic_tac_toe").new_initial_state(), node_limit=10_000).value == 0


def test_a_game_that_is_over_is_worth_what_it_ended_with():
    assert solve(make_game("tic_tac_toe").state_from_moves("a1 b1 a2 b2 a3")) == (1, None, 1, 1)
    state = make_game("go(size=2,komi=0.5)").state_from_moves("a1 pass pass")
    assert solve(state, by_score=True) == (3.5, None, 1, 1)


def test_a_game_longer_than_its_rules_state_is_refused(monkeypatch):
    game = make_game("tic_tac_toe")
    monkeypatch.setattr(type(game.rules), "max_plies", 4)
    with pytest.raises(BadInput, match="max_plies"):
        solve(game.new_initial_state())


def test_positions_with_a_history_are_not_remembered():
    free = {name for name, rules in registered_games().items() if rules().is_history_free}
    assert "go" not in free and {"othello", "amazons", "connect_four"} <= free
    assert len(new_search(make_game("go").new_initial_state(), False, 1 << 10).table) == 0
    assert len(new_search(make_game("hex").new_initial_state(), False, 1500).table) == 1 << 10


@pytest.mark.parametrize(("branching", "depth"), [(2, 10), (3, 6), (8, 3)])
def test_leaves_are_no_fewer_than_a_proof_takes(branching, depth):
    """B^ceil(D / 2) + B^floor(D / 2) - 1 in a tree without repetitions (Knuth & Moore 1975)."""
    for seed in range(5):
        state = make_game(f"p_game(branching={branching},depth={depth},seed={seed})").new_initial_state()
        fewest = branching ** math.ceil(depth / 2) + branching ** (depth // 2) - 1
        assert fewest <= solve(state, by_score=True).num_leaves < branching**depth


# Published values. The rows of a board come first.

CLOBBER = {"2x2": 1, "2x3": -1, "2x4": 1, "2x5": 1, "2x6": -1, "3x3": 1, "3x4": -1, "3x5": 1, "3x6": -1, "4x4": 1}
BREAKTHROUGH = {"4x2": -1, "4x3": 1, "4x4": 1, "5x2": 1, "5x3": 1, "5x4": 1, "6x2": 1, "6x3": 1}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("game", "values"), [("clobber", CLOBBER), ("breakthrough", BREAKTHROUGH)], ids=["clobber", "breakthrough"]
)
def test_small_boards(game, values):
    for size, value in values.items():
        rows, columns = size.split("x")
        assert value_of(f"{game}(rows={rows},columns={columns})") == value, size


@pytest.mark.parametrize(
    ("rows", "columns", "value"),
    [
        (4, 4, 0),
        (4, 5, 0),
        (5, 4, 0),
        (5, 5, 0),
        (6, 4, 0),
        *thorough((4, 6, -1)),
        pytest.param(6, 5, 0, marks=pytest.mark.long),
        pytest.param(5, 6, 0, marks=pytest.mark.long),
    ],
)
def test_connect_four(rows, columns, value):
    """Values of Tromp, John's Connect Four playground, table of sizes."""
    assert value_of(f"connect_four(rows={rows},columns={columns})", max_table_entries=1 << 22) == value


@pytest.mark.parametrize(("name", "num"), [("Test_L3_R1", 100), ("Test_L2_R1", 50)])
def test_connect_four_endgames(name, num):
    """Positions from the end and the middle of games, with results of Pascal Pons' solver."""
    game = make_game("connect_four")
    for line in (PONS / name).read_text().splitlines()[:num]:
        moves, score = line.split()
        state = game.state_from_moves(moves)
        assert solve(state).value == (1 - 2 * state.current_player()) * np.sign(int(score)), moves


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "columns", "k", "value"),
    [
        (3, 3, 3, 0),
        (3, 4, 3, 1),
        (4, 4, 3, 1),
        (5, 5, 3, 1),
        (4, 4, 4, 0),
        pytest.param(4, 5, 4, 0, marks=pytest.mark.long),
    ],
)
def test_k_in_a_row(rows, columns, k, value):
    """Values of Uiterwijk & van den Herik, The advantage of the initiative (2000)."""
    assert value_of(f"gomoku(rows={rows},columns={columns},k={k})") == value


@pytest.mark.slow
@pytest.mark.parametrize(("size", "winning"), [(2, "b1 a2"), (3, "c1 a2 b2 c2 a3"), (4, "d1 c2 b3 a4")])
def test_hex_openings(size, winning):
    """All winning openings, without swap, as found by MoHex's solver."""
    game = make_game(f"hex(size={size})")
    start = game.new_initial_state()
    found = [game.action_to_text(start, action) for action, after in moves_of(start) if solve(after).value == 1]
    assert found == winning.split()
    assert game.action_to_text(start, solve(start).action) in found


def test_othello():
    """The second player wins 4x4 by 10, empty cells counted as the winner's."""
    assert value_of("othello(size=4)", by_score=True) == -10
    assert value_of("othello(size=4)") == -1


def test_go():
    """The first player wins 2x2 with positional superko by one point (Tromp)."""
    assert value_of("go(size=2,komi=0)", by_score=True) == 1
    assert value_of("go(size=2,komi=0.5)") == 1
    assert value_of("go(size=2,komi=1)") == 0
    assert value_of("go(size=2,komi=1.5)") == -1


@pytest.mark.thorough
@pytest.mark.long
def test_go_on_nine_points():
    """From the centre, the first player wins all of 3x3; van der Werf et al., Solving Go on small boards (2003)."""
    solution = solve(make_game("go(size=3,komi=0)").new_initial_state(), by_score=True)
    assert (solution.value, solution.action) == (9, 4)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "columns", "value"), [(4, 4, -1), pytest.param(4, 5, 1, marks=pytest.mark.long)], ids=["4x4", "4x5"]
)
def test_amazons(rows, columns, value):
    """4x5: Song & Müller, An enhanced solver for the game of Amazons (2014). 4x4: another program of ours."""
    assert value_of(f"amazons(rows={rows},columns={columns})", max_table_entries=1 << 23) == value


@pytest.mark.thorough
@pytest.mark.parametrize("heap", [255, 256, *long(257, 300, 1000)])
def test_long_games(heap):
    """The player to move loses Nim if the heap is a multiple of four."""
    nim = Path(__file__).parents[1] / "data" / "nim.py"
    game = make_game(f"{nim}:Nim(heap={heap})")
    assert game.max_plies == heap
    assert value_of(str(game)) == (1 if heap % 4 else -1)
