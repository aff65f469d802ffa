"""Rules run as plain Python, where what is wrong with them can be told."""

import random
from collections.abc import Callable

import numpy as np
from numba.core.errors import NumbaError

from azero.errors import BadInput
from azero.games.compiler_messages import reason_from
from azero.games.contract import DRAW, LOSS, ONGOING, WIN, Rules
from azero.games.face import after_actions, new_states
from azero.games.patience import Endless, patience
from azero.games.rollouts import has_own, new_rng
from azero.games.user_file import reason_of, short, where

MOST_ACTIONS, MOST_PLIES = 32767, 100_000


class Plain:
    """Rules run as plain Python; what breaks the contract raises BadInput that names method and actions so far."""

    def __init__(self, rules: Rules, name: str):
        self.rules, self.name = rules, name
        self.moves: list[int] = []
        self.num_actions = self._count("num_actions", MOST_ACTIONS)
        self.max_plies = self._count("max_plies", MOST_PLIES)
        self.planes_shape = self._planes_shape()
        self.state = self._new_state()
        self.legal = np.zeros(self.num_actions, np.int32)

    def fail(self, method: str, what: str) -> BadInput:
        """Returns the error to raise."""
        return BadInput(f"{self.name}.{method} {what}{after_actions(self.moves)}")

    def call(self, method: str, *arguments):
        """Returns what a method returns; raises BadInput where it raises an error or does not come to an end."""
        return self._watch(method, lambda: getattr(self.rules, method)(*arguments))

    def look_by(self, method: str, *arguments):
        """Returns what a method returns that may look at the state, and not change it."""
        before = self.state.tobytes()
        value = self.call(method, self.state, *arguments)
        if self.state.tobytes() != before:
            raise self.fail(method, "changes the state; only reset and apply_action should")
        return value

    def _watch(self, method: str, work: Callable):
        try:
            with patience(), np.errstate(over="ignore"):
                return work()
        except BadInput:
            raise
        except Endless as error:
            raise self.fail(method, str(error)) from None
        except Exception as error:
            line = where(error, self.name.rpartition(":")[0])
            reason = reason_from(error, self.rules) if isinstance(error, NumbaError) else reason_of(error)
            raise self.fail(method, f"fails{line}: {reason}") from None

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
        return shape

    def _new_state(self) -> np.record:
        dtype = self._read("state_dtype")
        if not isinstance(dtype, np.dtype) or not dtype.names or dtype.hasobject:
            raise self.fail("state_dtype", f"is {short(dtype)}; it should be a structured np.dtype with named fields")
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
        return self._known(method, self.look_by(method), known)

    def _known(self, method: str, value: object, known: dict[str, int]) -> int:
        if not _is_integer(value) or value not in known.values():
            raise self.fail(method, f"returns {short(value)}; it should be {', '.join(known)}")
        return int(value)  # type: ignore[call-overload]

    def legal_actions(self) -> list[int]:
        """Returns the legal actions of a position at which the game goes on."""
        count = self.look_by("legal_actions", self.legal)
        if not _is_integer(count):
            raise self.fail("legal_actions", f"returns {short(count)}; it should be how many actions it has written")
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
        self.look_by("encode", planes)
        if not np.isfinite(planes).all():
            place = tuple(int(each) for each in np.argwhere(~np.isfinite(planes))[0])
            raise self.fail("encode", f"leaves planes{list(place)} unwritten, or not a finite number")
        return planes

    def hash_key(self) -> int:
        """Returns the position's key."""
        key = self.look_by("hash_key")
        if not _is_integer(key):
            raise self.fail("hash_key", f"returns {short(key)}; it should be a 64-bit integer")
        return int(key) & 0xFFFF_FFFF_FFFF_FFFF

    def final_score(self) -> float:
        """Returns by how much the first player has won."""
        score = self.look_by("final_score")
        if not isinstance(score, int | float | np.integer | np.floating) or not np.isfinite(score):
            raise self.fail("final_score", f"returns {short(score)}; it should be a finite number")
        return float(score)

    def ownership(self) -> np.ndarray:
        """Returns who holds each cell at the end, [H, W] int8."""
        owners = np.full(self.planes_shape[1:], ONGOING, np.int8)
        self.look_by("ownership", owners)
        if (np.abs(owners) > 1).any():
            place = [int(each) for each in np.argwhere(np.abs(owners) > 1)[0]]
            raise self.fail("ownership", f"leaves owners{place} unwritten, or not 1, 0 or -1")
        return owners

    def target(self, action: int) -> int:
        """Returns the cell at which an action takes place."""
        cell = self.look_by("target", action)
        if not _is_integer(cell):
            raise self.fail("target", f"returns {short(cell)}; it should be the number of a cell")
        return int(cell)

    def look(self) -> tuple[int, list[int]]:
        """Returns outcome and legal actions; looks at all else, too."""
        outcome = self.outcome()
        self.hash_key(), self.final_score()
        if outcome != ONGOING:
            if has_own(self.rules, "ownership"):
                self.ownership()
            return outcome, []
        self.current_player(), self.planes()
        return outcome, self.legal_actions()

    def play_at_random(self, chooser: random.Random) -> int:
        """Plays a random game from the start to its end; returns the outcome."""
        self.reset()
        while True:
            outcome, legal = self.look()
            if outcome != ONGOING and not self.moves:
                raise self.fail("outcome", f"returns {outcome} after reset; it should be ONGOING there")
            if outcome != ONGOING:
                return outcome
            self.apply_action(chooser.choice(legal))

    def try_rollouts(self, chooser: random.Random) -> None:
        """Plays a random game, and asks the game's own rollout policy at each position of it, and where a move is."""
        self.reset()
        while self.outcome() == ONGOING:
            legal = self.legal_actions()
            if has_own(self.rules, "rollout_action"):
                action = self.call("rollout_action", *self._rollout_arguments(chooser))
                if not _is_integer(action) or not 0 <= action < self.num_actions:
                    shown = f"{short(action)}; it should be a legal action, of {short(legal)}"
                    raise self.fail("rollout_action", f"returns {shown}")
            if has_own(self.rules, "target"):
                self.target(legal[0])
            if has_own(self.rules, "rollout"):
                outcome = self.call("rollout", *self._rollout_arguments(chooser), self.max_plies)
                self._known("rollout", outcome, {"WIN": WIN, "DRAW": DRAW, "LOSS": LOSS})
            self.apply_action(chooser.choice(legal))

    def try_texts(self) -> None:
        """Calls what is never compiled; what it returns is looked at wherever it is called."""
        self.reset()
        self.rules.symmetries(), self.rules.draw(self.state, {}), self.rules.split_moves("")
        for action in self.legal_actions():
            self.rules.text_to_action(self.state, self.rules.action_to_text(self.state, action))

    def _rollout_arguments(self, chooser: random.Random) -> tuple[np.record, np.ndarray, np.record]:
        """Returns a copy of the state, room for legal actions, and a generator."""
        copy = new_states(self.rules, 1)
        copy[0] = self.state
        return copy[0], np.zeros(self.num_actions, np.int32), new_rng(chooser.getrandbits(63))


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer | np.bool_)
