"""Tests that a user's file runs only if the user has named it, now or before with the same code."""

import importlib.machinery
import importlib.util
import marshal
import os
import stat
import sys
from pathlib import Path

import pytest

from azero.errors import BadInput
from azero.games import make_game
from azero.games.laws.prototype import load_prototype
from azero.games.make import make_trusted_game
from azero.games.user import loading, trust
from azero.games.user.loading import load_rules
from azero.games.user.sources import Sources, identity_of_files
from azero.games.user.trust import Untrusted, trust_file, trust_folder, trust_name

from .user_games import NIM as NIM_FILE
from .user_games import added, forget_files

NIM = NIM_FILE.read_text()
TRACE = "import pathlib; pathlib.Path('ran').touch()\n"


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    """The working folder, with a game that leaves a trace when it runs. Nothing is trusted yet."""
    forget_files(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AZERO_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setattr(trust, "_NAMED", set())
    (tmp_path / "nim.py").write_text(TRACE + NIM)
    return tmp_path


def as_in_another_process(monkeypatch) -> None:
    forget_files(monkeypatch)
    monkeypatch.setattr(trust, "_NAMED", set())


def has_run() -> bool:
    return Path("ran").exists()


def test_a_file_that_nobody_named_does_not_run(folder):
    with pytest.raises(
        Untrusted, match=r"^game file 'nim.py' is code that you have not named, or it has changed since$"
    ):
        make_trusted_game("nim.py:Nim")
    with pytest.raises(Untrusted):
        load_rules("nim.py", "Nim")
    assert not has_run()


def test_make_game_trusts_what_it_is_given_in_this_process(folder, monkeypatch):
    make_game("nim.py:Nim")
    assert has_run() and make_trusted_game("nim.py:Nim(heap=3)").rules.heap == 3
    as_in_another_process(monkeypatch)
    with pytest.raises(Untrusted):
        make_trusted_game("nim.py:Nim")


def test_a_file_named_on_the_command_line_is_trusted_later_too_until_its_entry_is_deleted(folder, monkeypatch):
    trust_name("nim.py:Nim", is_kept=True)
    assert not has_run()
    as_in_another_process(monkeypatch)
    make_trusted_game("nim.py:Nim")
    (entry,) = trust_folder().iterdir()
    assert entry.name == Sources("nim.py").identity and str(folder / "nim.py") in entry.read_text()
    entry.unlink()
    as_in_another_process(monkeypatch)
    with pytest.raises(Untrusted):
        make_trusted_game("nim.py:Nim")


def test_trust_is_in_the_code_and_not_in_the_path(folder, monkeypatch):
    trust_file("nim.py", is_kept=True)
    as_in_another_process(monkeypatch)
    (folder / "nim.py").rename(folder / "moved.py")
    make_trusted_game("moved.py:Nim")
    (folder / "moved.py").write_text(TRACE + NIM.replace("return WIN if", "return LOSS if"))
    with pytest.raises(Untrusted):
        make_trusted_game("moved.py:Nim")


def test_a_changed_module_is_not_trusted(folder):
    (folder / "helper.py").write_text("BEST = 1\n")
    (folder / "nim.py").write_text("import helper\n" + NIM)
    make_game("nim.py:Nim")
    (folder / "helper.py").write_text(TRACE)
    with pytest.raises(Untrusted):
        make_trusted_game("nim.py:Nim")
    assert not has_run()


@pytest.mark.parametrize(
    "line",
    [
        "import importlib; helper = importlib.import_module('helper')",
        "helper = __import__('hel' + 'per')",
        "exec('import helper')",
    ],
)
def test_a_module_that_no_import_names_does_not_run(folder, monkeypatch, line):
    (folder / "helper.py").write_text(TRACE)
    (folder / "nim.py").write_text(f"{line}\n{NIM}")
    monkeypatch.syspath_prepend(str(folder))
    with pytest.raises(BadInput, match=r"line 1: ImportError: helper is imported by a text; write `import helper`, so"):
        make_game("nim.py:Nim")
    assert not has_run()


# --- what somebody sends ---


def compiled(text: str) -> bytes:
    """Returns bytecode that Python would run without a look at the source beside it."""
    code = compile(text, "sent", "exec", dont_inherit=True)
    return importlib.util.MAGIC_NUMBER + b"\x01\0\0\0" + bytes(8) + marshal.dumps(code)


TAG = f"__pycache__/{{}}.{sys.implementation.cache_tag}.pyc"
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]


@pytest.mark.parametrize(
    ("files", "is_same"),
    [
        ({}, True),
        # other sources
        ({"nim.py": TRACE + NIM}, False),
        ({"helper.py": TRACE}, False),
        ({"helper.py": None}, False),
        ({"rules/ends.py": TRACE}, False),
        ({"rules/__init__.py": TRACE}, False),
        ({"helper/__init__.py": TRACE}, False),
        # files that are no sources, and that Python's own search would run
        ({TAG.format("helper"): compiled(TRACE), f"rules/{TAG.format('ends')}": compiled(TRACE)}, True),
        ({TAG.format("nim"): compiled(TRACE), "nim.pyc": compiled(TRACE)}, True),
        ({f"helper{SUFFIX}": b"no library", f"helper/__init__{SUFFIX}": b"no library"}, True),
        ({"helper/__init__.pyc": compiled(TRACE)}, True),
        ({"helper.py": None, "helper.pyc": compiled(TRACE)}, False),
        # modules that no `import` statement names, or that belong to Python
        ({"late.py": TRACE, "rules/late.py": TRACE, "rules/late.pyc": compiled(TRACE), "late.pyc": b""}, True),
        ({"fractions.py": TRACE, "statistics.py": TRACE, "numpy/__init__.py": TRACE}, True),
        ({"sitecustomize.py": TRACE, "azero/__init__.py": TRACE, "azero/authoring.py": TRACE}, True),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)
def test_beside_a_copy_of_trusted_code_nothing_else_runs(folder, monkeypatch, files, is_same):
    """The author of what is sent knows the trusted code, and chooses all files of the folder."""
    late = "for name in ('late', 'rules.late'):\n    try: __import__(name)\n    except ImportError: pass\n"
    own = {"nim.py": f"import helper, rules.ends, statistics\n{late}{NIM}", "helper.py": "", "rules/ends.py": "x = 1\n"}
    for place, texts in (("own", own), ("sent", own | files)):
        for name, text in texts.items():
            if text is not None:
                (folder / place / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / place / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    trust_name("own/nim.py:Nim", is_kept=True)
    as_in_another_process(monkeypatch)
    for name in ("statistics", "fractions"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for path in ("sent/nim.py", "sent/../sent/nim.py", str(folder / "sent" / "nim.py")):
        if is_same:
            assert make_trusted_game(f"{path}:Nim(heap=3)").rules.heap == 3
        else:
            with pytest.raises(Untrusted):
                make_trusted_game(f"{path}:Nim(heap=3)")
    assert not has_run()


def test_a_link_to_other_code_is_other_code(folder, monkeypatch):
    (folder / "evil.py").write_text(TRACE)
    (folder / "nim.py").write_text(f"import helper\n{NIM}")
    (folder / "helper.py").write_text("x = 1\n")
    trust_name("nim.py:Nim", is_kept=True)
    as_in_another_process(monkeypatch)
    (folder / "helper.py").unlink()
    (folder / "helper.py").symlink_to("evil.py")
    (folder / "linked.py").symlink_to("evil.py")
    for name in ("nim.py:Nim", "linked.py:Nim"):
        with pytest.raises(Untrusted):
            make_trusted_game(name)
    assert not has_run()


def test_what_was_read_runs_even_if_files_change_meanwhile(folder, monkeypatch):
    """Between the check and the run, and between the run and the import by a method."""
    late = "action_to_text(game, state, action):\n        import late\n        return late.NAME"
    (folder / "nim.py").write_text("import helper\n" + NIM.replace(*added(late)))
    (folder / "helper.py").write_text("x = 1\n")
    (folder / "late.py").write_text("NAME = 'as it was'\n")
    trust_name("nim.py:Nim", is_kept=True)
    as_in_another_process(monkeypatch)
    check = loading.check_trusted

    def check_and_swap(sources):
        check(sources)
        for name in ("nim.py", "helper.py", "late.py"):
            (folder / name).write_text(TRACE)

    monkeypatch.setattr(loading, "check_trusted", check_and_swap)
    rules = load_rules("nim.py", "Nim")
    assert rules(3).action_to_text(None, 0) == "as it was" and not has_run()


def test_what_may_not_run_is_not_trusted_for_later(folder, monkeypatch):
    monkeypatch.setenv("AZERO_DATA_ONLY", "1")
    with pytest.raises(BadInput, match="is code, and does not run"):
        trust_file("nim.py", is_kept=True)
    assert not trust_folder().exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="modes are POSIX's")
@pytest.mark.parametrize("place", ["config", "config/trusted"])
def test_a_config_folder_that_others_can_write_counts_as_empty(folder, monkeypatch, place):
    trust_file("nim.py", is_kept=True)
    as_in_another_process(monkeypatch)
    path = folder / place
    path.chmod(path.stat().st_mode | stat.S_IWOTH)
    with pytest.raises(Untrusted):
        make_trusted_game("nim.py:Nim")


@pytest.mark.parametrize("is_file", [False, True])
def test_without_a_config_folder_a_file_is_trusted_once(folder, monkeypatch, is_file):
    monkeypatch.setenv("AZERO_CONFIG_DIR", "nim.py" if is_file else "/proc/none")
    trust_name("nim.py:Nim", is_kept=True)
    make_trusted_game("nim.py:Nim")
    as_in_another_process(monkeypatch)
    with pytest.raises(Untrusted):
        make_trusted_game("nim.py:Nim")


def test_a_prototype_is_code_too(folder):
    (folder / "slow.py").write_text(TRACE)
    with pytest.raises(BadInput, match="has no class 'Slow'"):
        load_prototype("slow.py:Slow")
    assert has_run()


def test_only_data_is_read_where_that_is_wanted(folder, monkeypatch):
    monkeypatch.setenv("AZERO_DATA_ONLY", "1")
    with pytest.raises(
        BadInput, match=r"^game file 'nim.py' is code, and does not run with --data-only or AZERO_DATA_"
    ):
        make_game("nim.py:Nim")
    assert not has_run() and make_game("tic_tac_toe")
    monkeypatch.setenv("AZERO_DATA_ONLY", "0")
    make_game("nim.py:Nim")


# --- identities ---


def identity(text: str | bytes) -> str:
    return identity_of_files([("", text if isinstance(text, bytes) else text.encode())])


@pytest.mark.parametrize(
    "other",
    [
        "# a comment\nx = f(1)  # another\n",
        "\n\nx = f(\n    1\n)\n",
        "x=f( 1 )",
        "# -*- coding: latin-1 -*-\nx = f(1)\n",
    ],
)
def test_comments_and_places_are_not_part_of_an_identity(other):
    assert identity("x = f(1)\n") == identity(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = 1", "x = 1.0"),
        ("x = 1", "x = True"),
        ("x = 1", "x = '1'"),
        ("x = 'a'", "x = b'a'"),
        ("x = None", "x = ..."),
        ("x = None", "x: None"),
        ("x = 0.0", "x = -0.0"),
        ("x = y", "x = 'y'"),
        ("x = (1, 2)", "x = [1, 2]"),
        ("x = {**y}", "x = {y: y}"),
        ("f(x)", "f(*x)"),
        ("f(x)", "f()(x)"),
        ("f(a, [b])", "f(a, b)"),
        ("def f(): return", "def f(): return 1"),
        ("def f(a, b=1): pass", "def f(a=1, b=1): pass"),
        ("def f(a, /): pass", "def f(a): pass"),
        ("import a, b", "import a\nimport b"),
        ("import a.b", "from a import b"),
        ("from . import a", "from .. import a"),
        ("x = 'Name(id=y'", "x = 'Name(id=z'"),
        ("if a:\n b\nc", "if a:\n b\n c"),
        ("async def f(): pass", "def f(): pass"),
        ("x[1:]", "x[:1]"),
        ("x = f'{y}'", "x = f'{y!r}'"),
        ("a < b < c", "a < (b < c)"),
        ("del x", "x"),
    ],
)
def test_programs_that_differ_have_other_identities(one, other):
    assert identity(one) != identity(other)


@pytest.mark.parametrize("text", [b"x = (", b"\0", b"\xff", b"x = " + b"(" * 5000, b"x = 0x" + b"f" * 6000])
def test_every_text_has_an_identity(text):
    assert len(identity(text)) == 64 and identity(text) != identity(b"")


def test_a_deep_tree_has_an_identity():
    assert len(identity("x = " + " + ".join(["y"] * 800))) == 64


def test_names_and_borders_of_sources_count():
    assert identity_of_files([("", b"a"), ("m", b"b")]) != identity_of_files([("", b"a"), ("n", b"b")])
    assert identity_of_files([("", b"a\nb")]) != identity_of_files([("", b"a"), ("m", b"b")])
