"""OpenSpiel's positions by the keys of azero's states, and the answers to what compiled rules ask about them.

A question has the key of a position, that of the position before it, and the actions so far. A position that was asked
for lately, or that follows such a one, is there without a replay.
"""

import _thread
import ctypes
import math
import random
import threading
from array import array
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from azero.compiler.jit import for_kernels
from azero.games.contract import ONGOING
from azero.games.openspiel.library import Opened, import_openspiel
from azero.system.console import say

OUTCOME, PLAYER, LEGAL, ENCODE, ROLLOUT = range(5)
"""The questions."""

FAILED, UNANSWERED = -(1 << 62), -(1 << 61)
"""The answer if OpenSpiel raises an error, and what stands there if Ctrl-C comes before there is an answer."""

_KEPT_ACTIONS, _FEWEST_KEPT, _MOST_KEPT = 1 << 22, 1 << 11, 1 << 14
"""Positions of a generation: so many actions, if all games are as long as they can be, but not fewer and not more.

The last two generations are kept. A position of chess takes some 15 KB, one of Chinese checkers up to 90.
"""


class _Known:
    """A position, and what was found out about it: each once, and LEGAL not before somebody asks."""

    __slots__ = "_legal", "outcome", "player", "position"

    def __init__(self, position: Any, is_over: bool):
        self.position = position
        self.player = max(0, position.current_player())  # -4 if the game is over
        self.outcome = result_of(position.returns()) if is_over else ONGOING  # a game that is cut off has returns of 0
        self._legal: array | None = None

    def legal(self) -> array:
        if self._legal is None:
            self._legal = array("i", self.position.legal_actions() if self.outcome == ONGOING else [])
        return self._legal


class Positions:
    """The positions of one game, by their keys.

    Attributes:
      planes_shape: (C, H, W): OpenSpiel's observation tensor, and a last plane, 1 if player 1 is to move, else 0.
    """

    def __init__(self, opened: Opened):
        self.opened = opened
        self._pyspiel = import_openspiel(opened.name)
        self._recent: dict[int, _Known] = {}
        self._older: dict[int, _Known] = {}
        self._lock = threading.Lock()
        self._num_kept = min(_MOST_KEPT, max(_FEWEST_KEPT, _KEPT_ACTIONS // opened.max_plies))
        game = opened.game
        self._start = game.new_initial_state()  # for clones: Twixt takes a millisecond to make one
        channels, height, width = _as_planes(game.observation_tensor_shape())
        self.planes_shape = channels + 1, height, width
        self._num_inputs = math.prod(self.planes_shape)
        kind = self._pyspiel.IIGObservationType(perfect_recall=False)
        self._observation = self._pyspiel._Observation(game, game.make_observer(kind, {}))
        self._tensor = np.array(self._observation, copy=False)  # its memory

    def known(self, key: int, before: int, history: Callable[[], Sequence[int]]) -> _Known:
        """Returns a position.

        Args:
          before: the key before the last action.
          history: returns the actions that led to the position.
        """
        return self._recent.get(key) or self._add(key, before, history())

    def of_state(self, state: Any) -> Any:
        """Returns OpenSpiel's position for a state of the rules. It is shared: nobody may change it."""
        return self.known(int(state.key), int(state.before), state.history[: state.ply].tolist).position

    def planes(self, known: _Known) -> np.ndarray:
        """Returns the planes of a position, [C * H * W] float32."""
        planes = np.empty(self._num_inputs, np.float32)
        with self._lock:
            self._observation.set_from(known.position, known.player)
            planes[: len(self._tensor)] = self._tensor
        planes[len(self._tensor) :] = known.player
        return planes

    def play_out(self, known: _Known, ply: int, seed: int) -> int:
        """Returns the result of a random game from a position, which `ply` actions have led to."""
        if known.outcome != ONGOING:
            return known.outcome
        if self.opened.max_plies < self.opened.game.max_game_length():
            chooser, position = random.Random(seed), known.position.clone()
            while not position.is_terminal() and ply < self.opened.max_plies:
                position.apply_action(chooser.choice(position.legal_actions()))
                ply += 1
            return result_of(position.returns())
        players = [self._pyspiel.make_uniform_random_bot(player, seed + player) for player in range(2)]
        return result_of(self._pyspiel.evaluate_bots(known.position.clone(), players, seed))

    def _add(self, key: int, before: int, history: Sequence[int]) -> _Known:
        with self._lock:
            found = self._older.get(key)
            if found is None:
                last = self._recent.get(before) or self._older.get(before)
                position = (last.position if last and history else self._start).clone()
                for action in history[-1:] if last else history:
                    position.apply_action(action)
                found = _Known(position, position.is_terminal() or len(history) >= self.opened.max_plies)
            if len(self._recent) >= self._num_kept:
                self._older, self._recent = self._recent, {}
            self._recent[key] = found
            return found


def result_of(returns: Sequence[float]) -> int:
    """Returns WIN, DRAW or LOSS for player 0."""
    return (returns[0] > 0) - (returns[0] < 0)


def _as_planes(shape: Sequence[int]) -> tuple[int, int, int]:
    """Returns the shape of an observation tensor as planes, (C, H, W).

    A row of n * n numbers is a square board. A tensor that has no board is C planes of one cell.
    """
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    if len(shape) == 2 and math.isqrt(shape[1]) ** 2 == shape[1]:
        return shape[0], math.isqrt(shape[1]), math.isqrt(shape[1])
    return math.prod(shape), 1, 1


OPENED: list[Positions] = []
"""The games that this process has opened. The number of a game is its place."""


def _answer_kernel(number, what, given, key, before, ply, history, out, answer) -> None:
    """Answers a kernel. Actions and planes are written at the address `out`, and their number is the answer.

    The answer is written last, at the address `answer`. If Ctrl-C comes before, none is there, and the kernel asks
    again. A kernel cannot stop here, so the main thread is interrupted once more when the kernel may have returned.
    """
    try:
        found = _found(number, what, given, key, before, ply, history, out)
    except KeyboardInterrupt:
        threading.Timer(0.05, _thread.interrupt_main).start()
        return
    except Exception as error:  # it could not pass through compiled code
        say(f"OpenSpiel: {error!r}")
        found = FAILED
    ctypes.c_int64.from_address(answer).value = found


def _found(number, what, given, key, before, ply, history, out) -> int:
    """Returns the answer for a kernel, which gives the addresses of its arrays."""
    found = _asked(number, what, given, key, before, ply, lambda: (ctypes.c_int16 * ply).from_address(history)[:])
    if isinstance(found, int):
        return found
    memory = (ctypes.c_char * (4 * len(found))).from_buffer(found)  # type: ignore[arg-type]
    ctypes.memmove(out, memory, len(memory))
    return len(found)


def _answer_python(number, what, given, key, before, ply, history, out) -> int:
    """As `_answer_kernel`, for rules that run as plain Python: `history` and `out` are arrays."""
    found = _asked(number, what, int(given), int(key), int(before), int(ply), history[:ply].tolist)
    if isinstance(found, int):
        return found
    out.reshape(-1)[: len(found)] = found
    return len(found)


def _asked(number, what, given, key, before, ply, history: Callable[[], Sequence[int]]) -> int | array | np.ndarray:
    """Returns a number; actions in 32 bits for LEGAL, planes for ENCODE."""
    positions = OPENED[number]
    known = positions.known(key, before, history)
    if what == OUTCOME:
        return known.outcome
    if what == PLAYER:
        return known.player
    if what == ROLLOUT:
        return positions.play_out(known, ply, given)
    return known.legal() if what == LEGAL else positions.planes(known)


_CALLED = ctypes.CFUNCTYPE(None, *[ctypes.c_uint64] * 9)(_answer_kernel)

ask = for_kernels(
    *("azero_openspiel_answer", ctypes.cast(_CALLED, ctypes.c_void_p).value or 0, 6, 2, UNANSWERED),
    python=_answer_python,
)
"""`ask(number, what, given, key, before, ply, history, out)`, for compiled rules and for plain ones.

`given` is the seed of a ROLLOUT. `out` is the array for LEGAL and ENCODE, and any other array for other questions.
"""
