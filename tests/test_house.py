"""Tests of the structure: no import cycles, functions that fit a screen, a cache that covers all compiled files."""

import ast
import graphlib
import tomllib
from pathlib import Path

import pytest

import azero
import azero.selfplay.tasks  # binds all methods
from azero.compiler.cache import compiled_sources
from azero.compiler.jit import BOUND_METHODS

PACKAGE = Path(azero.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
FOLDERS = sorted(path.parent for path in FILES if path.name == "__init__.py")
MOST_LINES_OF_A_FUNCTION = 60


def module_of(path: Path) -> str:
    """Returns a file's dotted name."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_of(path): path for path in FILES}


TREES = {path: ast.parse(path.read_bytes()) for path in FILES}


def is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imported(path: Path) -> set[str]:
    """Returns azero's modules that a file imports, also in functions, but not under TYPE_CHECKING."""
    tree = TREES[path]
    unseen = {id(each) for node in ast.walk(tree) if is_for_types_alone(node) for each in ast.walk(node)}
    found = set()
    for node in ast.walk(tree):
        if id(node) in unseen:
            continue
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, "imports should be absolute"
            names = [f"{node.module}.{each.name}" for each in node.names]
            found |= {name if name in MODULES else node.module for name in names}
    return {each for each in found if each in MODULES} - {module_of(path)}


IMPORTS = {name: imported(path) for name, path in MODULES.items()}


def hold_acyclic(graph: dict[str, set[str]]) -> None:
    """Fails if there is a cycle, and names it."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_files_import_in_no_circle():
    assert len(MODULES) > 200 and sum(map(len, IMPORTS.values())) > 900
    hold_acyclic(IMPORTS)


def test_folders_import_in_no_circle():
    """The files and folders in each folder import each other without cycles."""
    for folder in map(module_of, (path / "__init__.py" for path in FOLDERS)):
        graph: dict[str, set[str]] = {}
        inside = {
            name: name.removeprefix(f"{folder}.").split(".")[0] for name in MODULES if name.startswith(f"{folder}.")
        }
        for name, room in inside.items():
            others = {inside[each] for each in IMPORTS[name] if each in inside}
            graph[room] = graph.get(room, set()) | others - {room}
        hold_acyclic(graph)


def test_a_game_is_one_folder_on_the_floor_of_games():
    """The contract in pyproject.toml lists all that games share, and no game."""
    contracts = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (layers,) = (each["layers"] for each in contracts if each["name"] == "Floors of games")
    floors = [layer.split(" | ") for layer in layers]
    own = {name.split(".")[2]: name for name in MODULES if name.startswith("azero.games.")}
    games = {path.parent.name for path in (PACKAGE / "games").glob("*/rules.py")}
    assert len(games) == 10 and own.keys() - games == {name for floor in floors for name in floor}
    below = {name for floor in floors[floors.index(["names"]) + 1 :] for name in floor}
    for game in games:
        modules = [name for name in MODULES if name.split(".")[1:3] == ["games", game]]
        used = {name.split(".")[2] for module in modules for name in IMPORTS[module] if name.startswith("azero.games.")}
        assert used <= below | {game}, game


def test_a_circle_is_found():
    with pytest.raises(pytest.fail.Exception, match="a -> b -> a|b -> a -> b"):
        hold_acyclic({"a": {"b"}, "b": {"a"}})


def test_all_that_is_compiled_names_the_cache():
    """After an edit of a file that the digest does not cover, old machine code would run silently."""
    makers = {"kernel", "subroutine", "shared_subroutine", "shared_with_python", "bind_methods", "bind_strategies"}
    known = set(compiled_sources())
    assert all(path.is_relative_to(PACKAGE) for path in known)
    used = 0
    for path in FILES:
        imports = [node for node in ast.walk(TREES[path]) if isinstance(node, ast.ImportFrom)]
        if makers & {each.name for node in imports if node.module == "azero.compiler.jit" for each in node.names}:
            used += 1
            assert path in known, f"{path} is compiled, and no part of the digest that names the cache"
    assert used > 50


def test_no_field_hides_behind_a_method():
    """Numba would use the method that is bound to all NamedTuples, and fail with a long error."""
    classes = [
        (path, node)
        for path in compiled_sources()
        for node in ast.walk(TREES[path])
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    ]
    for path, node in classes:
        fields = {ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)}
        assert not fields & BOUND_METHODS, f"{path}: {node.name}"
    assert len(classes) > 30 and {"outcome", "score", "play_out", "root_child", "end_search"} <= BOUND_METHODS


def test_a_folder_says_in_a_line_what_it_owns():
    first = {folder: ast.get_docstring(TREES[folder / "__init__.py"]).splitlines()[0] for folder in FOLDERS}
    assert {folder for folder, line in first.items() if not line.endswith((".", ":"))} == set()


def test_a_function_fits_a_screen():
    too_long = {
        f"{module_of(path)}.{node.name}"
        for path, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= MOST_LINES_OF_A_FUNCTION
    }
    assert too_long == set()


NAMING = {
    "make_game": {
        *("arena/agents/make.py", "arena/ratings/rating_pool.py"),
        *("authoring/check_game.py", "commands/evaluate.py", "commands/export.py", "commands/serve.py"),
        *("lab/amazons.py", "lab/clobber.py", "lab/duels.py", "lab/scaling.py", "lab/trees.py"),
        *("publishing/build.py", "training/balance.py"),
        *("authoring/check_search.py", "mcts/reference/trial.py"),  # games of azero's own
    },
    "trust_name": {
        *("commands/games.py", "commands/options.py", "games/make.py", "games/user/trust.py"),
        "arena/agents/checkpoints.py",  # an agent's name that a command or a caller in Python gives
        "training/resuming.py",  # --set game.name=...
    },
    "trust_search": {
        *("commands/makers.py", "commands/rate.py"),
        *("arena/agents/make.py", "arena/ratings/rating_pool.py"),  # a caller in Python gives the name
    },
    "trust_config": {
        *("commands/games.py", "commands/training.py", "nets/checkpoint.py"),
        *("training/plan.py", "training/train.py"),
    },
    "trust_file": {"games/laws/prototype.py", "games/user/trust.py"},
    "trust_identity": {
        *("arena/agents/specs.py", "games/make.py", "games/user/trust.py"),
        *("selfplay/tasks.py", "training/learning/ranks.py", "publishing/worker.py"),
    },
    "make_sent_game": {"arena/agents/specs.py", "selfplay/tasks.py"},
}
"""Who says that the user has named a file: its name is from a command, a config that a command names, or a caller in
Python. The last ones get it from the process that gave them their task.
"""

RUNNING = {
    "exec_module": {"games/user/loading.py"},
    "import_module": {
        "__init__.py",
        "commands/lab.py",
        "compiler/codegen.py",
        "compiler/elsewhere.py",
        "games/__init__.py",
        *("heads/__init__.py", "heads/contract.py", "nets/architectures/__init__.py", "nets/make.py"),
        "nets/runtimes/fastest.py",
    },  # azero's own modules, and Numba's
    **{name: set() for name in ("exec", "__import__", "run_path", "run_module", "load_module", "source_to_code")},
}
"""Who runs text or files."""


CALLED = {
    path.relative_to(PACKAGE).as_posix(): {
        getattr(node.func, "attr", getattr(node.func, "id", ""))
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
    }
    for path, tree in TREES.items()
}
"""The functions that each file calls."""


@pytest.mark.parametrize(("function", "callers"), {**NAMING, **RUNNING}.items(), ids=[*NAMING, *RUNNING])
def test_a_user_s_file_has_these_doors(function, callers):
    """A name that was read from a file is for `make_trusted_game`, which runs no file that the user has not named."""
    assert {path for path, called in CALLED.items() if function in called} == callers
