"""Common mistakes in the text of rules that the compiler does not accept, with what to write instead."""

import ast
import enum
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.games.contract import COMPILED, Rules
from azero.games.registry import parameters_of

OWN = "write your own functions outside the class, with @subroutine of azero.authoring above them"
_LOOP = "write a loop"
_TABLE = "write a tuple, or np.array(...) outside the class"
_NUMBERS = "rules can use numbers only"
_NO_VALUE = "it can end without returning a value: write a `return` at its end"
_CELLS = "loop over its cells, or keep what you need in a field of the state"
_ALLOCATES = "allocates an array, bytes or a list"

_COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}
_MAKERS = {
    "list": f"a list: {_TABLE}",
    "sorted": f"a list: {_LOOP}",
    "set": f"a set: {_TABLE}",
    "dict": f"a dict: {_TABLE}",
    "tuple": f"a tuple whose length the compiler does not know: {_LOOP}",
    "str": f"text: {_NUMBERS}",
    "repr": f"text: {_NUMBERS}",
}
"""Python's own functions that allocate memory: what they make, and what to write instead."""

_is_array_maker = re.compile(
    "all|any|arange|arg(sort|where)|array(_equal)?|asarray|astype|concatenate|copy|cumsum|diff|eye|flat(nonzero|ten)|"
    "(empty|full|ones|zeros)(_like)?|linspace|nonzero|repeat|roll|rot90|sort|stack|take|tile|to(bytes|list)|unique|where"
).fullmatch
"""Functions of NumPy and methods of its arrays that allocate memory."""


class Mistake(NamedTuple):
    """A mistake: what is wrong and what to write, the line of the file, and the function there."""

    what: str
    line: int
    function: str


def find_mistake(file: str, rules: Rules, method: str, line: int | None, is_of_memory: bool) -> Mistake | None:
    """Returns the first known mistake in the text of the rules, or None.

    Args:
      method: the method in which the compiler has failed; empty if that is unknown.
      line: the only line to search. If it is None, the method and the subroutines that it calls are searched. Without a
        method, all methods are searched.
      is_of_memory: whether to search only for allocations of memory.
    """
    module = ast.parse(Path(file).read_bytes())
    reader = _Reader(rules, is_of_memory)
    for function in _functions(module, type(rules).__qualname__, method, line):
        if line is None and not is_of_memory and _may_end_without_value(function):
            return Mistake(_NO_VALUE, function.lineno, function.name)
        for node in (node for statement in function.body for node in ast.walk(statement)):
            if (line is None or _covers(node, line)) and (what := reader.explain(node, function)):
                return Mistake(what, getattr(node, "lineno", function.lineno), function.name)
    return None


def find_hidden(file: str, rules: Rules) -> Mistake | None:
    """Returns the first known mistake that the compiler accepts, or None.

    The result of a method that ends without a value may fail in its caller. Printing takes a thousand times as long as
    the rules, and mixes with the output of a command.
    """
    module = ast.parse(Path(file).read_bytes())
    for function in _functions(module, type(rules).__qualname__, "", None):
        if function.name in COMPILED and _may_end_without_value(function):
            return Mistake(_NO_VALUE, function.lineno, function.name)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                return Mistake(f"{_short(node)} would print millions of times in a search", node.lineno, function.name)
    return None


def _covers(node: ast.AST, line: int) -> bool:
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or line)


def _functions(module: ast.Module, name: str, method: str, line: int | None) -> Iterator[ast.FunctionDef]:
    """Yields the functions to search: the one around the line, or the method and the functions that it calls."""
    written = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    of_class = [each for each in module.body if isinstance(each, ast.ClassDef) and each.name == name]
    methods = {each.name: each for body in of_class for each in body.body if isinstance(each, ast.FunctionDef)}
    if line is not None:
        around = [each for each in (*written.values(), *methods.values()) if _covers(each, line)]
        yield from around
        return
    compiled = [each for each in methods if each in COMPILED]
    waiting = [methods[each] for each in ([method] if method in methods else compiled)]
    for function in waiting:  # the list grows meanwhile
        yield function
        called = [each.id for each in ast.walk(function) if isinstance(each, ast.Name)]
        waiting += [written[each] for each in dict.fromkeys(called) if each in written and written[each] not in waiting]


def _may_end_without_value(function: ast.FunctionDef) -> bool:
    """Returns whether a function returns a value in one place and can end without one in another."""
    returns = [each for each in ast.walk(function) if isinstance(each, ast.Return) and each.value]
    return bool(returns) and not _ends(function.body)


def _ends(body: list[ast.stmt]) -> bool:
    """Returns whether the code after these statements is unreachable."""
    match body[-1] if body else None:
        case ast.Return() | ast.Raise() | ast.Assert(test=ast.Constant(value=False)):
            return True
        case ast.While(test=ast.Constant(value=test), body=inner) if test:
            return not _breaks(inner)
        case ast.For(body=inner, orelse=after) | ast.While(body=inner, orelse=after) if after:
            return _ends(after) and not _breaks(inner)
        case ast.If(body=first, orelse=second):
            return _ends(first) and _ends(second)
        case ast.Match(cases=cases):
            return all(_ends(each.body) for each in cases)
        case ast.With() | ast.Try():  # the compiler refuses these
            return True
    return False


def _breaks(body: list[ast.stmt]) -> bool:
    """Returns whether a loop with this body has a `break` of its own."""
    waiting: list[ast.AST] = [*body]
    for node in waiting:  # the list grows meanwhile
        if isinstance(node, ast.Break):
            return True
        if isinstance(node, ast.For | ast.While):
            waiting += node.orelse  # a `break` there is the outer loop's
        else:
            waiting += ast.iter_child_nodes(node)
    return False


class _Reader:
    """Finds mistakes in the syntax tree of rules."""

    def __init__(self, rules: Rules, is_of_memory: bool):
        self._class, self._parameters = type(rules), parameters_of(type(rules))
        self._is_of_memory = is_of_memory
        self._globals = self._class.reset.__globals__
        dtype = rules.state_dtype
        self._boards = {name for name in dtype.names or () if dtype[name].shape}

    def explain(self, node: ast.AST, function: ast.FunctionDef) -> str | None:
        """Returns what is wrong with a node, or None."""
        return self._memory(node) or (
            None if self._is_of_memory else self._syntax(node, function) or self._name(node, function)
        )

    def _memory(self, node: ast.AST) -> str | None:
        """Returns how a node allocates memory, or None."""
        match node:
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return f"{_short(node)} makes a {_COMPREHENSIONS[type(node)]}: {_LOOP}"
            case ast.List(ctx=ast.Load()) | ast.Set():
                as_tuple = ast.unparse(ast.Tuple(node.elts, ast.Load()))
                return f"{_short(node)} makes a {type(node).__name__.lower()}: write a tuple, {as_tuple}"
            case ast.Dict():
                return f"{_short(node)} makes a dict: {_TABLE}"
            case ast.JoinedStr():
                return f"{_short(node)} makes text: {_NUMBERS}"
            case ast.Call(func=ast.Name(id=name)) if name in _MAKERS:
                return f"{_short(node)} makes {_MAKERS[name]}"
            case ast.Call(func=ast.Attribute(attr=name)) if _is_array_maker(name) and name not in vars(self._class):
                return f"{_short(node)} {_ALLOCATES}: {_LOOP}, or keep it in the state"
            case ast.BinOp(left=left, right=right) if self._is_board(left) or self._is_board(right):
                return f"{_short(node)} makes an array: {_CELLS}"
            case ast.Compare(left=left, comparators=others) if any(map(self._is_board, (left, *others))):
                return f"{_short(node)} makes an array: {_CELLS}"
        return None

    def _is_board(self, node: ast.AST) -> bool:
        """Returns whether a node is an array of the state, or a slice of one."""
        if isinstance(node, ast.Subscript) and any(isinstance(each, ast.Slice) for each in ast.walk(node.slice)):
            return self._is_board(node.value)
        return isinstance(node, ast.Attribute) and node.attr in self._boards

    def _syntax(self, node: ast.AST, function: ast.FunctionDef) -> str | None:
        """Returns what a node uses of Python that the compiler does not support, or None."""
        match node:
            case ast.With():
                return f"{_short(node)}: the compiler does not support `with`"
            case ast.Try():
                return "the compiler does not support `try` here: test with `if` before"
            case ast.Import() | ast.ImportFrom():
                return f"{_short(node)} is inside a method: import at the top of the file"
            case ast.NamedExpr():
                return f"{_short(node)}: the compiler does not support `:=`: assign on a line of its own"
            case ast.Assign(targets=[ast.Attribute(attr=name) as field]) if name in self._boards:
                return f"{_short(node)} assigns a whole array: write {_short(field)}[:] = ..."
            case ast.Delete():
                return f"{_short(node)}: the compiler does not support `del`"
            case ast.Starred():
                return f"{_short(node)}: the compiler does not support `*` here: write the elements one by one"
            case ast.Lambda() | ast.FunctionDef():
                return f"{_short(node)} is a function in a function: {OWN}"
            case ast.Call(func=ast.Name(id=name)) if name == function.name:
                return f"{name} calls itself: {_LOOP}"
        return None

    def _name(self, node: ast.AST, function: ast.FunctionDef) -> str | None:
        """Returns what is wrong with a name that is defined outside the methods, or None."""
        match node:
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                is_game = owner in (self._class.__qualname__, *(each.arg for each in function.args.args[:1]))
                return self._of_class(owner, name) if is_game else None
            case ast.Name(id=name):
                value = self._globals.get(name)
                if isinstance(value, list | set | dict):
                    return f"{name} is a {type(value).__name__}: {_TABLE}"
                if isinstance(value, np.ndarray) and value.dtype.hasobject:
                    return f"{name} is an array of dtype {value.dtype}: give it a dtype of numbers, e.g. np.int64"
                if isinstance(value, types.FunctionType):
                    return f"{name} is a function of plain Python: {OWN}"
                is_class = isinstance(value, type) and not issubclass(value, enum.Enum)
                if is_class and value is not self._class and value.__module__ == self._class.__module__:
                    return f"{name} is a class: use an enum.IntEnum, or numbers and tuples outside it"
        return None

    def _of_class(self, owner: str, name: str) -> str | None:
        """Returns what is wrong with an attribute of the rules, or None."""
        value = getattr(self._class, name, None)
        if value is None or name in self._parameters:
            return None
        if isinstance(value, property):
            return f"{owner}.{name} is a property, which is never compiled: compute it from the parameters"
        if callable(value):
            return None
        return f"{owner}.{name} is not a parameter: write tables outside the class"


def _short(node: ast.AST) -> str:
    """Returns the text of a node in one line, cut to 60 characters."""
    text = ast.unparse(node).split("\n")[0].removesuffix(":")
    return text if len(text) <= 60 else f"{text[:57]}..."
