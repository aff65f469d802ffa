"""Loads a user's file as Python imports any module, and the class in it, named `my_game.py:MyGame`.

Its modules are imported by their own names. Each version of the file imports them anew. One process has one module of
each name: a second file whose module has the same name and another text is refused.
"""

import inspect
import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import get_type_hints

from azero.compiler.cache import SOURCE_DIGEST
from azero.compiler.jit import IS_COMPILED
from azero.compiler.plain import on_wide_states
from azero.errors import BadInput
from azero.games.contract import COMPILED
from azero.games.defaults import DEFAULTS
from azero.games.names import SOURCE_IDENTITY
from azero.games.parameters import PARAMETER_TYPES
from azero.games.reasons import MODULE, place_of, reason_of, short
from azero.games.registry import complete, without_registering
from azero.games.user.plain_methods import PLAIN_METHODS, guarded
from azero.games.user.sources import Module, Sources, find, is_library, own_folders
from azero.games.user.timeouts import ELAPSED_S, TimedOut, time_limit
from azero.games.user.trust import check_trusted

REQUIRED = {name: parameters for name, parameters in COMPILED.items() if name not in DEFAULTS}
"""The compiled methods without a default, with their parameters after the game."""

REQUIRED_PROPERTIES = ("state_dtype", "num_actions", "max_plies", "planes_shape")

_OPTIONAL = {
    name: tuple(inspect.signature(method).parameters)[1:] for name, method in DEFAULTS.items() if callable(method)
}
_PROPERTIES = (*REQUIRED_PROPERTIES, *(name for name, method in DEFAULTS.items() if not callable(method)))

_LOADED: dict[tuple[str, str], type] = {}  # by the digest of the sources and the name of the class


def load_rules(file: str, name: str) -> type:
    """Returns the class of rules `name` in `file`, with the defaults of optional methods. Raises BadInput in one line.

    A file is run once, even if it has several paths. The class gets the digest and the identity of the sources as
    attributes. The cache of compiled kernels uses the digest; checkpoints use the identity to notice changed rules. The
    digest also becomes part of the class's name. Otherwise Numba would run the first of two classes with the same name
    and parameters for both.
    """
    module, sources = _load(file)
    digest = sources.digest
    if (digest, name) not in _LOADED:
        rules = complete(_class_of(file, name, module))
        for each in (name for name in PLAIN_METHODS if getattr(rules, name) is not DEFAULTS[name]):
            setattr(rules, each, guarded(getattr(rules, each), each, f"{file}:{name}.{each}", file))
        for each in () if IS_COMPILED else {**REQUIRED, **_OPTIONAL}:
            if each not in PLAIN_METHODS and getattr(rules, each) is not DEFAULTS.get(each):
                setattr(rules, each, on_wide_states(getattr(rules, each)))
        setattr(module, name, rules)  # unpickling looks for it there
        _sign(rules, file, name, sources)
        _LOADED[digest, name] = rules
    return _LOADED[digest, name]


def load_strategy(file: str, name: str, kind: str) -> type:
    """Returns the class of a selection rule or a root strategy in a file, signed as `load_rules` does.

    Raises BadInput in one line if it is no NamedTuple of numbers.

    Args:
      kind: what it is, "rule" or "root".
    """
    module, sources = _load(file, kind)
    found, what = getattr(module, name, None), f"{file}:{name}"
    if found is None:
        known = [each for each, value in vars(module).items() if _is_own(value, module)]
        raise BadInput(f"{kind} file {file!r} has no class {name!r}; it has {', '.join(known) or 'no NamedTuple'}")
    if not _is_rules(found):
        raise BadInput(f"{what} is not a {kind}: it should be a class {name}(NamedTuple)")
    if not _is_own(found, module):
        raise BadInput(f"{what} is imported from {found.__module__}; name the file that has it")
    _check_fields(what, found)
    if SOURCE_DIGEST not in vars(found):
        _sign(found, file, name, sources)
    return found


def _sign(found: type, file: str, name: str, sources: Sources) -> None:
    """Gives a class the digest and the identity of its sources, and its name with the digest; see `load_rules`."""
    found.__name__, found.__qualname__ = f"{name}_{sources.digest}", name
    setattr(found, SOURCE_DIGEST, sources.digest)
    setattr(found, SOURCE_IDENTITY, sources.identity)
    found.file_name = f"{file}:{name}"  # type: ignore[attr-defined]


def load_class(file: str, name: str, kind: str = "game") -> tuple[object, str]:
    """Returns the value of `name` in a file, and the identity of the sources; raises BadInput if there is no such name.

    Args:
      kind: what the file has, e.g. "net".
    """
    module, sources = _load(file, kind)
    if not hasattr(module, name):
        raise BadInput(f"file {file!r} has no class {name!r}")
    return getattr(module, name), sources.identity


def _load(file: str, kind: str = "game") -> tuple[ModuleType, Sources]:
    """Returns the file as a module, and its sources. Runs the file unless it has been run before.

    Raises BadInput if the user has not named it, or if it cannot be run.
    """
    sources = Sources(file, kind)
    check_trusted(sources)
    name = f"{MODULE}{sources.digest}"
    if name in sys.modules:
        return sys.modules[name], sources
    _MODULES.take(sources)
    spec = spec_from_file_location(name, sources.path, loader=_Reader(name, sources.path, sources.text))
    assert spec is not None and spec.loader is not None, "it has a loader"
    module = module_from_spec(spec)
    sys.modules[name] = module
    linecache.checkcache()  # Numba looks there for the names of functions, which the file may have changed
    try:  # a user's game is found by its file, so nothing needs to be registered
        with time_limit(ELAPSED_S), without_registering(), _MODULES.all_are_read():
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        _forget(sources)
        if isinstance(error, Exception | SystemExit | TimedOut):
            raise BadInput(f"{sources.what}{_why(error, file)}") from None
        raise
    return module, sources


class _Reader(SourceFileLoader):
    """Runs a text that was read before: no other text that the file has by now, and no bytecode."""

    is_of_user = True

    def __init__(self, name: str, path: Path, text: bytes):
        super().__init__(name, str(path))
        self._text = text

    def get_data(self, path: str | bytes) -> bytes:
        return self._text

    def path_stats(self, path: str | bytes) -> dict:
        raise OSError("no bytecode belongs to it")


class _Modules:
    """Lets Python import users' own modules by their names, from the texts that were read and hashed.

    Python's own search would also take bytecode, compiled modules and files beside them, which are part of no digest: a
    folder that somebody sent can have all of these beside the copy of a trusted file.
    """

    def __init__(self) -> None:
        self._read: dict[str, Module] = {}
        self._are_all_read = False

    def take(self, sources: Sources) -> None:
        """Lets Python import the modules of a file, each anew. Raises BadInput if one has the name of another."""
        for name, module in sources.modules.items():
            known, loaded = self._read.get(name), getattr(sys.modules.get(name), "__file__", None)
            other = known.path if known else loaded
            is_same = known is not None and (known.folder == module.folder or known.text == module.text)
            if other and not is_same and Path(other).resolve() != module.path.resolve():
                raise BadInput(
                    f"{sources.what} imports {name!r} from {str(module.path)!r}, but this process has another module "
                    f"of that name, {str(other)!r}; rename one of them"
                )
        _forget(sources)
        self._read |= sources.modules
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    @contextmanager
    def all_are_read(self) -> Iterator[None]:
        """Within the block, refuses a module of the user's own whose name is in no `import` statement."""
        before, self._are_all_read = self._are_all_read, True
        try:
            yield
        finally:
            self._are_all_read = before

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if module := self._read.get(name):
            spec = spec_from_file_location(name, module.path, loader=_Reader(name, module.path, module.text))
            if spec is not None and module.path.name == "__init__.py" and not _is_on_path(module.folder):
                spec.submodule_search_locations = []  # no folder: Python would run what is there and was not read
            return spec
        inside = [module for each, module in self._read.items() if each.startswith(f"{name}.")]
        if any(not _is_on_path(module.folder) for module in inside):  # a folder without an __init__.py
            return ModuleSpec(name, None, is_package=True)
        if self._are_all_read and not inside and not is_library(name) and find(name, own_folders()):
            raise ImportError(f"{name} is imported by a text; write `import {name}`, so that it can be checked")
        return None


_MODULES = _Modules()


def _is_on_path(folder: Path) -> bool:
    """Returns whether the program itself can import what is in a folder."""
    return folder.resolve() in [each.resolve() for each in own_folders()]


def _forget(sources: Sources) -> None:
    """Makes Python's next import run the modules of a file again. After an error, one may be half initialised."""
    for name in sources.modules:
        sys.modules.pop(name, None)
    for package, _, name in (each.rpartition(".") for each in sources.modules):
        if package in sys.modules:  # a folder without an __init__.py
            vars(sys.modules[package]).pop(name, None)


def _why(error: BaseException, file: str) -> str:
    """Returns the line and the reason for which a file cannot be run."""
    if isinstance(error, TimedOut):
        return f"{place_of(error, file)} {error}"
    if isinstance(error, SyntaxError) and error.filename in (None, str(Path(file).resolve())):
        return f"{f', line {error.lineno}' if error.lineno else ''}: {error.msg}"
    return f"{place_of(error, file)}: {reason_of(error)}"


def _class_of(file: str, name: str, module: ModuleType) -> type:
    """Returns the class of rules. Raises BadInput if it is missing or does not have what rules must have."""
    found = [each for each, value in vars(module).items() if _is_own(value, module)]
    rules = getattr(module, name, None)
    if rules is None:
        raise BadInput(f"game file {file!r} has no class {name!r}; it has {', '.join(found) or 'no game'}")
    if not _is_rules(rules):
        raise BadInput(f"{file}:{name} is not a game: rules are a class {name}(NamedTuple)")
    if rules.__module__ != module.__name__:
        raise BadInput(f"{file}:{name} is imported from {rules.__module__}; name the file that has it")
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
    """Raises BadInput if a parameter or its default has a type that cannot be written in a game's name."""
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
            found = f"its default {short(default)} has type {type(default).__name__}"
            raise BadInput(f"{what}: its parameter {key!r} has type {kind.__name__}, {found}")


def _check_method(what: str, method, names: tuple[str, ...]) -> None:
    """Raises BadInput if a method is not a plain function or has the wrong number of parameters."""
    if not inspect.isfunction(method) or inspect.iscoroutinefunction(method):
        raise BadInput(f"{what} should be a method ({', '.join(('game', *names))}), without decorator or `async`")
    given = inspect.signature(method).parameters
    if len(given) != 1 + len(names):
        raise BadInput(f"{what} should take ({', '.join(('game', *names))}), not ({', '.join(given)})")


def _is_rules(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")


def _is_own(value: object, module: ModuleType) -> bool:
    """Returns whether a value is a NamedTuple that a module defines."""
    return _is_rules(value) and getattr(value, "__module__", "") == module.__name__
