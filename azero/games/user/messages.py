"""Errors of the compiler in the user's terms: the method, the line, the reason, and what to write instead.

The compiler's own message is translated, or the mistake is found in the text of the rules.
"""

import ast
import dis
import inspect
import re
import types
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import compile_alone, plain_message
from azero.compiler.rng import new_rng
from azero.errors import Allocates
from azero.games.contract import COMPILED, Rules
from azero.games.defaults import DEFAULTS
from azero.games.reasons import in_one_line
from azero.games.registry import parameters_of
from azero.games.state import new_states

_OWN = "write your own functions outside the class, with @subroutine of azero.authoring above them"
_LOOP = "write a loop"
_TABLE = "write a tuple, or np.array(...) outside the class"
_NO_VALUE = "it can end without returning a value: write a `return` at its end"
_CELLS = "loop over its cells, or keep what you need in a field of the state"

_MAKERS = {
    "list": f"a list: {_TABLE}",
    "sorted": f"a list: {_LOOP}",
    "set": f"a set: {_TABLE}",
    "dict": f"a dict: {_TABLE}",
    "tuple": f"a tuple whose length the compiler does not know: {_LOOP}",
    "str": "text: rules can use numbers only",
}
"""Python's own functions that allocate memory: what they make, and what to write instead."""

_is_array_maker = re.compile(
    "all|any|arange|arg(sort|where)|array(_equal)?|asarray|astype|concatenate|copy|cumsum|diff|eye|flat(nonzero|ten)|"
    "(empty|full|ones|zeros)(_like)?|linspace|nonzero|repeat|roll|rot90|sort|stack|take|tile|to(bytes|list)|unique|where"
).fullmatch
"""Functions of NumPy and methods of its arrays that allocate memory."""

_NOISE = (
    r"(\w*Error: )?Failed in|During|raised from|With argument|Overload|Operator Overload|Intrinsic in|There are|"
    r"Of which|Rejected|Resolution failure|No match|Known|None$|\* |>>>|.*method_of_class"
)
_MEANINGS = (
    (r"Literal\[(\w+)\]\(.*?\)", r"\1"),
    (
        r"Can't unify return type from the following types: (.*)",
        r"it returns values of different types, \1: return one type",
    ),
    (
        r"Cannot unify (.*) for '(\w+?)(\.\d+)?', defined at .*",
        r"\2 has values of different types, \1: give it one type",
    ),
    (r"Untyped global name '(\w+)': .*<class 'function'>", rf"\1 is a function of plain Python: {_OWN}"),
    (r"Untyped global name '(\w+)': .*<class '(.*)'>", r"\1 is a \2, which the compiler does not know: use numbers"),
    (
        r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'.*",
        r"\2.\1 is unknown to the compiler: write a loop",
    ),
    (
        r"No implementation .* found for getitem\(Tuple\(.*",
        "a tuple of different types can be indexed by constants only",
    ),
    (r".*array\(pyobject.*", "an array of Python objects cannot be compiled: give it a dtype of numbers"),
    (
        r"All arguments must be Sets, got \(.*float64.*",
        "np.uint64 with a signed integer gives a float: write np.uint64(...) around it, and start from np.uint64(0)",
    ),
    (
        r"Int value is too large: .*",
        r"\g<0>; integers have 64 bits: write np.uint64(...) around those of 2**63 or more",
    ),
    (
        r"Use of unsupported opcode \(STORE_GLOBAL\) found",
        "it assigns a global name: keep everything in the state",
    ),
    (
        r"Use of unsupported opcode \((\w+)\) found",
        r"the compiler does not support this part of Python (\1): write it in a simpler way",
    ),
    (r"compiler re-entrant .*", "it calls itself: write a loop"),
)
"""Patterns of the compiler's messages, with what an author should read instead."""

_CALLS: dict[str, Callable] = {
    "reset": lambda rules, state, legal, planes, rng: rules.reset(state),
    "outcome": lambda rules, state, legal, planes, rng: rules.outcome(state),
    "current_player": lambda rules, state, legal, planes, rng: rules.current_player(state),
    "legal_actions": lambda rules, state, legal, planes, rng: rules.legal_actions(state, legal),
    "apply_action": lambda rules, state, legal, planes, rng: rules.apply_action(state, np.int64(legal[0])),
    "encode": lambda rules, state, legal, planes, rng: rules.encode(state, planes),
    "hash_key": lambda rules, state, legal, planes, rng: rules.hash_key(state),
    "final_score": lambda rules, state, legal, planes, rng: rules.final_score(state),
    "ownership": lambda rules, state, legal, planes, rng: rules.ownership(state, planes[0]),
    "rollout_action": lambda rules, state, legal, planes, rng: rules.rollout_action(state, legal, rng),
    "rollout": lambda rules, state, legal, planes, rng: rules.rollout(state, legal, rng, 1),
    "target": lambda rules, state, legal, planes, rng: rules.target(state, np.int64(legal[0])),
    "is_near_end": lambda rules, state, legal, planes, rng: rules.is_near_end(state),
    "exchange_players": lambda rules, state, legal, planes, rng: rules.exchange_players(state),
}


def refusal(error: Exception, rules: Rules, name: str, method: str = "") -> str:
    """Returns the message for an error of the compiler: `file.py:Name.method, line N, cannot be compiled: reason`.

    Args:
      method: the method that was called, if it is known. The error may be in another one that it calls.
    """
    file = name.rpartition(":")[0]
    known = re.search(rf'{re.escape(Path(file).name)}(?:", line |:| \()(\d+)', str(error))
    line = int(known[1]) if known else None
    method = (_method_at(line, rules) if line or not method else "") or method
    if mistake := find_mistake(file, rules, method, line, isinstance(error, Allocates)):
        line, reason, method = mistake.line, mistake.what, method or mistake.function
    else:
        reason = _reason(error)
    place = (f".{method}" if method else "") + (f", line {line}," if line else "")
    return f"{name}{place} cannot be compiled: {reason}"


def _method_at(line: int | None, rules: Rules) -> str:
    """Returns the method with this line, or without a line the first that cannot be compiled alone. May be empty."""
    written = _written(rules)
    if line:
        functions = {each: getattr(type(rules), each) for each in written}
        codes = {each: function.__code__ for each, function in functions.items() if inspect.isfunction(function)}
        return next((each for each, code in codes.items() if line in [number for *_, number in code.co_lines()]), "")
    return next((each for each in written if _compile_alone(rules, each)), "")


def _written(rules: Rules) -> list[str]:
    """Returns the compiled methods that the author has written."""
    return [each for each in _CALLS if getattr(type(rules), each) is not DEFAULTS.get(each)]


def _compile_alone(rules: Rules, method: str) -> Exception | None:
    """Compiles one method, with all that it calls; returns the error, if any."""
    state, legal, planes = new_states(rules, 1)[0], np.zeros(1, np.int32), np.zeros(rules.planes_shape, np.float32)
    try:
        compile_alone(_CALLS[method], (rules, state, legal, planes, new_rng(0)))
    except Exception as error:  # not all errors of the compiler are NumbaErrors
        return error
    return None


def refusals(rules: Rules, name: str, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields each written method that cannot be compiled, but the known ones, with its message as `refusal` writes it.

    The message of a method that only calls another one is about that one.
    """
    for method in _written(rules):
        if method not in known and (error := _compile_alone(rules, method)):
            yield method, refusal(error, rules, name, method)


def _reason(error: Exception) -> str:
    """Returns the reason in a compiler's error, in one line, without the compiler's own trace."""
    message = plain_message(error)
    message = re.sub(r'File "[^"]*", line \d+:\n.*?\^\s*\n', "\n", message, flags=re.DOTALL)  # excerpts of sources
    message = re.sub(r"found for signature:\s*>>>", "found for", message)
    message = re.sub(r"\.? Raised from .*", "", message)
    lines = [line.strip(" -") for line in message.splitlines()]
    lines = [line for line in lines if line and not re.match(_NOISE, line)]
    lines = [line for line in lines if re.match(r"\w*Error: ", line)] or lines or ["the compiler gives no reason"]
    reason = re.sub(r"^\w*Error: ", "", lines[0])
    for said, meant in _MEANINGS:
        reason = re.sub(said, meant, reason)
    return in_one_line(reason if type(error).__module__ != "builtins" else f"{type(error).__name__}: {reason}")


class Mistake(NamedTuple):
    """A mistake in the text of rules: what is wrong and what to write, the line of the file, and the function there."""

    what: str
    line: int
    function: str


def find_mistake(file: str, rules: Rules, method: str, line: int | None, is_of_memory: bool) -> Mistake | None:
    """Returns the first known mistake in the text of the rules, or None.

    Args:
      method: the method in which the compiler has failed; empty if that is unknown.
      line: the only line to search. If it is None, the method and the functions that it calls are searched. Without a
        method, all methods are searched.
      is_of_memory: whether to search only for allocations of memory.
    """
    reader = _Reader(rules)
    for function in _functions(file, rules, method, line):
        if line is None and not is_of_memory and reader.may_end_without_value(function):
            return Mistake(_NO_VALUE, function.lineno, function.name)
        for node in (node for statement in function.body for node in ast.walk(statement)):
            if line is not None and not getattr(node, "lineno", line + 1) <= line <= getattr(node, "end_lineno", line):
                continue
            what = reader.memory(node) or (None if is_of_memory else reader.other(node, function))
            if what:
                return Mistake(what, getattr(node, "lineno", function.lineno), function.name)
    return None


def hidden_mistakes(file: str, rules: Rules) -> Iterator[Mistake]:
    """Yields the known mistakes that the compiler accepts.

    The result of a method that ends without a value may fail in its caller. Printing takes a thousand times as long as
    the rules, and mixes with the output of a command.
    """
    reader = _Reader(rules)
    for function in _functions(file, rules, "", None):
        if function.name in COMPILED and reader.may_end_without_value(function):
            yield Mistake(_NO_VALUE, function.lineno, function.name)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                yield Mistake(f"{_short(node)} would print millions of times in a search", node.lineno, function.name)


def _functions(file: str, rules: Rules, method: str, line: int | None) -> Iterator[ast.FunctionDef]:
    """Yields the functions to search: the one around the line, or the method and the functions that it calls."""
    body = ast.parse(Path(file).read_bytes()).body
    written = {each.name: each for each in body if isinstance(each, ast.FunctionDef)}
    classes = [each for each in body if isinstance(each, ast.ClassDef) and each.name == type(rules).__qualname__]
    methods = {each.name: each for holder in classes for each in holder.body if isinstance(each, ast.FunctionDef)}
    if line is not None:
        yield from (
            each for each in (*written.values(), *methods.values()) if each.lineno <= line <= (each.end_lineno or line)
        )
        return
    compiled = [each for each in methods if each in COMPILED]
    waiting = [methods[each] for each in ([method] if method in methods else compiled)]
    for function in waiting:  # the list grows meanwhile
        yield function
        called = [each.id for each in ast.walk(function) if isinstance(each, ast.Name)]
        waiting += [written[each] for each in dict.fromkeys(called) if each in written and written[each] not in waiting]


class _Reader:
    """Says what is wrong with a node of the syntax tree of rules."""

    def __init__(self, rules: Rules):
        self._class, self._parameters = type(rules), parameters_of(type(rules))
        self._globals = inspect.unwrap(self._class.reset).__globals__
        dtype = rules.state_dtype
        self._boards = {name for name in dtype.names or () if dtype[name].shape}

    def may_end_without_value(self, function: ast.FunctionDef) -> bool:
        """Returns whether a function has values in all its `return`s, and can end without one."""
        values = [each.value for each in ast.walk(function) if isinstance(each, ast.Return)]
        found = getattr(self._class, function.name, self._globals.get(function.name))
        code = getattr(inspect.unwrap(found), "__code__", None) if found else None  # none of another's decorator
        is_said = any(each is None or "None" in ast.unparse(each) for each in values)
        if code is None or not values or is_said:
            return False
        for before, step in pairwise(dis.get_instructions(code)):  # Python has left out what nothing reaches
            value = before if step.opname == "RETURN_VALUE" else step
            is_end = step.opname in ("RETURN_VALUE", "RETURN_CONST") and value.opname in ("LOAD_CONST", "RETURN_CONST")
            if is_end and value.argval is None:
                return True
        return False

    def memory(self, node: ast.AST) -> str | None:
        """Returns how a node allocates memory, or None."""
        match node:
            case ast.ListComp() | ast.SetComp() | ast.DictComp():
                return f"{_short(node)} makes a {type(node).__name__.removesuffix('Comp').lower()}: {_LOOP}"
            case ast.GeneratorExp():
                return f"{_short(node)} makes a generator: {_LOOP}"
            case ast.List(ctx=ast.Load()) | ast.Set():
                as_tuple = ast.unparse(ast.Tuple(node.elts, ast.Load()))
                return f"{_short(node)} makes a {type(node).__name__.lower()}: write a tuple, {as_tuple}"
            case ast.Dict():
                return f"{_short(node)} makes {_MAKERS['dict']}"
            case ast.JoinedStr():
                return f"{_short(node)} makes {_MAKERS['str']}"
            case ast.Call(func=ast.Name(id=name)) if name in _MAKERS:
                return f"{_short(node)} makes {_MAKERS[name]}"
            case ast.Call(func=ast.Attribute(attr=name)) if _is_array_maker(name) and name not in vars(self._class):
                return f"{_short(node)} allocates an array, bytes or a list: {_LOOP}, or keep it in the state"
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

    def other(self, node: ast.AST, function: ast.FunctionDef) -> str | None:
        """Returns what else a node has that is Python only, or None."""
        match node:
            case ast.Try():
                return "the compiler does not support `try` here: test with `if` before"
            case ast.With() | ast.Import() | ast.ImportFrom() | ast.Delete() | ast.NamedExpr() | ast.Starred():
                return f"{_short(node)}: the compiler does not support this in a method: write it in a simpler way"
            case ast.Assign(targets=[ast.Attribute(attr=name) as field]) if name in self._boards:
                return f"{_short(node)} assigns a whole array: write {_short(field)}[:] = ..."
            case ast.Lambda() | ast.FunctionDef():
                return f"{_short(node)} is a function in a function: {_OWN}"
            case ast.Call(func=ast.Name(id=name)) if name == function.name:
                return f"{name} calls itself: {_LOOP}"
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                is_game = owner in (self._class.__qualname__, *(each.arg for each in function.args.args[:1]))
                value = getattr(self._class, name, None) if is_game and name not in self._parameters else None
                if isinstance(value, property):
                    return f"{owner}.{name} is a property, which is never compiled: compute it from the parameters"
                if callable(value) and name not in COMPILED:
                    return f"{name} is neither a parameter nor a compiled method of game: {_OWN}"
                if value is not None and not callable(value):
                    return f"{owner}.{name} is not a parameter: write it outside the class"
            case ast.Name(id=name):
                value = self._globals.get(name)
                if isinstance(value, list | set | dict):
                    return f"{name} is a {type(value).__name__}: {_TABLE}"
                if isinstance(value, np.ndarray) and value.dtype.hasobject:
                    return f"{name} is an array of dtype {value.dtype}: give it a dtype of numbers, e.g. np.int64"
                if isinstance(value, types.FunctionType) and not value.__module__.startswith("azero.compiler."):
                    return f"{name} is a function of plain Python: {_OWN}"
        return None


def _short(node: ast.AST) -> str:
    """Returns the text of a node in one line, cut to 60 characters."""
    text = ast.unparse(node).split("\n")[0].removesuffix(":")
    return text if len(text) <= 60 else f"{text[:57]}..."
