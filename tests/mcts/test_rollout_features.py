"""Tests of local features: patterns by hand, and equal features under a game's symmetries."""

import random

import numpy as np
import pytest

from azero.compiler.jit import IS_COMPILED
from azero.games import State, make_game
from azero.mcts.rollouts.features import (
    NO_PATTERN,
    NUM_PATTERNS,
    action_classes,
    count_legal,
    pattern_classes,
    write_features,
)
from azero.mcts.scratch import new_scratch

pytestmark = pytest.mark.slow  # it compiles kernels of its own

DIGITS = {".": 0, "X": 1, "O": 2, "#": 3}


def features_of(state: State) -> dict[int, int]:
    """Returns the pattern of each legal action."""
    rules, states = state.game.rules, np.array([state.record], state.record.dtype).view(np.recarray)
    scratch, counts = new_scratch(rules), np.zeros(1, np.int64)
    count_legal(rules, states, scratch, counts)
    patterns, actions = np.zeros(counts[0], np.int32), np.zeros(counts[0], np.int32)
    write_features(rules, states, scratch, np.array([0, counts[0]]), patterns, actions)
    assert actions.tolist() == state.legal_actions()
    return dict(zip(actions.tolist(), patterns.tolist(), strict=True))


def pattern(drawing: str) -> int:
    """Returns the code of a drawn pattern. X is the player to move, O the opponent, # is off the board."""
    return sum(DIGITS[cell] << 2 * place for place, cell in enumerate(drawing.replace(" ", "")))


def test_patterns_by_hand():
    """X is on b2 and c2, O on a1 and b1. X moves."""
    features = features_of(make_game("tic_tac_toe").state_from_moves("b2 a1 c2 b1"))
    assert features[2] == pattern("### O.# XX#")
    assert features[3] == pattern("#OO #.X #..")
    assert features[7] == pattern(".XX ... ###")


def test_patterns_are_the_mover_s():
    """The same stones with O to move."""
    features = features_of(make_game("tic_tac_toe").state_from_moves("b2 a1 c2"))
    assert features[1] == pattern("### X.. .OO") and features[8] == pattern("OO# ..# ###")


@pytest.mark.parametrize(
    ("name", "moves", "move", "drawing"),
    [
        ("connect_four", "4 4 3", "4", "... ... .X."),
        ("connect_four", "4 4 3", "5", "X.. O.. ###"),
        ("connect_four", "1 2", "1", "#.. #.. #XO"),
        ("connect_four(rows=4,columns=5)", "1 1 1", "1", "### #.. #O."),
        ("clobber(rows=3,columns=3)", "", "b2b3", "### XOX OXO"),
        ("breakthrough(rows=3,columns=3)", "", "a1-a2", "#OO #.. #XX"),
        ("breakthrough(rows=3,columns=3)", "a1-a2", "b3xa2", "#.O #O. #XX"),
        ("breakthrough(rows=3,columns=3)", "a1-a2", "c3-c2", "OO# ..# XX#"),
    ],
)
def test_patterns_are_those_of_the_target(name, moves, move, drawing):
    state = make_game(name).state_from_moves(moves)
    assert features_of(state)[state.game.text_to_action(state, move)] == pattern(drawing)


def test_an_amazon_s_move_has_three_targets():
    """X on b1 is chosen, moves to b2, and shoots back."""
    state = make_game("amazons(size=5)").new_initial_state()
    for action, drawing in [(21, "X.. .X. ###"), (25 + 16, "... X.. .X."), (50 + 21, "XX. ... ###")]:
        assert features_of(state)[action] == pattern(drawing)
        state.apply_action(action)


def test_a_move_without_a_place_has_no_pattern():
    assert features_of(make_game("go(size=5)").new_initial_state())[25] == NO_PATTERN


TURNED = ["tic_tac_toe", "connect_four", "othello(size=6)", "go(size=5)", "hex(size=4)", "gomoku(rows=4,columns=5,k=3)"]
MOVED = ["clobber(rows=4,columns=5)", "breakthrough(rows=6,columns=4)", "amazons(size=5)"]


@pytest.mark.parametrize("name", TURNED + MOVED)
def test_features_are_the_same_in_every_symmetry(name):
    """In a random game and its image by a symmetry, each action has the classes of its image."""
    game, chooser = make_game(name), random.Random(1)
    of_patterns, of_actions = pattern_classes(game), action_classes(game)
    assert len(game.symmetries.actions) > 1 and len(np.unique(of_patterns)) < NUM_PATTERNS
    for gather in game.symmetries.actions[1:]:
        state, seen = game.new_initial_state(), game.new_initial_state()
        for _ in range(40 if IS_COMPILED else 8):
            own, others = features_of(state), features_of(seen)
            for there, here in enumerate(gather.tolist()):
                assert of_actions[there] == of_actions[here] and (here in own) == (there in others)
                if here in own and own[here] != NO_PATTERN:
                    assert of_patterns[own[here]] == of_patterns[others[there]]
            action = chooser.choice(state.legal_actions())
            state.apply_action(action)
            seen.apply_action(int(np.flatnonzero(gather == action)[0]))
            if state.is_terminal():
                break


@pytest.mark.parametrize(
    ("name", "num"), [("go(size=5)", 8), ("gomoku(rows=4,columns=5,k=3)", 4), ("connect_four", 2), ("hex(size=4)", 2)]
)
def test_patterns_are_alike_in_the_game_s_symmetries_alone(name, num):
    """A pattern without a symmetry of its own has as many equivalent patterns as the game has symmetries."""
    classes = pattern_classes(make_game(name))
    assert np.count_nonzero(classes == classes[pattern("X.. O.. .X.")]) == num
    assert classes[0] == 0 and (classes <= np.arange(NUM_PATTERNS)).all() and (classes[classes] == classes).all()
