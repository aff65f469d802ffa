"""A run's nets without a search, and how their opinion of a position changed from net to net.

Nets are opened once and asked one at a time, on one thread: the cores may be training.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from azero.arena.agents.opened import Opened
from azero.config.schema import DeviceConfig
from azero.errors import BadInput
from azero.games import Game, State
from azero.games.contract import sign_of
from azero.interfaces.web.runs.run import ShownRun
from azero.nets.runtimes.session import SessionEvaluator
from azero.runs.folder import NetFile
from azero.system.files import Stamp, stamp_of

_LARGEST = 256 << 20  # bytes of a net's file
_MOST_OPEN_BYTES = 512 << 20  # of all open nets' files
_MOST_OPINIONS = 4000
_ROWS = 32
_DEVICE = DeviceConfig(device="cpu", runtime="torch", precision="fp32")


_Key = tuple[NetFile, Stamp, str]  # the file, its version, and the game


class Opinion(NamedTuple):
    """A net's opinion of a position, in fp32.

    Attributes:
      prior: the probability of each legal move, by its text.
      value: in [-1, 1], for the first player.
    """

    prior: dict[str, float]
    value: float


class OpenNet(NamedTuple):
    """A net that is ready to run.

    Attributes:
      evaluators: with passes of one row, and of `_ROWS`.
      digest: of the contents of its file.
    """

    evaluators: dict[int, SessionEvaluator]
    digest: str


class Nets:
    """The open nets of all runs, and their opinions by the digest of the net: a copy of a file is the same net.

    Attributes:
      lock: whoever asks holds it.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.opened = Opened[_Key, OpenNet](_MOST_OPEN_BYTES)
        self._digests: OrderedDict[_Key, str] = OrderedDict()  # of nets that are open, or were
        self._opinions: OrderedDict[tuple[str, str, int | bytes], Opinion] = OrderedDict()

    def is_quick(self, file: NetFile, state: State) -> bool:
        """Returns whether a net's opinion takes milliseconds: it is known, or the net is open."""
        try:
            key = _key_of(file, state.game)
        except BadInput:
            return True  # its opinion is an error at once
        return self.opened.get(key) is not None or (self._digests.get(key, ""), *_position_of(state)) in self._opinions

    def opinions(self, file: NetFile, states: Sequence[State]) -> list[Opinion]:
        """Returns a net's opinions of positions of one game, which are not over. Call it with the lock held.

        Raises BadInput if the file has vanished or is damaged, or the net plays another game.
        """
        file_key = _key_of(file, states[0].game)
        digest = self._digests.get(file_key) or self._net(file_key, states[0].game).digest
        keys = [(digest, *_position_of(state)) for state in states]
        missing = [k for k, key in enumerate(keys) if key not in self._opinions]
        found: dict[int, Opinion] = {}
        if missing:
            net = self._net(file_key, states[0].game)
            found = dict(zip(missing, _judge(net, [states[k] for k in missing]), strict=True))
        answers = [found[k] if k in found else self._opinions[key] for k, key in enumerate(keys)]
        for key, opinion in zip(keys, answers, strict=True):
            self._opinions[key] = opinion
            self._opinions.move_to_end(key)
        while len(self._opinions) > _MOST_OPINIONS:
            self._opinions.popitem(last=False)
        return answers

    def _net(self, key: _Key, game: Game) -> OpenNet:
        file, stamp, _ = key
        net = self.opened.use(key, lambda: _open(file, game), stamp.size)
        self._digests[key] = net.digest
        while len(self._digests) > _MOST_OPINIONS:
            self._digests.popitem(last=False)
        return net


def _key_of(file: NetFile, game: Game) -> _Key:
    """Returns a net's key; raises BadInput if its file has vanished."""
    try:
        return file, stamp_of(file.path, _LARGEST), str(game)
    except OSError as error:
        raise BadInput(f"the net of iteration {file.iteration} cannot be read: {error.strerror or error}") from None


def _position_of(state: State) -> tuple[str, int | bytes]:
    return str(state.game), state.position_key()


def _open(file: NetFile, game: Game) -> OpenNet:
    # Imported here: the server starts without torch.
    from azero.nets.checkpoint_file import read_checkpoint
    from azero.nets.quick_start import QuickNet

    checkpoint = read_checkpoint(file.path, game)
    net = QuickNet(checkpoint, _DEVICE)
    return OpenNet({rows: net.evaluator(rows, 1) for rows in (1, _ROWS)}, checkpoint.digest)


def _judge(net: OpenNet, states: Sequence[State]) -> list[Opinion]:
    if not states:
        return []
    evaluator = net.evaluators[1 if len(states) == 1 else _ROWS]
    logits, values = evaluator.evaluate(np.stack([state.planes() for state in states]))
    return [_opinion(state, row, float(value)) for state, row, value in zip(states, logits, values, strict=True)]


def _opinion(state: State, logits: np.ndarray, value: float) -> Opinion:
    legal = state.legal_actions()
    weights = np.exp(logits[legal] - logits[legal].max())
    prior = (weights / weights.sum()).tolist()
    texts = [state.game.action_to_text(state, action) for action in legal]
    sign = int(sign_of(state.current_player()))
    return Opinion({text: round(p, 4) for text, p in zip(texts, prior, strict=True)}, round(sign * value, 4))


MOST_NETS = 48
"""Nets that are asked. If a run has more, evenly spaced ones are, with the first and the last."""

_PATIENCE_S = 1.0  # of a request, to open nets


def opinions_of(run: ShownRun, nets: Nets, state: State) -> dict[str, Any]:
    """Returns the opinions of a run's nets of a position, the oldest net first.

    To open a net may take a tenth of a second. So an answer may lack some: `is_whole` says whether it is the last one.
    The newest net is asked first, then others ever closer to each other.
    """
    chosen = spread(run.nets)
    opinions: list[dict[str, Any]] = []
    problems: list[str] = []
    begin, is_whole, has_opened = time.perf_counter(), True, False
    with nets.lock:
        for file in coarse_to_fine(chosen):
            if not nets.is_quick(file, state):
                if has_opened and time.perf_counter() - begin > _PATIENCE_S:
                    is_whole = False
                    continue
                has_opened = True
            try:
                (opinion,) = nets.opinions(file, [state])
                opinions.append({"iteration": file.iteration, **opinion._asdict()})
            except BadInput as error:
                problems.append(f"net {file.iteration}: {run.line_of(error)}")
    opinions.sort(key=lambda each: each["iteration"])
    return {"opinions": opinions, "nets": len(run.nets), "is_whole": is_whole, "problems": problems[:10]}


def spread(files: list[NetFile]) -> list[NetFile]:
    """Returns at most MOST_NETS of the nets, evenly spaced."""
    if len(files) <= MOST_NETS:
        return files
    step = (len(files) - 1) / (MOST_NETS - 1)
    return [files[round(k * step)] for k in range(MOST_NETS)]


def coarse_to_fine(files: list[NetFile]) -> list[NetFile]:
    """Returns the nets in an order whose beginnings are spread over all of them, the newest first."""
    newest_first = files[::-1]
    places = sorted(range(len(files)), key=lambda k: (-(k & -k) if k else -(1 << 30), k))
    return [newest_first[k] for k in places]
