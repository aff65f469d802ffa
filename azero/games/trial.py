"""A first look at a user's rules, before anything is compiled: run as plain Python, where what is wrong can be told.

`Plain` calls the methods of rules and holds what they return to the contract. `try_out` plays a few random games with
it, and then compiles the methods; what the compiler says is told of the method and line it means.
"""

import functools
import random
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numba.core.errors import NumbaError

from azero.errors import BadInput
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Rules
from azero.games.face import Game, State, new_states
from azero.games.user_file import where
from azero.jit import kernel
from azero.rng import RNG_DTYPE

MOST_ACTIONS = 32767
PATIENCE_S = 10.0
"""Seconds that one call of a method may take."""

_NUM_GAMES = 3

_RNG_DTYPE = np.dtype([*((name, RNG_DTYPE[name]) for name in RNG_DTYPE.names or ()), ("trial", np.uint64)])
"""A generator of another type than a search's: Numba takes a record that is the beginning of another for the other."""


class _Endless(Exception):
    """A call has taken longer than anyone should wait."""


class Plain:
    """Rules run as plain Python; what breaks the contract raises BadInput that names method and actions so far."""

    def __init__(self, rules: Rules, name: str):
        self.rules, self.name = rules, name
        self.moves: list[int] = []
        self.num_actions = self._count("num_actions", MOST_ACTIONS)
        self.max_plies = self._count("max_plies", 1_000_000)
        self.planes_shape = self._planes_shape()
        self.state = self._new_state()
        self.legal = np.zeros(self.num_actions, np.int32)

    def fail(self, method: str, what: str) -> BadInput:
        """Returns the error to raise."""
        after = f" after the actions {' '.join(map(str, self.moves))}" if self.moves else ""
        return BadInput(f"{self.name}.{method} {what}{after}")

    def call(self, method: str, *arguments):
        """Returns what a method returns; raises BadInput where it raises an error or does not come to an end."""
        try:
            with _patience(), np.errstate(over="ignore"):
                return getattr(self.rules, method)(*arguments)
        except BadInput:
            raise
        except _Endless:
            raise self.fail(method, f"has not come to an end within {PATIENCE_S:g} s") from None
        except Exception as error:
            line = where(error, self.name.rpartition(":")[0])
            raise self.fail(method, f"fails{line}: {type(error).__name__}: {error}") from None

    def _count(self, name: str, most: int) -> int:
        value = self.call("__getattribute__", name)
        if not _is_integer(value) or not 1 <= value <= most:
            raise self.fail(name, f"is {value!r}; it should be an integer from 1 to {most}")
        return int(value)

    def _planes_shape(self) -> tuple[int, int, int]:
        shape = self.call("__getattribute__", "planes_shape")
        if not isinstance(shape, tuple) or len(shape) != 3 or not all(_is_integer(each) and each > 0 for each in shape):
            raise self.fail("planes_shape", f"is {shape!r}; it should be three sizes, (planes, height, width)")
        return shape

    def _new_state(self) -> np.record:
        dtype = self.call("__getattribute__", "state_dtype")
        if not isinstance(dtype, np.dtype) or not dtype.names or dtype.hasobject:
            raise self.fail("state_dtype", f"is {dtype!r}; it should be a structured np.dtype with named fields")
        return new_states(self.rules, 1)[0]

    def reset(self) -> None:
        """Goes back to the start."""
        self.moves = []
        self.call("reset", self.state)

    def apply_action(self, action: int) -> None:
        """Plays a legal action."""
        self.call("apply_action", self.state, action)
        self.moves.append(action)
        if len(self.moves) > self.max_plies:
            raise self.fail("max_plies", f"is {self.max_plies}, but a game goes on")

    def outcome(self) -> int:
        """Returns WIN, DRAW, LOSS or ONGOING."""
        return self._one_of("outcome", {"WIN": WIN, "DRAW": DRAW, "LOSS": LOSS, "ONGOING": ONGOING})

    def current_player(self) -> int:
        """Returns 0 or 1."""
        return self._one_of("current_player", {"0": 0, "1": 1})

    def _one_of(self, method: str, known: dict[str, int]) -> int:
        value = self.call(method, self.state)
        if not _is_integer(value) or value not in known.values():
            raise self.fail(method, f"returns {value!r}; it should be {', '.join(known)}")
        return int(value)

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of a position at which the game goes on."""
        count = self.call("legal_actions", self.state, self.legal)
        if not _is_integer(count):
            raise self.fail("legal_actions", f"returns {count!r}; it should be how many actions it has written")
        if not 0 < count <= self.num_actions:
            raise self.fail(
                "legal_actions", f"finds {count} actions where the game goes on; 1 to {self.num_actions} can be"
            )
        actions = self.legal[:count].tolist()
        if actions != sorted(set(actions)) or actions[0] < 0 or actions[-1] >= self.num_actions:
            raise self.fail("legal_actions", f"writes {actions}; they should ascend, from 0 to {self.num_actions - 1}")
        return actions

    def planes(self) -> np.ndarray:
        """Returns what a net would see."""
        planes = np.full(self.planes_shape, np.nan, np.float32)
        self.call("encode", self.state, planes)
        if not np.isfinite(planes).all():
            place = tuple(int(each) for each in np.argwhere(~np.isfinite(planes))[0])
            raise self.fail("encode", f"leaves planes{list(place)} unwritten, or not a finite number")
        return planes

    def hash_key(self) -> int:
        """Returns the position's key."""
        key = self.call("hash_key", self.state)
        if not _is_integer(key):
            raise self.fail("hash_key", f"returns {key!r}; it should be a 64-bit integer")
        return int(key) & 0xFFFF_FFFF_FFFF_FFFF

    def look(self) -> tuple[int, list[int]]:
        """Returns outcome and legal actions; looks at all else, too."""
        outcome = self.outcome()
        if outcome != ONGOING:
            return outcome, []
        self.current_player(), self.planes(), self.hash_key()
        return outcome, self.legal_actions()

    def play_at_random(self, chooser: random.Random) -> int:
        """Plays a random game from the start to its end; returns the outcome."""
        self.reset()
        while True:
            outcome, legal = self.look()
            if outcome != ONGOING:
                return outcome
            self.apply_action(chooser.choice(legal))


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer | np.bool_)


@contextmanager
def _patience() -> Iterator[None]:
    """Raises _Endless inside when time is up; in the main thread, where there are signals."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def ring(signum, frame):
        raise _Endless

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@functools.cache
def try_out(rules: Rules) -> None:
    """Raises BadInput, in the terms of the rules, where a few random games show that they break the contract."""
    name = type(rules).file_name  # type: ignore[attr-defined]
    plain = Plain(rules, name)
    chooser = random.Random(0)
    for _ in range(_NUM_GAMES):
        plain.play_at_random(chooser)
    plain.reset()
    compile_all(Game(rules), name)


@kernel
def _rollout_action(rules, state, legal, rng):
    return rules.rollout_action(state, legal, rng)


def rollout_action_of(state: State, seed: int) -> int:
    """Returns what the rollout policy plays; the state's record may be changed where nobody looks."""
    rng, legal = np.zeros(1, _RNG_DTYPE).view(np.recarray)[0], np.zeros(state.game.num_actions, np.int32)
    rng.counter = seed
    return int(_rollout_action(state.game.rules, state.record, legal, rng))


def compile_all(game: Game, name: str) -> None:
    """Compiles every method; raises BadInput with the method, the line and the reason where one will not."""
    try:
        state = game.new_initial_state()
        state.planes(), state.hash_key(), state.final_score()
        rollout_action_of(state, seed=0)
    except NumbaError as error:
        raise BadInput(f"{name}{_reason(str(error), name)}") from None


def _reason(message: str, name: str) -> str:
    """Returns `.method, line N, cannot be compiled: reason` from the compiler's many lines."""
    message = re.sub(r"\x1b\[[0-9;]*m", "", message)
    file = re.escape(Path(name.rpartition(":")[0]).name)
    place = re.search(rf'File "[^"]*{file}", line (\d+):\s*def (\w+)', message)
    told = message[: place.start()] if place else message
    noise = (
        "Failed in",
        "During",
        "raised from",
        "With argument",
        "Overload",
        ">>>",
        "There are",
        "Of which",
        "Rejected",
    )
    reasons = [line.strip(" -") for line in told.splitlines()]
    reasons = [line for line in reasons if line and not line.startswith(noise)] or ["it says no more"]
    reason = reasons[-1].removeprefix("TypingError: ")
    return f".{place[2]}, line {place[1]}, cannot be compiled: {reason}" if place else f" cannot be compiled: {reason}"
