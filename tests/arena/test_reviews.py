"""Tests of reviews: losses, marks and accuracy."""

import math
import time
from random import Random

import pytest

from azero import make_agent
from azero.arena.agents.agent import RandomAgent
from azero.arena.reviews.accuracy import accuracy_of, mark_of, volatilities_of
from azero.arena.reviews.review import Reviewer, annotate
from azero.arena.solved.judges import judge_for
from azero.errors import BadInput
from azero.exact.solver import solve
from azero.games import make_game
from azero.interfaces.terminal.results import show_review, show_summary
from azero.records import Record
from azero.records.text import record_to_text, text_to_records
from azero.system.threads import finish

TIC_TAC_TOE, CONNECT_FOUR = make_game("tic_tac_toe"), make_game("connect_four")


def exact(state, player):
    """Returns the value of a position for a player under best play."""
    if state.is_terminal():
        return state.returns()[player]
    return solve(state).value * (1 if player == 0 else -1)


def legal_moves(state):
    return [state.game.action_to_text(state, action) for action in state.legal_actions()]


def record_of(game, moves, **tags):
    return Record.of_game(game.new_initial_state(), game.state_from_moves(moves).history(), **tags)


@pytest.fixture(scope="module")
def reviewer():
    return Reviewer(make_agent("uct@300", TIC_TAC_TOE), 2000)


def test_marks_begin_at_the_thresholds():
    for loss, mark in ((0.05, ""), (0.099, ""), (0.1, "?!"), (0.199, "?!"), (0.2, "?"), (0.3, "??"), (1.5, "??")):
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
    assert accuracy_of([0.0] * 39 + [2.0], [1.0] * 40) == pytest.approx((97.5 + 40 / (39 / 100 + 1)) / 2, abs=0.01)
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
    record = record_of(TIC_TAC_TOE, "a1 a2 c3 b2 c2 c1 a3 b3")
    states = list(record.states())
    for ply, move in enumerate(reviewer.review(record).moves):
        after = [states[ply].game.state_from_moves(text, states[ply]) for text in legal_moves(states[ply])]
        best = max(exact(each, ply % 2) for each in after)
        if move.mark == "!":
            assert [exact(each, ply % 2) for each in after].count(best) == 1
        assert move.value == best
        assert move.played == exact(states[ply + 1], ply % 2)
        assert move.loss == move.value - move.played and (move.mark == "??") == (move.loss > 0)


def test_positions_are_searched_once():
    reviewer = Reviewer(make_agent("uct@50", TIC_TAC_TOE))
    record = record_of(TIC_TAC_TOE, "b2 a1 c3")
    first = reviewer.review(record)
    searched = reviewer.num_searched
    assert reviewer.review(record) == first and reviewer.num_searched == searched


class Judge:
    """A solver that knows positions of at least `most_plies` plies, and takes a number of slices for each."""

    review_limit, nodes_per_us = 1 << 20, 1

    def __init__(self, most_plies, num_slices=1, slice_s=0.0):
        self.most_plies, self.num_slices, self.slice_s = most_plies, num_slices, slice_s
        self.num_nodes, self.num_taken, self.asked = 0, 0, []

    def solving(self, state, node_limit):
        if node_limit > 1:  # not only compiled
            self.asked.append(len(state.history()))
        for _ in range(self.num_slices if node_limit > 1 else 0):
            end = time.thread_time() + self.slice_s
            while time.thread_time() < end:
                pass
            self.num_taken += 1
            yield
        self.num_nodes += 100
        return int(solve(state).value) if len(state.history()) >= self.most_plies else None


def reviewed_with(judge, moves, agent="uct(prove=false)@50"):
    reviewer, told = Reviewer(make_agent(agent, TIC_TAC_TOE)), []
    reviewer._judge = judge
    record = record_of(TIC_TAC_TOE, moves)
    review = finish(reviewer.reviewing(record, lambda ply, move, is_new: told.append((ply, move, is_new))))
    return review, told


def test_the_solver_goes_backwards_and_ends_at_the_first_position_that_it_does_not_solve():
    judge = Judge(most_plies=7)
    review, told = reviewed_with(judge, "b2 a1 b1 b3 a2 c2 a3 c1 c3", "uct(prove=false)@2000")
    assert judge.asked[0] > 6 and judge.asked[-1] == 6 == min(judge.asked) and judge.asked.count(6) == 1
    first, changed = told[:9], told[9:]
    assert [ply for ply, _, is_new in first] == list(range(9)) and all(is_new for _, _, is_new in first)
    assert [ply for ply, _, _ in changed] == sorted((ply for ply, _, _ in changed), reverse=True)
    assert changed and not any(is_new for _, _, is_new in changed)
    assert {ply: move for ply, move, _ in told} == dict(enumerate(review.moves)), "the last word counts"


def test_the_solver_takes_no_longer_than_the_searches():
    judge, begin = Judge(most_plies=0, num_slices=10**9, slice_s=0.001), time.perf_counter()
    _, told = reviewed_with(judge, "b2 a1 c3")
    elapsed_s, solver_s = time.perf_counter() - begin, 0.001 * judge.num_taken
    assert judge.asked == [2] and len(told) == 3, "the measured time ends it"
    assert 0 < solver_s <= (elapsed_s - solver_s) + 0.3


def test_a_game_that_cannot_be_solved_costs_one_attempt():
    """In games of Go the solver once took a hundred times as long as the searches."""
    game = make_game("go(size=5)")
    state, random = game.new_initial_state(), Random(1)
    for _ in range(20):
        state.apply_action(random.choice(state.legal_actions()[:-1]))
    reviewer = Reviewer(make_agent("uct@30", game))
    reviewer.review(Record.of_game(game.new_initial_state(), state.history()))
    searched = reviewer._found.values()
    assert 1 < reviewer._judge.num_nodes <= 20_001 + sum(250 + each.simulations for each in searched)


def test_a_pause_does_not_end_the_solver():
    """A collection of garbage amid the tests once took the solver's time, and a blunder lost its proof."""
    judge = Judge(most_plies=2, num_slices=1, slice_s=0.1)
    reviewed_with(judge, "b2 a1 c3")
    assert {2, 3} <= set(judge.asked)


def test_what_is_solved_in_an_instant_is_solved_even_if_the_searches_take_none():
    [_, reply] = Reviewer(make_agent("uct@50", TIC_TAC_TOE)).review(record_of(TIC_TAC_TOE, "b2 a2")).moves
    assert (reply.value, reply.played, reply.mark) == (0, -1, "??"), "an edge loses to the centre"


def test_an_agent_at_a_level_reviews_at_full_strength():
    record = record_of(TIC_TAC_TOE, "b2 a1 c3")
    named, full = make_agent("uct(level=1)", TIC_TAC_TOE), make_agent("uct", TIC_TAC_TOE)
    assert Reviewer(named, 50).review(record) == Reviewer(full, 50).review(record)


class InSlices:
    """An agent whose searches pause, as those of `uct` with many simulations do."""

    def __init__(self):
        self.inner, self.num_slices = make_agent("uct@50", TIC_TAC_TOE), 0
        self.name, self.game, self.judges_positions = "in slices", TIC_TAC_TOE, True
        self.at_full_strength = self

    def suggesting(self, state, simulations, seconds):
        for _ in range(5):
            self.num_slices += 1
            yield
        return self.inner.suggest(state, simulations, seconds)


def test_a_review_pauses_whenever_a_search_does():
    agent, told = InSlices(), []
    work = Reviewer(agent).reviewing(record_of(TIC_TAC_TOE, "b2 a1 c3"), lambda *each: told.append(each))
    assert not told and next(work) is None and agent.num_slices == 1
    for num_slices, _ in zip(range(2, 6), work, strict=False):
        assert agent.num_slices == num_slices and not told
    review = finish(work)
    assert [ply for ply, _, is_new in told if is_new] == [0, 1, 2]
    assert review.moves == Reviewer(make_agent("uct@50", TIC_TAC_TOE)).review(review.record).moves


def test_the_solver_pauses_and_counts_its_nodes():
    judge = judge_for(CONNECT_FOUR)
    assert sum(1 for _ in judge.solving(CONNECT_FOUR.new_initial_state(), 1 << 19)) == 2, "calls of compiled code"
    assert judge.num_nodes == 1 << 19


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
    assert "mistakes 0, blunders 1" in text and "b1 ??" in text
    summary = show_summary(reviews)
    assert "2 games, 4 moves" in summary and "blunders 1" in summary


def test_what_cannot_be_reviewed(reviewer):
    with pytest.raises(BadInput, match="no moves"):
        reviewer.review(record_of(TIC_TAC_TOE, ""))
    with pytest.raises(BadInput, match="does not judge positions"):
        Reviewer(RandomAgent("random", TIC_TAC_TOE))


def test_games_from_positions_do_not_share_what_is_proven():
    """Positions without a history once had the same key in the solver's memory."""
    records = []
    for text, moves in (("XX1/OO1/3 X", [2]), ("XO1/1X1/3 O", [8])):
        start = TIC_TAC_TOE.state_from_text(text)
        records.append(Record.of_game(start, moves))
    alone = [Reviewer(make_agent("uct@20", TIC_TAC_TOE)).review(record).moves for record in records]
    for order in (records, records[::-1]):
        together = Reviewer(make_agent("uct@20", TIC_TAC_TOE))
        found = {id(record): together.review(record).moves for record in order}
        assert [found[id(record)] for record in records] == alone


def test_only_moves_are_the_only_ones():
    """With few simulations the second move by visits is often not the second best."""
    game = make_game("connect_four(rows=4,columns=4)")
    record = Record.of_game(game.new_initial_state(), game.state_from_moves("4342443311").history())
    states, count = list(record.states()), 0
    for ply, move in enumerate(Reviewer(make_agent("uct@20", game)).review(record).moves):
        if move.mark == "!":
            after = [game.state_from_moves(text, states[ply]) for text in legal_moves(states[ply])]
            values = sorted(exact(each, ply % 2) for each in after)
            assert len(values) > 1 and values[-1] > values[-2]
            count += 1
    assert count > 0


@pytest.mark.slow
def test_turns_of_several_actions_keep_their_player():
    game = make_game("amazons(size=6)")
    record = Record.of_game(game.new_initial_state(), game.state_from_moves("a2-a4/c6 b6-b5/b6").history())
    moves = Reviewer(make_agent("uct@30", game)).review(record).moves
    assert [move.player for move in moves] == [0, 0, 0, 1, 1, 1]
    assert all(-1 <= move.played <= 1 and move.loss >= 0 for move in moves)


@pytest.mark.slow
def test_connect_four_blunders_are_found_by_proof():
    reviewer = Reviewer(make_agent("uct@1000", CONNECT_FOUR))
    start, solver = CONNECT_FOUR.state_from_moves("532565375267422776146226"), judge_for(CONNECT_FOUR)
    record = Record.of_game(start, CONNECT_FOUR.state_from_moves("673531", start).history()[24:])
    states, num_blunders = list(record.states()), 0
    for ply, move in enumerate(reviewer.review(record).moves):
        result = solver.result(states[ply], 1 << 26)
        assert move.value == result
        gives_away = not solver.keeps(states[ply], record.actions()[ply], result)
        assert (move.mark == "??") == gives_away
        num_blunders += gives_away
    assert num_blunders > 0
