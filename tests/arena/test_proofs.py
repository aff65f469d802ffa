"""Tests that proven results of agents are true. Colliding keys of Othello once gave false proofs here."""

import pytest

from azero import make_agent, make_game

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
        ("uct(table=100000)@5000", "c4d2c1b4a3d1", (94, 95)),
    ],
)
def test_othello_has_no_false_proofs(agent, moves, seeds):
    game = make_game("othello(size=4)")
    for seed in seeds:
        suggestion = make_agent(agent, game=game, seed=seed, threads=1).suggest(game.state_from_moves(moves))
        proven = {move.move: move.proven for move in suggestion.moves if move.proven}
        assert proven and proven.items() <= TRUTH[moves].items()
