"""Errors of the compiler in the user's terms: the method, the line and the reason."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from azero.compiler.codegen import Allocates
from azero.compiler.jit import plain_message
from azero.compiler.rng import new_rng
from azero.games.contract import Rules
from azero.games.defaults import DEFAULTS
from azero.games.reasons import in_one_line
from azero.games.state import new_states
from azero.games.user.mistakes import OWN, find_mistake

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
    (r"Untyped global name '(\w+)': .*<class 'function'>", rf"\1 is a function of plain Python: {OWN}"),
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
}


def refusal(error: Exception, rules: Rules, name: str, method: str = "") -> str:
    """Returns the message for an error of the compiler: `file.py:Name.method, line N, cannot be compiled: reason`.

    Args:
      method: the method that was called, if it is known.
    """
    file = name.rpartition(":")[0]
    known = re.search(rf'{re.escape(Path(file).name)}(?:", line |:| \()(\d+)', str(error))
    line = int(known[1]) if known else None
    method = method or _method_at(line, rules)
    if mistake := find_mistake(file, rules, method, line, isinstance(error, Allocates)):
        line, reason, method = mistake.line, mistake.what, method or mistake.function
    else:
        reason = _reason(error, rules)
    place = (f".{method}" if method else "") + (f", line {line}," if line else "")
    return f"{name}{place} cannot be compiled: {reason}"


def _method_at(line: int | None, rules: Rules) -> str:
    """Returns the method with this line, or without a line the first that cannot be compiled alone. May be empty."""
    written = [each for each in _CALLS if getattr(type(rules), each) is not DEFAULTS.get(each)]
    if line:
        functions = {each: getattr(type(rules), each) for each in written}
        codes = {each: function.__code__ for each, function in functions.items() if inspect.isfunction(function)}
        return next((each for each, code in codes.items() if line in [number for *_, number in code.co_lines()]), "")
    state, legal, planes = new_states(rules, 1)[0], np.zeros(1, np.int32), np.zeros(rules.planes_shape, np.float32)
    signature = tuple(numba.typeof(each) for each in (rules, state, legal, planes, new_rng(0)))
    for each in written:
        try:
            numba.njit(_CALLS[each]).compile(signature)
        except Exception:
            return each
    return ""


def _reason(error: Exception, rules: Rules) -> str:
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
    unknown = rf"Unknown attribute '(\w+)' of type {type(rules).__name__}\(.*"
    reason = re.sub(unknown, rf"\1 is neither a parameter nor a compiled method of game: {OWN}", reason)
    return in_one_line(reason if type(error).__module__ != "builtins" else f"{type(error).__name__}: {reason}")
