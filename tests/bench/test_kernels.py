"""Tests of the measured speed of random games: rules that fail are reported as they fail."""

import pytest
from games.user_games import NIM, added, forget_files, write_file

from azero.bench.kernels import random_games
from azero.errors import BrokenRules
from azero.games import make_game

NAME = "late.py:Nim(heap=36)"
"""The first look at Nim does not get to ply 24, at which the rules fail."""

ONE_BY_ONE = "rollout_action(game, state, legal, rng):\n        {}return 0"
RAISING = "if state.ply == 24:\n            raise ValueError('oops')\n        "


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    """The working folder of each test."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_rollout_policy_that_raises_has_its_own_error(folder):
    """The actions after ply 24 are not of this game. If they are played, one of them is not legal."""
    write_file(folder / "late.py", NIM, added(ONE_BY_ONE.format(RAISING)))
    with pytest.raises(ValueError, match="^oops$") as error:
        random_games(make_game(NAME), 0.01)
    assert type(error.value) is ValueError


def test_rules_that_raise_are_named_with_the_actions(folder):
    take = "        state.left -= action + 1\n"
    write_file(folder / "late.py", NIM, (take, f"        {RAISING}{take.strip()}\n"), added(ONE_BY_ONE.format("")))
    with pytest.raises(BrokenRules) as error:
        random_games(make_game(NAME), 0.01)
    zeros = " 0" * 25
    assert str(error.value) == f"{NAME}.apply_action fails, line 30: ValueError: oops; actions so far:{zeros}"
