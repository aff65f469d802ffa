"""Tests that azero is portable: no POSIX-only modules, an explicit encoding for text files, and names of files that any
system can keep apart.
"""

import ast
import re
import subprocess
from collections import Counter
from pathlib import PurePosixPath

import pytest
from test_house import PACKAGE, TREES

ROOT = PACKAGE.parent
POSIX_ONLY = {
    *("crypt", "curses", "fcntl", "grp", "nis", "ossaudiodev", "posix", "pty", "pwd", "readline", "resource", "spwd"),
    *("syslog", "termios", "tty"),
}


def imported(tree):
    """Yields the top-level names of all modules that a source imports, also in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def opened_without_encoding(tree):
    """Yields the lines that read or write text without an explicit encoding."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or any(word.arg == "encoding" for word in node.keywords):
            continue
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in ("read_text", "write_text")
        is_open = isinstance(node.func, ast.Name) and node.func.id == "open"
        is_binary = any(isinstance(each, ast.Constant) and "b" in str(each.value) for each in node.args[1:])
        if is_method or (is_open and not is_binary):
            yield node.lineno


def test_no_module_imports_what_only_posix_has():
    assert {path: found for path, tree in TREES.items() if (found := POSIX_ONLY.intersection(imported(tree)))} == {}


def test_text_files_have_an_encoding():
    assert {path: lines for path, tree in TREES.items() if (lines := list(opened_without_encoding(tree)))} == {}


def confused(paths: list[str]) -> set[str]:
    """Returns the files and folders that macOS or Windows cannot have: names alike but for case, and forbidden ones."""
    names = {str(each) for path in map(PurePosixPath, paths) for each in (path, *path.parents)}
    folded = Counter(name.casefold() for name in names)
    forbidden = re.compile(
        r"""[^ -~]|[<>:"|?*\\]|[. ](/|$)|(^|/)(con|prn|aux|nul|com\d|lpt\d)(\.|/|$)""", re.IGNORECASE
    )
    return {name for name in names - {"."} if folded[name.casefold()] > 1 or forbidden.search(name)}


def test_names_of_files_fit_every_system():
    assert confused(["a/Review.js", "a/review.js", "B/c", "b/d", "aux.py", "e.", "f:g", "h"]) == {
        *("a/Review.js", "a/review.js", "B", "b", "aux.py", "e.", "f:g")
    }
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = done.stdout.decode().split("\0")[:-1]
    assert len(paths) > 500 and confused(paths) == set()
