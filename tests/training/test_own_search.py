"""Tests of runs with a selection rule and a root of the user's: they resume to the same bytes; changes are seen."""

import shutil
import signal

import pytest
from command_line import assert_bad_input
from mcts.own_searches import MINE, write_searches

from azero.games.user import trust
from azero.nets.checkpoint_file import read_card
from azero.system.console import warn_once

from .runs import figures_of, finish_train, nets_of, strike, write_config

RULE, ROOT = "mine.py:MyPuct(c_puct=2)", "mine.py:MyRoot(dirichlet_epsilon=0.3)"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the file, a config that names it, and an unbroken run whose workers are processes."""
    folder = tmp_path_factory.mktemp("project")
    write_searches(folder)
    config = write_config(
        folder,
        search={"selection": RULE},
        selfplay={"root": ROOT, "num_workers": 2},
        training={"iterations": 2},
    )
    finish_train(folder / "whole", config)
    return folder


@pytest.mark.slow
def test_a_run_with_a_user_s_search_is_resumed_to_the_same_bytes(project):
    run, config = project / "run", project / "tiny.toml"
    assert strike(run, config, "state 1 train 4", "after") == -signal.SIGKILL
    finish_train(run, config)
    assert figures_of(run) == figures_of(project / "whole")
    assert nets_of(run) == nets_of(project / "whole")
    card = read_card(run / "best.safetensors")
    assert card.search["selection"].endswith(RULE) and card.root.endswith(ROOT)
    assert card.rule_file == card.root_file == "../mine.py"
    assert len(card.rule_digest) == len(card.root_digest) == 16


@pytest.mark.slow
def test_it_is_used_where_the_user_has_named_it(project, run_azero, tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "_NAMED", set())
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "nobody"))
    shutil.copytree(project, tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    (project / "mine.py").rename(project / "mine.txt")  # the run's settings name it by this path
    run, file = tmp_path / "moved" / "whole", tmp_path / "moved" / "mine.py"
    code, _, errors = run_azero("suggest", f"{run}@9")
    assert code == 0 and "and plays with puct: rule file" in errors and "is code that you have not named" in errors
    more = "train", "--run", run, "--resume", "--set", "training.iterations=3"
    assert_bad_input(run_azero(*more), f"run {str(run)!r}: rule file", "name it first, e.g. with azero check-search")
    code, _, errors = run_azero("suggest", f"{run}(selection={file}:MyPuct(c_puct=2,factor=0.5),root={file}:MyRoot)@9")
    assert code == 0 and "puct" not in errors
    code, _, errors = run_azero("suggest", f"{run}@9")
    assert code == 0 and "puct" not in errors, "the command before has named it"
    assert (
        run_azero("evaluate", f"{run}@5", "--against", f"{run}(selection=puct,root=gumbel)@5", "--games", "2")[0] == 0
    )
    file.write_text(MINE.replace("(1 + visits)", "(2 + visits)"))
    warn_once.cache_clear()
    code, _, errors = run_azero("suggest", f"{run}@9")
    assert code == 0 and "and plays with puct: rule file" in errors and "has changed since" in errors
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    assert_bad_input(run_azero(*more), "is code that you have not named, or it has changed since")
    file.write_text(MINE.replace("(1 + visits)", "0"))
    assert_bad_input(
        run_azero(*more, "--set", f"search.selection={file}:{RULE.partition(':')[2]}"),
        "MyPuct.score fails, line 29: ZeroDivisionError",
    )
    assert before == {path: path.read_bytes() for path in before}, "nothing is overwritten"
    file.write_text(MINE.replace("(1 + visits)", "(2 + visits)"))
    code, _, errors = run_azero(*more, "--set", f"search.selection={file}:{RULE.partition(':')[2]}")
    assert code == 0 and "changed since its newest net; the games will differ" in errors
    file.unlink()
    assert run_azero("suggest", f"{run}@9")[0] == 0
    (project / "mine.txt").rename(project / "mine.py")


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        (["search.selection=gone.py:MyPuct"], "rule file 'gone.py' cannot be read: No such file or directory"),
        (
            ["search.selection=uct2"],
            "setting search.selection = 'uct2' should be puct, uct or one of your own, e.g. my.py",
        ),
        (
            ["selfplay.root=mine.py:MyPuct"],
            "mine.py:MyPuct lacks the method begin_search(root, tree, nodes, temperature)",
        ),
        (["selfplay.root=mine.py:Idle"], "mine.py:Idle.root_child returns -1; it should be the place of a child"),
    ],
)
def test_bad_input_ends_a_command_before_anything_is_written(run_azero, tmp_path, settings, fault):
    here = tmp_path / "here"
    write_searches(
        here, more="\n\nclass Idle(VisitsRoot):\n    def root_child(root, tree, nodes):\n        return -1\n"
    )
    words = [word for setting in settings for word in ("--set", setting)]
    assert_bad_input(run_azero("train", "tic_tac_toe", "--run", "run", *words), fault)
    assert not (here / "run").exists()


def test_an_opponent_s_file_in_a_config_has_to_be_named(run_azero, tmp_path, monkeypatch):
    monkeypatch.setattr(trust, "_NAMED", set())  # by other tests
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    write_searches(tmp_path / "here")
    opponent = "evaluation.opponent=tic_tac_toe(selection=mine.py:MyPuct)"
    assert_bad_input(
        run_azero("train", "tic_tac_toe", "--run", "run", "--set", opponent),
        "is code that you have not named",
        "check-search",
    )
