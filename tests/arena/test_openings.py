"""Tests of openings: they differ, are not terminal, have both lengths, and suffice in small games."""

import itertools

import pytest

from azero.arena.matches.openings import draw_openings, read_openings
from azero.errors import BadInput
from azero.games import make_game
from azero.system.files import PACKAGE

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


def write(folder, *lines):
    path = folder / "openings.txt"
    path.write_text("\n".join(lines))
    return str(path)


def test_lines_of_a_file_begin_games_in_a_random_order_again_and_again(tmp_path):
    file = write(tmp_path, "# corners", "a1 b2", "", "b2 c3  # a comment", "a1 c3")
    lines = read_openings(file, GAME)
    assert lines == ("a1 b2", "b2 c3", "a1 c3")
    openings = list(itertools.islice(draw_openings(GAME, 4, 0, lines), 9))
    turns = [sorted(keys(openings[at : at + 3])) for at in (0, 3, 6)]
    assert turns[0] == turns[1] == turns[2] == sorted(keys(map(GAME.state_from_moves, lines)))


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a1 a1", r"line 2: move 2: "),
        ("a1 b1 a2 b2 a3", "line 2: .*: the game is over there"),
        (" # nothing", ""),
    ],
)
def test_bad_lines_are_named(tmp_path, line, why):
    with pytest.raises(BadInput, match=why or "has no positions; each line should have one, e.g. 'a1'"):
        read_openings(write(tmp_path, "", line), GAME)
    with pytest.raises(BadInput, match="cannot be read: No such file"):
        read_openings(str(tmp_path / "none"), GAME)
    with pytest.raises(BadInput, match="no balanced openings for tic_tac_toe"):
        read_openings("balanced", GAME)


@pytest.mark.parametrize("path", sorted((PACKAGE / "data" / "openings").glob("*.txt")), ids=lambda path: path.stem)
def test_included_ones_are_many_and_differ(path):
    game = make_game(path.read_text().splitlines()[0].removeprefix("# game: "))
    lines = read_openings("balanced", game)
    assert len({game.state_from_moves(each).hash_key() for each in lines}) == len(lines) >= 50


def test_a_match_from_lines_differs_from_one_without(tmp_path, run_azero):
    file, out = write(tmp_path, "a1 b2", "b2 c3"), tmp_path / "games"
    command = ["evaluate", "random", "--against", "random", "--game", "tic_tac_toe", "--games", "4", "--out", out]
    assert run_azero(*command, "--openings", file, "--record", tmp_path / "record.txt")[0] == 0
    records = (tmp_path / "record.txt").read_text()
    assert records.count("a1 b2") >= 2 and records.count("b2 c3") >= 2 and records.count('OpeningPlies "2"') == 4
    code, _, errors = run_azero(*command)
    assert code == 2 and "is of another match: openings" in errors
    code, _, errors = run_azero(*command, "--openings", file, "--opening-plies", "3")
    assert (
        code == 2 and errors == "azero: --openings FILE takes the place of --opening-plies; leave one of the two out\n"
    )
