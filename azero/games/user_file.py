"""Games of the user's own: one file with a class of rules, named by its path, `my_game.py:MyGame`."""

import hashlib
import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

from azero.errors import BadInput
from azero.games.registry import PARAMETER_TYPES, complete
from azero.jit import SOURCE_DIGEST

REQUIRED = {
    "reset": ("state",),
    "legal_actions": ("state", "out"),
    "apply_action": ("state", "action"),
    "current_player": ("state",),
    "outcome": ("state",),
    "encode": ("state", "planes"),
    "hash_key": ("state",),
}
"""Compiled methods that rules must write themselves, with their parameters after the game."""

REQUIRED_PROPERTIES = ("state_dtype", "num_actions", "max_plies", "planes_shape")

_LOADED: dict[tuple[str, str], type] = {}  # by digest of the file and class


def load_rules(file: str, name: str) -> type:
    """Returns the class of rules `name` in `file`, completed; raises BadInput, in one line, where it is none.

    The file is run once, whatever its path is called. Its digest becomes an attribute of the class, by which kernels
    that contain its rules are kept apart on disk, and by which a checkpoint knows when it has changed.
    """
    module, digest = _run(file)
    if (digest, name) not in _LOADED:
        rules = complete(_class_of(file, name, module))
        rules.__qualname__ = rules.__name__ = name
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


def _run(file: str) -> tuple[ModuleType, str]:
    """Returns the file as a module, and its digest; runs it if that has not been done."""
    try:
        source = Path(file).read_bytes()
    except OSError as error:
        raise BadInput(f"game file {file!r} cannot be read: {error.strerror or error}") from None
    digest = hashlib.sha256(source).hexdigest()[:16]
    module_name = f"azero_user_{Path(file).stem}_{digest}"
    if module_name in sys.modules:
        return sys.modules[module_name], digest
    spec = importlib.util.spec_from_file_location(module_name, file)
    assert spec is not None and spec.loader is not None, "its name ends in .py"
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    try:
        exec(compile(source, str(Path(file).resolve()), "exec"), module.__dict__)
    except SyntaxError as error:
        del sys.modules[module_name]
        raise BadInput(f"game file {file!r}, line {error.lineno}: {error.msg}") from None
    except Exception as error:
        del sys.modules[module_name]
        raise BadInput(f"game file {file!r}{where(error, file)}: {type(error).__name__}: {error}") from None
    return module, digest


def where(error: BaseException, file: str) -> str:
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
    lacking = [f"{each}({', '.join(('game', *names))})" for each, names in REQUIRED.items() if not hasattr(rules, each)]
    lacking += [each for each in REQUIRED_PROPERTIES if not hasattr(rules, each)]
    if lacking:
        raise BadInput(f"{file}:{name} lacks {', '.join(lacking)}")
    for key, kind in get_type_hints(rules).items():
        if key in rules._fields and kind not in PARAMETER_TYPES:
            raise BadInput(f"{file}:{name}: its parameter {key!r} should be of type int, float or bool")
    for each, names in REQUIRED.items():
        _check_parameters(f"{file}:{name}.{each}", getattr(rules, each), names)
    return rules


def _check_parameters(what: str, method, names: tuple[str, ...]) -> None:
    if not callable(method):
        raise BadInput(f"{what} should be a method ({', '.join(('game', *names))})")
    given = inspect.signature(method).parameters
    if len(given) != 1 + len(names):
        raise BadInput(f"{what} should take ({', '.join(('game', *names))}), not ({', '.join(given)})")


def _is_rules(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
