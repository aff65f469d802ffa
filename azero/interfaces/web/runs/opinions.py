"""What nets think of positions without a search."""

import threading
from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

import numpy as np

from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.contract import sign_of
from azero.interfaces.web.runs.folder import RunFolder

MOST_NETS = 40
"""Nets that are asked for their opinion of a position. Of more, evenly spread ones are."""

_MOST_KEPT = 4000  # opinions


class Opinion(NamedTuple):
    """A net's opinion of a position.

    Attributes:
      prior: the probability of each legal move, by its text.
      value: in [-1, 1], for the first player.
    """

    prior: dict[str, float]
    value: float


_kept: OrderedDict[tuple, Opinion] = OrderedDict()
_lock = threading.Lock()  # nets are asked one at a time, on one thread: the cores may be training


def opinions_of(path: Path, game: Game, states: list[State]) -> list[Opinion | None]:
    """Returns a net's opinions of positions; None for each if its file has vanished or is damaged."""
    try:
        stamp = path.stat()
        with _lock:
            return list(_judge(path, (stamp.st_mtime_ns, stamp.st_size), game, states))
    except (OSError, BadInput):
        return [None] * len(states)


def opinions_of_nets(run: RunFolder, state: State) -> list[dict]:
    """Returns the opinions of a run's nets of one position, the oldest net first."""
    nets = run.nets()
    if len(nets) > MOST_NETS:
        chosen = np.unique(np.linspace(0, len(nets) - 1, MOST_NETS).round().astype(int))
        nets = [nets[k] for k in chosen]
    found = [(iteration, opinions_of(path, state.game, [state])[0]) for iteration, path in nets]
    return [{"iteration": iteration, **opinion._asdict()} for iteration, opinion in found if opinion]


def _judge(path: Path, stamp: tuple[int, int], game: Game, states: list[State]) -> list[Opinion]:
    keys = [(path, stamp, state.position_key()) for state in states]
    missing = [k for k, key in enumerate(keys) if key not in _kept]
    made = {
        keys[k]: opinion for k, opinion in zip(missing, _ask(path, game, [states[k] for k in missing]), strict=True)
    }
    opinions = [made.get(key) or _kept[key] for key in keys]
    for key, opinion in zip(keys, opinions, strict=True):
        _kept[key] = opinion
        _kept.move_to_end(key)
    while len(_kept) > _MOST_KEPT:
        _kept.popitem(last=False)
    return opinions


def _ask(path: Path, game: Game, states: list[State]) -> list[Opinion]:
    if not states:
        return []
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.nets.quick import QuickNet

    net = QuickNet(read_checkpoint(path, game), DeviceConfig(device="cpu", precision="fp32"))
    logits, results = net.judge_alone(np.stack([state.planes() for state in states]))
    return [_opinion(state, logits[k], results[k]) for k, state in enumerate(states)]


def _opinion(state: State, logits: np.ndarray, results: np.ndarray) -> Opinion:
    legal = state.legal_actions()
    prior, result = _softmax(logits[legal]), _softmax(results)
    texts = [state.game.action_to_text(state, action) for action in legal]
    value = float(sign_of(state.current_player())) * float(result[0] - result[2])
    return Opinion({text: round(float(p), 4) for text, p in zip(texts, prior, strict=True)}, round(value, 4))


def _softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()
