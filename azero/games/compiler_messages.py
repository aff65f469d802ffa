"""What the compiler says of a user's rules, in the user's terms: the method, the line, the reason."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from azero.games.contract import Rules
from azero.games.face import new_states
from azero.games.rollouts import new_rng
from azero.games.user_file import in_one_line

_NOISE = (
    r"(\w*Error: )?Failed in|During|raised from|With argument|Overload|Operator Overload|Intrinsic in|There are|"
    r"Of which|Rejected|Resolution failure|No match|Known|None$|\* |>>>|.*method_of_class"
)
_UNCOMPILED = r"Untyped global name '(\w+)': Cannot determine Numba type of <class 'function'>"
_SUBROUTINES = "functions of your own stand outside the class, below @subroutine of azero.jit"

_CALLS: dict[str, Callable] = {
    "reset": lambda rules, state, legal, planes, rng: rules.reset(state),
    "outcome": lambda rules, state, legal, planes, rng: rules.outcome(state),
    "current_player": lambda rules, state, legal, planes, rng: rules.current_player(state),
    "legal_actions": lambda rules, state, legal, planes, rng: rules.legal_actions(state, legal),
    "apply_action": lambda rules, state, legal, planes, rng: rules.apply_action(state, np.int64(0)),
    "encode": lambda rules, state, legal, planes, rng: rules.encode(state, planes),
    "hash_key": lambda rules, state, legal, planes, rng: rules.hash_key(state),
    "final_score": lambda rules, state, legal, planes, rng: rules.final_score(state),
    "ownership": lambda rules, state, legal, planes, rng: rules.ownership(state, planes[0]),
    "rollout_action": lambda rules, state, legal, planes, rng: rules.rollout_action(state, legal, rng),
    "rollout": lambda rules, state, legal, planes, rng: rules.rollout(state, legal, rng, 1),
    "target": lambda rules, state, legal, planes, rng: rules.target(state, np.int64(0)),
}


def place_of(message: str, rules: Rules, name: str) -> str:
    """Returns `.method, line N,` as far as the compiler tells the line, or the method alone, found by trying each."""
    file = re.escape(Path(name.rpartition(":")[0]).name)
    written = {each: vars(type(rules))[each] for each in _CALLS if inspect.isfunction(vars(type(rules)).get(each))}
    if told := re.search(rf'{file}(?:", line |:| \()(\d+)', message):
        line = int(told[1])
        for each, method in written.items():
            if line in [number for *_, number in method.__code__.co_lines()]:
                return f".{each}, line {line},"
        return f", line {line},"
    state, legal, planes = new_states(rules, 1)[0], np.zeros(1, np.int32), np.zeros(rules.planes_shape, np.float32)
    signature = tuple(numba.typeof(each) for each in (rules, state, legal, planes, new_rng(0)))
    for each in written:
        try:
            numba.njit(_CALLS[each]).compile(signature)
        except Exception:
            return f".{each}"
    return ""


def reason_from(error: Exception, rules: Rules) -> str:
    """Returns what a compiler's error says, in one line, without the trace of how the compiler came to it."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    message = re.sub(r'File "[^"]*", line \d+:\n.*?\^\s*\n', "\n", message, flags=re.DOTALL)  # excerpts of sources
    message = re.sub(r"found for signature:\s*>>>", "found for", message)
    message = re.sub(r"\.? Raised from .*", "", message)
    lines = [line.strip(" -") for line in message.splitlines()]
    lines = [line for line in lines if line and not re.match(_NOISE, line)]
    lines = [line for line in lines if re.match(r"\w*Error: ", line)] or lines or ["the compiler says no more"]
    reason = re.sub(r"^\w*Error: ", "", lines[0])
    reason = re.sub(_UNCOMPILED, rf"\1 is a function of plain Python; {_SUBROUTINES}", reason)
    unknown = rf"Unknown attribute '(\w+)' of type {type(rules).__name__}\(.*"
    reason = re.sub(unknown, rf"\1 is neither a parameter nor a compiled method of game; {_SUBROUTINES}", reason)
    return in_one_line(reason if type(error).__module__ != "builtins" else f"{type(error).__name__}: {reason}")
