"""Games of the user's own: one file with a class of rules, named by its path, `my_game.py:MyGame`."""

import functools
import importlib.util
import inspect
import re
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

import numpy as np

from azero.compiler.jit import IS_COMPILED, SOURCE_DIGEST
from azero.errors import BadInput
from azero.games.contract import COMPILED
from azero.games.defaults import DEFAULTS
from azero.games.registry import PARAMETER_TYPES, complete, without_registering
from azero.games.user.overflows import advice_on
from azero.games.user.sources import Sources, public_names
from azero.games.user.timeouts import ELAPSED_S, TimedOut, time_limit
from azero.games.user.wide_states import on_wide_states

REQUIRED = {name: parameters for name, parameters in COMPILED.items() if name not in DEFAULTS}
"""Compiled methods that rules must write themselves, with their parameters after the game."""

REQUIRED_PROPERTIES = ("state_dtype", "num_actions", "max_plies", "planes_shape")

_OPTIONAL = {
    name: tuple(inspect.signature(method).parameters)[1:] for name, method in DEFAULTS.items() if callable(method)
}
_PROPERTIES = (*REQUIRED_PROPERTIES, *(name for name, method in DEFAULTS.items() if not callable(method)))


_GONE_MODULE = re.compile(r"named 'azero\.(bits|jit|rng)'|name '(bits|jit|rng)' from 'azero'")
"""What Python says of modules that game files imported from before there was `azero.authoring`."""


def _are_ranges(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    is_pair = [isinstance(each, tuple) and len(each) == 2 for each in value.values()]
    return all(is_pair) and all(isinstance(end, int | float) for each in value.values() for end in each)


_PYTHON_RETURNS: dict[str, tuple[Callable[[object], bool], str]] = {
    "ranges": (_are_ranges, "pairs by name, e.g. {'size': (2, 8)}"),
    "check": (lambda value: value is None, "None, and bad parameters raise BadInput"),
    "symmetries": (
        lambda value: isinstance(value, tuple) and [getattr(each, "ndim", None) for each in value] == [2, 2],
        "Symmetries(cells, actions), two tables of int32",
    ),
    "action_to_text": (lambda value: isinstance(value, str), "text"),
    "text_to_action": (lambda value: isinstance(value, int | np.integer), "an action's number"),
    "split_moves": (
        lambda value: isinstance(value, list) and all(isinstance(each, str) for each in value),
        "a list of texts",
    ),
    "draw": (lambda value: isinstance(value, str), "text"),
}
"""What the methods that are never compiled return: how that is known, and how it is called."""

_LOADED: dict[tuple[str, str], type] = {}  # by digest of the sources and class


def load_rules(file: str, name: str) -> type:
    """Returns the class of rules `name` in `file`, completed; raises BadInput, in one line, where it is none.

    The file is run once, whatever its path is called. The digest of its sources becomes an attribute of the class, by
    which kernels that contain its rules are kept apart on disk, and by which a checkpoint knows when it has changed. It
    becomes part of the class's name, too: Numba takes classes of the same name and parameters for one, and would run
    the first's.
    """
    module, digest = _run(file)
    if (digest, name) not in _LOADED:
        rules = complete(_class_of(file, name, module))
        for each in _PYTHON_RETURNS:
            setattr(rules, each, _guarded(file, name, getattr(rules, each)))
        for each in () if IS_COMPILED else {**REQUIRED, **_OPTIONAL}:
            if each not in _PYTHON_RETURNS and getattr(rules, each) is not DEFAULTS.get(each):
                setattr(rules, each, on_wide_states(getattr(rules, each)))
        rules.__name__, rules.__qualname__ = f"{name}_{digest}", name
        setattr(module, name, rules)  # where unpickling will look for it
        setattr(rules, SOURCE_DIGEST, digest)
        rules.file_name = f"{file}:{name}"  # type: ignore[attr-defined]
        _LOADED[digest, name] = rules
    return _LOADED[digest, name]


def load_class(file: str, name: str) -> object:
    """Returns what is called `name` in a file; raises BadInput where there is nothing."""
    module, _ = _run(file)
    if not hasattr(module, name):
        raise BadInput(f"file {file!r} has no class {name!r}")
    return getattr(module, name)


def digest_of_file(file: str) -> str:
    """Returns the digest of a file and of the user's modules that it imports; nothing is run. Raises BadInput."""
    return Sources(file).digest


def _run(file: str) -> tuple[ModuleType, str]:
    """Returns the file as a module, and its digest; runs it if that has not been done."""
    sources = Sources(file)
    module_name = f"azero_user_{sources.digest}"
    if module_name in sys.modules:
        return sys.modules[module_name], sources.digest
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None and spec.loader is not None, "its name ends in .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    sources.make_importable()
    try:  # what the file registers goes by the file's name, and by another after an edit
        with time_limit(ELAPSED_S), without_registering():
            exec(sources.compiled(sources.text, str(Path(file).resolve())), module.__dict__)
    except (Exception, SystemExit, TimedOut) as error:
        del sys.modules[module_name]
        sources.forget_modules()
        raise BadInput(f"game file {file!r}{_why(error, file)}") from None
    return module, sources.digest


def _why(error: BaseException, file: str) -> str:
    """Returns where and why a file cannot be run."""
    if isinstance(error, TimedOut):
        return f"{place_of(error, file)} {error}"
    if isinstance(error, ImportError) and (gone := _GONE_MODULE.search(str(error))):
        return (
            f"{place_of(error, file)}: azero.{gone[1] or gone[2]} is no more; write `from azero.authoring import ...`"
        )
    is_own = isinstance(error, SyntaxError) and error.filename in (None, str(Path(file).resolve()))
    if isinstance(error, SyntaxError) and is_own:
        return f"{f', line {error.lineno}' if error.lineno else ''}: {error.msg}"
    return f"{place_of(error, file)}: {reason_of(error)}"


def _guarded(file: str, name: str, method: Callable) -> Callable:
    """Returns a method of plain Python that raises BadInput where it fails or returns something else than it should."""
    what = f"{file}:{name}.{method.__name__}"
    is_right, right = _PYTHON_RETURNS[method.__name__]

    @functools.wraps(method)
    def guarded(*arguments, **named):
        try:
            value = method(*arguments, **named)
        except BadInput as error:
            raise BadInput(_without_digest(str(error))) from None
        except (Exception, SystemExit) as error:
            raise BadInput(f"{what} fails{place_of(error, file)}: {reason_of(error)}") from None
        if not is_right(value):
            raise BadInput(f"{what} returns {short(value)}; it should be {right}")
        return value

    return guarded


def reason_of(error: BaseException) -> str:
    """Returns what an error says, in one line."""
    if isinstance(error, SystemExit):
        return "SystemExit; rules must not end the process"
    if isinstance(error, FloatingPointError) and "divide by zero" in str(error):
        return "ZeroDivisionError: a number is divided by zero; compiled rules do not notice"
    return in_one_line(f"{type(error).__name__}: {error}").removesuffix(":") + advice_on(error)


def short(value: object) -> str:
    """Returns a value as Python writes it, in one line of bearable length."""
    text = in_one_line(repr(value))
    return text if len(text) <= 100 else f"{text[:97]}..."


def in_one_line(text: str) -> str:
    """Returns a text in one line, with classes named as their files have them."""
    return _without_digest(" ".join(text.split()))


def _without_digest(text: str) -> str:
    return re.sub(r"(?<=\w)_[0-9a-f]{16}\b", "", public_names(text))


def place_of(error: BaseException, file: str) -> str:
    """Returns `, line N` for the innermost line of `file` at which the error arose, or nothing."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if Path(frame.filename) == Path(file).resolve()]
    return f", line {lines[-1]}" if lines else ""


def _class_of(file: str, name: str, module: ModuleType) -> type:
    """Returns the class of rules; raises BadInput where it is missing, or lacks what rules must have."""
    found = [each for each, value in vars(module).items() if _is_rules(value) and value.__module__ == module.__name__]
    rules = getattr(module, name, None)
    if rules is None:
        raise BadInput(f"game file {file!r} has no class {name!r}; it has {', '.join(found) or 'no game at all'}")
    if not _is_rules(rules):
        raise BadInput(f"{file}:{name} is no game: rules are a class {name}(NamedTuple)")
    if rules.__module__ != module.__name__:
        raise BadInput(f"{file}:{name} is not written there: it is imported from {public_names(rules.__module__)}")
    lacking = [f"{each}({', '.join(('game', *names))})" for each, names in REQUIRED.items() if not hasattr(rules, each)]
    lacking += [each for each in REQUIRED_PROPERTIES if not hasattr(rules, each)]
    if lacking:
        raise BadInput(f"{file}:{name} lacks {', '.join(lacking)}")
    _check_fields(f"{file}:{name}", rules)
    for each, names in {**REQUIRED, **_OPTIONAL}.items():
        if hasattr(rules, each):
            _check_method(f"{file}:{name}.{each}", inspect.getattr_static(rules, each), names)
    for each in _PROPERTIES:
        if callable(getattr(rules, each, None)):
            raise BadInput(f"{file}:{name}.{each} should be a property: write @property above it")
    return rules


def _check_fields(what: str, rules: type) -> None:
    """Raises BadInput where the game's parameters, or their defaults, are of a type that no name could hold."""
    try:
        kinds = get_type_hints(rules)
    except Exception as error:
        raise BadInput(f"{what}: the types of its parameters cannot be read: {reason_of(error)}") from None
    for key in rules._fields:  # type: ignore[attr-defined]
        kind = kinds.get(key)
        if kind not in tuple(PARAMETER_TYPES):
            raise BadInput(f"{what}: its parameter {key!r} should be of type int, float or bool")
        default = rules._field_defaults.get(key, kind())  # type: ignore[attr-defined]
        if type(default) is not kind and (type(default), kind) != (int, float):
            raise BadInput(
                f"{what}: its parameter {key!r} is of type {kind.__name__}, its default {short(default)} is not"
            )


def _check_method(what: str, method, names: tuple[str, ...]) -> None:
    """Raises BadInput where a method is none, or takes another number of parameters."""
    if not inspect.isfunction(method) or inspect.iscoroutinefunction(method):
        raise BadInput(f"{what} should be a method ({', '.join(('game', *names))}), without decorator or `async`")
    given = inspect.signature(method).parameters
    if len(given) != 1 + len(names):
        raise BadInput(f"{what} should take ({', '.join(('game', *names))}), not ({', '.join(given)})")


def _is_rules(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
