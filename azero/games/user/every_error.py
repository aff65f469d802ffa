"""Every error of a user's rules at once: the first one of each method, in plain Python and then of the compiler."""

import random
from collections.abc import Callable
from functools import partial
from itertools import takewhile
from typing import TypeVar

from azero.compiler.jit import IS_COMPILED
from azero.compiler.plain import plain_python
from azero.errors import BadInput
from azero.games.contract import ONGOING, Rules
from azero.games.defaults import has_own
from azero.games.user.messages import hidden_mistakes, refusals
from azero.games.user.trial import Interpreted

_NUM_GAMES = 3

_NEEDED_TO_PLAY = {"reset", "outcome", "legal_actions", "apply_action"}

Value = TypeVar("Value")


def find_errors(rules: Rules, file: str) -> list[str]:
    """Returns the errors in one line each. Methods that are fine as far as the others can call them have none."""
    name = f"{file}:{type(rules).__qualname__}"
    found: dict[str, str] = {}
    for each in hidden_mistakes(file, rules):
        found.setdefault(each.function, f"{name}.{each.function}, line {each.line}: {each.what}")
    try:
        plain = Interpreted(rules, name)
    except BadInput as error:
        return [*found.values(), str(error)]
    with plain_python():
        trial = _Trial(plain, found)
        for seed in range(_NUM_GAMES):
            trial.play(random.Random(seed))
        trial.call_others()
    if IS_COMPILED:
        for method, message in refusals(rules, name, list(found)):
            if not (line := _line_of(message)) or line not in map(_line_of, found.values()):
                found[method] = message
    return list(dict.fromkeys(found.values()))  # a method may fail because of another one


def _line_of(message: str) -> str:
    """Returns the number of the line from a message; empty if it has none."""
    return "".join(takewhile(str.isdecimal, message.partition(", line ")[2]))


class _Trial:
    """Calls the methods in plain Python, and goes on after errors as far as possible."""

    def __init__(self, plain: Interpreted, found: dict[str, str]):
        """`found` gets the first error of each method."""
        self._plain, self._found = plain, found

    def _call(self, method: str, work: Callable[[], Value]) -> Value | None:
        """Returns the result; None if it fails."""
        try:
            return work()
        except BadInput as error:
            self._found.setdefault(method, str(error))
            return None

    def play(self, chooser: random.Random) -> None:
        """Plays a random game, to the end or to an error in a method without which it cannot go on."""
        plain = self._plain
        self._call("reset", plain.reset)
        while self._found.keys().isdisjoint({"reset", "apply_action"}):
            is_first = not plain.moves
            outcome = self._call("outcome", plain.outcome)
            self._call("hash_key", plain.hash_key)
            self._call("final_score", plain.final_score)
            if outcome != ONGOING and not is_first:
                if outcome is not None and has_own(plain.rules, "ownership"):
                    self._call("ownership", plain.ownership)
                return
            self._call("current_player", plain.current_player)
            self._call("encode", plain.planes)
            legal = self._call("legal_actions", plain.legal_actions)
            if not legal:
                return
            self._call("apply_action", partial(plain.apply_action, chooser.choice(legal)))

    def call_others(self) -> None:
        """Calls the methods of rollouts and texts, if a game can be played."""
        plain = self._plain
        if self._found.keys().isdisjoint(_NEEDED_TO_PLAY):
            self._call("rollout_action", partial(plain.try_rollouts, random.Random(0)))
        if "reset" not in self._found:
            plain.reset()
            for method, work in plain.calls_of_texts().items():
                self._call(method, work)
