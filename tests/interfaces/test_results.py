"""Tests of suggestions and matches as text: the board with the moves' values, the table, a match."""

import re
from dataclasses import replace

import numpy as np
import pytest
from games.user_games import write_nim_with_turns_of_two

from azero.arena.agents.make import make_agent
from azero.arena.agents.suggestion import Move, Suggestion
from azero.arena.matches.results import GameResult, MatchResult
from azero.arena.matches.statistics import Sprt
from azero.games import make_game
from azero.interfaces.terminal.results import (
    MOST_MOVES,
    best_turn,
    show_match,
    show_moves,
    show_suggestion,
    value_marks,
)

GAME = make_game("tic_tac_toe")


def move(action, visits, value, proven=None, plies=None, pv=()):
    text = "abc"[action % 3] + "123"[action // 3]
    return Move(action, text, visits, value, 0.25, proven, plies, [text, *pv])


STATE = GAME.state_from_moves("a1 b1 c1 a2 b2 c2 b3")  # a3 and c3 are empty; the second player moves
MOVES = [move(8, 30, 0.5, pv=["a3"]), move(6, 12, -1.0, "loss", 2, pv=["c3"])]


def suggestion(moves, is_full=False):
    return Suggestion("tic_tac_toe", 1, 42, 1.234, 0.25, moves[0].move, moves, is_full)


def test_a_suggestion_is_the_board_the_table_and_the_best_move():
    assert show_suggestion(suggestion(MOVES), STATE).splitlines() == [
        "tic_tac_toe, second player to move, value +0.25 for that player",
        "",
        "1     X     O     X",
        "2     O     X     O",
        "3  -100     X +50*^",
        "      a     b     c",
        "",
        "values in hundredths; * most visited, ^ highest value",
        "",
        "move    visits   value  prior  proven      principal variation",
        "  c3        30  +0.500   0.25              c3 a3",
        "  a3        12  -1.000   0.25  loss in 2   a3 c3",
        "",
        "best: c3   (42 simulations in 1.23 s)",
    ]


def test_what_kept_heads_expect_is_shown():
    owners = np.array([[0.9, -0.1, -0.8], [0.4, 0.3, -0.4], [1.0, 0.0, -1.0]], np.float32)
    lines = show_suggestion(replace(suggestion(MOVES), heads={"ownership": owners, "score": -2.46}), STATE).splitlines()
    assert lines[0] == "tic_tac_toe, second player to move, value +0.25 and score -2.5 for that player"
    assert lines[-7:-1] == [
        "",
        "expected owners: + the player to move, - the opponent, . unclear",
        *("  + . -", "  + . -", "  + . -"),
        "",
    ]
    only_score = show_suggestion(replace(suggestion(MOVES), heads={"score": 0.0}), STATE)
    assert "and score +0.0 for" in only_score and "owners" not in only_score


def test_a_full_tree_is_said():
    last = show_suggestion(suggestion(MOVES, is_full=True), STATE).splitlines()[-1]
    assert last == "best: c3   (42 simulations in 1.23 s, the tree reached its limit of nodes)"


def test_the_most_visited_move_and_the_one_of_highest_value_are_marked():
    assert value_marks([move(0, 50, 0.1), move(1, 5, 0.4), move(2, 4, -0.256)]) == {0: "+10*", 1: "+40^", 2: "-26"}
    assert value_marks([move(0, 50, 0.4), move(1, 5, 0.1)]) == {0: "+40*^", 1: "+10"}
    refuted = move(1, 5, 0.7)._replace(is_bound=True)
    assert value_marks([move(0, 50, -0.1), refuted]) == {0: "-10*^", 1: "<+70"}, "it is worth 0.7 at most"


def test_of_turns_with_the_same_first_action_the_best_is_marked():
    turns = [
        Move(0, "a1", *known, 0.25, None, None, ["a1"], following=(k,)) for k, known in enumerate([(9, 0.3), (2, 0.8)])
    ]
    assert value_marks([*turns, move(1, 5, 0.1)]) == {0: "+30*^", 1: "+10"}


def test_whole_turns_are_shown():
    amazons = make_game("amazons(size=4)")
    state = amazons.new_initial_state()
    suggestion = make_agent("uct(root=turns)@300", amazons, seed=1).suggest(state)
    lines = show_suggestion(suggestion, state, top=2).splitlines()
    assert lines[-1].startswith(f"best: {suggestion.best}   (300 simulations")
    assert lines[-3] == "... and 86 more" and lines[-5].split()[0] == suggestion.best


def test_moves_of_which_nothing_is_known_have_no_value():
    assert value_marks([move(0, 0, 0.0), move(1, 0, 0.0)]) == {}
    assert value_marks([move(0, 3, -0.5), move(1, 0, 0.0)]) == {0: "-50*^"}
    assert show_moves([move(1, 0, 0.0)]).splitlines()[1].split() == ["b1", "0", "0.25", "b1"]


def test_a_bound_is_marked():
    moves = [move(8, 30, 0.5), move(6, 12, 0.5)._replace(is_bound=True)]
    assert value_marks(moves) == {8: "+50*^", 6: "<+50"}
    assert [row[16:24] for row in show_moves(moves).splitlines()] == ["  value ", " +0.500 ", "<+0.500 "]
    shown = show_suggestion(suggestion(moves), STATE).splitlines()
    assert "values in hundredths; * most visited, ^ highest value, < at most" in shown


def test_a_proven_move_is_shown_though_it_was_never_visited():
    assert value_marks([move(0, 9, 0.0), move(1, 0, 1.0, "win", 1)]) == {0: "+0*", 1: "+100^"}
    assert value_marks([move(0, 0, 1.0, "win", 1)]) == {0: "+100^"}, "no move is marked as most visited"
    assert "win in 1" in show_moves([move(1, 0, 1.0, "win", 1)])


def test_what_rounds_to_zero_has_no_minus():
    assert value_marks([move(0, 9, -0.001)]) == {0: "+0*^"} and " +0.000 " in show_moves([move(0, 9, -0.0001)])
    assert "value +0.00 for" in show_suggestion(replace(suggestion(MOVES), value=-0.001), STATE)


def test_the_runtime_of_the_net_is_told():
    told = replace(suggestion(MOVES), runtime="torch", precision="bf16")
    assert show_suggestion(told, STATE).endswith("(42 simulations in 1.23 s, torch bf16)")


def test_of_many_moves_the_first_are_listed_and_the_rest_counted():
    moves = [move(action, 9 - action, 0.0) for action in range(9)]
    rows = show_moves(moves, top=4).splitlines()
    assert [row.split()[0] for row in rows[1:-1]] == ["a1", "b1", "c1", "a2"] and rows[-1] == "... and 5 more"
    assert show_moves(moves, top=9) == show_moves(moves) and "more" not in show_moves(moves)
    amazons = make_game("amazons")
    state = amazons.state_from_moves("d1")
    table = show_suggestion(make_agent("random", amazons).suggest(state), state).splitlines()
    assert table[-3] == f"... and {len(state.legal_actions()) - MOST_MOVES} more"


def test_the_best_move_is_shown_to_the_end_of_the_turn():
    game = make_game("amazons")
    for played, pv, shown in (
        ("", "d1 -d7 /g7 a7", "d1-d7/g7"),
        ("", "d1 -d7", "d1-d7"),
        ("d1", "-d7 /g7 a7 -a6", "-d7/g7"),
        ("d1 -d7", "/g7 a7 -a6", "/g7"),
    ):
        state, line = game.state_from_moves(played), pv.split()
        best = Move(game.text_to_action(state, line[0]), line[0], 1, 0.0, 1.0, None, None, line)
        suggestion = Suggestion("amazons", 0, 1, 0.0, 0.0, line[0], [best])
        assert best_turn(suggestion, state) == shown
        assert suggestion.to_json()["best"] == line[0]


def test_a_turn_of_moves_that_would_run_together_is_shown_apart(tmp_path):
    game = make_game(f"{write_nim_with_turns_of_two(tmp_path / 'nim.py')}:Nim")
    state = game.new_initial_state()
    suggestion = Suggestion("nim", 0, 1, 0.0, 0.0, "2", [Move(2, "2", 1, 0.0, 1.0, None, None, ["2", "1", "0"])])
    assert best_turn(suggestion, state) == "2,1"
    assert game.state_from_moves("2,1").history() == [2, 1]


@pytest.mark.parametrize("name", ["uct@50", "mc@50", "random"])
def test_what_agents_say_can_be_shown(name):
    state = GAME.state_from_moves("b2")
    lines = show_suggestion(make_agent(name, GAME).suggest(state), state).splitlines()
    rows = [line.split() for line in lines if line.startswith("  ") and line.split()[1:2] != ["b"]]
    assert sorted(row[0] for row in rows) == sorted(
        GAME.action_to_text(state, action) for action in state.legal_actions()
    )


def test_marks_of_connect_four_stand_above_the_columns_or_in_them():
    game = make_game("connect_four")
    state = game.state_from_moves("4453")
    text = show_suggestion(make_agent("random", game).suggest(state), state)
    assert text.startswith("connect_four, first player to move") and text.count("X") == text.count("O") == 2


def match_won(num_games, sprt=None):
    results = [GameResult(pair, True, (pair,), 1.0) for pair in range(num_games)]
    return MatchResult("one", "other", "tic_tac_toe", results, 1.0, 0.0125, 0.5, 300.4, 0.0, sprt)


def test_a_match_is_shown_from_the_first_agent_s_side():
    lines = show_match(match_won(2), None).splitlines()
    assert lines[:2] == ["one against other, tic_tac_toe: 2 games, 2 distinct", "  won 2, drawn 0, lost 0"]
    assert re.fullmatch(r"  score 100.0%  \[\d\d\.\d%, 100.0%\]", lines[2])
    assert re.fullmatch(r"  Elo   \+inf  \[-\d+, \+inf\]", lines[3])
    assert lines[4:] == [
        "  one: 12.50 ms and 300 simulations per move",
        "  other: 500.00 ms and 0 simulations per move",
    ]


def test_a_match_says_at_how_many_moves_a_tree_was_full():
    lines = show_match(replace(match_won(2), full_trees=(0, 7)), None).splitlines()
    assert lines[6:] == ["  other: the search tree had no room to grow at 7 moves"]


def test_a_match_with_an_sprt_says_how_it_ended():
    assert show_match(match_won(2), Sprt(0, 50)).splitlines()[-1] == "  SPRT 0, 50: undecided"
    assert show_match(match_won(2, "accept"), Sprt(0, 50)).splitlines()[-1] == "  SPRT 0, 50: accept"
