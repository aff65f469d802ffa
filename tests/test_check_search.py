"""Tests of `azero check-search` and of the examples of searches: they keep the laws, in plain Python and compiled."""

import json
from pathlib import Path

import pytest
from command_line import assert_bad_input
from mcts.own_searches import write_searches

from azero.authoring.check_search import check_search, kind_of
from azero.compiler.plain import plain_kernels
from azero.config.schema import SearchConfig
from azero.games import make_game
from azero.games.user.trust import trust_name
from azero.mcts import Puct, selection_from_config
from azero.mcts.reference import trial
from azero.mcts.reference.trial import new_search, trial_states, watch_search
from azero.mcts.roots.strategies import users_root
from azero.mcts.roots.visits import VisitsRoot

FOLDER = Path(__file__).parents[1] / "examples" / "searches"

EXAMPLES = {
    f"{FOLDER}/{name}": kind
    for name, kind in {
        "tuned.py:Tuned": "rule",
        "boltzmann.py:Boltzmann": "root",
        "regularized.py:Regularized(c=2)": "root",
        "rejects.py:Rejects(num_considered=4)": "root",
    }.items()
}


@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name.rpartition(":")[2])
def test_an_example_keeps_the_laws_in_plain_python(name):
    trust_name(name, "rule")
    kind = kind_of(name)
    assert kind == EXAMPLES[name]
    rule = selection_from_config(SearchConfig(selection=name)) if kind == "rule" else Puct()
    root = users_root(name) if kind == "root" else VisitsRoot()
    watch, done = watch_search(rule, root, 12, kind == "rule")
    assert not watch.broken and len(done) == 2


def test_a_watched_root_draws_what_it_draws_unwatched(monkeypatch):
    name = f"{FOLDER}/regularized.py:Regularized"
    trust_name(name, "rule")
    for seed in (8, 9):
        monkeypatch.setattr(trial, "SEED", seed)
        _, done = watch_search(Puct(), users_root(name), 8, False)
        with plain_kernels():
            alone = new_search(make_game(trial.GAME), Puct(), users_root(name), 8)
            found = alone.run(trial_states(alone.game), seed, 1.0)
        assert done[1][1].actions.tolist() == found.actions.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES, ids=lambda name: name.rpartition(":")[2])
def test_an_example_keeps_the_laws_compiled(name):
    trust_name(name, "rule")
    report = check_search(name, lambda line: None)
    assert not report.broken and report.laws["compiled"] is None and report.speed > 0.2


@pytest.mark.slow
def test_the_command_prints_a_line_for_each_law(run_azero, tmp_path):
    write_searches(tmp_path / "here")
    code, output, _ = run_azero("check-search", "mine.py:MyPuct(c_puct=2)")
    lines = output.splitlines()
    assert code == 0 and lines[0].startswith("mine.py:MyPuct(c_puct=2), a selection rule: ")
    assert [line.split()[:2] for line in lines[1:4]] == [["methods", "ok"], ["numbers", "ok"], ["compiled", "ok:"]]
    assert lines[4].endswith("of that of azero's puct, in one run")


def test_all_broken_laws_are_found_at_once(run_azero, tmp_path):
    bad = """
    def root_child(root, tree, nodes):
        return np.int64(-3)

    def write_target(root, selection, tree, nodes, visits):
        visits[:] = 0
        nodes[0].N += 1
        return math.nan
"""
    write_searches(tmp_path / "here", more=bad)
    code, output, errors = run_azero("check-search", "mine.py:MyRoot", "--json")
    report = json.loads(output)
    assert code == 2 and "mine.py:MyRoot breaks 3 of the laws: children, targets, hands off" in errors
    assert report["kind"] == "root" and report["speed"] is None and report["laws"]["noise"] is None
    assert report["laws"]["hands off"] == "mine.py:MyRoot.write_target changes nodes"


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("puct", "'puct' should be of the form my.py:Rule, a file of yours"),
        ("mine.py:Other", "file 'mine.py' has no class 'Other'"),
        ("mine.py:math", "mine.py:math has neither the method score of a rule nor root_child of a root"),
        ("gone.py:MyPuct", "search file 'gone.py' cannot be read: No such file or directory"),
        ("mine.py:MyPuct(c=1)", "mine.py:MyPuct has no parameter 'c'; "),
    ],
)
def test_bad_input(run_azero, tmp_path, name, fault):
    write_searches(tmp_path / "here")
    assert_bad_input(run_azero("check-search", name), fault)


@pytest.mark.slow
def test_a_rule_that_raises_late_in_a_search_is_named_with_its_line(run_azero, tmp_path):
    late = "\n\nclass Late(Puct):\n    def score(rule, exploration, visits, value, prior):\n" + (
        "        if visits == 13:\n            raise ValueError('too many')\n        return value - visits\n"
    )
    write_searches(tmp_path / "here", more=late)
    fault = "mine.py:Late.score fails, line 39: ValueError: too many; azero check-search finds errors in searches"
    assert_bad_input(run_azero("suggest", "tic_tac_toe(selection=mine.py:Late,prove=false)@300"), fault)
