"""The identity of a user's sources: a digest of their syntax trees, without places and comments.

A comment or an empty line leaves the digest as it is. Fields that are empty do not count, so versions of Python that
add fields to their syntax trees give the same digest.
"""

import ast
import hashlib
import warnings
from collections.abc import Iterable
from typing import Any

_NOT_COUNTED = ("kind", "type_comment", "type_ignores")
"""Fields that are part of no program: how a text was written, and comments."""


def tree_of(text: bytes) -> ast.Module | None:
    """Returns the syntax tree of a source; None if it has none. Python warns when the source is run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def identity_of(sources: Iterable[tuple[str, bytes]]) -> str:
    """Returns a digest, 64 hex digits, of named sources. A source that is not Python counts as its bytes."""
    digest = hashlib.sha256()
    for name, text in sources:
        tree = tree_of(text)
        parts = [f"text {text!r}"] if tree is None else _words_of(tree)
        digest.update(f"source {name!r}\n".encode())
        for part in parts:
            digest.update(part.encode("utf-8", "surrogatepass") + b"\n")
    return digest.hexdigest()


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
