"""Users' files for tests: Nim and its prototype, unchanged or with replaced text, and tic-tac-toe."""

import re
import sys
from pathlib import Path

import azero.games.tic_tac_toe.rules
from azero.games.reasons import is_of_user
from azero.games.user import loading

NIM, SLOW_NIM = (Path(__file__).parents[1] / "data" / name for name in ("nim.py", "slow_nim.py"))
TIC_TAC_TOE = Path(azero.games.tic_tac_toe.rules.__file__)

Change = tuple[str, str]


def write_file(path: Path, source: Path, *changes: Change) -> Path:
    """Writes a copy of `source` in which each change replaces its first text, which occurs once, by its second."""
    text = re.sub(r"^@game\(.*\)\n", "", source.read_text(), flags=re.MULTILINE)
    for old, new in changes:
        assert text.count(old) == 1, f"{text.count(old)} times in {source.name}: {old}"
        text = text.replace(old, new)
    path.write_text(text)
    return path


def write_nim_with_turns_of_two(path: Path) -> Path:
    """Writes Nim with turns of two actions each; returns its file."""
    winner = ("WIN if state.ply & 1 else", "WIN if (state.ply - 1) // 2 & 1 == 0 else")
    return write_file(path, NIM, ("return state.ply & 1", "return state.ply // 2 & 1"), winner)


def added(method: str) -> Change:
    """Returns the change that adds a method, "name(...):" and its lines, before `reset`."""
    return "    def reset(", f"    def {method}\n\n    def reset("


def forget_files(monkeypatch) -> None:
    """Makes azero load each file again. Otherwise a file keeps the path by which its text was loaded first."""
    monkeypatch.setattr(loading, "_LOADED", {})
    monkeypatch.setattr(loading._MODULES, "_read", {})
    for name in [name for name, each in sys.modules.items() if is_of_user(each)]:
        monkeypatch.delitem(sys.modules, name)
