"""Tests of suggestions: their fields, as objects and as JSON."""

import json

import pytest

from azero.arena.agents.names import make_agent
from azero.games import make_game

from .agents import SUGGESTION_FIELDS

GAME = make_game("tic_tac_toe")


@pytest.fixture(scope="module")
def suggestion():
    return make_agent("uct@300", GAME, seed=1).suggest(GAME.state_from_moves("a1 b2 c1"))  # b1 is forced


def test_json_has_the_fields_of_the_design_in_their_order(suggestion):
    fields = json.loads(json.dumps(suggestion.to_json(), allow_nan=False))
    assert list(fields) == SUGGESTION_FIELDS
    assert fields["to_move"] == 1 and fields["best"] == fields["moves"][0]["move"] == "b1"
    for move, found in zip(fields["moves"], suggestion.moves, strict=True):
        assert list(move) == ["move", "visits", "value", "prior", "proven", "pv", "is_bound", "proven_plies"]
        assert move == {key: getattr(found, key) for key in move}


def test_moves_are_best_first(suggestion):
    assert suggestion.moves[0].proven in (None, "draw") and suggestion.moves[0].value > -0.5
    assert [(move.proven, move.proven_plies, move.value) for move in suggestion.moves[1:]] == [("loss", 2, -1.0)] * 5
    assert all(move.pv == [move.move, "b1"] for move in suggestion.moves[1:])


def test_variations_are_in_the_notation_of_each_position(suggestion):
    for move in suggestion.moves:
        assert GAME.state_from_moves(f"a1 b2 c1 {' '.join(move.pv)}").history()[3] == move.action


@pytest.mark.parametrize("base", ["uct(root=turns)", "uct(root=turns,table=1000)", "mc(root=turns)"])
def test_whole_turns_are_moves_in_the_game_s_notation(base):
    game = make_game("amazons(size=4)")
    state = game.new_initial_state()
    suggestion = make_agent(f"{base}@500", game, seed=1).suggest(state)
    assert len({move.move for move in suggestion.moves}) == len(suggestion.moves) == 88
    for move in suggestion.moves:
        assert "".join(move.pv[:3]) == move.move and game.state_from_moves(move.move).history() == move.actions
        game.state_from_moves(" ".join(move.pv))
    assert suggestion.best == suggestion.moves[0].move and suggestion.actions == suggestion.moves[0].actions
    assert list(suggestion.to_json()["moves"][0]) == [
        "move",
        "visits",
        "value",
        "prior",
        "proven",
        "pv",
        "is_bound",
        "proven_plies",
    ]


def test_what_is_said_is_plain_python(suggestion):
    """NumPy's numbers cannot be written as JSON."""
    assert type(suggestion.value) is float and type(suggestion.simulations) is int and type(suggestion.to_move) is int
    for move in suggestion.moves:
        kinds = [type(each) for each in (move.action, move.visits, move.value, move.prior)]
        assert kinds == [int, int, float, float]
