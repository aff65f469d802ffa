"""Tests of misspelt optional names: each is found with the name it nearly spells, and right names are not blamed."""

import pytest

from azero.authoring.check_game import find_misspelt
from azero.games import make_game, registered_games

from .user_games import NIM, added, write_file

pytestmark = pytest.mark.usefixtures("folder", "uncompiled")


def warnings(folder, *changes) -> list[str]:
    """Returns the warnings for a changed Nim."""
    write_file(folder / "nim.py", NIM, *changes)
    return find_misspelt(make_game("nim.py:Nim").rules)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("simmetries", "symmetries"),
        ("symmetry", "symmetries"),
        ("action_to_txt", "action_to_text"),
        ("text_to_actions", "text_to_action"),
        ("range", "ranges"),
        ("split_move", "split_moves"),
        ("finalscore", "final_score"),
        ("roll_out", "rollout"),
        ("rollout_actions", "rollout_action"),
    ],
)
def test_misspelt_methods_are_named_with_the_right_name(folder, written, meant):
    found = warnings(folder, added(f"{written}(game):\n        return 1"))
    assert found == [f"azero never uses {written}: did you mean {meant}?"]


def test_misspelt_attributes_are_named_too(folder):
    found = warnings(folder, ("    def reset(", "    is_history_fre = property(lambda game: False)\n\n    def reset("))
    assert found == ["azero never uses is_history_fre: did you mean is_history_free?"]


def test_private_names_parameters_and_other_names_are_not_blamed(folder):
    text = "action_to_text(game, state, action):\n        return str(action)\n\n    def {}(game):\n        return 1"
    assert warnings(folder, added(text.format("actions_to_text"))) == [], "the right name is there as well"
    for name in ("_simmetries", "cells", "stones_of", "neighbours"):
        assert warnings(folder, added(f"{name}(game):\n        return 1")) == []
    assert warnings(folder, ("    heap: int = 21\n", "    heap: int = 21\n    checks: int = 1\n")) == []


@pytest.mark.parametrize("name", registered_games())
def test_azero_s_own_games_spell_all_names_right(name):
    assert find_misspelt(make_game(name).rules) == []
