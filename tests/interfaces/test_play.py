"""Tests of games in the terminal, by script: wins, losses, draws, mistakes, undo and resignation."""

import re
import time

import pytest
from games.user_games import write_nim_with_turns_of_two

from azero.arena.agents.agent import Agent
from azero.arena.agents.clock import TimeControl
from azero.arena.agents.names import make_agent
from azero.arena.agents.suggestion import Move, Suggestion
from azero.games import make_game
from azero.interfaces.terminal.clocks import Clocks
from azero.interfaces.terminal.play import COMMANDS, play_in_terminal

GAME = make_game("tic_tac_toe")


class Scripted(Agent):
    """Plays moves from a list. A hint is the next of them."""

    def __init__(self, moves, game):
        super().__init__("scripted", game)
        self.moves_left = moves.split()

    def suggest(self, state, simulations=None, seconds=None):
        text = self.moves_left.pop(0)
        if text == "resign":
            return Suggestion("tic_tac_toe", state.current_player(), 1, 0.0, -1.0, text, [])
        move = Move(self.game.text_to_action(state, text), text, 1, 0.5, 1.0, None, None, [text])
        return Suggestion("tic_tac_toe", state.current_player(), 1, 0.0, 0.5, text, [move])

    def start(self, num_slots, states, first_game): ...
    def advance(self, slot, action): ...
    def _choose(self, slots): ...


def play(person, agent_moves, *answers, game=GAME, start=None):
    """Plays by script; returns the output."""
    script, shown, prompts = iter(answers), [], []

    def ask(prompt):
        prompts.append(prompt)
        try:
            return next(script)
        except StopIteration:
            raise EOFError from None

    agent = Scripted(agent_moves, game)
    play_in_terminal(agent, start or game.new_initial_state(), person, ask, shown.append)
    assert next(script, None) is None, "the whole script should be used"
    assert set(prompts) <= {"your move: "}
    return shown


def test_a_game_won():
    shown = play(0, "b1 b2", "a1", "a2", "a3")
    assert shown[0].startswith("You play first against scripted. Enter a move (e.g. a1), or: moves, hint, undo")
    assert shown[-1] == "You win." and shown[-2] == "\n1 X O .\n2 X O .\n3 X . .\n  a b c\n"
    assert "scripted plays b1 (value +0.50 for it)" in shown


def test_a_game_lost_as_second_player():
    shown = play(1, "a1 a2 a3", "b1", "b2")
    assert shown[0].startswith("You play second") and shown[-1] == "You lose."
    assert shown[2] == "scripted plays a1 (value +0.50 for it)"


@pytest.mark.parametrize("text", ["1O1/1X1/3 X", "moves: b2 b1"])
def test_a_game_begins_with_a_position_and_undo_ends_there(text):
    start = GAME.state_from_text(text)
    shown = play(0, "a3 c2", "undo", "c1", "undo", "a1", "c3", start=start)
    assert shown[-1] == "You win." and shown[1] == "\n1 . O .\n2 . X .\n3 . . .\n  a b c\n"
    assert shown.count("There is nothing to take back.") == 1 and start == GAME.state_from_text(text)


def test_a_game_drawn():
    assert play(0, "a1 a3 c2 b3", "b2", "c1", "a2", "b1", "c3")[-1] == "A draw."


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("a1", "'a1' is not legal here; legal moves: c1 a2 b2 c2 a3 b3 c3; or enter help"),
        ("z9", "'z9' is not a move of tic_tac_toe; moves are a1 (top left) to c3; or enter help"),
        ("hlep", "'hlep' is not a move of tic_tac_toe; moves are a1 (top left) to c3; or enter help"),
    ],
)
def test_a_move_that_cannot_be_played_is_asked_for_again(answer, reply):
    shown = play(0, "b1 b2", "a1", answer, "a2", "a3")
    assert reply in shown and shown[-1] == "You win."


def test_a_turn_of_several_actions_can_be_one_answer(tmp_path):
    shown = play(0, "a7 -a6 /b6", "d1-d7/g7", "quit", game=make_game("amazons"))
    assert "scripted plays a7 (value +0.50 for it)" in shown
    nim = make_game(f"{write_nim_with_turns_of_two(tmp_path / 'nim.py')}:Nim")
    for answer in ("2,1", "2 1"):
        shown = play(0, "0 1", answer, "quit", game=nim)
        assert "\nleft: 16\nply: 2\n" in shown


def test_an_answer_that_goes_on_beyond_the_turn_plays_nothing(tmp_path):
    shown = play(0, "", "a1 b2", "quit")
    assert (
        "'a1 b2' continues beyond your turn, which ends with 'a1'; or enter help" in shown and len(boards(shown)) == 1
    )
    nim = make_game(f"{write_nim_with_turns_of_two(tmp_path / 'nim.py')}:Nim")
    shown = play(0, "", "2,7", "quit", game=nim)
    assert any("'7'" in text for text in shown) and "\nleft: 18\nply: 1\n" not in shown


def test_help_moves_and_spaces():
    shown = play(0, "b1 b2", "a1", "", "help", "?", "moves", "  a2 ", "a3")
    about = "Three in a row wins; a full board is a draw. Action 3 * row + column, written a1 (top left) to c3."
    helps = [text for text in shown if text.startswith(about)]
    assert len(helps) == 3 and all(f"\n  {word}" in helps[0] for word in ("c1 ", *COMMANDS))
    assert len(boards(shown)) == 6  # at the start and after each move, but not after each word
    assert "c1 a2 b2 c2 a3 b3 c3" in shown and shown[-1] == "You win."


def test_an_agent_plays_a_whole_turn_at_once():
    game = make_game("amazons(size=4)")
    shown, answers = [], iter(["quit"])
    play_in_terminal(
        make_agent("uct(root=turns)@50", game), game.new_initial_state(), 1, lambda prompt: next(answers), shown.append
    )
    played = [text for text in shown if " plays " in text]
    assert len(played) == 1 and re.search(r" plays [a-d][1-4]-[a-d][1-4]/[a-d][1-4] ", played[0])


def test_a_hint_is_the_agent_s_own_view_and_moves_nothing():
    shown = play(0, "c3 b1 b2", "hint", "a1", "a2", "a3")
    assert "best: c3" in shown[2] and shown[-1] == "You win."


def boards(shown):
    return [text for text in shown if text.startswith("\n1")]


def test_undo_takes_back_to_one_s_own_turn_before():
    shown = play(0, "b1 c1 b2", "a1", "a2", "undo", "undo", "undo", "quit")
    start, _, after_b1, _, _, *undone = boards(shown)
    assert undone == [after_b1, start] and "There is nothing to take back." in shown
    assert shown[-1] == "The game is left unfinished."


def test_undo_as_second_player_stops_at_the_agent_s_first_move():
    shown = play(1, "c3 b1", "a1", "undo", "undo", "quit")
    _, after_c3, _, _, *undone = boards(shown)
    assert undone == [after_c3] and "There is nothing to take back." in shown


def test_a_game_goes_on_after_an_undo():
    assert play(0, "b1 c1 b2", "a1", "c3", "undo", "a2", "a3")[-1] == "You win."


def test_resigning_ends_the_game():
    assert play(0, "b1", "a1", "resign")[-1] == "You resign, and lose."
    assert play(0, "resign", "a1")[-1] == "scripted resigns. You win."
    assert "best: resign" in play(0, "resign", "hint", "quit")[2]


def test_where_a_game_counts_the_score_is_told():
    go = make_game("go(size=2,komi=0.5)")
    assert play(0, "pass", "a1", "pass", game=go)[-1] == "You win by 3.5."
    assert play(1, "a1 pass", "pass", game=go)[-1] == "You lose by 3.5."
    even = make_game("go(size=2,komi=0)")
    assert play(0, "pass", "pass", game=even)[-1] == "A draw."


@pytest.mark.parametrize("answers", [["quit"], ["q"], ["a1", "quit"], [], ["a1"]])
def test_a_game_can_be_left(answers):
    shown = play(0, "b1", *answers)
    assert shown[-1].strip() == "The game is left unfinished."


def test_questions_are_no_moves_on_the_clock():
    clocks = Clocks(TimeControl.parse("10s+5s"), is_pondering=False)
    answers, shown = iter(["help", "moves", "zz", "a1", "quit"]), []
    agent = Scripted("b1", GAME)
    agent.start_clock = lambda: None
    play_in_terminal(agent, GAME.new_initial_state(), 0, lambda prompt: next(answers), shown.append, clocks)
    assert 14.0 < clocks.person.main_s <= 15.0 and 14.0 < clocks.agent.main_s <= 15.0


def test_a_person_without_time_loses():
    clocks = Clocks(TimeControl.parse("0.05s"), is_pondering=False)
    shown = []

    def ask(prompt):
        time.sleep(0.1)
        return "a1"

    play_in_terminal(Scripted("", GAME), GAME.new_initial_state(), 0, ask, shown.append, clocks)
    assert shown[-1] == "Your time is over. You lose."
