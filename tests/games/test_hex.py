"""Tests of Hex: drawn chains, full boards with one winner, swap, solved openings, OpenSpiel's games, the laws."""

import json
import math
import random
from itertools import combinations, product, zip_longest
from pathlib import Path

import numpy as np
import pytest
from cases import long, thorough
from mcts.minimax import Minimax, RandomPlay, moves_of

from azero.compiler.jit import IS_COMPILED, kernel
from azero.compiler.rng import new_rng
from azero.errors import BadInput
from azero.games import ONGOING, Game, State, make_game, new_states
from azero.games.boards import LETTERS
from azero.games.laws.laws import check_laws
from azero.games.state import exchanged

from .openspiel import check_random_games, check_recorded_games

OPENINGS = json.loads((Path(__file__).parents[1] / "data" / "hex_winning_openings.json").read_text())[
    "winning_openings"
]

Cell = tuple[int, int]  # row and column, from the top left


def make_hex(size: int, swap: bool = False) -> Game:
    return make_game(f"hex(size={size},swap={swap})")


def joins(own: set[Cell], size: int) -> bool:
    """Returns whether the first player's stones `own` connect top and bottom, found by walking the board."""
    left = [cell for cell in own if cell[0] == 0]
    seen = set(left)
    while left:
        row, column = left.pop()
        around = [(row - 1, column), (row - 1, column + 1), (row, column - 1)]
        around += [(row, column + 1), (row + 1, column - 1), (row + 1, column)]
        new = [cell for cell in around if cell in own - seen]
        seen.update(new)
        left += new
    return any(row == size - 1 for row, _ in seen)


def mirrored(cells: set[Cell]) -> set[Cell]:
    return {(column, row) for row, column in cells}


def read_drawing(drawing: str) -> tuple[State, int]:
    """Returns the drawn position, and its star, on which the player to move plays."""
    rows = [line.split() for line in drawing.split("\n") if line.strip()]
    size = len(rows)
    first, second, star = (
        [size * row + column for row in range(size) for column in range(size) if rows[row][column] == text]
        for text in "XO*"
    )
    assert len(first) - len(second) in (0, 1) and len(star) == 1, "not a position of the game"
    state = make_hex(size).new_initial_state()
    for k in range(len(first) + len(second)):
        state.apply_action((first, second)[k % 2][k // 2])
    return state, star[0]


WINS = {
    "out of the top right corner, down to the left": """
        . O . *
         . . X O
          O X . .
           X . . .""",
    "out of the top left corner, which has two neighbours": """
        * O . .
         X O . .
          X . O .
           X . . .""",
    "down, up and down again": """
        . O O O X
         O X X O X
          X O X O X
           X O X * .
            X O O . .""",
    "second player, along the top": """
        O O O *
         X X X .
          . . X .
           . . . .""",
    "second player, into the bottom left corner, before the first": """
        . X . O
         . X O .
          X O . .
           * . X .""",
    "the last stone of a full board": """
        O X X
         O * O
          X X O""",
}

NO_WINS = {
    "the long diagonal, whose cells do not touch": """
        X . . .
         . X . O
          . O X .
           O . . *""",
    "left and right are the other's sides": """
        O . . .
         X X X *
          . O . O
           . . . .""",
    "two cells that only share neighbours": """
        . X O .
         X . O .
          . X . .
           O X * .""",
}


@pytest.mark.parametrize("drawing", WINS.values(), ids=WINS.keys())
def test_drawn_wins(drawing):
    state, last = read_drawing(drawing)
    mover = state.current_player()
    assert not state.is_terminal()
    state.apply_action(last)
    assert state.is_terminal() and state.returns()[mover] == 1


@pytest.mark.parametrize("drawing", NO_WINS.values(), ids=NO_WINS.keys())
def test_drawn_boards_without_a_win(drawing):
    state, last = read_drawing(drawing)
    state.apply_action(last)
    assert not state.is_terminal() and state.returns() == [0, 0]


def check_to_the_end(game: Game, order: list[Cell], is_every_ply: bool) -> None:
    """Fills the board in this order. Asserts that the game ends with the first chain, and that there is one winner."""
    size, state, stones_of = game.rules.size, game.new_initial_state(), (set(), set())
    for k, (row, column) in enumerate(order):
        stones_of[k % 2].add((row, column))
        if not state.is_terminal():
            state.apply_action(row * size + column)
            if is_every_ply or state.is_terminal():
                own = stones_of[k % 2] if k % 2 == 0 else mirrored(stones_of[1])
                assert joins(own, size) == state.is_terminal() == (state.returns()[k % 2] == 1)
    first, second = joins(stones_of[0], size), joins(mirrored(stones_of[1]), size)
    assert first != second and state.returns() == [2 * first - 1, 2 * second - 1]


@pytest.mark.parametrize("size", [2, 3])
def test_every_full_board_has_one_winner(size):
    """Each board is filled in a random order. The winner does not depend on the order."""
    game, cells, chooser = make_hex(size), set(product(range(size), repeat=2)), random.Random(size)
    for first in combinations(sorted(cells), (size**2 + 1) // 2):
        orders = [chooser.sample(each, len(each)) for each in (first, sorted(cells - set(first)))]
        order = [cell for pair in zip_longest(*orders) for cell in pair if cell]
        check_to_the_end(game, order, is_every_ply=True)


@pytest.mark.parametrize(("size", "num_games"), [(4, 100), (5, 50), (7, 20), (11, 10), (19, 5)])
def test_random_games_end_at_the_first_chain(size, num_games):
    game, cells, chooser = make_hex(size), list(product(range(size), repeat=2)), random.Random(size)
    for _ in range(num_games if IS_COMPILED else 1):
        check_to_the_end(game, chooser.sample(cells, len(cells)), is_every_ply=size < 19)


@pytest.mark.parametrize(("opening", "taken"), [("a1", "a1"), ("b1", "a2"), ("d2", "b4"), ("d4", "d4")])
def test_swap_takes_the_mirrored_stone(opening, taken):
    """The stone then belongs to the second player, as if the first had passed, and the first player moves."""
    game = make_hex(4, swap=True)
    state = game.state_from_moves(f"{opening} swap")
    own, theirs, empty, is_first, can_swap = state.planes()
    cell = game.text_to_action(game.new_initial_state(), taken)
    assert np.flatnonzero(theirs).tolist() == [cell] and not own.any() and not can_swap.any() and is_first.all()
    assert state.legal_actions() == np.flatnonzero(empty).tolist() == [each for each in range(16) if each != cell]
    assert state.current_player() == 0 and len(state.history()) == 2


def test_swap_is_the_second_players_first_move_or_never():
    game, without = make_hex(3, swap=True), make_hex(3)
    assert (game.num_actions, game.max_plies, without.num_actions, without.max_plies) == (10, 10, 9, 9)
    state, other = game.new_initial_state(), without.new_initial_state()
    for move in ("b2", "a1", "c3", "a2"):
        assert (9 in state.legal_actions()) == bool(state.planes()[4].all()) == (len(state.history()) == 1)
        assert [each for each in state.legal_actions() if each < 9] == other.legal_actions()
        for each in (state, other):
            each.apply_action(each.game.text_to_action(each, move))
    assert str(state) == str(other)
    with pytest.raises(BadInput, match="^'swap' is not a move of hex; moves are a1 \\(top left\\) to c3$"):
        without.text_to_action(other, "swap")


def test_a_swapped_stone_joins_its_side():
    state = make_hex(3, swap=True).state_from_moves("b1 swap c1 b2 c2 b3 a3")
    assert str(state) == "    a b c\n  1 . . X\n   2 O O X\n    3 X O ." and not state.is_terminal()
    state.apply_action(8)
    assert state.is_terminal() and state.returns() == [-1, 1]


@kernel
def _sum_outcomes(game, record, states, legal, rng, num_games):
    total = 0
    for _ in range(num_games):
        states[0] = record
        total += game.rollout(states[0], legal, rng, game.size * game.size + 1)
    return total


def mean_of_rollouts(game: Game, record: np.record, num_games: int) -> float:
    rng, legal = new_rng(0), np.zeros(game.num_actions, np.int32)
    return _sum_outcomes(game.rules, record, new_states(game.rules, 1), legal, rng, num_games) / num_games


@pytest.mark.parametrize(
    ("size", "swap", "moves"),
    [
        (2, True, ""),
        (3, False, "b2"),
        (3, True, "c1 swap"),
        *thorough((3, False, ""), (3, True, "a1"), (4, False, "b2 c2 a4 d1 c3 a3 d3")),
    ],
)
def test_rollouts_have_the_mean_of_random_play(size, swap, moves):
    """Rollouts fill the board, while random games end earlier. They swap as often as random games."""
    game = make_hex(size, swap)
    state, num_games = game.state_from_moves(moves), 40_000 if IS_COMPILED else 400
    wins, draws, _ = RandomPlay().expect(state)
    assert draws == 0
    deviation = 2 * math.sqrt(wins * (1 - wins))
    assert abs(mean_of_rollouts(game, state.record, num_games) - (2 * wins - 1)) < 4 * deviation / math.sqrt(num_games)


@pytest.mark.parametrize(("size", "num_games"), [(2, 10), (3, 20), (5, 50), (11, 30), (18, 20), (19, 20)])
def test_rollouts_find_the_chain_that_has_won(size, num_games):
    """With `is_won` cleared, rollouts fill the board, and still find the winner."""
    game, chooser = make_hex(size), random.Random(size)
    for _ in range(num_games if IS_COMPILED else 1):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chooser.choice(state.legal_actions()))
        assert mean_of_rollouts(game, state.record, 1) == state.returns()[0]
        if len(state.history()) < size**2:
            state.record.is_won = 0
            assert mean_of_rollouts(game, state.record, 5) == state.returns()[0]


def snake_of(size: int, is_upright: bool) -> set[Cell]:
    """Returns a chain from top to bottom that winds along every other row or column."""
    if not is_upright:
        rows = set(product(range(0, size, 2), range(size)))
        return rows | {(row, size - 1 if row % 4 == 1 else 0) for row in range(1, size, 2)}
    last = (size - 1) // 4 * 4
    columns = set(product(range(1, size - 1), range(0, last + 1, 2)))
    turns = {(size - 2 if column % 4 == 1 else 1, column) for column in range(1, last, 2)}
    return columns | turns | {(0, 0), (size - 1, last)}


@pytest.mark.parametrize("size", [5, 9, 19])
@pytest.mark.parametrize("is_upright", [False, True])
@pytest.mark.parametrize("winner", [0, 1])
def test_winding_chains(size, is_upright, winner):
    """The player with the stone at a turn of the chain wins on the full board, which rollouts evaluate."""
    game, cells, chain = make_hex(size), set(product(range(size), repeat=2)), snake_of(size, is_upright)
    turn = (size - 2, 1) if is_upright else (1, size - 1)
    stones_of = [chain - {turn}, cells - chain - {turn}]
    assert turn in chain and not joins(stones_of[0], size) and not joins(mirrored(stones_of[1]), size)
    record = game.new_initial_state().record
    with np.errstate(over="ignore"):  # keys wrap around
        for player in (1 - winner, winner):
            for row, column in random.Random(size).sample(sorted(stones_of[player]), len(stones_of[player])):
                record.ply = player  # an early ply of this player
                game.rules.apply_action(record, row * size + column)
    record.ply = winner
    state = State.from_record(game, record)
    assert not state.is_terminal()
    state.apply_action(turn[0] * size + turn[1])
    assert state.is_terminal() and state.returns()[winner] == 1
    state.record.is_won = 0
    assert mean_of_rollouts(game, state.record, 1) == 1 - 2 * winner


@pytest.mark.parametrize("size", [2, 3])
def test_solved_openings(size):
    start, minimax = make_hex(size).new_initial_state(), Minimax()
    won = {start.game.action_to_text(start, action) for action in minimax.best_actions(start)}
    assert minimax.solve(start)[0] == 1 and won == set(OPENINGS[str(size)])


@pytest.mark.parametrize("size", [2, 3] if IS_COMPILED else [2])
def test_with_swap_the_second_player_wins(size):
    """The second player wins by swapping if the opening wins, otherwise without swapping."""
    start, minimax = make_hex(size, swap=True).new_initial_state(), Minimax()
    assert minimax.solve(start)[0] == -1
    for action, after in moves_of(start):
        is_won = start.game.action_to_text(start, action) in OPENINGS[str(size)]
        assert (size**2 in minimax.best_actions(after)) == is_won


@kernel
def _is_won(rules, states, legal, known, board, ply):
    """Returns whether the player to move at `states[ply]` wins. A player cannot lose by their own move.

    Args:
      states, legal: scratch memory, [A + 1] and [A + 1, A].
      known: [3 ** A] int8, by board: 0 unknown, 1 lost, 2 won.
      board: the board of `states[ply]`, a number with one base 3 digit per cell.
    """
    if known[board] == 0:
        known[board] = 1
        for k in range(rules.legal_actions(states[ply], legal[ply])):
            action = legal[ply, k]
            states[ply + 1] = states[ply]
            rules.apply_action(states[ply + 1], action)
            is_over = rules.outcome(states[ply + 1]) != ONGOING
            after = board + 3**action * (1 + ply % 2)
            if is_over or not _is_won(rules, states, legal, known, after, ply + 1):
                known[board] = 2
                break
    return known[board] == 2


@pytest.mark.slow
@pytest.mark.skipif(not IS_COMPILED, reason="millions of positions")
def test_solved_openings_on_4x4():
    game, known, legal = make_hex(4), np.zeros(3**16, np.int8), np.zeros((17, 16), np.int32)
    states, won = new_states(game.rules, 17), set()
    for action, after in moves_of(game.new_initial_state()):
        states[1] = after.record
        if not _is_won(game.rules, states, legal, known, 3**action, 1):
            won.add(game.action_to_text(after, action))
    assert won == set(OPENINGS["4"])


@pytest.mark.parametrize("size", [5, 11])
def test_recorded_openspiel_games(size):
    def rows_of(drawing: str) -> list[str]:
        """Returns the rows in the format of `stones`: letters come first, as a row, and the last line is missing."""
        return [LETTERS[:size], *("".join(line.split()) for line in drawing.splitlines()[:-1])]

    game = make_hex(size)
    check_recorded_games(game, f"hex_board_size{size}", lambda move: action_of(game, move), rows_of)


def action_of(game: Game, move: str) -> int:
    return game.rules.text_to_action(None, move)


MANY = [(3, True, 1000), (5, False, 1000), (11, True, 100), (19, False, 100)]


@pytest.mark.parametrize(
    ("size", "swap", "num_games"),
    [
        *((size, size in (3, 7), 20) for size in (2, 3, 5, 7, 11)),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in MANY),
    ],
)
def test_random_games_in_step_with_openspiel(size, swap, num_games):
    check_random_games(make_hex(size, swap), f"hex(board_size={size},swap={swap})", num_games, seed=size)


def test_planes_are_both_players_stones_empty_cells_the_first_players_turn_and_swap():
    own, theirs, empty, is_first, can_swap = make_hex(3, swap=True).state_from_moves("b1 c3 a2").planes().tolist()
    assert own == [[0, 0, 0], [0, 0, 0], [0, 0, 1]]
    assert theirs == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    assert empty == [[1, 0, 1], [0, 1, 1], [1, 1, 0]]
    assert is_first == can_swap == np.zeros((3, 3)).tolist()


def test_exchanged_stones_are_the_other_players_and_mirrored():
    """The planes are mirrored, and the other player is to move. After a swap a game leads there, too."""
    game = make_hex(4, swap=True)
    state = game.state_from_moves("b1 c3 a2 d4")
    other = exchanged(state)
    assert other == game.state_from_moves("b1 swap c3 b1 d4")
    own, theirs, empty, is_first, can_swap = state.planes()
    assert np.array_equal(other.planes(), [own.T, theirs.T, empty.T, 1 - is_first, can_swap])
    assert [exchanged(game.state_from_moves(moves)) for moves in ("", "b1")] == [None, None]
    assert exchanged(make_hex(4).new_initial_state()).current_player() == 1


def test_moves_are_written_column_first_from_the_top():
    game = make_hex(19, swap=True)
    state = game.state_from_moves("a1")
    assert [game.action_to_text(state, action) for action in (1, 18, 19, 360, 361)] == ["b1", "s1", "a2", "s19", "swap"]
    assert game.text_to_action(state, "S19") == 360 and game.text_to_action(state, "SWAP") == 361
    assert game.rules.split_moves("a1swap,C10; b2\n") == ["a1", "swap", "C10", "b2"]


def test_rows_are_drawn_half_a_cell_apart():
    state = make_hex(3).state_from_moves("b1 c3")
    assert str(state) == "    a b c\n  1 . X .\n   2 . . .\n    3 . . O"
    assert state.draw({3: "12"}) == "     a  b  c\n  1  .  X  .\n   2 12  .  .\n     3  .  .  O"


LAWFUL = [(3, False), (5, True), *thorough((2, True), (11, False)), *long(*IS_COMPILED * [(19, True)])]


@pytest.mark.parametrize(("size", "swap"), LAWFUL)
def test_laws(size, swap):
    num_games = {2: 20, 3: 10, 5: 5, 11: 2, 19: 1}[size]
    check_laws(make_hex(size, swap), num_games if IS_COMPILED else 1, seed=size)
