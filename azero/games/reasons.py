"""Errors and values in one line, as messages show them. Of errors in a user's rules, file, class, method and line."""

import inspect
import re
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from azero.errors import BadInput, BrokenRules, BrokenSearch
from azero.system.files import PACKAGE

MODULE = "azero_user_"
"""How the name of a user's file begins in `sys.modules`. A digest follows."""

_MOST_CHARACTERS = 100
_MOST_LISTED = 20  # legal moves in an error message
_MOST_SHOWN = 100  # played actions in an error message

_ADVICE = (
    (r"Python integer -\d+ out of bounds for uint", "unsigned integers are never negative: write np.int64(...)"),
    (r"Python integer \d+ out of bounds for u?int(8|16|32)", "write np.int64(...) around the small integer"),
    (
        r"(out of bounds for u?int64|int too (big|large) to convert)",
        "write np.uint64(...) around integers of 2**63 or more",
    ),
    (
        r"ufunc '\w+' not supported for the input types",
        "write np.uint64(...) around a signed integer that is combined with np.uint64",
    ),
    (
        r"numpy\.float64|only integers",
        "/ gives a float, and so does np.uint64 with a signed integer: write //, or np.uint64(...) around it",
    ),
)
"""Patterns of NumPy's errors about integers, with what to write instead."""


def reason_of(error: BaseException) -> str:
    """Returns the type and the message of an error."""
    if isinstance(error, SystemExit):
        return "SystemExit; rules must not end the process"
    if isinstance(error, FloatingPointError) and "divide by zero" in str(error):
        return "ZeroDivisionError: a number is divided by zero; compiled rules do not notice"
    with _plain_numbers():  # a KeyError shows its key by `repr`
        return in_one_line(f"{type(error).__name__}: {error}").removesuffix(":") + advice_on(error)


def fails_with(error: BaseException, place: str) -> str:
    """Returns `fails, line N: Type: message`. `place` is `, line N`, or empty if the line is not known."""
    return f"fails{place}: {reason_of(error)}"


def advice_on(error: object) -> str:
    """Returns what to write to avoid an error about integers, to append to its message. Empty for other errors."""
    return next((f"; {advice}" for said, advice in _ADVICE if re.search(said, str(error))), "")


def short(value: object) -> str:
    """Returns the `repr` of a value, cut to 100 characters. NumPy's numbers look like Python's: 2, not np.int64(2)."""
    with _plain_numbers():
        text = in_one_line(repr(value))
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 3]}..."


def _plain_numbers():
    return np.printoptions(legacy="1.25")  # the last version that wrote NumPy's numbers without their type


def in_one_line(text: str) -> str:
    """Returns a text in one line, with the names of classes and modules as in the user's sources."""
    return without_digest(" ".join(text.split()))


def without_digest(text: str) -> str:
    """Returns a text without the digests that azero adds to the names of classes and modules."""
    return re.sub(r"(?<=\w)_[0-9a-f]{16}\b", "", text)


def place_of(error: BaseException, file: str) -> str:
    """Returns `, line N` for the innermost line of `file` in the error's traceback. Empty if there is none."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(file).resolve()]
    return f", line {lines[-1]}" if lines else ""


def broken_rules(name: str, what: str, actions: Sequence[int]) -> BrokenRules:
    """Returns an error whose message, one line, says what is wrong with the rules `name`, and after which actions."""
    return BrokenRules(f"{name}.{what}{after_actions(actions)}")


def after_actions(actions: Sequence[int]) -> str:
    """Returns the end of an error message, "; actions so far: ..."; empty if there are none."""
    shown = " ".join(map(str, actions[:_MOST_SHOWN]))
    more = f" ... ({len(actions)} in all)" if len(actions) > _MOST_SHOWN else ""
    return f"; actions so far: {shown}{more}" if shown else ""


def listed(words: Iterable[str]) -> str:
    """Returns words in one line: the first `_MOST_LISTED`, and the number of all if there are more."""
    words = list(words)
    left_out = f" ... ({len(words)} in all)" if len(words) > _MOST_LISTED else ""
    return " ".join(words[:_MOST_LISTED]) + left_out


# --- errors that a user's rules raise ---

_INSTALLED = {"site-packages", "dist-packages"}


def failure_in(error: BaseException, game: str = "") -> str | None:
    """Returns `my_game.py:MyGame.method fails, line N: Type: message` if a user's rules have raised `error`.

    Otherwise None. Compiled code adds the line that raises an error to the traceback, but not the lines of its callers.

    Args:
      game: the game's name with its parameters, if they are known. It replaces `my_game.py:MyGame`.
    """
    modules = [each for each in list(sys.modules.values()) if is_of_user(each) and _file_of(each)]
    modules.reverse()  # of several versions of a file, the latest is first
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if owner := _owner(frame, modules):
            owner = f"{game}." if owner == f"{game.partition('(')[0]}." else owner
            return f"{owner}{frame.name} {fails_with(error, f', line {frame.lineno}')}"
    return None


def is_installed(path: Path) -> bool:
    """Returns whether a path belongs to an installed package."""
    return not _INSTALLED.isdisjoint(path.parts)


def is_of_user(module: ModuleType) -> bool:
    """Returns whether `user/loading.py` has loaded a module."""
    return getattr(getattr(module, "__loader__", None), "is_of_user", False) is True


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


@contextmanager
def failures_named() -> Iterator[None]:
    """Raises an error that names file, method and line if a user's rules or search raise one inside the block."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if failure := failure_of(error):
            raise failure from None
        raise


def failure_of(error: BaseException) -> BadInput | None:
    """Returns an error that names file, method and line, if a user's rules or search have raised `error`; else None.

    It is None for BadInput too, whose message is one line already.
    """
    text = None if isinstance(error, BadInput) else failure_in(error)
    if not text:
        return None
    classes = [each for module in list(sys.modules.values()) if is_of_user(module) for each in vars(module).values()]
    owners = [each for each in classes if text.startswith(f"{getattr(each, 'file_name', None)}.")]
    is_of_search = any(not hasattr(each, "legal_actions") for each in owners)
    return BrokenSearch(text) if is_of_search else BrokenRules(text)
