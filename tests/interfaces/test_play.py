"""Tests of games in the terminal, by script: wins, losses, draws, mistakes, undo, resignation, and saving."""

import re
from contextlib import contextmanager

import pytest
from games.user_games import write_nim_with_turns_of_two

from azero.arena.agents.clock import TimeControl
from azero.arena.agents.make import make_agent
from azero.games import make_game
from azero.interfaces.terminal.answers import COMMANDS
from azero.interfaces.terminal.clocks import Clocks
from azero.records import read_records
from interfaces.script import GAME, Scripted, play, run

LEFT = "The game is left unfinished."


def test_a_game_won():
    shown = play(0, "b1 b2", "a1", "a2", "a3")
    assert shown[0].startswith("You play first against scripted. Enter a move, e.g. a1, or help.")
    assert shown[-1] == "You win." and shown[-2] == "\n1[X]O .\n2[X]O .\n3(X). .\n  a b c\n"
    assert "move 2, scripted (O): b1   (value +0.50 for it, 0.0 s)" in shown


def test_a_game_lost_as_second_player():
    shown = play(1, "a1 a2 a3", "b1", "b2")
    assert shown[0].startswith("You play second") and shown[-1] == "You lose."
    assert shown[2] == "move 1, scripted (X): a1   (value +0.50 for it, 0.0 s)"


def test_the_prompt_has_the_number_of_the_move_and_the_side():
    screen = run(Scripted("b1 c1", GAME), 0, "a1", "zz", "b2", "undo", "quit")
    assert screen.prompts == [f"move {number}, you (X): " for number in (1, 3, 3, 5, 3)]
    screen = run(Scripted("c3", GAME), 1, "quit", moves=GAME.state_from_moves("a1 b1").history())
    assert screen.prompts == ["move 4, you (O): "]


@pytest.mark.parametrize("text", ["1O1/1X1/3 X", "moves: b2 b1"])
def test_a_game_begins_with_a_position_and_undo_ends_there(text):
    start = GAME.state_from_text(text)
    shown = play(0, "a3 c2", "undo", "c1", "undo", "a1", "c3", start=start)
    assert (
        shown[-1] == "You win."
        and shown[1].replace("(", " ").replace(")", " ") == "\n1 . O .\n2 . X .\n3 . . .\n  a b c\n"
    )
    assert shown.count("There is nothing to take back.") == 1 and start == GAME.state_from_text(text)


def test_a_game_drawn():
    assert play(0, "a1 a3 c2 b3", "b2", "c1", "a2", "b1", "c3")[-1] == "A draw."


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("a1", "'a1' is not legal here; legal moves: c1 a2 b2 c2 a3 b3 c3; or enter help"),
        ("z9", "'z9' is not a move of tic_tac_toe; moves are a1 (top left) to c3; or enter help"),
        ("hlep", "'hlep' is not a move of tic_tac_toe; moves are a1 (top left) to c3; did you mean help?"),
        ("b", "'b' is not a whole move; it may go on as b2 b3"),
    ],
)
def test_a_move_that_cannot_be_played_is_asked_for_again(answer, reply):
    shown = play(0, "b1 b2", "a1", answer, "a2", "a3")
    assert reply in shown and shown[-1] == "You win."


def test_a_turn_of_several_actions_can_be_one_answer(tmp_path):
    shown = play(1, "d1 -d7 /g7 a4 -a5 /a4", "A7-A6/b6", "quit", game=make_game("amazons"))
    assert "move 1, scripted (X): d1-d7/g7   (value +0.50 for it, 0.0 s)" in shown
    nim = make_game(f"{write_nim_with_turns_of_two(tmp_path / 'nim.py')}:Nim")
    screen = run(Scripted("d1 -d7 /g7", make_game("amazons")), 0, "d1", "-d7", "undo", "undo", "quit")
    assert screen.prompts == [f"move 1, you (X): {turn}" for turn in ("", "d1 ", "d1 -d7 ", "d1 ", "")]
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
    shown = play(0, "b1 b2", "a1", "", "Help", "?", "MOVES", "  a2 ", "a3")
    about = "Three in a row wins; a full board is a draw. Action 3 * row + column, written a1 (top left) to c3."
    helps = [text for text in shown if text.startswith(about)]
    assert len(helps) == 3 and all(f"\n  {word}" in helps[0] for word in ("c1 ", *COMMANDS))
    assert len(boards(shown)) == 6  # at the start and after each move, but not after each word
    assert "c1 a2 b2 c2 a3 b3 c3" in shown and shown[-1] == "You win."


def test_an_agent_plays_a_whole_turn_at_once():
    game = make_game("amazons(size=4)")
    shown = run(make_agent("uct(root=turns)@50", game), 1, "quit").shown
    cell = "[a-d][1-4]"
    played = [text for text in shown if re.match(rf"move 1, uct\S* \(X\): {cell}-{cell}/{cell}   \(value", text)]
    assert len(played) == 1


def test_a_hint_is_the_agent_s_own_view_and_moves_nothing():
    shown = play(0, "c3 c3 b1 b2", "hint", "Values", "a1", "a2", "a3")
    assert shown[2] == "hint: c3   (value +0.50 for you)" and "best: c3" in shown[3] and shown[-1] == "You win."


def test_of_an_agent_without_values_none_is_shown():
    screen = run(make_agent("random", GAME), 1, "hint", "quit")
    told = [text for text in screen.shown if "random (X)" in text or "hint: " in text]
    assert len(told) == 2 and not any("value" in text for text in told)


def boards(shown):
    return [text for text in shown if text.startswith("\n1")]


def test_undo_takes_back_to_one_s_own_turn_before_and_as_second_player_stops_at_the_agent_s_first_move():
    start, _, after_b1, _, _, *undone = boards(play(0, "b1 c1 b2", "a1", "a2", "undo", "undo", "quit"))
    assert undone == [after_b1, start]
    for shown in (play(0, "b1", "a1", "undo", "undo", "quit"), play(1, "c3 b1", "a1", "undo", "undo", "quit")):
        assert "There is nothing to take back." in shown and shown[-1] == LEFT
    _, after_c3, _, _, *undone = boards(shown)
    assert undone == [after_c3]


def test_a_game_goes_on_after_an_undo():
    assert play(0, "b1 c1 b2", "a1", "c3", "undo", "a2", "a3")[-1] == "You win."


def test_resigning_ends_the_game():
    assert play(0, "b1", "a1", "resign")[-1] == "You resign, and lose."
    assert play(0, "resign", "a1")[-1] == "scripted resigns. You win."
    assert "hint: resign" in play(0, "resign", "hint", "quit")


def test_after_the_end_the_game_can_go_on_from_before():
    shown = play(0, "b1 b2 c3", "a1", "a2", "a3", "c3", "hint", "Undo", "c2", "quit")
    assert shown.count("The game is over.") == 2 and shown[-1] == LEFT
    assert play(0, "b1 b2", "a1", "a2", "a3", "")[-1] == "You win."
    shown = play(0, "", "resign", "undo", "help", "")
    assert shown[-3:] == ["You resign, and lose.", "There is nothing to take back.", "The game is over."]


def test_a_review_at_the_end_shows_what_each_move_lost():
    agent = make_agent("uct@200", GAME, seed=1)
    moves = GAME.state_from_moves("a1 b1 b2 c1 a3").history()
    shown = run(agent, 1, "review", "a2", "Review", "", moves=moves).shown
    assert "A review is for the end of the game; hint and values are for now." in shown
    told = next(text for text in shown if text.startswith("uct@200 against person, tic_tac_toe: 1-0"))
    assert "accuracy" in told and "?? " in told
    shown = run(make_agent("random", GAME), 0, "a1", "resign", "review", "").shown
    assert any("does not judge positions" in text for text in shown)


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


class Ticking(Clocks):
    """Clocks on which each answer takes two seconds and each move of the agent one."""

    @contextmanager
    def persons_turn(self, agent, state):
        yield
        self._thought_s += 2.0

    def agents_move(self, agent, state):
        self.agent.spend(1.0)
        return agent.suggest(state)


def timed(control, *answers):
    agent, clocks = Scripted("b1 b2", GAME), Ticking(TimeControl.parse(control), is_pondering=False)
    agent.player.start_clock = lambda: None
    return run(agent, 0, *answers, clocks=clocks), clocks


def test_questions_are_no_moves_on_the_clock():
    screen, clocks = timed("10s+5s", "help", "moves", "zz", "a1", "quit")
    assert (clocks.person.main_s, clocks.agent.main_s) == (7.0, 14.0) and screen.times == [10.0, 8.0, 6.0, 4.0, 7.0]
    assert "\nyour time 0:07.0, the agent's 0:14.0\n" in screen.shown[-2]


def test_a_side_without_time_loses():
    screen, _ = timed("3s", "help", "a1", "")
    assert screen.shown[-1] == "Your time is over. You lose." and len(boards(screen.shown)) == 1
    agent, clocks = Scripted("b1", GAME), Ticking(TimeControl.parse("3s"), is_pondering=False)
    agent.player.start_clock, clocks.agent.main_s = lambda: None, 0.5
    assert run(agent, 0, "a1", "", clocks=clocks).shown[-1] == "scripted lost on time. You win."


def test_the_clock_runs_while_the_person_thinks():
    clocks = Clocks(TimeControl.parse("5m"), is_pondering=False)
    with clocks.persons_turn(Scripted("", GAME), GAME.new_initial_state()):
        pass
    assert 0 < clocks.persons_left_s() < 300 and not clocks.is_persons_time_over()


# --- saving ---


def test_a_game_is_saved_once_as_it_is(tmp_path):
    file = tmp_path / "games.txt"
    again = [f"SAVE {file}", f"save {file}", "a2", f"save {file}", "undo", "resign"]
    shown = run(Scripted("b1 b2", GAME), 0, "a1", *again, file=file).shown
    assert shown.count(f"The game was added to {file}.") == 3 and shown.count(f"The game is in {file} already.") == 1
    begun, longer, resigned = read_records(file)
    assert [begun.actions(), longer.actions(), resigned.actions()] == [[0, 1], [0, 1, 3, 4], [0, 1]]
    assert (begun.result, resigned.result, resigned.tags["Termination"]) == ("*", "0-1", "resignation")
    assert resigned.tags["First"] == "person" and resigned.tags["Second"] == "scripted"
    mine, theirs = resigned.line()
    assert (theirs.value, theirs.simulations, theirs.seconds) == (0.5, 1, 0.0) and mine.seconds is not None


def test_a_game_is_saved_after_ctrl_c_and_with_the_moves_before_it(tmp_path):
    def press():
        raise KeyboardInterrupt

    file = tmp_path / "games.txt"
    with pytest.raises(KeyboardInterrupt):
        run(Scripted("c1", GAME), 0, "a2", press, moves=GAME.state_from_moves("a1 b1").history(), file=file)
    assert [record.actions() for record in read_records(file)] == [[0, 1, 3, 2]]
    run(Scripted("", GAME), 0, "quit", moves=[0, 1], file=tmp_path / "none.txt")
    assert not (tmp_path / "none.txt").exists()


def test_a_file_that_cannot_have_the_game_is_told_and_the_game_goes_on(tmp_path):
    (tmp_path / "other.txt").write_text("something else")
    shown = play(0, "b1 b2", "a1", "save", f"save {tmp_path}", f"save {tmp_path}/other.txt", "a2", "a3")
    assert "save needs the name of a file, e.g. save game.txt" in shown
    assert any("is a folder" in text for text in shown) and any("is no record of games" in text for text in shown)
    assert shown[-1] == "You win." and (tmp_path / "other.txt").read_text() == "something else"
