"""The trial of a user's rules when they are loaded: a few random games in plain Python, then compilation.

In plain Python, errors can name the method, the line and the actions.
"""

import functools
import math
import random
from collections.abc import Callable

import numpy as np

from azero.compiler.jit import compile_errors
from azero.compiler.plain import line_of_misfit, misfit, plain_python, store, wide_copy
from azero.compiler.rng import new_rng
from azero.errors import ACTIONS_FOUND, BadInput
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Rules
from azero.games.defaults import has_own
from azero.games.kernels import is_compiled
from azero.games.reasons import advice_on, after_actions, fails_with, place_of, short
from azero.games.state import Game, compile_rules, new_states
from azero.games.user.messages import hidden_mistakes, refusal
from azero.games.user.overflows import Overflows
from azero.games.user.timeouts import TimedOut, time_limit

MOST_ACTIONS, MOST_PLIES, MOST_STATE_BYTES, MOST_PLANES = 32767, 100_000, 1 << 24, 1 << 20

_LEAST_GAMES, _LEAST_PLIES = 3, 300


def try_out(rules: Rules, file: str, compiles: bool = True) -> None:
    """Raises BadInput, with the method and the line, if the rules break the contract in a few random games.

    Args:
      file: where the rules are now. They may have been loaded from another place with the same content.
      compiles: whether the rules are compiled, too. Otherwise nothing is: `compile_game` may do it later.
    """
    if compiles:
        _play(rules, file)  # type: ignore[arg-type]
        compile_game(Game(rules))
        return
    with plain_python():
        _play(rules, file)  # type: ignore[arg-type]


@functools.lru_cache(maxsize=None, typed=True)  # rules of two classes are equal if their parameters are
def _play(rules: Rules, file: str) -> None:
    """Plays random games in plain Python, and calls every method."""
    name = f"{file}:{type(rules).__qualname__}"
    plain = Interpreted(rules, name)
    for mistake in hidden_mistakes(file, rules):
        raise BadInput(f"{name}.{mistake.function}, line {mistake.line}: {mistake.what}")
    chooser = random.Random(0)
    games = plies = 0
    while games < _LEAST_GAMES or plies < _LEAST_PLIES:
        plain.play_at_random(chooser)
        games, plies = games + 1, plies + 1 + len(plain.moves)
    plain.try_rollouts(chooser)
    plain.try_texts()


def compile_game(game: Game) -> None:
    """Compiles a game's rules, or loads them from the cache of kernels; at once if this process has done so before.

    Raises BadInput with method, line and reason if a method of a user's game cannot be compiled.
    """
    if is_compiled(game.rules):
        return
    try:
        compile_rules(game)
    except BadInput:
        raise
    except Exception as error:  # not all errors of the compiler are NumbaErrors
        if not (name := getattr(type(game.rules), "file_name", "")):
            raise
        raise BadInput(refusal(error, game.rules, name)) from None


class Interpreted:
    """Rules run as plain Python. If they break the contract, BadInput names the method and the actions so far.

    Attributes:
      state: the position in the form of compiled rules. The methods run on a wide copy; see `wide_copy`.
      overflows: overflows of small integers. Compiled rules may have other results there.
    """

    def __init__(self, rules: Rules, name: str):
        self.rules, self.name = rules, name
        self._file = name.rpartition(":")[0]
        self.moves: list[int] = []
        self.overflows = Overflows()
        self.num_actions = self._count("num_actions", MOST_ACTIONS)
        self.max_plies = self._count("max_plies", MOST_PLIES)
        self.planes_shape = self._planes_shape()
        self.state = self._new_state()
        self._wide = wide_copy(self.state)
        self.legal = np.zeros(self.num_actions, np.int64)

    def fail(self, method: str, what: str) -> BadInput:
        """Returns the error to raise."""
        return BadInput(f"{self.name}.{method} {what}{self.overflows.note()}{after_actions(self.moves)}")

    def _returned(self, method: str, value: object, right: str) -> BadInput:
        """Returns the error to raise for a wrong result of a method."""
        hint = advice_on(type(value)) if isinstance(value, np.floating) and method != "final_score" else ""
        return self.fail(method, f"returns {short(value)}; it should be {right}{hint}")

    def call(self, method: str, *arguments):
        """Returns the result of a method. Raises BadInput if the method raises an error or does not end."""
        return self._watch(method, lambda: getattr(self.rules, method)(*arguments))

    def look_by(self, method: str, *arguments):
        """Returns the result of a method that may read the state but not change it."""
        before = self._wide.tobytes()
        value = self.call(method, self._wide, *arguments)
        if self._wide.tobytes() != before:
            raise self.fail(method, "changes the state; only reset and apply_action should")
        return value

    def _change_by(self, method: str, *arguments) -> None:
        """Calls a method that changes the state."""
        before = self._wide.copy()
        self.call(method, self._wide, *arguments)
        if not store(self._wide, self.state):
            what, self._wide = misfit(self._wide, self.state.dtype), wide_copy(self.state)
            again = functools.partial(self.call, method, before, *arguments)
            line = line_of_misfit(before, self.state.dtype, self._file, again)
            raise self.fail(method, f"fails{line}: {what}")

    def _watch(self, method: str, work: Callable):
        try:
            with time_limit(), np.errstate(over="call", call=self.overflows, divide="raise", invalid="raise"):
                return work()
        except TimedOut as error:
            raise self.fail(method, str(error)) from None
        except compile_errors() as error:  # from a subroutine
            raise BadInput(refusal(error, self.rules, self.name, method)) from None
        except (Exception, SystemExit) as error:
            raise self.fail(method, fails_with(error, place_of(error, self._file))) from None

    def _read(self, name: str):
        return self._watch(name, lambda: getattr(self.rules, name))

    def _count(self, name: str, most: int) -> int:
        value = self._read(name)
        if not _is_integer(value) or not 1 <= value <= most:
            raise self.fail(name, f"is {short(value)}; it should be an integer from 1 to {most}")
        return int(value)

    def _planes_shape(self) -> tuple[int, int, int]:
        shape = self._read("planes_shape")
        if not isinstance(shape, tuple) or len(shape) != 3 or not all(_is_integer(each) and each > 0 for each in shape):
            raise self.fail("planes_shape", f"is {short(shape)}; it should be three sizes, (planes, height, width)")
        if math.prod(map(int, shape)) > MOST_PLANES:
            raise self.fail("planes_shape", f"is {short(shape)}; at most {MOST_PLANES:,} numbers are possible")
        return shape

    def _new_state(self) -> np.record:
        dtype = self._read("state_dtype")
        if not isinstance(dtype, np.dtype) or not dtype.names:
            raise self.fail("state_dtype", f"is {short(dtype)}; it should be a structured np.dtype with named fields")
        for name in dtype.names:
            if not _is_compilable(dtype[name]):
                found = f"has a field {name!r} of dtype {dtype[name].base}"
                right = "integers, np.float32 or np.float64, in this machine's byte order"
                raise self.fail("state_dtype", f"{found}; fields should be {right}")
        if dtype.itemsize > MOST_STATE_BYTES:
            raise self.fail("state_dtype", f"takes {dtype.itemsize:,} bytes; at most {MOST_STATE_BYTES:,} are possible")
        return new_states(self.rules, 1)[0]

    def reset(self) -> None:
        """Returns to the initial position."""
        self.moves = []
        self._change_by("reset")

    def apply_action(self, action: int) -> None:
        """Plays a legal action."""
        self._change_by("apply_action", action)
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
        return self._known(method, self.look_by(method), known)

    def _known(self, method: str, value: object, known: dict[str, int]) -> int:
        if not _is_integer(value) or value not in known.values():
            *others, last = known
            raise self._returned(method, value, f"{', '.join(others)} or {last}")
        return int(value)  # type: ignore[call-overload]

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of a position at which the game is not over."""
        count = self.look_by("legal_actions", self.legal)
        if not _is_integer(count):
            raise self._returned("legal_actions", count, "the number of actions that it has written")
        if not 0 < count <= self.num_actions:
            right = f"it should find 1 to {self.num_actions}"
            raise self.fail("legal_actions", f"{ACTIONS_FOUND.format(count)}; {right}")
        actions = self.legal[:count].tolist()
        if actions != sorted(set(actions)) or actions[0] < 0 or actions[-1] >= self.num_actions:
            right = f"they should ascend, from 0 to {self.num_actions - 1}"
            raise self.fail("legal_actions", f"writes {short(actions)}; {right}")
        return actions

    def planes(self) -> np.ndarray:
        """Returns the planes that a net would see, [C, H, W] float32."""
        planes = np.full(self.planes_shape, np.nan, np.float32)
        self.look_by("encode", planes)
        if not np.isfinite(planes).all():
            place = tuple(int(each) for each in np.argwhere(~np.isfinite(planes))[0])
            raise self.fail("encode", f"does not write a finite number to planes{list(place)}")
        return planes

    def hash_key(self) -> int:
        """Returns the position's key as an unsigned integer."""
        key = self.look_by("hash_key")
        if not _is_integer(key):
            raise self._returned("hash_key", key, "a 64-bit integer")
        return int(key) & 0xFFFF_FFFF_FFFF_FFFF

    def final_score(self) -> float:
        """Returns the margin by which the first player has won."""
        score = self.look_by("final_score")
        if not isinstance(score, int | float | np.integer | np.floating) or not np.isfinite(score):
            raise self._returned("final_score", score, "a finite number")
        return float(score)

    def ownership(self) -> np.ndarray:
        """Returns the owner of each cell at the end, [H, W] int8."""
        owners = np.full(self.planes_shape[1:], ONGOING, np.int64)
        self.look_by("ownership", owners)
        if (np.abs(owners) > 1).any():
            place = [int(each) for each in np.argwhere(np.abs(owners) > 1)[0]]
            raise self.fail("ownership", f"does not write 1, 0 or -1 to owners{place}")
        return owners.astype(np.int8)

    def target(self, action: int) -> int:
        """Returns the cell where an action takes place."""
        cell = self.look_by("target", action)
        if not _is_integer(cell):
            raise self._returned("target", cell, "the number of a cell")
        return int(cell)

    def exchanged(self) -> np.record:
        """Returns the state with the players exchanged, in the form of compiled rules."""
        wide, state = self._wide.copy(), self.state.copy()
        self.call("exchange_players", wide)
        if not store(wide, state):
            raise self.fail("exchange_players", f"fails: {misfit(wide, self.state.dtype)}")
        return state

    def look(self) -> tuple[int, list[int]]:
        """Returns the outcome and the legal actions. Checks the results of the other methods too."""
        outcome = self.outcome()
        self.hash_key(), self.final_score()
        if outcome != ONGOING:
            if has_own(self.rules, "ownership"):
                self.ownership()
            return outcome, []
        self.current_player(), self.planes()
        return outcome, self.legal_actions()

    def board(self) -> str:
        """Returns the position as the game draws it; empty if it cannot."""
        try:
            with plain_python():
                return self.rules.draw(self.state, {})
        except BadInput:
            return ""

    def play_at_random(self, chooser: random.Random) -> int:
        """Plays a random game from the start to its end. Returns the outcome."""
        self.reset()
        while True:
            outcome, legal = self.look()
            if outcome != ONGOING and not self.moves:
                raise self.fail("outcome", f"returns {outcome} after reset; it should be ONGOING")
            if outcome != ONGOING:
                return outcome
            self.apply_action(chooser.choice(legal))

    def try_rollouts(self, chooser: random.Random) -> None:
        """Plays a random game and calls the game's own rollout policy and `target` at each of its positions."""
        self.reset()
        while self.outcome() == ONGOING:
            legal = self.legal_actions()
            if has_own(self.rules, "rollout_action"):
                action = self.call("rollout_action", *self._rollout_arguments(chooser))
                if not _is_integer(action) or not 0 <= action < self.num_actions:
                    raise self._returned("rollout_action", action, f"one of the legal actions {short(legal)}")
            if has_own(self.rules, "target"):
                self.target(legal[0])
            if has_own(self.rules, "exchange_players"):
                self.exchanged()
            if has_own(self.rules, "rollout"):
                outcome = self.call("rollout", *self._rollout_arguments(chooser), self.max_plies)
                self._known("rollout", outcome, {"WIN": WIN, "DRAW": DRAW, "LOSS": LOSS})
            self.apply_action(chooser.choice(legal))

    def try_texts(self) -> None:
        """Calls the methods that are never compiled."""
        self.reset()
        for call in self.calls_of_texts().values():
            call()

    def calls_of_texts(self) -> dict[str, Callable]:
        """Returns calls of the methods that are never compiled, by name. Each call checks its result."""
        rules, state = self.rules, self.state
        return {
            "symmetries": rules.symmetries,
            "exchange": rules.exchange,
            "draw": lambda: rules.draw(state, {}),
            "split_moves": lambda: rules.split_moves(""),
            **({"places": rules.places} if has_own(rules, "places") else {}),
            "action_to_text": self._try_moves,
        }

    def _try_moves(self) -> None:
        for action in self.legal_actions():
            self.rules.text_to_action(self.state, self.rules.action_to_text(self.state, action))

    def _rollout_arguments(self, chooser: random.Random) -> tuple[np.record, np.ndarray, np.record]:
        """Returns a copy of the state, an array for legal actions, and a random generator."""
        return self._wide.copy(), np.zeros(self.num_actions, np.int64), new_rng(chooser.getrandbits(63))


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer | np.bool_)


def _is_compilable(field: np.dtype) -> bool:
    """Returns whether compiled rules can use a field. Numba has no arrays of bool in records, and few floats."""
    base = field.base
    kinds = "iu" if field.shape else "iub"
    return base.isnative and (base.kind in kinds or base in (np.float32, np.float64))
