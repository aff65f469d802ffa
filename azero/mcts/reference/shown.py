"""A search shown one simulation at a time: its simulations as data that people and programs read."""

import math
from typing import Any

from azero.compiler.rng import derive_seed
from azero.errors import BadInput
from azero.games import State
from azero.mcts.reference.recording import Choice, Considered, Halving, RecordingGumbel, RecordingSearch, Simulation
from azero.mcts.reference.search import Node
from azero.mcts.rollouts.policies import OwnRollout
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.settings import Settings
from azero.mcts.search.tree_search import TreeSearch
from azero.mcts.selection import Puct, Uct


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
      search: whose rule, settings and net are used; None: UCT with rollouts, as the agent `uct` has it.
      c: the exploration constant; None: the search's own.
      seed: as an agent's: the simulations are those of its suggestion.

    Raises BadInput if the search selects neither by UCT nor by PUCT, or has another root or rollouts of its own.
    """
    seed = derive_seed(seed, "suggest")
    if search is None:
        return RecordingSearch(state, Uct() if c is None else Uct(c), Settings(), None, seed)
    return RecordingSearch(state, _rule_of(search, c), plain(search.settings), search.evaluator, seed)


def gumbel_recording_of(
    state: State, search: TreeSearch, num_simulations: int, temperature: float, c: float | None, seed: int
) -> RecordingGumbel:
    """Returns the recording search of a position with a Gumbel root, which has the default constants.

    Args: as of `recording_of` and `RecordingGumbel`.

    Raises BadInput if the search has no net, or does not select by PUCT.
    """
    rule, evaluator = _rule_of(search, c), search.evaluator
    if evaluator is None or not isinstance(rule, Puct):
        raise BadInput("a Gumbel root needs a net, and PUCT below it")
    settings = plain(search.settings)._replace(root=GumbelRoot())
    seed = derive_seed(seed, "suggest")
    return RecordingGumbel(state, rule, settings, evaluator, seed, num_simulations, temperature)


def _rule_of(search: TreeSearch, c: float | None) -> Uct | Puct:
    """Returns the rule of a search, with another constant unless `c` is None; raises BadInput if it cannot be shown."""
    rule = search.selection
    if not isinstance(rule, Uct | Puct) or type(rule) not in (Uct, Puct):
        raise BadInput("this agent selects neither by UCT nor by PUCT")
    if type(search.settings.root) is not VisitsRoot:
        raise BadInput("this agent has another root than visits; leave out its option root")
    if search.evaluator is None and not isinstance(search.rollout, OwnRollout):
        raise BadInput("this agent has rollouts of its own; only those of the rules are shown")
    if c is None:
        return rule
    return rule._replace(c=c) if isinstance(rule, Uct) else rule._replace(c_puct=c)


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
        """The selection rule: its name and constants; those of a Gumbel root as `gumbel`."""
        rule, root = self.recording.selection, self.recording.settings.root
        gumbel = {"gumbel": root._asdict()} if isinstance(root, GumbelRoot) else {}
        return {"name": "uct" if isinstance(rule, Uct) else "puct", **rule._asdict(), **gumbel}

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
        halving = {} if done.halving is None else {"halving": _halving(states[0], done.halving)}
        return {
            "number": number,
            "path": [text_of(state, action) for state, action in zip(states, done.actions, strict=False)],
            **halving,
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


def _halving(state: State, halving: Halving) -> dict[str, Any]:
    return {
        "to_move": halving.player,
        "N": halving.N,
        "visits": halving.visits,
        "num_considered": halving.num_considered,
        "children": [_considered(state, each, halving.player) for each in halving.candidates],
        "chosen": [each.action for each in halving.candidates].index(halving.chosen),
    }


def _considered(state: State, each: Considered, player: int) -> dict[str, Any]:
    return {
        "move": text_of(state, each.action),
        "N": each.N,
        **{name: _finite(getattr(each, name)) for name in ("P", "g", "logit", "Q", "sigma", "score")},
        "proven": _for_mover(each.proven, player),
        "is_nearest": each.is_nearest,
        "is_left_out": each.is_left_out,
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
