"""Tests of openings: they differ, are not terminal, have both lengths, and suffice in small games."""

import itertools

import pytest

from azero.arena.matches.openings import draw_openings
from azero.games import make_game

GAME = make_game("tic_tac_toe")


def draw(num, plies, seed, game=GAME):
    return list(itertools.islice(draw_openings(game, plies, seed), num))


def keys(openings):
    return [opening.hash_key() for opening in openings]


@pytest.mark.parametrize("seed", [0, 1])
def test_openings_differ_are_not_over_and_have_both_lengths(seed):
    openings = draw(60, plies=4, seed=seed)
    assert len(set(keys(openings))) == 60
    assert not any(opening.is_terminal() for opening in openings)
    lengths = [len(opening.history()) for opening in openings]
    assert set(lengths) == {3, 4} and 15 < lengths.count(3) < 45


def test_openings_are_of_whole_turns():
    """A turn of Amazons has three actions. Either player is to move after the openings."""
    openings = draw(40, plies=4, seed=0, game=make_game("amazons(size=6)"))
    assert {len(opening.history()) for opening in openings} == {9, 12}
    assert 10 < sum(opening.current_player() for opening in openings) < 30


def test_a_seed_settles_them():
    one, fewer, other = (keys(draw(num, plies=4, seed=seed)) for num, seed in ((20, 1), (10, 1), (20, 2)))
    assert one[:10] == fewer and one != other


def test_no_plies_are_the_start_again_and_again():
    openings = draw(5, plies=0, seed=0)
    assert [opening.history() for opening in openings] == [[]] * 5
    openings[0].apply_action(0)
    assert openings[1].history() == []


def test_where_positions_run_out_longer_lines_follow():
    """There are ten positions after at most one ply. All of them come first, then longer lines."""
    openings = draw(40, plies=1, seed=0)
    lengths = [len(opening.history()) for opening in openings]
    assert len(set(keys(openings))) == 40 and {0, 1} < set(lengths) and max(lengths) <= 3


def test_where_all_positions_run_out_they_come_again():
    openings = draw(400, plies=1, seed=0, game=make_game("connect_four(rows=4,columns=4)"))
    assert len(openings) == 400 and not any(opening.is_terminal() for opening in openings)


def test_openings_longer_than_the_game_are_the_start():
    assert not any(opening.is_terminal() for opening in draw(3, plies=30, seed=0))
