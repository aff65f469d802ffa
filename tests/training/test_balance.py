"""Tests of `azero balance`: what is counted in games that are known, a whole command, and bad input."""

import json

import numpy as np
import pytest
from command_line import assert_bad_input

from azero.games import make_game
from azero.training.balance import Opening, _openings, _unplayed


def lines_of(game, *texts):
    """Returns games of tic-tac-toe as actions."""
    return [tuple(game.state_from_moves(text).history()) for text in texts]


def test_first_moves_and_moves_that_nobody_plays():
    game = make_game("tic_tac_toe")
    lines = lines_of(game, "b2 a1 c3 b1", "b2 a1 c3", "a1 b2 b1", "b2 b1 a1 c3")
    openings = _openings(game, lines, np.array([1.0, 0.5, 0.0, 1.0]))
    assert openings == [Opening("b2", 0.75, pytest.approx(2.5 / 3)), Opening("a1", 0.25, 0.0)]
    assert _unplayed(game, lines) == (["c1", "a2", "c2", "a3", "b3"], 9)


@pytest.mark.long
def test_a_drawn_game_and_one_that_the_first_player_wins(run_azero, tmp_path):
    """Both are solved, so the truth is known; what nets show agrees with it."""
    games = ["tic_tac_toe", "hex(size=3)"]
    code, output, errors = run_azero(
        "balance", *games, "--minutes", "2", "--seeds", "2", "--out", tmp_path / "runs", "--json"
    )
    assert code == 0, errors
    drawn, won = json.loads(output)["games"]
    assert drawn["value"] == 0.5 and drawn["draws"] > 0.8 and won["value"] == 1.0 and won["score"] > 0.9
    assert drawn["levels"] > 1 and sum(each["share"] for each in won["openings"]) > 0.5
    assert {path.name for path in (tmp_path / "runs").glob("*/*")} >= {"seed_1", "seed_2"}


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["tic_tac_toe", "--minutes", "0", "--seeds", "1"], "--minutes 0 should be 0.5 or more"),
        (["tic_tac_toe", "--minutes", "5", "--seeds", "0"], "--seeds 0 should be from 1 to 99"),
        (["chess", "--minutes", "5"], "chess"),
    ],
)
def test_bad_input(run_azero, words, what):
    assert_bad_input(run_azero("balance", *words), what)
