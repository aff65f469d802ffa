"""The law of keys: positions with equal `hash_key` have the same future."""

import random
from itertools import zip_longest

from azero.games.laws.enumeration import Enumeration, difference
from azero.games.laws.findings import Notes, hold_pair
from azero.games.state import Game, State

_NUM_TWINS = 20
"""Pairs of positions with equal keys and different records from which play continues, per game."""

_NUM_TRIED = 4
"""Moves tried at each position of such a pair."""


def check_keys(game: Game, actions: list[int], chooser: random.Random, notes: Notes) -> None:
    """Equal records have equal keys. In a history-free game, positions with equal keys have the same future.

    Checks all positions of the game, all positions of the game with two moves swapped, and the positions that can be
    reached from the last ones. Then plays on from pairs with equal keys and different records.
    """
    known = notes.enumeration = notes.enumeration or Enumeration(game)
    lines = [_states_of(game, line) for line in (actions, swap_two_moves(actions, chooser))]
    limit = known.num_followed + notes.moves_a_game
    for state in reversed(lines[0]):
        if known.num_followed < limit:
            known.explore(state, limit - known.num_followed)
    for states in zip_longest(*lines):
        if notes.has_time():
            for state in filter(None, states):
                known.explore(state, 0)
    for one, other in chooser.sample(known.twins, min(_NUM_TWINS, len(known.twins))):
        if notes.is_in_time():
            _play_on(game, known.line_to(one), known.line_to(other), chooser)
    known.twins.clear()


def _states_of(game: Game, actions: list[int]) -> list[State]:
    """Returns the positions of a game, as far as its actions are legal."""
    states = [game.new_initial_state()]
    for action in actions:
        if action not in states[-1].legal_actions():
            break
        states.append(states[-1].clone())
        states[-1].apply_action(action)
    return states


def _play_on(game: Game, actions: list[int], others: list[int], chooser: random.Random) -> None:
    """Plays the same random moves after two lines that lead to equal keys, until the records are equal.

    It tries a few moves and prefers one after which the game goes on with different records. A difference that the key
    lacks may matter many moves later, e.g. the number of plies without a capture.
    """
    one, other = _states_of(game, actions)[-1], _states_of(game, others)[-1]
    while one.record.tobytes() != other.record.tobytes():
        legal = one.legal_actions()
        tried = chooser.sample(legal, min(_NUM_TRIED, len(legal)))
        found = difference(one, other, tried)
        hold_pair(not found, f"hash_key is equal, but {found}", game, one.history(), other.history())
        if one.is_terminal():
            return
        after = [(_after(one, action), _after(other, action)) for action in tried]
        one, other = next((each for each in after if _goes_on_apart(*each)), after[0])


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply_action(action)
    return after


def _goes_on_apart(one: State, other: State) -> bool:
    """Returns whether the records of two positions differ and the game is not over."""
    return not one.is_terminal() and one.record.tobytes() != other.record.tobytes()


def swap_two_moves(actions: list[int], chooser: random.Random) -> list[int]:
    """Returns the same game with two moves, two plies apart, swapped. It is often a transposition."""
    if len(actions) < 3:
        return actions
    i = chooser.randrange(len(actions) - 2)
    return [*actions[:i], actions[i + 2], actions[i + 1], actions[i], *actions[i + 3 :]]
