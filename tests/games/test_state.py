"""Tests of Game and State: what a State returns, what it refuses, and which games are equal."""

import numpy as np
import pytest

from azero.errors import BadInput, BrokenRules
from azero.games import State, make_game, new_states, state

from .user_games import NIM, added, forget_files, write_file

GAME = make_game("tic_tac_toe")


def test_a_game_from_start_to_end():
    state = GAME.new_initial_state()
    for ply, action in enumerate([0, 3, 1, 4]):
        assert state.current_player() == ply % 2
        state.apply_action(action)
    assert state.legal_actions() == [2, 5, 6, 7, 8]
    assert not state.is_terminal() and state.returns() == [0, 0]
    state.apply_action(2)
    assert state.is_terminal() and state.returns() == [1, -1]
    assert state.current_player() == -4 and state.legal_actions() == []
    assert state.history() == [0, 3, 1, 4, 2]


def test_returns_of_a_draw_are_plain_zeros():
    state = GAME.state_from_moves("b2 a1 c1 a3 a2 c2 b1 b3 c3")
    assert state.is_terminal() and [str(each) for each in state.returns()] == ["0.0", "0.0"]


@pytest.mark.parametrize("action", [0, -1, 9, 10**20])
def test_an_illegal_action_is_refused_and_changes_nothing(action):
    state = GAME.state_from_moves("a1")
    before = state.record.tobytes()
    with pytest.raises(BadInput, match=rf"^action {action} is not legal here; legal actions: 1 2 3 4 5 6 7 8$"):
        state.apply_action(action)
    assert state.record.tobytes() == before and state.history() == [0]


def test_of_many_legal_moves_an_error_lists_the_first():
    state = make_game("go").state_from_moves("e5")
    first = " ".join(f"{column}9" for column in "abcdefghj") + " " + " ".join(f"{column}8" for column in "abcdefghj")
    with pytest.raises(BadInput) as error:
        state.game.text_to_action(state, "e5")
    assert str(error.value) == f"'e5' is not legal here; legal moves: {first} a7 b7 ... (81 in all)"
    with pytest.raises(BadInput) as error:
        state.apply_action(40)
    numbers = " ".join(map(str, range(20)))
    assert str(error.value) == f"action 40 is not legal here; legal actions: {numbers} ... (81 in all)"
    moves = make_game("gomoku(rows=4,columns=5)").state_from_moves("")  # with twenty moves
    with pytest.raises(BadInput, match=r"legal actions: 0 .* 19$"):
        moves.apply_action(20)


def test_no_action_is_legal_when_the_game_is_over():
    state = GAME.state_from_moves("a1 a2 b1 b2 c1")
    with pytest.raises(BadInput, match="^action 8 is not legal here; the game is over$"):
        state.apply_action(8)


def test_lists_that_are_handed_out_are_copies():
    state = GAME.state_from_moves("a1")
    for handed_out in (state.legal_actions(), state.history(), state.returns()):
        handed_out.clear()
    assert state.legal_actions() == [1, 2, 3, 4, 5, 6, 7, 8] and state.history() == [0] and state.returns() == [0, 0]


def test_a_clone_goes_its_own_way():
    state = GAME.state_from_moves("a1 b2")
    clone = state.clone()
    clone.apply_action(8)
    assert state.history() == [0, 4] and clone.history() == [0, 4, 8]
    assert 8 in state.legal_actions() and state.current_player() == 0
    assert state.hash_key() != clone.hash_key()


def test_a_state_from_a_record_owns_a_copy():
    states = new_states(GAME.rules, 2)
    states[1] = GAME.state_from_moves("a1 b2").record
    state = State.from_record(GAME, states[1])
    assert state.history() == [] and state.current_player() == 0 and state.legal_actions() == [1, 2, 3, 5, 6, 7, 8]
    state.apply_action(8)
    assert states[1].ply == 2 and state.record.ply == 3


def test_blank_states_have_the_asked_shape():
    states = new_states(GAME.rules, 2, 3)
    assert states.shape == (2, 3) and states.dtype.names == GAME.rules.state_dtype.names
    assert not np.any(states.stones)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ("a1 b2 a1", "move 3: 'a1' is not legal here; legal moves: b1 c1 a2 c2 a3 b3 c3"),
        ("a1 zz", "move 2: 'zz' is not a move of tic_tac_toe; moves are a1 (top left) to c3"),
        ("a1 a2 b1 b2 c1 c3", "move 6, 'c3': the game was over after 5 moves"),
    ],
)
def test_the_first_move_that_cannot_be_played_is_named(moves, message):
    with pytest.raises(BadInput) as error:
        GAME.state_from_moves(moves)
    assert str(error.value) == message


def test_a_move_after_the_end_is_refused():
    with pytest.raises(BadInput, match="^'c3' cannot be played: the game is over$"):
        GAME.text_to_action(GAME.state_from_moves("a1 a2 b1 b2 c1"), "c3")


def test_no_moves_are_the_initial_position():
    assert GAME.state_from_moves(" \n").record.tobytes() == GAME.new_initial_state().record.tobytes()


def test_games_are_equal_by_rules_and_sizes():
    assert make_game("tic_tac_toe") == GAME
    assert make_game("connect_four") == make_game("connect_four(rows=6,columns=7)")
    assert make_game("connect_four") != make_game("connect_four(rows=5)")
    assert make_game("connect_four") != GAME and GAME != "tic_tac_toe"
    assert len({GAME, make_game("tic_tac_toe"), make_game("connect_four(columns=7)"), make_game("connect_four")}) == 2


def test_a_game_shows_its_name():
    game = make_game("connect_four(rows=5)")
    assert str(game) == "connect_four(rows=5)" and repr(game) == "make_game('connect_four(rows=5)')"


def test_a_state_shows_its_board():
    state = GAME.state_from_moves("a1 b2")
    assert str(state) == state.draw() == "1 X . .\n2 . O .\n3 . . .\n  a b c"


def test_a_move_is_read_by_the_texts_of_the_legal_ones(tmp_path, monkeypatch):
    """`action_to_text` is written for legal actions, and may fail for others."""
    forget_files(monkeypatch)
    legal = ("out[action] = action", "out[action] = 3 - count + action")
    take = ("state.left -= action + 1", "state.left -= 3 - action")
    text = added('action_to_text(game, state, action):\n        return ("1", "2", "3")[: state.left][2 - action]')
    state = make_game(f"{write_file(tmp_path / 'last.py', NIM, legal, take, text)}:Nim(heap=4)").new_initial_state()
    for move, action in (("3", 0), ("1", 2)):
        assert state.game.text_to_action(state, move) == action
        state.apply_action(action)
    assert state.returns() == [-1, 1]


def test_rules_that_cannot_go_on_are_told_with_the_actions(tmp_path, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    stuck = ("return count\n", "return count if state.left != 1 or state.ply < 24 else 0\n")
    endless = ("return game.heap\n\n    @property\n    def planes", "return 24\n\n    @property\n    def planes")
    write_file(tmp_path / "stuck.py", NIM, stuck)
    write_file(tmp_path / "endless.py", NIM, endless)
    for name, what, num in [
        ("stuck.py:Nim(heap=36)", "legal_actions finds 0 actions while the game goes on", 35),
        ("endless.py:Nim(heap=36)", "max_plies is too small: a game goes on beyond it", 25),
    ]:
        state = make_game(name).new_initial_state()
        for _ in range(num - 1):
            state.apply_action(0)
        with pytest.raises(BrokenRules) as error:
            state.apply_action(0)
        assert str(error.value) == f"{name}.{what}; actions so far:" + " 0" * num


def test_a_function_that_raises_is_named_with_its_file_and_the_actions(tmp_path, monkeypatch):
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    imports = ("import numpy as np", "import numpy as np; from azero.authoring import subroutine")
    raising = "    if ply == 24:\n        raise ValueError('no:\\nint too large to convert')\n"
    helper = f"@subroutine\ndef take(action, ply):\n{raising}    return action + 1\n\n\nclass Nim"
    call = ("-= action + 1", "-= take(action, state.ply)")
    write_file(tmp_path / "own.py", NIM, imports, ("class Nim", helper), call)
    state = make_game("own.py:Nim(heap=36)").new_initial_state()
    for _ in range(24):
        state.apply_action(0)
    with pytest.raises(BrokenRules) as error:
        state.apply_action(0)
    what = "ValueError: no: int too large to convert; write np.uint64(...) around integers of 2**63 or more"
    assert str(error.value) == f"own.py:take fails, line 13: {what}; actions so far:" + " 0" * 25


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("amazons(size=6)", ["a2 -b3 /b4 e6", "b1", "f2 -f3"]),
        ("go(size=5)", ["c3 pass d2", "pass"]),
        ("connect_four", ["4", "1 2 3"]),
    ],
)
def test_lines_of_play_are_written_as_their_positions_have_it(name, lines):
    """In Amazons the text of an action depends on the position."""
    game = make_game(name)
    histories = [game.state_from_moves(line).history() for line in lines]
    assert game.lines_to_text(game.new_initial_state(), histories) == [line.split() for line in lines]
    assert game.lines_to_text(game.new_initial_state(), []) == []


def test_a_key_is_unsigned_whatever_the_rules_compute_it_with(monkeypatch):
    monkeypatch.setattr(state.kernels, "hash_key", lambda rules, state: np.int64(-43))
    assert GAME.new_initial_state().hash_key() == 2**64 - 43


def test_a_board_draws_itself_in_a_notebook(monkeypatch):
    state = make_game("connect_four").state_from_moves("44")
    assert state._repr_html_() == f"<pre>{state}</pre>"
    monkeypatch.setattr(type(state), "draw", lambda self: "<script>&")
    assert state._repr_html_() == "<pre>&lt;script&gt;&amp;</pre>"
