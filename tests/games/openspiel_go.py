"""Comparison with OpenSpiel's Go. Its rules forbid only simple ko, and a repeated board is a draw."""

import random

import pyspiel
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import State, make_game

from .openspiel import read_recorded_games, stones

LENGTH = 2000
"""The limit on plies of both implementations."""


class Pair:
    """One game under two of our rules: simple ko, as in OpenSpiel, and positional superko."""

    def __init__(self, size: int, komi: float):
        sizes = f"size={size},komi={komi},max_game_length={LENGTH}"
        self.free, self.strict = (
            make_game(f"go({sizes},superko={superko})").new_initial_state() for superko in (False, True)
        )
        self.pass_action = size**2
        self.boards = {str(self.free)}

    def repeats(self, action: int) -> bool:
        """Returns whether the action repeats an earlier board."""
        after = self.free.clone()
        after.apply_action(action)
        return action != self.pass_action and str(after) in self.boards

    def check(self, player: int, legal: list[int]) -> None:
        """Asserts player and legal actions. Superko forbids only actions that repeat a board."""
        assert self.free.current_player() == self.strict.current_player() == player
        assert self.free.legal_actions() == sorted(legal)
        forbidden = set(legal) - set(self.strict.legal_actions())
        assert set(self.strict.legal_actions()) == set(legal) - forbidden
        assert all(map(self.repeats, forbidden))

    def play(self, action: int) -> bool:
        """Plays the action; returns whether it repeated an earlier board."""
        is_forbidden = action not in self.strict.legal_actions()
        assert self.repeats(action) == is_forbidden
        self.free.apply_action(action)
        if not is_forbidden:
            self.strict.apply_action(action)
            assert str(self.strict) == str(self.free)
        self.boards.add(str(self.free))
        return is_forbidden

    def check_end(self, is_repeated: bool, returns: list[float]) -> None:
        assert returns == [0, 0] if is_repeated else self.free.returns() == self.strict.returns() == returns
        assert self.free.is_terminal() == self.strict.is_terminal() == (not is_repeated)


def check_recorded_go(size: int, komi: float, num_games: int | None = None) -> int:
    """Asserts legal moves, player, returns and last board of recorded games; returns how many end by repetition."""
    num_repeated = 0
    for recorded in read_recorded_games(f"go_board_size{size}_komi{komi}_max_game_length{LENGTH}")[:num_games]:
        pair, is_repeated = Pair(size, komi), False
        for move, player, legal in zip(recorded["moves"], recorded["player"], recorded["legal"], strict=True):
            assert not is_repeated
            pair.check(player, [to_ours(pair.free, each) for each in legal])
            is_repeated = pair.play(to_ours(pair.free, move))
        pair.check_end(is_repeated, recorded["returns"])
        rows = [line.split()[1] for line in recorded["final"].splitlines()[2:-1]]
        assert stones(str(pair.free)) == [row.lower().replace("+", ".") for row in rows]
        num_repeated += is_repeated
    return num_repeated


def check_random_go(size: int, komi: float, num_games: int, seed: int) -> int:
    """Plays random games here and in OpenSpiel; asserts and returns the same as `check_recorded_go`."""
    if not IS_COMPILED:
        pytest.skip("thousands of positions")
    chooser = random.Random(seed)
    their_game = pyspiel.load_game(f"go(board_size={size},komi={float(komi)},max_game_length={LENGTH})")
    num_repeated = 0
    for _ in range(num_games):
        pair, theirs, is_repeated = Pair(size, komi), their_game.new_initial_state(), False
        while not theirs.is_terminal():
            assert not is_repeated
            actions = {to_ours(pair.free, theirs.action_to_string(each)): each for each in theirs.legal_actions()}
            pair.check(theirs.current_player(), list(actions))
            chosen = chooser.choice(list(actions))
            theirs.apply_action(actions[chosen])
            is_repeated = pair.play(chosen)
        pair.check_end(is_repeated, theirs.returns())
        num_repeated += is_repeated
    return num_repeated


def to_ours(state: State, move: str) -> int:
    """Returns our action for OpenSpiel's text of a move, e.g. `B d4`."""
    return state.game.rules.text_to_action(state.record, move.split()[1])
