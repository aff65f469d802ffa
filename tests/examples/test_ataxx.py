"""Tests of Ataxx: perft, games that Fairy-Stockfish has played, the end, the laws."""

import json
from pathlib import Path

import pytest
from games.perft import perft

from azero.compiler.jit import IS_COMPILED
from azero.games import State, make_game
from azero.games.laws.laws import check_laws

TESTS = Path(__file__).parents[1]
NAME = f"{TESTS.parent / 'examples' / 'games' / 'ataxx.py'}:Ataxx"
GAME = make_game(NAME)


def make_position(first: str, second: str, player: int = 0) -> State:
    """Returns a position with stones on these cells."""
    record = GAME.new_initial_state().record
    for player_, cells in enumerate((first, second)):
        places = [7 * (7 - int(cell[1])) + "abcdefg".index(cell[0]) for cell in cells.split()]
        record.stones[player_] = sum(1 << place for place in places)
    record.player = player
    return State.from_record(GAME, record)


def rows_of(state: State) -> list[str]:
    return ["".join(line.split()[1:]) for line in str(state).splitlines()[:7]]


def rows_of_fen(board: str) -> list[str]:
    """Returns the rows of a board in Fairy-Stockfish's notation: P and p are stones."""
    return [
        "".join("." * int(each) if each.isdigit() else "XO"[each == "p"] for each in row) for row in board.split("/")
    ]


@pytest.mark.skipif(not IS_COMPILED, reason="thousands of positions")
def test_perft_is_that_of_other_engines():
    assert perft(GAME, 4) == [16, 256, 6460, 155888]


def test_recorded_games_of_fairy_stockfish():
    """Written by notes/scripts/ataxx_games.py."""
    for line in (TESTS / "data" / "ataxx_games.jsonl").read_text().splitlines():
        recorded, state = json.loads(line), GAME.new_initial_state()
        for move, num_legal in zip(recorded["moves"].split(), recorded["num_legal"], strict=True):
            assert len(state.legal_actions()) == num_legal
            state.apply_action(GAME.text_to_action(state, move))
        assert state.is_terminal() and rows_of(state) == rows_of_fen(recorded["final"])


def test_who_cannot_move_passes():
    state = make_position("a7", "b7 c7 a6 b6 c6 a5 b5 c5")
    assert [GAME.action_to_text(state, action) for action in state.legal_actions()] == ["pass"]
    state.apply_action(state.legal_actions()[0])
    assert state.current_player() == 1 and len(state.legal_actions()) > 1


def test_a_player_without_stones_has_lost():
    state = make_position("a7 a6", "b5")
    state.apply_action(GAME.text_to_action(state, "a5"))
    assert state.is_terminal() and state.returns() == [1, -1] and state.final_score() == 4


def test_the_laws_hold():
    check_laws(make_game(f"{NAME}(max_game_length=24)"), num_games=2, seed=0)
