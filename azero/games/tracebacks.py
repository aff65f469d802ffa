"""Errors that a user's rules raise: the traceback gives the file, the class, the method and the line."""

import inspect
import sys
import sysconfig
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from azero.games.reasons import MODULE, fails_with
from azero.system.files import PACKAGE

_INSTALLED = {"site-packages", "dist-packages"}


def failure_in(error: BaseException, game: str = "") -> str | None:
    """Returns `my_game.py:MyGame.method fails, line N: Type: message` if a user's rules have raised `error`.

    Otherwise None. Compiled code adds the line that raises an error to the traceback, but not the lines of its callers.

    Args:
      game: the game's name with its parameters, if they are known. It replaces `my_game.py:MyGame`.
    """
    modules = [each for name, each in list(sys.modules.items()) if name.startswith(MODULE) and _file_of(each)]
    modules.reverse()  # of several versions of a file, the latest is first
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if owner := _owner(frame, modules):
            owner = f"{game}." if owner == f"{game.partition('(')[0]}." else owner
            return f"{owner}{frame.name} {fails_with(error, f', line {frame.lineno}')}"
    return None


def is_installed(path: Path) -> bool:
    """Returns whether a path belongs to an installed package."""
    return not _INSTALLED.isdisjoint(path.parts)


def _owner(frame: traceback.FrameSummary, modules: Sequence[ModuleType]) -> str:
    """Returns `my_game.py:MyGame.` for a frame in a method, `my_game.py:` in a function, or nothing for other code.

    Compiled code from the cache has the path that the file had when it was compiled. If no module has this path, the
    frame belongs to the method or function with its name that covers its line.
    """
    file = _resolved(frame.filename)
    exact = [each for each in modules if _file_of(each) == file]
    if not exact and _is_of_others(frame.filename):
        return ""
    owners = [_holder(each, frame.name, frame.lineno) for each in exact or modules]
    owners += [_prefix(each) for each in exact]
    return next(filter(None, owners), "")


def _is_of_others(file: str) -> bool:
    """Returns whether a file belongs to azero, Python, an installed package or another loaded module."""
    path = Path(file)
    ours = (PACKAGE, sysconfig.get_path("stdlib"))
    if not path.is_absolute() or is_installed(path) or any(path.is_relative_to(each) for each in ours):
        return True
    return any(getattr(each, "__file__", None) == file for each in list(sys.modules.values()))


def _holder(module: ModuleType, function: str, line: int | None) -> str:
    """Returns `my_game.py:MyGame.` for a method, `my_game.py:` for a function, or nothing if `line` is in neither."""
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    for holder in (module, *classes):
        found: Any = vars(holder).get(function)
        code = getattr(inspect.unwrap(getattr(found, "fget", found)), "__code__", None)
        if code is None or _resolved(code.co_filename) != _file_of(module):
            continue
        if line in [number for *_, number in code.co_lines()]:
            return f"{holder.file_name}." if hasattr(holder, "file_name") else _prefix(module)
    return ""


def _prefix(module: ModuleType) -> str:
    return f"{Path(_file_of(module)).name}:"


def _file_of(module: ModuleType) -> str:
    """Returns the resolved path of a module; empty for a package without a file."""
    file = getattr(module, "__file__", None)
    return _resolved(file) if file else ""


def _resolved(file: str) -> str:
    return str(Path(file).resolve())
