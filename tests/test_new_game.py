"""Tests of `azero new-game`: its games keep the laws, train and play as they are."""

from typing import get_args

import pytest
from cases import thorough
from command_line import assert_bad_input

from azero.authoring.new_game import Kind


@pytest.mark.parametrize("kind", ["moving", *thorough(*(each for each in get_args(Kind) if each != "moving"))])
def test_new_game_keeps_the_laws(run_azero, kind):
    code, output, _ = run_azero("new-game", "my_first_game", "--kind", kind)
    assert code == 0 and "azero check-game my_first_game.py:MyFirstGame" in output
    code, output, errors = run_azero("check-game", "my_first_game.py:MyFirstGame", "--positions", "300")
    assert code == 0, (output, errors)


def test_new_game_trains_and_plays(run_azero):
    run_azero("new-game", "sowing", "--kind", "score")
    few = "training.iterations=1 selfplay.games_per_iteration=8 selfplay.num_simulations=8 gate.games=2"
    small = f"{few} evaluation.games=2 net.blocks=1 net.channels=16"
    settings = [word for each in small.split() for word in ("--set", each)]
    code, _, errors = run_azero("train", "sowing.toml", "--run", "run", *settings)
    assert code == 0, errors
    code, output, errors = run_azero("play", "run@8", typed="1\nquit\n")
    assert code == 0 and "move 3, you (first)" in output, (output, errors)


def test_bad_input(run_azero, tmp_path):
    for name in ("My-Game", "class", "random", "../up", "x" * 70, "", "none", "piece"):
        assert_bad_input(run_azero("new-game", name, "--kind", "score"), repr(name))
    assert_bad_input(run_azero("new-game", "mine", "--kind", "chess"), "chess")
    (tmp_path / "here" / "mine.toml").write_text("mine")
    assert_bad_input(run_azero("new-game", "mine"), "mine.toml exists")
    assert [each.name for each in (tmp_path / "here").iterdir()] == ["mine.toml"]
