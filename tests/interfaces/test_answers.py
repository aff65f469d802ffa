"""Tests of what a person may type: commands in any case, moves, whole turns, their completion, and what is refused."""

import pytest
from games.user_games import NIM, added, write_file, write_nim_with_turns_of_two

from azero.errors import BadInput
from azero.games import make_game
from azero.interfaces.terminal.answers import command_of, complete, continuations, explain, read_turn

GAME = make_game("tic_tac_toe")
START = GAME.new_initial_state()


@pytest.mark.parametrize(
    ("answer", "command"),
    [
        ("help", ("help", "")),
        ("HELP", ("help", "")),
        ("?", ("help", "")),
        ("Q", ("quit", "")),
        ("Save My File.txt", ("save", "My File.txt")),
        ("save", ("save", "")),
        ("undo a1", ("", "")),
        ("a1", ("", "")),
    ],
)
def test_commands_are_read_in_any_case(answer, command):
    assert command_of(answer, START) == command


def test_a_legal_move_is_no_command(tmp_path):
    words = "action_to_text(game, state, action):\n        return ('quit', 'Undo', 'undo')[action]"
    nim = make_game(f"{write_file(tmp_path / 'nim.py', NIM, added(words))}:Nim")
    state = nim.new_initial_state()
    assert command_of("quit", state) == ("", "") and read_turn(state, "quit") == [0]
    assert command_of("Quit", state) == ("quit", "")
    assert [read_turn(state, each) for each in ("Undo", "undo", "QUIT")] == [[1], [2], [0]]
    with pytest.raises(BadInput, match="'UNDO' could be Undo or undo"):
        read_turn(state, "UNDO")


@pytest.mark.parametrize(
    ("game", "typed", "lines"),
    [
        ("tic_tac_toe", "a", ["a1", "a2", "a3"]),
        ("tic_tac_toe", "B", ["b1", "b2", "b3"]),
        ("tic_tac_toe", "z", []),
        ("tic_tac_toe", "a1", ["a1"]),
        ("breakthrough", "b2", ["b2-a3", "b2-b3", "b2-c3"]),
        ("amazons(size=4)", "a", ["a2"]),
        ("amazons(size=4)", "a2-", ["a2-b3", "a2-b2", "a2-c2", "a2-a1"]),
        ("amazons(size=4)", "A2-a1/A", ["a2-a1/a2"]),
        ("amazons(size=4)", "a2-c1/", []),
    ],
)
def test_moves_and_turns_are_completed(game, typed, lines):
    state = make_game(game).new_initial_state()
    assert [line for line in continuations(state, typed) if line.count("/") <= typed.count("/")] == lines


def test_a_turn_that_needs_commas_is_completed(tmp_path):
    nim = make_game(f"{write_nim_with_turns_of_two(tmp_path / 'nim.py')}:Nim")
    state = nim.new_initial_state()
    assert continuations(state, "2,") == ["2,0", "2,1", "2,2"] and read_turn(state, "2,1") == [2, 1]


def test_commands_are_completed_after_moves():
    assert complete(START, "H") == ["hint", "help"] and complete(START, "a") == ["a1", "a2", "a3"]
    assert complete(START, "")[:2] == ["a1", "b1"] and complete(START, "")[-1] == "quit"


@pytest.mark.parametrize(
    ("game", "answer", "explanation"),
    [
        ("tic_tac_toe", "hitn", "did you mean hint?"),
        ("breakthrough", "b2", "'b2' is not a whole move; it may go on as b2-a3 b2-b3 b2-c3"),
        ("amazons(size=4)", "a2-c1", "'-c1' is not legal here; legal moves: -b3 -b2 -c2 -a1; or enter help"),
        ("go", "i5", "moves are a1 (bottom left) to j9, without i, and pass; or enter help"),
    ],
)
def test_what_is_refused_is_explained(game, answer, explanation):
    state = make_game(game).new_initial_state()
    with pytest.raises(BadInput) as error:
        read_turn(state, answer)
    assert explain(state, answer, error.value).endswith(explanation)
