"""Tests of tic-tac-toe: every line and no other three stones, full boards, all games, and the laws."""

from itertools import combinations

import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import DRAW, LOSS, ONGOING, WIN, State, make_game
from azero.games.laws.laws import check_laws

from .openspiel import check_recorded_games
from .perft import count_ends, count_positions, perft

GAME = make_game("tic_tac_toe")
LINES = [{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}]


def outcome_of(own: set[int], last: int, player: int) -> int:
    """Returns the outcome after `player`'s move `last`, with stones `own`."""
    record = GAME.new_initial_state().record
    record.stones[player] = sum(1 << cell for cell in own - {last})
    record.ply = player  # an early ply of this player
    state = State.from_record(GAME, record)
    state.apply_action(last)
    return int(state.returns()[0]) if state.is_terminal() else ONGOING


@pytest.mark.parametrize(("player", "won"), [(0, WIN), (1, LOSS)])
def test_three_stones_win_where_they_are_a_line_and_nowhere_else(player, won):
    for own in map(set, combinations(range(9), 3)):
        for last in own:
            assert outcome_of(own, last, player) == (won if own in LINES else ONGOING)


def test_full_board_without_a_line_is_a_draw():
    state = GAME.state_from_moves("b2 a1 c1 a3 a2 c2 b1 b3")
    assert not state.is_terminal()
    state.apply_action(GAME.text_to_action(state, "c3"))
    assert str(state) == "1 O X X\n2 X X O\n3 O O X\n  a b c"
    assert state.is_terminal() and state.returns() == [0, 0]


def test_last_stone_of_a_full_board_can_win():
    state = GAME.state_from_moves("a1 b1 c1 a2 b2 c2 b3 a3")
    assert not state.is_terminal() and state.legal_actions() == [8]
    state.apply_action(8)
    assert str(state) == "1 X O X\n2 O X O\n3 O X X\n  a b c"
    assert state.is_terminal() and state.returns() == [1, -1]


def test_planes_are_own_stones_their_stones_and_empty_cells():
    state = GAME.state_from_moves("a1 c2 b3")
    own, theirs, empty = state.planes().tolist()
    assert own == [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    assert theirs == [[1, 0, 0], [0, 0, 0], [0, 1, 0]]
    assert empty == [[0, 1, 1], [1, 1, 0], [1, 0, 1]]


def test_perft():
    known = [9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872]
    length = 9 if IS_COMPILED else 5
    assert perft(GAME, length) == known[:length]


@pytest.mark.skipif(not IS_COMPILED, reason="half a million positions")
def test_all_games_by_outcome():
    ends = count_ends(GAME, 9)
    assert ends == {WIN: 131184, LOSS: 77904, DRAW: 46080}
    assert sum(ends.values()) == 255168


def test_positions_by_ply():
    known = [9, 72, 252, 756, 1260, 1520, 1140, 390, 78]
    for ply in range(1, 10 if IS_COMPILED else 5):
        assert count_positions(GAME, ply) == known[ply - 1]


def test_recorded_openspiel_games():
    check_recorded_games(GAME, "tic_tac_toe", lambda move: 3 * int(move[2]) + int(move[4]))


def test_moves_are_written_column_first():
    state = GAME.new_initial_state()
    assert [GAME.action_to_text(state, action) for action in range(9)] == [
        "a1",
        "b1",
        "c1",
        "a2",
        "b2",
        "c2",
        "a3",
        "b3",
        "c3",
    ]
    assert GAME.text_to_action(state, "C2") == 5
    assert GAME.rules.split_moves("a1b2,C3; b1\n") == ["a1", "b2", "C3", "b1"]


def test_marks_stand_at_their_cells():
    state = GAME.state_from_moves("a1 b2")
    assert state.draw({1: "12", 8: "7"}) == "1  X 12  .\n2  .  O  .\n3  .  .  7\n   a  b  c"


def test_laws():
    check_laws(GAME, num_games=30, seed=1)
