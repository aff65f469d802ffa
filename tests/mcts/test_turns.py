"""Tests of whole turns as moves: each is listed once, in order, and played as one move."""

import numpy as np
import pytest

from azero.games import Game, make_game
from azero.games.state import new_states
from azero.mcts.classical.turn_search import MOST_CODES, TurnRules, list_turns, new_turns

from .turn_games import TurnsPGame, turns_of

AMAZONS = make_game("amazons(size=4)")


def listed(state, turns=None):
    """Returns the turns of a position in the kernel's order; -1 if there are too many."""
    rules = state.game.rules
    turns = turns or new_turns(rules, 1)
    room = new_states(rules, 1), np.zeros(rules.num_actions, np.int32)
    count = int(list_turns(rules, turns, 0, state.record, *room))
    starts, actions = turns.starts[0], turns.actions[0]
    return [actions[starts[k] : starts[k + 1]].tolist() for k in range(count)] if count >= 0 else -1


@pytest.mark.parametrize("moves", ["", "a2", "a2 -a1", "a2-a1/a2", "a2-a1/a2 b4-b3"])
def test_amazons_turns_are_from_to_and_shot_or_what_is_left_of_them(moves):
    state = AMAZONS.state_from_moves(moves)
    assert listed(state) == [turn for turn, _ in turns_of(state)]


@pytest.mark.parametrize("seed", range(5))
def test_turns_of_unequal_length_are_listed(seed):
    state = Game(TurnsPGame(branching=3, depth=5, seed=seed)).new_initial_state()
    turns = listed(state)
    assert turns == [turn for turn, _ in turns_of(state)]
    assert len(set(map(len, turns))) > 1


def test_amazons_has_2176_moves_at_the_start():
    """The number is known from the literature."""
    assert len(listed(make_game("amazons").new_initial_state())) == 2176


@pytest.mark.parametrize(("num_turns", "num_actions"), [(27, 81), (26, 81), (27, 80)])
def test_turns_that_there_is_no_room_for_are_not_listed(num_turns, num_actions):
    state = Game(ThreeOfOne(branching=3, depth=3)).new_initial_state()
    turns = new_turns(state.game.rules, 1)
    small = turns._replace(starts=turns.starts[:, : num_turns + 1], actions=turns.actions[:, :num_actions])
    assert (listed(state, small) == -1) == (num_turns < 27 or num_actions < 81)


class ThreeOfOne(TurnsPGame):
    """A P-game in which one player makes all moves. It has 27 turns of 3 moves."""

    file_name = "three_of_one"

    def current_player(game, state):
        return 0


def test_an_action_from_first_on_is_a_turn():
    game, state = AMAZONS, AMAZONS.state_from_moves("a2")
    turns = new_turns(game.rules, 1)
    room = new_states(game.rules, 1), np.zeros(game.num_actions, np.int32)
    list_turns(game.rules, turns, 0, state.record, *room)
    rules = TurnRules(game.rules, game.num_actions, turns.starts[0], turns.actions[0])
    for k, (turn, after) in enumerate(turns_of(state)):
        states = new_states(game.rules, 2)
        states[:] = state.record
        played, stepped = states
        rules.apply_action(played, game.num_actions + k)
        for action in turn:
            rules.apply_action(stepped, action)
        assert played == stepped == after.record
    assert turns.starts.shape[1] - 1 + game.num_actions == MOST_CODES
