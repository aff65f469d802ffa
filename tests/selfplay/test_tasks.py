"""Tests of tasks: the games of a worker depend only on its task."""

from dataclasses import replace

import pytest
from mcts.own_searches import write_searches

from azero.config.schema import with_names
from azero.errors import BadInput
from azero.games.user import trust
from azero.games.user.sources import Sources
from azero.selfplay.tasks import (
    Identities,
    PlayPlan,
    SizedSeeds,
    open_selfplay,
    pack_files,
    play_task,
    with_files_here,
)

from .games import assert_same, config_with, new_weights


@pytest.fixture(scope="module")
def plan() -> PlayPlan:
    return PlayPlan(new_weights(config_with()), (config_with(),), Identities())


def play(plan, seeds=(0, 1, 2)):
    return play_task(plan, SizedSeeds(0, seeds), lambda num: None)


def test_a_worker_weighs_by_surprise_where_it_is_asked_to(plan):
    plain = play(plan)
    weighed = play(replace(plan, configs=(config_with(policy_surprise_share=0.5),)))
    assert_same(weighed._replace(weights=plain.weights, evaluations=plain.evaluations), plain)
    assert (plain.weights == 1).all() and len(set(weighed.weights)) > 3
    assert weighed.num_learnt == plain.num_learnt


def test_a_search_that_has_changed_plays_no_games(plan, tmp_path, monkeypatch):
    """A worker trusts the code that its task names, and no other."""
    monkeypatch.setattr(trust, "_NAMED", set())
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "nobody"))
    write_searches(tmp_path)
    config = with_names(config_with(), {"rule": f"{tmp_path}/mine.py:MyPuct", "root": f"{tmp_path}/mine.py:MyRoot"})
    identity = Sources(str(tmp_path / "mine.py"), "rule").identity
    own = replace(plan, configs=(config,), identities=Identities("", "", identity, identity), files=pack_files(config))
    selfplay = open_selfplay(own, with_files_here(config, own.files), 0)
    assert selfplay.selection == (1.25, 19652.0, 1.0, 0.2) and type(selfplay.settings.root).__qualname__ == "MyRoot"
    (tmp_path / "mine.py").write_text("# other code\nx = 1\n")
    there = with_files_here(config, own.files)
    assert there.search.selection != config.search.selection and open_selfplay(own, there, 0).selection
    with pytest.raises(BadInput, match=r"mine\.py:MyPuct or [^ ]*mine\.py:MyRoot has changed while it was used; undo"):
        open_selfplay(own, config, 0)


def test_games_are_not_played_by_rules_that_have_changed(plan):
    with pytest.raises(BadInput, match=r"^tic_tac_toe has changed while it was being played; "):
        play(replace(plan, identities=Identities("other")))
