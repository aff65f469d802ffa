"""Tests of reviews: losses, marks and accuracy."""

import math

import pytest

from azero import make_agent
from azero.arena.agents.agent import RandomAgent
from azero.arena.reviews.accuracy import accuracy_of, mark_of, volatilities_of
from azero.arena.reviews.review import Reviewer, annotate
from azero.errors import BadInput
from azero.games import make_game
from azero.interfaces.terminal.show_review import show_review, show_summary
from azero.records import Record
from azero.records.reading import text_to_records
from azero.records.writing import record_to_text

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")


def record_of(game, moves, **tags):
    return Record.of_game(game.new_initial_state(), game.state_from_moves(moves).history(), **tags)


@pytest.fixture(scope="module")
def reviewer():
    return Reviewer(make_agent("uct@300", TIC_TAC_TOE), 100)


def test_marks_begin_at_the_thresholds():
    for loss, mark in ((0.05, ""), (0.11, "?!"), (0.19, "?!"), (0.21, "?"), (0.31, "??"), (1.5, "??")):
        assert mark_of(0.6, 0.6 - loss, False) == mark
    assert mark_of(1.0, 0.91, False) == mark_of(-0.91, -1.0, False) == ""
    assert mark_of(1.0, 0.95, True) == "??"


def test_accuracy_is_between_its_extremes_and_falls_with_losses():
    assert accuracy_of([], []) is None
    assert accuracy_of([0.0] * 5, [1.0] * 5) == pytest.approx(100.0)
    one, two, three = (accuracy_of([0.0, 0.0, loss], [1.0] * 3) for loss in (0.1, 0.5, 2.0))
    assert 100 > one > two > three >= 0
    loss, single = 0.2, 103.1668 * math.exp(-0.04354 * 10) - 3.1669 + 1  # one move: both means are the move's own
    assert accuracy_of([loss], [3.0]) == pytest.approx(single)
    assert accuracy_of([0.0, 1.0], [5.0, 1.0]) > accuracy_of([0.0, 1.0], [1.0, 5.0])


def test_volatility_is_that_of_the_positions_around_a_move():
    values = [0.0] * 10 + [1.0] * 10
    weights = volatilities_of(values)
    assert len(weights) == 19
    assert weights[0] == weights[-1] == 0.5  # the least
    assert weights.index(max(weights)) == 9 and max(weights) == 12.0  # from 0.0 to 1.0, the most


def test_moves_that_give_the_result_away_are_blunders(reviewer):
    review = reviewer.review(record_of(TIC_TAC_TOE, "b2 b1 a1 c3 a3 a2 c1"))  # b1 and a2 lose; a3 wins at once no more
    assert [move.mark for move in review.moves][:2] == ["", "??"]
    first = review.moves[1]
    assert (first.player, first.move, first.value, first.played, first.loss) == (1, "b1", 0.0, -1.0, 1.0)
    assert first.best in ("a1", "a3", "c1", "c3") and first.line[0] == first.best
    assert review.accuracy[1] < 100.0


def test_every_move_is_judged_as_the_rules_solve_it(reviewer):
    """In tic-tac-toe the solver knows each position, so losses are differences of exact results."""
    from azero.exact.solver import solve

    record = record_of(TIC_TAC_TOE, "a1 a2 c3 b2 c2 c1 a3 b3")
    states = list(record.states())
    for ply, move in enumerate(reviewer.review(record).moves):
        best = max(
            solve(states[ply].game.state_from_moves(text, states[ply])).value * (1 if ply % 2 == 0 else -1)
            if not states[ply].game.state_from_moves(text, states[ply]).is_terminal()
            else states[ply].game.state_from_moves(text, states[ply]).returns()[ply % 2]
            for text in (TIC_TAC_TOE.action_to_text(states[ply], action) for action in states[ply].legal_actions())
        )
        assert move.value == best
        assert move.loss == move.value - move.played


def test_positions_are_searched_once():
    reviewer = Reviewer(make_agent("uct@50", TIC_TAC_TOE))
    record = record_of(TIC_TAC_TOE, "b2 a1 c3")
    first = reviewer.review(record)
    searched = reviewer.num_searched
    assert reviewer.review(record) == first and reviewer.num_searched == searched > 3


def test_random_moves_are_reviewed_and_do_not_count(reviewer):
    review = reviewer.review(record_of(TIC_TAC_TOE, "b2 b1", OpeningPlies="2"))
    assert [move.is_random for move in review.moves] == [True, True]
    assert review.moves[1].mark == "??" and review.count("??") == [0, 0]
    assert review.accuracy == [None, None] == review.mean_loss()
    assert "no moves" in show_review(review, 1) and "a random move" in show_review(review, 1)


def test_annotations_read_back(reviewer):
    review = reviewer.review(record_of(TIC_TAC_TOE, "b2 b1 a1"))
    annotate(review)
    (back,) = text_to_records(record_to_text(review.record))
    assert back.root == review.record.root
    node = back.line()[1]
    assert node.mark == "??" and "loses 50 points" in node.comment
    assert len(back.line()[0].children) == 2, "the better line is a variation"


def test_text_of_reviews(reviewer):
    reviews = [reviewer.review(record_of(TIC_TAC_TOE, moves, First="me\x1b[31m")) for moves in ("b2 b1 a1", "b2")]
    text = show_review(reviews[0], 1)
    assert "\x1b" not in text and "me\\x1b[31m" in text
    assert "0 ?, 1 ??" in text and "b1??" in text
    summary = show_summary(reviews)
    assert "2 games, 4 moves" in summary and "blunders 1" in summary


def test_what_cannot_be_reviewed(reviewer):
    with pytest.raises(BadInput, match="no moves"):
        reviewer.review(record_of(TIC_TAC_TOE, ""))
    with pytest.raises(BadInput, match="does not judge positions"):
        Reviewer(RandomAgent("random", TIC_TAC_TOE))


@pytest.mark.slow
def test_connect_four_blunders_are_found_by_proof():
    reviewer = Reviewer(make_agent("uct@200", CONNECT_FOUR))
    review = reviewer.review(record_of(CONNECT_FOUR, "44444413221335"))
    for move in review.moves[8:]:
        assert move.value in (-1.0, 0.0, 1.0)
