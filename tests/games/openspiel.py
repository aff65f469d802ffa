"""Comparisons with OpenSpiel, move by move: recorded games (tests/data/openspiel_games) and live random games."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pyspiel
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import Game, State

_FOLDER = Path(__file__).parents[1] / "data" / "openspiel_games"


def read_recorded_games(name: str) -> list[dict]:
    """Returns the recorded games of the file with this stem."""
    with gzip.open(_FOLDER / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        games = [json.loads(line) for line in file]
    assert games
    return games


def check_recorded_games(
    game: Game, name: str, action_of: Callable[[str], int], rows_of: Callable[[str], list[str]] = str.split
) -> None:
    """Asserts legal moves and player at every ply, the returns and, if recorded, the last board.

    Args:
      name: the file's stem.
      action_of: returns our action for OpenSpiel's text of a move.
      rows_of: returns the rows of a board that OpenSpiel drew, in the format of `stones`.
    """
    for recorded in read_recorded_games(name):
        state = game.new_initial_state()
        for move, player, legal in zip(recorded["moves"], recorded["player"], recorded["legal"], strict=True):
            assert state.current_player() == player
            assert state.legal_actions() == sorted(map(action_of, legal))
            state.apply_action(action_of(move))
        assert state.is_terminal() and state.returns() == recorded["returns"]
        if "final" in recorded:
            assert stones(str(state)) == rows_of(recorded["final"])


def stones(drawing: str) -> list[str]:
    """Returns the rows of our drawn board as OpenSpiel writes them, without the names of rows and columns."""
    rows = (line.lower().lstrip(" 0123456789").replace(" ", "") for line in drawing.splitlines()[:-1])
    return list(rows)


def same_action(state: State, theirs: pyspiel.State, action: int) -> int:
    return action


def check_random_games(
    game: Game,
    openspiel_name: str,
    num_games: int,
    seed: int,
    to_ours: Callable[[State, pyspiel.State, int], int] = same_action,
) -> None:
    """Plays random games here and in OpenSpiel; asserts equal player, legal moves, end and returns at every ply.

    Args:
      to_ours: returns our action, given our position, OpenSpiel's position and OpenSpiel's action.
    """
    if not IS_COMPILED:
        pytest.skip("thousands of positions")
    chooser, their_game = random.Random(seed), pyspiel.load_game(openspiel_name)
    for _ in range(num_games):
        state, theirs = game.new_initial_state(), their_game.new_initial_state()
        while not theirs.is_terminal():
            assert (state.is_terminal(), state.current_player()) == (False, theirs.current_player())
            assert state.returns() == [0, 0]
            their_actions = theirs.legal_actions()
            actions = [to_ours(state, theirs, each) for each in their_actions]
            assert state.legal_actions() == sorted(actions)
            chosen = chooser.randrange(len(actions))
            state.apply_action(actions[chosen])
            theirs.apply_action(their_actions[chosen])
        assert state.is_terminal() and state.returns() == theirs.returns()
