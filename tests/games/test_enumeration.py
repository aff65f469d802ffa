"""Tests of all positions of small boards: the law of keys, and known counts."""

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import make_game
from azero.games.laws.keys import Enumeration, digests_of

ALL = 1 << 40
needs_compiler = pytest.mark.skipif(not IS_COMPILED, reason="too slow in plain Python")

COUNTS = {
    "tic_tac_toe": 5478,
    "p_game(branching=3,depth=6)": (3**7 - 1) // 2,
    "hex(size=2,swap=true)": None,
    "breakthrough(rows=4,columns=2)": None,
    "clobber(rows=2,columns=4)": None,
    "gomoku(rows=2,columns=3,k=3)": None,
}
LARGER_COUNTS = {
    "connect_four(size=4)": 161_029,  # John Tromp, Connect-4 playground
    "othello(size=4)": None,
    "hex(size=3,swap=true)": None,
    "breakthrough(rows=4,columns=3)": None,
    "clobber(rows=3,columns=4)": None,
    "gomoku(rows=3,columns=4,k=3)": None,
}


def all_positions(name: str) -> Enumeration:
    """Returns the enumeration of a whole game; raises Broken if its keys break the law."""
    game = make_game(name)
    known = Enumeration(game)
    assert known.explore(game.new_initial_state(), ALL)
    return known


@pytest.mark.parametrize(
    ("name", "count"),
    [*COUNTS.items(), *(pytest.param(*each, marks=needs_compiler) for each in LARGER_COUNTS.items())],
)
def test_all_positions_of_small_boards_keep_the_law_of_keys(name, count):
    known = all_positions(name)
    assert count is None or len(known) == count
    line = known.line_to(len(known) - 1)
    state = known.game.new_initial_state()
    for action in line:
        state.apply_action(action)
    assert state.is_terminal()


def stones_and_turn(records: np.ndarray) -> np.ndarray:
    """Returns digests of Go positions without their history."""
    fields = [records.stones == 0, records.stones == 1, records.ko[:, None], records.passes[:, None] > 0]
    rest = np.hstack([*fields, records.passes[:, None] > 1, records.ply[:, None] % 2])
    return digests_of(np.ascontiguousarray(rest, np.int16).view([("all", np.int16, (rest.shape[1],))])[:, 0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "num_boards"), [(2, 57), pytest.param(3, 12_675, marks=needs_compiler)]
)  # Tromp & Farneback, Combinatorics of Go (2016)
def test_all_positions_of_go_without_its_history(size, num_boards):
    game = make_game(f"go(size={size},superko=false,max_game_length=300)")
    boards = set()

    def identity(records):
        boards.update(each.tobytes() for each in records.stones)
        return stones_and_turn(records)

    known = Enumeration(game, identity, is_history_free=True)
    assert known.explore(game.new_initial_state(), ALL)
    assert len(boards) == num_boards
    assert max(len(known.line_to(node)) for node in range(len(known))) < 100, "the limit on plies should end no game"


@needs_compiler
def test_many_positions_of_amazons():
    """The smallest board has millions of positions, so only a part is enumerated."""
    game = make_game("amazons(size=4)")
    known = Enumeration(game)
    assert not known.explore(game.new_initial_state(), 200_000)
    assert 200_000 <= known.num_followed < 200_000 + 2 * game.num_actions


def test_exploring_stops_at_its_limit_and_goes_on_elsewhere():
    game = make_game("tic_tac_toe")
    known = Enumeration(game)
    start = game.new_initial_state()
    assert not known.explore(start, 0)
    assert (len(known), known.num_followed) == (10, 9), "the first position is always expanded"
    start.apply_action(4)
    assert not known.explore(start, 1_000, is_in_time=lambda: False)
    assert (len(known), known.num_followed) == (18, 17), "so is a first position that was found before"
    assert known.explore(start, 0) and known.num_followed == 17, "but no position is expanded twice"


def test_what_lies_between_fields_is_no_part_of_a_record():
    records = np.zeros(2, np.dtype([("player", np.int8), ("key", np.int64)], align=True))
    records[1:].view(np.uint8)[3] = 7
    one, other = digests_of(records)
    assert one == other
    records["key"][1] = 7
    assert one != digests_of(records)[1]
