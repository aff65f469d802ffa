"""Errors that a user's rules raise in the middle of a search, a match or training."""

import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from azero.errors import BrokenRules
from azero.games.user.reasons import reason_of
from azero.games.user.sources import MODULE


@contextmanager
def failures_named() -> Iterator[None]:
    """Raises BrokenRules, with file, method and line, if a user's rules raise an error inside the block."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if failure := failure_of(error):
            raise failure from None
        raise


def failure_of(error: BaseException) -> BrokenRules | None:
    """Returns an error that names file, method and line, if a user's rules have raised `error`. Otherwise None.

    Compiled code adds the line that raises an error to the traceback, but not the lines of its callers. Code from the
    cache has the path that the file had when it was compiled. Its functions are known by their names and lines.
    """
    modules = [each for name, each in list(sys.modules.items()) if name.startswith(MODULE) and _file_of(each)]
    modules.reverse()  # of several versions of a file, the latest is first
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        owners = [_owner(each, frame.name, frame.lineno) for each in modules]
        owners += [_prefix(each) for each in modules if frame.filename == _file_of(each)]
        if owner := next(filter(None, owners), None):
            return BrokenRules(f"{owner}{frame.name} fails, line {frame.lineno}: {reason_of(error)}")
    return None


def _owner(module: ModuleType, function: str, line: int | None) -> str:
    """Returns `my_game.py:MyGame.` for a method, `my_game.py:` for a function, or nothing if `line` is in neither."""
    classes = [each for each in vars(module).values() if isinstance(each, type)]
    for holder in (module, *classes):
        found: Any = vars(holder).get(function)
        code = getattr(inspect.unwrap(getattr(found, "fget", found)), "__code__", None)
        if code and code.co_filename == _file_of(module) and line in [number for *_, number in code.co_lines()]:
            return f"{holder.file_name}." if hasattr(holder, "file_name") else _prefix(module)
    return ""


def _prefix(module: ModuleType) -> str:
    return f"{Path(_file_of(module)).name}:"


def _file_of(module: ModuleType) -> str:
    """Returns the path of a module as its code has it; empty for a package without a file."""
    file = getattr(module, "__file__", None)
    return str(Path(file).resolve()) if file else ""
