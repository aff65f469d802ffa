"""A user's sources: the file of a game or net, and the user's own modules that it imports.

They are found and hashed without a run. Each source is read once. What is hashed is what runs. Each version of a file
imports its modules into a package of its own, named by the digest. So an import always gives the text that was hashed,
even if other games or versions have modules of the same names. Modules next to the file are found from any working
folder. Modules never run from bytecode, which may be out of date.
"""

import ast
import hashlib
import importlib.util
import io
import sys
import tokenize
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

from azero.errors import BadInput
from azero.games.names import SHORT_IDENTITY
from azero.games.reasons import PACKAGE_OF_MODULES
from azero.games.tracebacks import is_installed
from azero.games.user.identity import identity_of, tree_of
from azero.system.files import read_regular

_LARGEST = 1 << 17  # bytes of a source

_LARGEST_TOGETHER = 1 << 19  # bytes of all sources

_LONGEST = 2000  # bytes of a line; Python's parser takes the square of it for some texts

_MOST_NAMES = 2000  # of modules that may be the user's own

_DEEPEST = 20  # packages in each other

_OURS = {"azero", "llvmlite", "numba", "numpy", "torch"}  # never the user's own, wherever they are installed


class Sources:
    """The texts on disk of a user's file and of the user's own modules that it imports, directly or indirectly.

    The user's own modules are those next to the file or elsewhere on Python's path, except installed packages.

    Attributes:
      text: the file's text.
      modules: path and text of each module, by its name.
    """

    def __init__(self, file: str, kind: str = "game"):
        """Reads them. `kind` is what the file has, "game" or "net". Raises BadInput if the file cannot be read."""
        what = f"{kind} file {file!r}"
        self.text = _read(Path(file), what)
        self.modules: dict[str, tuple[Path, bytes]] = {}
        places = [Path(file).resolve().parent, *_own_places()]
        seen: set[str] = set()
        size, waiting = len(self.text), list(_imported(self.text, package=""))
        while waiting:
            name = waiting.pop()
            if name in seen or _is_library(name):
                continue
            seen.add(name)
            if path := _find(name, places):
                text = _read(path, f"module {name!r} of {what}")
                self.modules[name] = path, text
                size += len(text)
                package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                waiting += _imported(text, package)
            if len(seen) > _MOST_NAMES or size > _LARGEST_TOGETHER:
                limits = f"{_MOST_NAMES:,} names or modules of {_LARGEST_TOGETHER:,} bytes together"
                raise BadInput(f"{what} imports more than {limits}")

    @cached_property
    def identity(self) -> str:
        """The digest of all syntax trees, 64 hex digits. Comments and paths are not part of it."""
        modules = [(name, text) for name, (_, text) in sorted(self.modules.items())]
        return identity_of([("", self.text), *modules])

    @cached_property
    def digest(self) -> str:
        """The digest of all texts, 16 hex digits. Compiled code, whose errors name lines, belongs to texts."""
        digest = hashlib.sha256(self.text)
        for name, (_, text) in sorted(self.modules.items()):
            digest.update(f"\0{name}\0{len(text)}\0".encode() + text)
        return digest.hexdigest()[:16]

    def run(self, file: str, namespace: dict) -> None:
        """Runs the file's text. Its imports, and those of its modules, find what was hashed and installed packages.

        Raises what the text raises, and ImportError for a module of the user's own that no `import` names.
        """
        if _FINDER not in sys.meta_path:
            sys.meta_path.insert(0, _FINDER)
        _FINDER.sources[self._package] = self
        _FINDER.is_running = True
        try:
            exec(self.compiled(self.text, file), namespace)
        finally:
            _FINDER.is_running = False

    def forget_modules(self) -> None:
        """Makes the next import run the modules again. After an error, a module may be half initialised."""
        for name in [each for each in sys.modules if each.partition(".")[0] == self._package]:
            del sys.modules[name]

    def compiled(self, text: bytes, file: str) -> CodeType:
        """Returns the code of the file's text or of a module's. Its imports lead to the game's own package.

        The imported modules keep their names in the code. Raises SyntaxError, ValueError, RecursionError.
        """
        tree = ast.parse(text, file)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                node.names = [each for alias in node.names for each in self._private(alias)]
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module and self._has(node.module):
                node.module = f"{self._package}.{node.module}"
        return compile(tree, file, "exec", dont_inherit=True)

    def _private(self, alias: ast.alias) -> list[ast.alias]:
        """Returns what replaces `import a.b`, which imports a.b and then binds a, or `import a.b as c`."""
        if not self._has(alias.name):
            return [alias]
        top = alias.name.partition(".")[0]
        names = [alias.name] if alias.asname else dict.fromkeys((alias.name, top))
        return [ast.copy_location(ast.alias(f"{self._package}.{name}", alias.asname or top), alias) for name in names]

    def _has(self, name: str) -> bool:
        """Returns whether a module or its package is the user's own."""
        return any(each.partition(".")[0] == name.partition(".")[0] for each in self.modules)

    def made(self, digest: str) -> bool:
        """Returns whether `digest`, from a file's card, is that of these sources; see `names.is_made_with`."""
        return digest in (self.identity[:SHORT_IDENTITY], self.digest)

    @property
    def _package(self) -> str:
        return f"{PACKAGE_OF_MODULES}{self.digest}"


class _Finder:
    """Finds the user's modules of all games that were loaded, in each game's own package."""

    def __init__(self) -> None:
        self.sources: dict[str, Sources] = {}
        self.is_running = False  # whether a user's file is being run for the first time

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, rest = name.partition(".")
        if package not in self.sources:
            if self.is_running and not _is_library(name) and _find(name, _own_places()):
                raise ImportError(f"{name} is imported by a text; write `import {name}`, so that it can be checked")
            return None
        modules = self.sources[package].modules
        if rest in modules:
            file = modules[rest][0]
            loader = _Loader(name, str(file), self.sources[package])
            spec = importlib.util.spec_from_file_location(name, file, loader=loader)
            if spec is not None and file.name == "__init__.py":
                spec.submodule_search_locations = []  # no folder: Python would run modules there that were not hashed
            return spec
        if not rest or any(each.startswith(f"{rest}.") for each in modules):  # a folder without an __init__.py
            return ModuleSpec(name, None, is_package=True)
        return None


class _Loader(SourceFileLoader):
    """Runs the text that was hashed, not the file's present text."""

    def __init__(self, name: str, path: str, sources: Sources):
        super().__init__(name, path)
        self._sources = sources

    def get_code(self, fullname: str) -> CodeType:
        _, text = self._sources.modules[fullname.partition(".")[2]]
        return self._sources.compiled(text, self.path)


_FINDER = _Finder()


def _read(path: Path, what: str) -> bytes:
    """Returns the text of a source; raises BadInput.

    It may be parsed before it is trusted, so it has limits.
    """
    try:
        text = read_regular(path, _LARGEST)
        encoding, _ = tokenize.detect_encoding(io.BytesIO(text).readline)
    except (OSError, ValueError, SyntaxError) as error:
        raise BadInput(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if encoding not in ("utf-8", "utf-8-sig"):
        raise BadInput(f"{what} is written in {encoding}; it should be UTF-8")
    lines = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\\\n", b"").split(b"\n")
    if max(map(len, lines)) > _LONGEST:
        raise BadInput(f"{what} has a line of more than {_LONGEST:,} bytes")
    return text


def _imported(text: bytes, package: str) -> Iterator[str]:
    """Yields the names of all modules that a source may import, and of their packages."""
    tree = tree_of(text)
    if tree is None:  # Python shows errors when the source is run
        return
    for node in ast.walk(tree):
        names: Iterable[str] = ()
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level <= (package.count(".") + 1 if package else 0):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names = [f"{base}.{each.name}" for each in node.names]  # a module, or a name in one
        for name in names:
            yield from _with_packages(name)


def _with_packages(name: str) -> Iterator[str]:
    """Yields the names of a module's packages, then its own."""
    parts = name.split(".")[:_DEEPEST]
    yield from (".".join(parts[: k + 1]) for k in range(len(parts)))


def _is_library(name: str) -> bool:
    """Returns whether a module belongs to Python, azero, azero's requirements or an imported installed package."""
    top = name.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    return top in sys.stdlib_module_names | _OURS or (file is not None and is_installed(Path(file)))


def _own_places() -> list[Path]:
    """Returns the folders of Python's path that may contain the user's own modules."""
    return [Path(each) for each in sys.path if not is_installed(Path(each))]


def _find(name: str, places: list[Path]) -> Path | None:
    """Returns the file of a module, or None if none of these places has it."""
    stem = name.replace(".", "/")
    files = (place / each for place in places for each in (f"{stem}/__init__.py", f"{stem}.py"))
    return next((file for file in files if file.is_file()), None)
