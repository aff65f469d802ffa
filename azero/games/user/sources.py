"""A user's sources: the file of a game, a net or a search, and the user's own modules that it imports.

They are found, read and hashed without a run. Each source is read once: what is hashed is what runs (`loading.py`). A
digest belongs to texts, and names compiled code, whose errors name lines. An identity belongs to programs: a comment or
an empty line leaves it as it is. Trust and checkpoints go by the identity.
"""

import ast
import hashlib
import importlib.util
import io
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from azero.errors import BadInput
from azero.games.names import SHORT_IDENTITY, file_of
from azero.games.reasons import is_installed
from azero.system.files import read_regular
from azero.system.packed_files import PackedFile, PackedFiles

_LARGEST = 1 << 17  # bytes of a source

_LARGEST_TOGETHER = 1 << 19  # bytes of all sources

_LONGEST = 2000  # bytes of a line; Python's parser takes the square of it for some texts

_MOST_NAMES = 2000  # of modules that may be the user's own

_DEEPEST = 20  # packages in each other

_OURS = {"azero", "llvmlite", "numba", "numpy", "torch"}  # never the user's own, wherever they are installed

_NOT_COUNTED = ("kind", "type_comment", "type_ignores")
"""Fields of syntax trees that are part of no program: how a text was written, and comments."""


class Module(NamedTuple):
    """A module of the user's own."""

    folder: Path  # from which it is imported, as one of Python's path
    path: Path
    text: bytes


class Sources:
    """The texts on disk of a user's file and of the user's own modules that it imports, directly or indirectly.

    The user's own modules are those next to the file or elsewhere on Python's path, except installed packages.

    Attributes:
      what: names the file in errors.
      path: the file's path, resolved.
      text: the file's text.
      modules: by their names.
    """

    def __init__(self, file: str, kind: str = "game"):
        """Reads them; raises BadInput if one cannot be read.

        Args:
          kind: what the file has: "game", "net", "rule" or "root".
        """
        self._file, self._kind = file, kind
        self.what = f"{kind} file {file!r}"
        self.path = Path(file).resolve()
        self.text = _read(Path(file), self.what)
        self.modules: dict[str, Module] = {}
        folders = [self.path.parent, *own_folders()]
        seen: set[str] = set()
        size, waiting = len(self.text), list(_imported(self.text, package=""))
        while waiting:
            name = waiting.pop()
            if name in seen or is_library(name):
                continue
            seen.add(name)
            if found := find(name, folders):
                folder, path = found
                text = _read(path, f"module {name!r} of {self.what}")
                self.modules[name] = Module(folder, path, text)
                size += len(text)
                package = name if path.name == "__init__.py" else name.rpartition(".")[0]
                waiting += _imported(text, package)
            if len(seen) > _MOST_NAMES or size > _LARGEST_TOGETHER:
                limits = f"{_MOST_NAMES:,} names or modules of {_LARGEST_TOGETHER:,} bytes together"
                raise BadInput(f"{self.what} imports more than {limits}")

    @cached_property
    def identity(self) -> str:
        """The digest of all programs, 64 hex digits. Comments and paths are not part of it."""
        return identity_of_files(
            [("", self.text), *((name, module.text) for name, module in sorted(self.modules.items()))]
        )

    @cached_property
    def digest(self) -> str:
        """The digest of all texts, 16 hex digits."""
        digest = hashlib.sha256(self.text)
        for name, module in sorted(self.modules.items()):
            digest.update(f"\0{name}\0{len(module.text)}\0".encode() + module.text)
        return digest.hexdigest()[:16]

    def made(self, digest: str) -> bool:
        """Returns whether a file's card with this digest was made with these sources."""
        return digest == self.identity[:SHORT_IDENTITY]

    def packed(self) -> PackedFiles:
        """Returns the files as they were read, to be sent to another machine."""
        files = [(self._file, f"{self._kind}/{Path(self._file).name}", self.text)]
        for module, (_, path, text) in self.modules.items():
            stem = module.replace(".", "/")
            place = f"{stem}/__init__.py" if path.name == "__init__.py" else f"{stem}.py"
            files.append((str(path), f"{self._kind}/{place}", text))
        return tuple(PackedFile(path, place, hashlib.sha256(text).hexdigest(), text) for path, place, text in files)


def identity_of_files(sources: Iterable[tuple[str, bytes]]) -> str:
    """Returns a digest, 64 hex digits, of named sources. A source that is not Python counts as its bytes.

    Fields that are empty do not count, so versions of Python that add fields to syntax trees give the same digest.
    """
    digest = hashlib.sha256()
    for name, text in sources:
        tree = _tree_of(text)
        parts = [f"text {text!r}"] if tree is None else _words_of(tree)
        digest.update(f"source {name!r}\n".encode())
        for part in parts:
            digest.update(part.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


def pack_code(name: str, kind: str = "game") -> PackedFiles:
    """Returns the files of that name, to be sent to another machine; empty for azero's own.

    Raises BadInput if one cannot be read.

    Args:
      kind: what the name is of: "game", "net", "rule" or "root".
    """
    file = file_of(name, kind)
    return () if file is None else Sources(file, kind).packed()


def name_here(name: str, found: dict[str, Path], kind: str = "game") -> str:
    """Returns the name with the place of its file on this machine.

    Args:
      found: the places of files by their sender's paths, from `unpack`.
    """
    file = file_of(name, kind)
    is_same = file is None or found[file] == Path(file)
    return name if is_same else name.replace(str(file), str(found[str(file)]), 1)


def is_library(name: str) -> bool:
    """Returns whether a module belongs to Python, azero, azero's requirements or an imported installed package."""
    top = name.partition(".")[0]
    file = getattr(sys.modules.get(top), "__file__", None)
    return top in sys.stdlib_module_names | _OURS or (file is not None and is_installed(Path(file)))


def own_folders() -> list[Path]:
    """Returns the folders of Python's path that may contain the user's own modules."""
    return [Path(each) for each in sys.path if not is_installed(Path(each))]


def find(name: str, folders: list[Path]) -> tuple[Path, Path] | None:
    """Returns the folder and the file of a module, or None if none of these folders has it."""
    stem = name.replace(".", "/")
    files = ((folder, folder / each) for folder in folders for each in (f"{stem}/__init__.py", f"{stem}.py"))
    return next((found for found in files if found[1].is_file()), None)


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
    tree = _tree_of(text)
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
            parts = name.split(".")[:_DEEPEST]
            yield from (".".join(parts[: k + 1]) for k in range(len(parts)))


def _tree_of(text: bytes) -> ast.Module | None:
    """Returns the syntax tree of a source; None if it has none. Python warns when the source is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _words_of(tree: ast.AST) -> Iterable[str]:
    """Yields a syntax tree as words. Two trees that run differently give different words."""
    waiting: list[Any] = [tree]  # a stack, since a tree can be deeper than Python's own
    while waiting:
        each = waiting.pop()
        if isinstance(each, _Word):
            yield each
        elif isinstance(each, list):
            waiting += [_Word("]"), *reversed(each), _Word("[")]
        elif isinstance(each, ast.AST):
            waiting.append(_Word(")"))
            for name, value in reversed(list(ast.iter_fields(each))):
                if value is not None and value != [] and name not in _NOT_COUNTED:
                    waiting += [value, _Word(f"{name}=")]
            waiting.append(_Word(f"{type(each).__name__}("))
        else:  # decimal digits of a very large integer are an error
            yield f"int {each:x}" if type(each) is int else f"{type(each).__name__} {each!r}"


class _Word(str):
    """A word of the form, which no constant of a source can be mistaken for."""
