"""What a call of each compiled method costs, in positions of random games, and how many legal moves these have."""

import random
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from azero.compiler.jit import kernel
from azero.games.laws.findings import walk_game
from azero.games.state import Game, new_states

_METHODS = ("copy of the state", "legal_actions", "apply_action", "outcome", "current_player", "encode", "hash_key")
"""The copy is that of a state. The measured calls of `apply_action` make one, too."""

_MOST_POSITIONS, _MOST_BYTES = 1000, 1 << 22
_NUM_TURNS, _TURN_S = 5, 0.01


class Costs(NamedTuple):
    """Costs of a game's methods, and its numbers of legal moves.

    Attributes:
      ns: nanoseconds of one call by method, and of one copy of a state.
      mean_moves: mean number of legal moves.
      most_moves: the largest number of legal moves.
    """

    ns: dict[str, float]
    mean_moves: float
    most_moves: int


def measure_costs(game: Game, games: Sequence[Sequence[int]], chooser: random.Random) -> Costs:
    """Returns the costs in the positions of some games, all of which were played to the end."""
    numbers: list[int] = []
    records: list[np.record] = []
    actions: list[int] = []
    for each in games:
        for state, _, action in walk_game(game, list(each)):
            if action is not None:
                numbers.append(len(state.legal_actions()))
                records.append(state.record.copy())
                actions.append(action)
    most = min(_MOST_POSITIONS, max(1, _MOST_BYTES // game.rules.state_dtype.itemsize))
    chosen = chooser.sample(range(len(records)), min(most, len(records)))
    states: np.ndarray = new_states(game.rules, len(chosen))
    for k, place in enumerate(chosen):
        states[k] = records[place]
    work = np.array([actions[place] for place in chosen], np.int32), new_states(game.rules, 1)
    room = np.zeros(game.num_actions, np.int32), np.zeros(game.planes_shape, np.float32)
    ns = {name: _ns_per_call(game, number, states, *work, *room) for number, name in enumerate(_METHODS)}
    ns["apply_action"] = max(0.0, ns["apply_action"] - ns["copy of the state"])
    return Costs(ns, sum(numbers) / len(numbers), max(numbers))


def _ns_per_call(game: Game, method: int, states: np.ndarray, *arguments: np.ndarray) -> float:
    """Returns the least nanoseconds of several turns: other work on the machine only adds to them."""
    _call_each(game.rules, method, 1, states, *arguments)
    rounds, least = 1, np.inf
    for _ in range(_NUM_TURNS):
        begin = time.perf_counter()
        _call_each(game.rules, method, rounds, states, *arguments)
        elapsed = time.perf_counter() - begin
        least = min(least, elapsed / (rounds * len(states)))
        rounds = max(1, min(100 * rounds, int(rounds * _TURN_S / max(elapsed, 1e-6))))
    return 1e9 * float(least)


@kernel
def _call_each(game, method, rounds, states, actions, scratch, legal, planes):
    """Calls a method, by its number in `_METHODS`, in each position, `rounds` times; returns a digest of the results.

    Args:
      states: [n] records, positions at which the game is not over.
      actions: [n] int32, a legal action of each.
      scratch: [1] records, working memory.
      legal: [A] int32, working memory.
      planes: [C, H, W] float32, working memory.
    """
    total = np.uint64(0)
    for _ in range(rounds):
        for i in range(len(states)):
            if method == 0:
                scratch[0] = states[i]
            elif method == 1:
                total += np.uint64(game.legal_actions(states[i], legal))
            elif method == 2:
                scratch[0] = states[i]
                game.apply_action(scratch[0], np.int64(actions[i]))
            elif method == 3:
                total += np.uint64(game.outcome(states[i]))
            elif method == 4:
                total += np.uint64(game.current_player(states[i]))
            elif method == 5:
                game.encode(states[i], planes)
            else:
                total += np.uint64(game.hash_key(states[i]))
    return total
