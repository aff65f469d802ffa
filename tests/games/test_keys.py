"""Tests of the law of keys: many right games keep it, and many seeded faults break it."""

import random
from pathlib import Path

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.compiler.rng import mix
from azero.games import Game, make_game
from azero.games.amazons.rules import FROM
from azero.games.laws import keys
from azero.games.laws.findings import Broken, Notes
from azero.games.laws.keys import check_keys, swap_two_moves
from azero.games.laws.laws import check_laws, random_games

from .user_games import forget_files, write_file

RIGHT = Path(__file__).parents[1] / "data" / "right_games.py"
IN_CI = "Hexapawn", "Ring", "amazons_without_the_amazon_that_moves", "gomoku_with_words_that_add_up"


def marks_of(case: str):
    """Returns the mark of a case that compiles for seconds. `make test-all` has all cases in plain Python."""
    return () if not IS_COMPILED else pytest.mark.thorough if case in IN_CI else pytest.mark.long


U = np.uint64


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=marks_of(name))
        for name in (
            "Kalah",
            "DotsAndBoxes(rows=1)",
            "Chomp",
            "Hexapawn",
            "Kayles",
            "Wythoff",
            "Ring",
            "Dials(goal=5,patience=9)",
        )
    ],
)
def test_right_games_keep_every_law(name):
    check_laws(make_game(f"{RIGHT}:{name}"), num_games=3, seed=0)


LATENT = [
    ("Ring", ("key_of(state.runners, state.ply)", "key_of(state.runners, state.ply & 1)"), "the outcome is "),
    ("DotsAndBoxes(rows=1)", ("2 * (lead + 9) + state.mover", "state.mover"), "the outcome is "),
    ("Kalah", ("return key_of(state.cells, state.mover)", "return key_of(state.cells[:6], state.mover)"), ""),
    ("Dials", (" + 1000 * state.quiet", ""), "the outcome is "),
]


@pytest.mark.parametrize(
    ("name", "change", "what"), [pytest.param(*each, marks=marks_of(each[0]), id=each[0]) for each in LATENT]
)
def test_what_a_key_leaves_out_is_found_where_it_matters(monkeypatch, tmp_path, name, change, what):
    """The positions differ only at the end of the game; their legal moves are the same until then."""
    forget_files(monkeypatch)
    write_file(tmp_path / "my.py", RIGHT, change)
    assert finding(make_game(f"{tmp_path}/my.py:{name}")).startswith(f"hash_key is equal, but {what}")


def othello_with_the_mover_on_a_cell(game, state):
    key = U(state.ply & 1)
    for player in range(2):
        key = mix(key ^ state.stones[player, 0])
    return key


def othello_without_the_mover(game, state):
    return mix(mix(state.stones[0, 0]) ^ state.stones[1, 0])


def tic_tac_toe_of_one_player(game, state):
    return mix(U(state.stones[0]))


def connect_four_by_heights(game, state):
    return mix(state.stones[0] | state.stones[1])


def breakthrough_without_the_mover(game, state):
    return mix(mix(state.stones[0, 0]) ^ state.stones[1, 0])


def amazons_without_the_amazon_that_moves(game, state):
    return mix(state.key + U(state.player) + U(2 * (state.phase != FROM)))


def clobber_by_what_is_occupied(game, state):
    return mix(state.stones[0, 0] | state.stones[1, 0])


def gomoku_of_fourteen_bits(game, state):
    return mix(state.key) & U(0x3FFF)


def gomoku_with_words_that_add_up(game, state):
    key = U(0)
    for cell in range(game.rows * game.columns):
        row, column = cell // game.columns, cell % game.columns
        for player in range(2):
            key += U((np.int64(state.rows[player, row]) >> column & 1) * (cell + 1) * (1 + 99 * player))
    return key


def p_game_by_depth(game, state):
    return U(state.ply)


def tic_tac_toe_of_either_side(game, state):
    one, other = U(state.stones[0]), U(state.stones[1])
    return mix(one << U(9) | other) ^ mix(other << U(9) | one)


FAULTS = {
    othello_with_the_mover_on_a_cell: "othello(size=4)",
    othello_without_the_mover: "othello(size=4)",
    tic_tac_toe_of_one_player: "tic_tac_toe",
    connect_four_by_heights: "connect_four(size=4)",
    breakthrough_without_the_mover: "breakthrough(rows=5,columns=3)",
    amazons_without_the_amazon_that_moves: "amazons(size=4)",
    clobber_by_what_is_occupied: "clobber(rows=3,columns=4)",
    gomoku_of_fourteen_bits: "gomoku(rows=4,columns=4,k=3)",
    gomoku_with_words_that_add_up: "gomoku(rows=4,columns=4,k=3)",
    p_game_by_depth: "p_game(depth=6)",
    tic_tac_toe_of_either_side: "tic_tac_toe",
}


def with_key(name: str, hash_key) -> Game:
    """Returns a game with another `hash_key`."""
    rules = make_game(name).rules
    fields = {"hash_key": hash_key, "__slots__": (), "file_name": "faulty.py:Game", "__annotations__": {}}
    return Game(type(hash_key.__name__, (type(rules),), fields)(*rules))  # the compile cache identifies a class by name


def finding(game: Game, num_games: int = 20) -> str:
    """Returns the law's message on a game; an empty text if the game keeps the law."""
    chooser, notes = random.Random(0), Notes(moves_a_game=2000)
    try:
        for actions in random_games(game, num_games, seed=0):
            check_keys(game, actions, chooser, notes)
    except Broken as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("fault", "name"),
    [pytest.param(*each, marks=marks_of(each[0].__name__), id=each[0].__name__) for each in FAULTS.items()],
)
def test_faults_are_found_and_both_lines_of_play_lead_to_them(fault, name):
    game = with_key(name, fault)
    found = finding(game)
    assert found.startswith("hash_key is equal, but ")
    lines = found.partition(", after ")[2].split(" and after ")
    one, other = (make_game(name).state_from_moves("" if line == "no move" else line) for line in lines)
    keys = [fault(game.rules, each.record) for each in (one, other)]
    assert keys[0] == keys[1] and one.hash_key() != other.hash_key()


def test_equal_records_should_have_equal_keys(monkeypatch):
    """They may differ if a key depends on something outside the state."""
    game = make_game("tic_tac_toe")
    calls = iter(range(1 << 30))
    monkeypatch.setattr(keys.State, "hash_key", lambda state: next(calls))
    assert finding(game).startswith("hash_key differs between equal records, after ")


@pytest.mark.skipif(not IS_COMPILED, reason="too slow in plain Python")
def test_where_the_history_counts_equal_keys_promise_nothing():
    """Positions of Go with equal keys may differ in the moves that superko forbids."""
    assert finding(make_game("go(size=2)"), num_games=5) == ""


def test_two_moves_of_one_player_are_swapped():
    chooser, actions = random.Random(0), list(range(6))
    swapped = [swap_two_moves(actions, chooser) for _ in range(50)]
    assert {tuple(np.flatnonzero(np.array(each) != actions)) for each in swapped} == {(i, i + 2) for i in range(4)}
    assert all(sorted(each) == actions for each in swapped)
    assert swap_two_moves([1, 2], chooser) == [1, 2]


def whether_play_has_begun(game, state):
    return U(state.stones[0] != 0)


@pytest.mark.skipif(IS_COMPILED, reason="compiling it adds nothing")
def test_positions_of_one_key_are_paired_before_they_are_expanded():
    known = keys.Enumeration(with_key("tic_tac_toe", whether_play_has_begun))
    known.explore(known.game.new_initial_state(), 0)
    assert known.num_followed == 9
    assert known.twins == [(node, 1) for node in range(2, 10)]
