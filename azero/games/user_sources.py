"""A user's sources: a game's file and the user's own modules that it imports, found, and hashed, without running any.

Modules beside the file can be imported wherever azero is started from, and are run as they were hashed: anew with each
new version of the file or of one of them, and never from bytecode, which can be that of the version before.
"""

import ast
import hashlib
import importlib.util
import sys
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path

from azero.errors import BadInput

_INSTALLED = {"site-packages", "dist-packages"}


class Sources:
    """A game's file and the user's own modules that it imports, directly or not, as they stand on disk.

    The user's own are those beside the file, and elsewhere on Python's path outside of what is installed there.

    Attributes:
      text: what stands in the file.
      modules: of each module by its name, where it lies and what stands there.
    """

    def __init__(self, file: str):
        """Reads them; raises BadInput where the file cannot be read."""
        try:
            self.text = Path(file).read_bytes()
        except OSError as error:
            raise BadInput(f"game file {file!r} cannot be read: {error.strerror or error}") from None
        self.folder = Path(file).resolve().parent
        self.modules: dict[str, tuple[Path, bytes]] = {}
        waiting = list(_imported(self.text, package=""))
        while waiting:
            name = waiting.pop()
            path = None if name in self.modules or _is_library(name) else _find(name, [self.folder, *_own_places()])
            if path is not None:
                self.modules[name] = path, path.read_bytes()
                package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                waiting += _imported(self.modules[name][1], package)

    @cached_property
    def digest(self) -> str:
        """The digest of all of them; where they lie is no part of it."""
        digest = hashlib.sha256(self.text)
        for name, (_, text) in sorted(self.modules.items()):
            digest.update(f"\0{name}\0{len(text)}\0".encode() + text)
        return digest.hexdigest()[:16]

    def make_importable(self) -> None:
        """Lets the modules beside the file be imported, anew."""
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
        if str(self.folder) not in sys.path:
            sys.path.append(str(self.folder))  # for folders of modules without an __init__.py
        beside = {name: module for name, module in self.modules.items() if module[0].is_relative_to(self.folder)}
        for name in beside | _FINDER.modules:
            for each in _with_packages(name):
                sys.modules.pop(each, None)
        _FINDER.modules = beside


class _Finder:
    """Finds the modules beside a game's file, the last that was run."""

    def __init__(self) -> None:
        self.modules: dict[str, tuple[Path, bytes]] = {}

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if name not in self.modules:
            return None
        file, text = self.modules[name]
        places = [str(file.parent)] if file.name == "__init__.py" else None
        loader = _Loader(name, str(file), text)
        return importlib.util.spec_from_file_location(name, file, loader=loader, submodule_search_locations=places)


class _Loader(SourceFileLoader):
    """Runs what was read before."""

    def __init__(self, name: str, path: str, text: bytes):
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str):
        return self.source_to_code(self._text, self.path)


_FINDER = _Finder()


def _imported(text: bytes, package: str) -> Iterator[str]:
    """Yields the names of all modules that a source may import, and of the packages they are in."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are told when it is run, and so are errors
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        names: Iterable[str] = ()
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level <= (package.count(".") + 1 if package else 0):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names = [f"{base}.{each.name}" for each in node.names]  # either a module or what stands in one
        for name in names:
            yield from _with_packages(name)


def _with_packages(name: str) -> Iterator[str]:
    """Yields a module's name after those of the packages that it is in."""
    parts = name.split(".")
    yield from (".".join(parts[: k + 1]) for k in range(len(parts)))


def _is_library(name: str) -> bool:
    """Returns whether a module is Python's, azero's, or of an installed package in use."""
    top = name.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    return top in sys.stdlib_module_names or top == "azero" or (file is not None and _is_installed(Path(file)))


def _is_installed(path: Path) -> bool:
    return not _INSTALLED.isdisjoint(path.parts)


def _own_places() -> list[Path]:
    """Returns the folders of Python's path where the user's own modules can be."""
    return [Path(each) for each in sys.path if not _is_installed(Path(each))]


def _find(name: str, places: list[Path]) -> Path | None:
    """Returns the file of a module, or None where there is none in these places."""
    stem = name.replace(".", "/")
    files = (place / each for place in places for each in (f"{stem}/__init__.py", f"{stem}.py"))
    return next((file for file in files if file.is_file()), None)
