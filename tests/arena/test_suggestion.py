"""Tests of suggestions: their fields, as objects and as JSON."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from cases import long
from nets.towers import WITH_HEADS, make_net

from azero.arena.agents.make import make_agent
from azero.config.schema import SearchConfig
from azero.games import make_game, registered_games
from azero.games.defaults import has_own
from azero.nets.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from azero.nets.checkpoint_file import Card

from .agents import SUGGESTION_FIELDS

GAME = make_game("tic_tac_toe")
GO = make_game("go(size=5,komi=0.5)")


def write_checkpoint_with_heads(path) -> Checkpoint:
    card = Card(str(GO), WITH_HEADS.model_dump(mode="json"), SearchConfig().model_dump())
    save_checkpoint(path, make_net(GO, WITH_HEADS), card)
    return load_checkpoint(path)


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


def test_it_shows_itself_in_a_line(suggestion):
    assert repr(suggestion).startswith("<Suggestion for the second player of tic_tac_toe: b1, value ")
    assert repr(suggestion).count(",") <= 8 and "simulations; then " in repr(suggestion)
    assert "then" not in repr(replace(suggestion, moves=[])), "it resigns"


def test_moves_are_best_first(suggestion):
    assert suggestion.moves[0].proven in (None, "draw") and suggestion.moves[0].value > -0.5
    assert [(move.proven, move.proven_plies, move.value) for move in suggestion.moves[1:]] == [("loss", 2, -1.0)] * 5
    assert all(move.pv == [move.move, "b1"] for move in suggestion.moves[1:])


def test_variations_are_in_the_notation_of_each_position(suggestion):
    for move in suggestion.moves:
        assert GAME.state_from_moves(f"a1 b2 c1 {' '.join(move.pv)}").history()[3] == move.action


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["torch", "auto"])
def test_kept_heads_answer_for_the_player_to_move(tmp_path, runtime):
    path, state = tmp_path / "net.safetensors", GO.state_from_moves("c3")
    checkpoint = write_checkpoint_with_heads(path)
    found = make_agent(f"{path}(runtime={runtime},device=cpu)@8").suggest(state)
    expected = checkpoint.heads([state])
    assert found.ownership.shape == (5, 5) and found.ownership.dtype == np.float32 and found.ownership.std() > 0.001
    np.testing.assert_allclose(found.ownership, expected["ownership"][0], atol=1e-5)
    assert type(found.score) is float and found.score == pytest.approx(expected["score"][0], abs=1e-4)
    fields = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert list(fields) == SUGGESTION_FIELDS
    np.testing.assert_allclose(fields["ownership"], found.ownership, atol=0.0006)
    assert fields["score"] == round(found.score, 2)
    assert found == replace(found, heads={}), "arrays have no =="


def test_without_kept_heads_there_is_neither(suggestion):
    assert suggestion.ownership is suggestion.score is None
    fields = suggestion.to_json()
    assert fields["ownership"] is fields["score"] is None


@pytest.mark.parametrize("name", [name for name in registered_games() if has_own(make_game(name).rules, "ownership")])
def test_rows_and_columns_of_ownership_are_those_of_the_drawn_board(name):
    """The owners' planes and the board show the same stones in the same cells, for either player to move."""
    game = make_game(name)
    for seed, num_plies in enumerate([5, 8]):
        chooser, state = random.Random(seed), game.new_initial_state()
        for _ in range(num_plies):
            state.apply_action(chooser.choice(state.legal_actions()))
        planes, rows = state.planes(), state.draw().splitlines()[:-1]
        cells = [row.split()[1:] for row in rows]
        own, other = "XO" if state.current_player() == 0 else "OX"
        assert [[cell == own for cell in row] for row in cells] == planes[0].astype(bool).tolist()
        assert [[cell == other for cell in row] for row in cells] == planes[1].astype(bool).tolist()
        stones = planes[0] - planes[1]
        owners = state.ownership() * (1 if state.current_player() == 0 else -1)
        assert (owners[stones != 0] == stones[stones != 0]).all() and stones.any()


def test_what_is_said_is_plain_python(suggestion):
    """NumPy's numbers cannot be written as JSON."""
    assert type(suggestion.value) is float and type(suggestion.simulations) is int and type(suggestion.to_move) is int
    for move in suggestion.moves:
        kinds = [type(each) for each in (move.action, move.visits, move.value, move.prior)]
        assert kinds == [int, int, float, float]


@pytest.mark.parametrize(
    ("name", "moves", "proven", "of_the_first"),
    [
        ("uct@2000", "b2 b1 a1", "loss", "loss"),
        ("uct@2000", "b2 b1 a1 c3", "win", "win"),
        ("uct@5", "", None, None),
        ("alphabeta@1000000", "b2", "draw", "draw"),
        ("alphabeta@5", "", None, None),
        ("random", "b2 b1 a1 c3", None, None),
    ],
)
def test_the_proof_of_the_position(name, moves, proven, of_the_first):
    found = make_agent(name, GAME).suggest(GAME.state_from_moves(moves))
    assert (found.proven, found.moves[0].proven) == (proven, of_the_first)
    assert found.to_json()["proven"] == proven


def test_a_drawn_move_proves_nothing_while_others_are_open():
    found = make_agent("uct@100", GAME, seed=2).suggest(GAME.state_from_moves("b2 a1 c3"))
    assert found.moves[0].proven == "draw" and None in {move.proven for move in found.moves}
    assert found.proven is None


TRUTH = {
    "c4d2d1b4a2c1d4a3": {"a1": "draw", "b1": "win", "d3": "win", "a4": "win"},
    "c4d2c1b4a3d1": {"a2": "loss", "d3": "loss", "a4": "loss", "d4": "draw"},
}
"""Results of the moves in these positions, by alpha-beta without a table."""


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("agent", "moves", "seeds"),
    [
        ("alphabeta(rollouts=1)@1000000", "c4d2d1b4a2c1d4a3", (1, 2)),
        *long(("uct(table=100000)@5000", "c4d2c1b4a3d1", (94, 95))),
    ],
)
def test_othello_has_no_false_proofs(agent, moves, seeds):
    """Colliding keys once gave false proofs here."""
    game = make_game("othello(size=4)")
    for seed in seeds:
        suggestion = make_agent(agent, game=game, seed=seed, threads=1).suggest(game.state_from_moves(moves))
        proven = {move.move: move.proven for move in suggestion.moves if move.proven}
        assert proven and proven.items() <= TRUTH[moves].items()
