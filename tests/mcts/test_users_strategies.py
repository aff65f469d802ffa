"""Tests of selection rules and root strategies in users' files: how they are named, tried out, and what is refused."""

import numpy as np
import pytest

from azero.compiler.plain import plain_kernels
from azero.config.reading import check_config
from azero.config.schema import SearchConfig
from azero.errors import BadInput
from azero.games import make_game
from azero.games.user import trust
from azero.games.user.trust import Untrusted, trust_config
from azero.mcts import Puct, selection_from_config
from azero.mcts.reference.trial import POSITIONS, compile_strategy, new_search, trial_states, try_strategies
from azero.mcts.roots.strategies import root_from_config, users_root
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.search import Search

from .evaluators import HashEvaluator
from .own_searches import MINE, write_searches

GAME = make_game("connect_four(rows=4,columns=5)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(trust, "_NAMED", set())
    write_searches(tmp_path)
    return tmp_path


def rule_of(name):
    """Returns a rule whose file the user has named."""
    trust.trust_name(name, "rule")
    return selection_from_config(SearchConfig(selection=name))


def root_of(name):
    trust.trust_name(name, "root")
    return users_root(name)


def test_parameters_are_in_the_name(folder):
    assert rule_of("mine.py:MyPuct") == (1.25, 19652.0, 1.0, 0.2)
    assert rule_of("mine.py:MyPuct(c_puct=2, factor=0.5)") == (2.0, 19652.0, 0.5, 0.2)
    settings = {
        "search": {"selection": "mine.py:MyPuct"},
        "selfplay": {"root": "mine.py:MyRoot(dirichlet_epsilon=0.1)"},
    }
    config = check_config({"game": {"name": "tic_tac_toe"}, **settings})
    trust_config(config)
    assert root_from_config(config) == (1.0, 0.1) and type(root_from_config(config)).__qualname__ == "MyRoot"


def test_classes_of_two_files_are_two_for_the_compiler(folder):
    """Numba tells NamedTuples apart by their names and fields."""
    write_searches(folder, [("(1 + visits)", "(2 + visits)")], name="other.py")
    assert len({type(rule_of(f"{file}.py:MyPuct")).__name__ for file in ("mine", "other")}) == 2


def test_a_file_that_nobody_named_does_not_run(folder):
    with pytest.raises(Untrusted) as error:
        selection_from_config(SearchConfig(selection="mine.py:MyPuct"))
    assert str(error.value) == (
        "rule file 'mine.py' is code that you have not named, or it has changed since; if you trust it, name it first, "
        "e.g. with azero check-search 'mine.py:MyPuct'"
    )


@pytest.mark.parametrize(
    ("name", "change", "fault"),
    [
        ("gone.py:MyPuct", (), "rule file 'gone.py' cannot be read: No such file or directory"),
        ("mine.py:Other", (), "rule file 'mine.py' has no class 'Other'; it has MyPuct, MyRoot"),
        ("mine.py:Puct", (), "mine.py:Puct is imported from azero.mcts.selection; name the file that has it"),
        ("mine.py:math", (), "mine.py:math is not a rule: it should be a class math(NamedTuple)"),
        ("mine.py:MyRoot", (), "mine.py:MyRoot lacks the method is_sweeping(rule) of a rule"),
        (
            "mine.py:MyPuct",
            ("def score(rule, exploration, visits, value, prior)", "def score(rule, exploration, N, value, prior)"),
            "mine.py:MyPuct.score should take (rule, exploration, visits, value, prior), not (rule, exploration, N, va",
        ),
        ("mine.py:MyPuct", ("def first_play_value", "def first_value"), "lacks the method first_play_value(rule, "),
        ("mine.py:MyPuct", ("    def score", "    @property\n    def score"), "score should be a method (rule, "),
        ("mine.py:MyPuct", ("c_puct: float = 1.25", "c_puct: str = 'a'"), "should be of type int, float or bool"),
        ("mine.py:MyPuct(c=1)", (), "mine.py:MyPuct has no parameter 'c'; "),
        ("mine.py:MyPuct(base=x)", (), "mine.py:MyPuct: base='x' should be a number"),
        ("mine.py:MyPuct(base=1,base=2)", (), "mine.py:MyPuct: base is given twice"),
        ("mine.py:MyPuct", ("c_puct: float = 1.25", "c_puct: float"), "MyPuct needs c_puct, e.g. mine.py:MyPu"),
        ("mine.py:", (), "rule 'mine.py:' is not of the form name"),
        ("puct(.py:)", (), "rule 'puct(.py:)' should be one of azero's, or one of your own, e.g. my.py:Mine"),
        ("a,b.py:MyPuct", (), "rule file 'a,b.py': its path should have no comma and no parenthesis"),
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused_in_a_line(folder, name, change, fault):
    text = MINE.replace(*change) if change else MINE
    if "needs" in fault:  # no field with a default may come before one without
        text = text.replace("19652.0\n", "1.0\n")
        text = text.replace("    base: float = 1.0\n    factor: float = 1.0\n    reduction: float = 0.2\n", "")
    for file in ("mine.py", "a,b.py"):
        (folder / file).write_text(text)
    with pytest.raises(BadInput) as error:
        rule_of(name)
    assert fault in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("(1 + visits)", "visits", "mine.py:MyPuct.score fails, line 29: ZeroDivisionError"),
        (
            "value + exploration *",
            "math.nan *",
            "mine.py:MyPuct.score(1.2501, 0, -1, 0) returns nan; it should be a finite number",
        ),
        ("return parent_value -", "return -math.inf -", "first_play_value(-1, 0) returns -inf; it should be"),
        (
            "        return value +",
            "        value +",
            "score(1.2501, 0, -1, 0) returns None; it should be a finite number",
        ),
        ("return False", "return 0", "mine.py:MyPuct.is_sweeping returns 0; it should be True or False"),
        (
            "return (rule.c_puct +",
            "return math.inf * (rule.c_puct +",
            "exploration(1, 0, 0) returns inf; it should be",
        ),
    ],
)
def test_a_rule_that_breaks_a_law_is_refused_before_it_is_compiled(folder, before, after, fault):
    write_searches(folder, [(before, after)])
    with pytest.raises(BadInput) as error:
        try_strategies(rule_of("mine.py:MyPuct"), VisitsRoot())
    assert fault in str(error.value) and "\n" not in str(error.value)


METHODS = {
    "root_child": "root, tree, nodes",
    "write_target": "root, selection, tree, nodes, visits",
    "child_to_play": "root, settings, tree, nodes, temperature",
    "best_child": "root, settings, tree, nodes",
    "add_noise": "root, tree, nodes, weights",
    "begin_search": "root, tree, nodes, temperature",
}


@pytest.mark.parametrize(
    ("method", "code", "fault"),
    [
        ("root_child", "return np.int64(-1)", "root_child returns -1; it should be the place of a child, here 1 to 5"),
        ("root_child", "pass", "root_child returns None; it should be the place of a child"),
        ("root_child", "return nodes[0].missing", "root_child fails, line 36: AttributeError"),
        ("root_child", "nodes[0].N += 1; return np.int64(0)", "root_child changes nodes"),
        ("write_target", "visits[:] = 0; return 0.0", "write_target gives all moves 0; one at least should have"),
        ("write_target", "visits[:] = 1; return math.nan", "write_target() returns nan; it should be a finite number"),
        ("write_target", "visits[:] = 1; return 2.0", "write_target returns 2; a value is from -1 to 1"),
        ("write_target", "visits[:] = 0; visits[0] = 70000; return 0.0", "write_target fails, line 36: OverflowError"),
        ("child_to_play", "return nodes[0].first_child - 1", "child_to_play returns 0; it should be the place"),
        ("best_child", "return 99", "best_child returns 99; it should be the place of a child, here 1 to 5"),
        ("add_noise", "nodes[1].P = np.float32(math.nan)", "add_noise leaves priors that are not probabilities"),
        ("add_noise", "nodes[1].N = 5", "add_noise changes more than the priors of the root's children"),
        ("begin_search", "tree.num_nodes = 3", "begin_search changes nodes; it may only remove all but the root"),
    ],
)  # fmt: skip
def test_a_root_that_breaks_a_law_is_refused(folder, method, code, fault):
    write_searches(folder, more=f"\n    def {method}({METHODS[method]}):\n        {code}\n")
    with pytest.raises(BadInput) as error:
        try_strategies(Puct(), root_of("mine.py:MyRoot"))
    assert f"mine.py:MyRoot.{fault}" in str(error.value) and "\n" not in str(error.value)


def trees_of(rule):
    """Returns all nodes of the trial's searches: actions, visits, depths, priors, values."""
    search = new_search(GAME, rule, VisitsRoot(), 40)
    search.run(trial_states(GAME), seed=3)
    trees = [search.tree(b) for b in range(len(POSITIONS))]
    return [np.array([tree.action, tree.N, tree.depth, tree.P, tree.Q]) for tree in trees]


def test_puct_written_again_grows_the_same_tree_node_for_node(folder):
    with plain_kernels():
        for own, other in zip(trees_of(rule_of("mine.py:MyPuct(c_puct=2)")), trees_of(Puct(c_puct=2.0)), strict=True):
            assert own.shape[1] > 30 and np.array_equal(own, other)


@pytest.mark.slow
def test_compiled_it_does_so_too(folder):
    for own, other in zip(trees_of(rule_of("mine.py:MyPuct(c_puct=2)")), trees_of(Puct(c_puct=2.0)), strict=True):
        assert own.shape[1] > 30 and np.array_equal(own, other)


@pytest.mark.slow
def test_what_cannot_be_compiled_is_told_with_its_method(folder):
    write_searches(folder, [("exploration * prior", "[exploration * prior][0]")])
    with pytest.raises(
        BadInput, match=r"^mine\.py:MyPuct allocates memory \(an array, list, set, dict or text\), which"
    ):
        compile_strategy(rule_of("mine.py:MyPuct"), is_rule=True)
    write_searches(folder, [("exploration * prior", "exploration * print.prior")])
    with pytest.raises(BadInput, match=r"^MyPuct\.score cannot be compiled: Unknown attribute 'prior'"):
        compile_strategy(rule_of("mine.py:MyPuct"), is_rule=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "code", "fault"),
    [
        (
            "root_child",
            "return nodes[0].first_child + nodes[0].num_children",
            "chose a node that is no child of the root",
        ),
        ("child_to_play", "return np.int64(-1)", "chose a node that is no child of the root"),
        ("write_target", "visits[:] = 0; return 0.0", "wrote no target, or a value outside"),
    ],
)
def test_compiled_searches_go_to_no_wrong_node(folder, method, code, fault):
    """A root may break a law only where no trial has been."""
    write_searches(folder, more=f"\n    def {method}({METHODS[method]}):\n        {code}\n")
    search = Search(GAME, HashEvaluator(GAME).evaluate, 20, root=root_of("mine.py:MyRoot"))
    with pytest.raises(BadInput, match=f"^the root strategy {fault}"):
        search.run([GAME.new_initial_state()])
