"""A search shown one simulation at a time: its simulations as the interface gives them, in slices of a queue."""

import math
import time
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import State, without_compiling
from azero.interfaces.web.learn.recording import Choice, RecordingSearch, Simulation
from azero.interfaces.web.positions import Position
from azero.interfaces.web.searches.loaded import Loaded
from azero.interfaces.web.searches.queue import Job
from azero.mcts import Puct, Settings, TreeSearch, Uct
from azero.mcts.reference.search import Node
from azero.mcts.roots.visits import VisitsRoot
from azero.system.threads import SLICE_S


def plain(settings: Settings) -> Settings:
    """Returns the settings of a search that is shown: each simulation is one descent, one leaf and one backup."""
    return settings._replace(
        is_looking_ahead=False,
        proof_nodes=0,
        solve_nodes=0,
        rollout_weight=0.0,
        leaves_per_tree=1,
        visits_per_leaf=0,
        is_stopping_early=False,
        has_random_symmetry=False,
        cache_mib=0,
        root=VisitsRoot(),
    )


def recording_of(state: State, search: TreeSearch | None, c: float | None, seed: int) -> RecordingSearch:
    """Returns the recording search of a position.

    Args:
      search: whose rule, settings and net are used, by PUCT; None: UCT with rollouts, as the agent `uct` has it.
      c: the exploration constant; None: the search's own.
      seed: as an agent's: the simulations are those of its suggestion.

    Raises BadInput if the search does not select by PUCT.
    """
    seed = derive_seed(seed, "suggest")
    if search is None:
        return RecordingSearch(state, Uct() if c is None else Uct(c), Settings(), None, seed)
    rule, settings = search.selection, plain(search.settings)
    if not isinstance(rule, Puct):
        raise BadInput("this agent does not select by PUCT; choose method uct, or another agent")
    return RecordingSearch(state, rule if c is None else rule._replace(c_puct=c), settings, search.evaluator, seed)


class ShownSearch:
    """Simulations of a position, one by one.

    Attributes:
      num_terms: children in the simulations so far, which measure the length of the answer.
    """

    def __init__(self, recording: RecordingSearch):
        self.recording = recording
        self.num_terms = 0

    @property
    def rule(self) -> dict[str, Any]:
        """The selection rule: its name and constants."""
        rule = self.recording.selection
        return {"name": "uct" if isinstance(rule, Uct) else "puct", **rule._asdict()}

    def skip(self) -> bool:
        """Runs a simulation; returns whether the search goes on."""
        return self.recording.next() is not None

    def next(self) -> dict[str, Any] | None:
        """Runs a simulation and returns what it did; None if the search is over."""
        number = self.recording.root.N + 1
        done = self.recording.next()
        if done is None:
            return None
        states = [self.recording.state.clone()]
        for action in done.actions:
            states.append(states[-1].clone())
            states[-1].apply_action(action)
        self.num_terms += sum(len(choice.candidates) for choice in done.choices)
        return {
            "number": number,
            "path": [text_of(state, action) for state, action in zip(states, done.actions, strict=False)],
            "selections": [_choice(states[choice.depth], choice) for choice in done.choices],
            "expansion": _expansion(states, done),
            "evaluation": _evaluation(states[-1], done),
            "backup": _backup(states, done),
        }


def text_of(state: State, action: int) -> str:
    """Returns an action in the game's notation."""
    return state.game.action_to_text(state, action)


def _choice(state: State, choice: Choice) -> dict[str, Any]:
    return {
        "depth": choice.depth,
        "to_move": choice.player,
        "N": choice.N,
        "Q": _round(choice.Q),
        "constant": _round(choice.constant),
        "children": [
            {
                "move": text_of(state, each.action),
                "N": each.N,
                "P": _round(each.P),
                "Q": _round(each.Q),
                "U": _finite(each.U),
                "score": _finite(each.score),
                "proven": _for_mover(each.proven, choice.player),
                "is_left_out": each.is_left_out,
            }
            for each in choice.candidates
        ],
        "chosen": [each.action for each in choice.candidates].index(choice.chosen),
        "reason": choice.reason,
        "num_equal": choice.num_equal,
    }


def _expansion(states: list[State], done: Simulation) -> dict[str, Any] | None:
    if done.expanded is None:
        return None
    state = states[done.expanded]
    children = [{"move": text_of(state, action), "P": _round(P)} for action, P in sorted(done.priors.items())]
    return {"depth": done.expanded, "to_move": state.current_player(), "children": children}


def _evaluation(leaf: State, done: Simulation) -> dict[str, Any]:
    to_move = None if leaf.is_terminal() else leaf.current_player()
    return {"kind": done.kind, "to_move": to_move, "value": _round(done.value), "rollout": _rollout(leaf, done)}


def _rollout(leaf: State, done: Simulation) -> list[str] | None:
    """Returns the moves of the rollout; None if it played none, or moves that the rules of the whole game forbid."""
    if done.rollout is None:
        return None
    state, moves = leaf.clone(), list[str]()
    for action in done.rollout:
        if action not in state.legal_actions():
            return None
        moves.append(text_of(state, action))
        state.apply_action(action)
    return moves


def _backup(states: list[State], done: Simulation) -> list[dict[str, Any]]:
    """Returns the nodes of the path, the root first. W is the first player's."""
    nodes = []
    for depth, (state, before, after) in enumerate(zip(states, done.before, done.after, strict=True)):
        nodes.append(
            {
                "depth": depth,
                "chooser": states[depth - 1].current_player() if depth else None,
                "to_move": None if state.is_terminal() else state.current_player(),
                "N": [before.N, after.N],
                "W": [_round(before.W), _round(after.W)],
                "proven": [_proof(before), _proof(after)],
            }
        )
    return nodes


def _proof(node: Node) -> dict[str, int] | None:
    """Returns the first player's result and the plies to the end, if they are proven."""
    return None if node.proven is None else {"result": node.proven, "plies": node.proven_plies}


def _for_mover(proven: int | None, player: int) -> str | None:
    if proven is None:
        return None
    return ("loss", "draw", "win")[1 + (proven if player == 0 else -proven)]


def _round(number: float) -> float:
    return round(float(number), 6)


def _finite(number: float) -> float | None:
    return _round(number) if math.isfinite(number) else None


_MOST_TERMS = 60_000
"""Children in one answer, some 100 bytes each."""


@dataclass(frozen=True)
class SimulationsRequest:
    """Which simulations are wanted.

    Attributes:
      first: the number of the first one, from 1.
      count: how many.
      c: the exploration constant; None: the agent's own.
      seed: of all random choices.
      most_s: seconds after which the answer ends.
    """

    first: int
    count: int
    c: float | None
    seed: int
    most_s: float


class SimulationsJob(Job):
    """Shows simulations of a position. `answer` is what the interface gives, or the error.

    Args:
      loaded: the agent of PUCT; None: UCT.
    """

    def __init__(self, client: str, loaded: Loaded | None, position: Position, wanted: SimulationsRequest):
        super().__init__(client)
        self._loaded, self._position, self._wanted = loaded, position, wanted
        self._search: ShownSearch | None = None
        self._simulations: list[dict[str, Any]] = []
        self._spent_s = 0.0
        self.answer: Future[dict[str, Any]] = Future()

    def take(self) -> bool:
        if self._search is None and not self.answer.set_running_or_notify_cancel():
            return False
        begin = time.perf_counter()
        try:
            with without_compiling(self._position.state.game.rules):
                ended = self._go_on(begin)
            self._spent_s += time.perf_counter() - begin
            if ended is None and not self.is_stopped:
                return True
            self.answer.set_result(self._to_json(ended or "limit"))
        except BaseException as error:  # the one who waits gets it
            self.answer.set_exception(error)
        return False

    def _go_on(self, begin: float) -> str | None:
        """Runs simulations for a slice; returns why they have ended: count, proven or limit."""
        search = self._search = self._search or self._new_search()
        last = self._wanted.first + self._wanted.count - 1
        while time.perf_counter() - begin < SLICE_S:
            number = search.recording.root.N + 1
            if number > last:
                return "count"
            if self._spent_s > self._wanted.most_s or search.num_terms > _MOST_TERMS:
                return "limit"
            if number < self._wanted.first:
                if not search.skip():
                    return "proven"
                continue
            done = search.next()
            if done is None:
                return "proven"
            self._simulations.append(done)
        return None

    def _new_search(self) -> ShownSearch:
        search = None if self._loaded is None else self._loaded.made.result().new_search()
        return ShownSearch(recording_of(self._position.state.clone(), search, self._wanted.c, self._wanted.seed))

    def _to_json(self, ended: str) -> dict[str, Any]:
        assert self._search is not None
        root = self._search.recording.root
        return {
            "game": self._position.game.id,
            "moves": self._position.moves,
            "to_move": self._position.state.current_player(),
            "rule": self._search.rule,
            "seed": self._wanted.seed,
            "first": self._wanted.first,
            "num_simulations": root.N,
            "ended": ended,
            "simulations": self._simulations,
        }
