"""`azero check-search`: checks the laws of a user's selection rule or root strategy, and measures its speed."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from azero.bench.rates import Measure, median_ratio, rate, rates_in_turns
from azero.compiler.rng import derive_seed
from azero.config.schema import SearchConfig
from azero.errors import BadInput
from azero.games import Game, make_game
from azero.games.names import parts_of
from azero.games.user.loading import load_class
from azero.mcts import Puct, UniformEvaluator, selection_from_config
from azero.mcts.reference.search import Reference
from azero.mcts.reference.trial import (
    GAME,
    POSITIONS,
    ROOT_LAWS,
    RULE_LAWS,
    SEED,
    TrialEvaluator,
    compile_strategy,
    new_search,
    trial_states,
    watch_search,
)
from azero.mcts.roots.gumbel import GumbelRoot
from azero.mcts.roots.strategies import users_root
from azero.mcts.roots.visits import VisitsRoot
from azero.mcts.search.analysis import SearchTree
from azero.mcts.search.search import Search, SearchResult
from azero.mcts.search.settings import Settings

_NUM_SIMULATIONS = 40
_SPEED_S = 2.0  # for each of the two strategies
_SPEED_TREES, _SPEED_SIMULATIONS = 64, 100
_ROUNDING = 2e-3  # of a policy's probabilities, which are written as counts

COMPILED = "compiled"
"""The law that compiled code searches as plain Python does."""


@dataclass
class SearchReport:
    """The result of a check. The fields are those of `--json`."""

    name: str
    kind: str  # "rule" or "root"
    nodes: int = 0  # that the search in plain Python made
    laws: dict[str, str | None] = field(default_factory=dict)  # how each law is broken; None if it is kept
    beside: str = ""  # azero's own strategy, with which the speed is compared
    speed: float | None = None  # relative to azero's own, in one run; None if a law is broken

    @property
    def broken(self) -> list[str]:
        """The names of the laws that are broken."""
        return [name for name, finding in self.laws.items() if finding]

    def to_json(self) -> dict:
        """Returns the object that `azero check-search --json` prints."""
        return asdict(self)


def check_search(name: str, tell: Callable[[str], None]) -> SearchReport:
    """Checks a selection rule or a root strategy. Calls `tell` with each line of the result as soon as it is known.

    Raises BadInput if there is none of this name, or if it lacks a method.
    """
    kind = kind_of(name)
    is_rule = kind == "rule"
    strategy: Any = selection_from_config(SearchConfig(selection=name)) if is_rule else users_root(name)
    rule, root = (strategy, VisitsRoot()) if is_rule else (Puct(), strategy)
    watch, plain = watch_search(rule, root, _NUM_SIMULATIONS, is_rule)
    report = SearchReport(name, kind, sum(len(search.tree(b)) for search, _ in plain for b in range(len(POSITIONS))))
    what = "a selection rule" if is_rule else "a root strategy"
    tell(f"{name}, {what}: {report.nodes:,} nodes of searches in {GAME}, in plain Python")

    def note(law: str, finding: str | None, remark: str = "") -> None:
        report.laws[law] = finding
        tell(f"  {law:<16} {f'BROKEN: {finding}' if finding else f'ok{remark}'}")

    for law in RULE_LAWS if is_rule else ROOT_LAWS:
        note(law, watch.broken.get(law))
    if report.broken:
        return report
    try:
        compile_strategy(strategy, is_rule)
        finding = _hold_compiled(rule, root, is_rule, plain)
    except BadInput as error:
        finding = str(error)
    note(COMPILED, finding, ": the same visits, node for node")
    if not report.broken:
        report.beside, report.speed = _measure(strategy, is_rule)
        tell(f"  {'speed':<16} {report.speed:.2f} of that of azero's {report.beside}, in one run")
    return report


def kind_of(name: str) -> str:
    """Returns whether a name is of a "rule" or a "root"; raises BadInput if it is of neither, or has no file."""
    file, class_name, _ = parts_of(name, "rule")
    if file is None:
        raise BadInput(f"{name!r} should be of the form my.py:Rule, a file of yours")
    found, _ = load_class(file, class_name, "rule")
    kinds = {"rule": "score", "root": "root_child"}
    own = [kind for kind, method in kinds.items() if hasattr(found, method)]
    if len(own) != 1:
        both = " and ".join(f"the method {kinds[kind]} of a {kind}" for kind in own)
        what = (
            f"has {both}; only one of them"
            if own
            else "has neither the method score of a rule nor root_child of a root"
        )
        raise BadInput(f"{file}:{class_name} {what}")
    return own[0]


def _hold_compiled(rule: Any, root: Any, is_rule: bool, plain: list[tuple[Search, SearchResult]]) -> str | None:
    """Returns how compiled searches differ from those in plain Python and, with a rule, from the reference; or None."""
    game = make_game(GAME)
    for temperature, (other, expected) in zip((0.0, 1.0), plain, strict=True):
        search = new_search(game, rule, root, _NUM_SIMULATIONS)
        result = search.run(trial_states(game), SEED, temperature)
        for b, moves in enumerate(POSITIONS):
            place = f"after the moves {moves}" if moves else "in the initial position"
            own, plain_tree = search.tree(b), other.tree(b)
            if not _is_same(own, plain_tree):
                return f"{place}, compiled and plain Python search differ: {_visits(own)} and {_visits(plain_tree)}"
            if not np.allclose(result.policies[b], expected.policies[b], atol=_ROUNDING):
                return f"{place}, compiled and plain Python have other targets, though their visits are equal"
            if result.actions[b] != expected.actions[b]:
                return f"{place}, compiled code plays {result.actions[b]}, plain Python {expected.actions[b]}"
            if is_rule and (fault := _differs_from_reference(game, rule, own, b)):
                return f"{place}, {fault}"
    return None


def _is_same(one: SearchTree, other: SearchTree) -> bool:
    return np.array_equal(one.action, other.action) and np.array_equal(one.N, other.N)


def _visits(tree: SearchTree) -> str:
    children = tree.children()
    return " ".join(
        f"{action}:{visits}" for action, visits in zip(tree.action[children], tree.N[children], strict=True)
    )


def _differs_from_reference(game: Game, rule: Any, tree: SearchTree, b: int) -> str | None:
    """Returns how a tree differs from that of the reference search, in the visits of the root's moves; or None."""
    state = trial_states(game)[b]
    seed = derive_seed(SEED, "position", b)
    reference = Reference(state, rule, Settings(is_rollout_only=False), TrialEvaluator(game), seed)
    for _ in range(_NUM_SIMULATIONS):
        reference.simulate()
    children = tree.children()
    own = dict(zip(tree.action[children].tolist(), tree.N[children].tolist(), strict=True))
    wanted = {child.action: child.N for child in reference.root.children}
    return None if own == wanted else f"the compiled search has the visits {own}, the reference {wanted}"


def _measure(strategy: Any, is_rule: bool) -> tuple[str, float]:
    """Returns the name of azero's own strategy, and the strategy's speed relative to it.

    Many trees are searched side by side without a net, so that hardly anything but the search takes time.
    """
    others: dict[str, Any] = {"puct": Puct(), "noise": VisitsRoot(), "gumbel": GumbelRoot()}
    name = "puct" if is_rule else "gumbel" if isinstance(strategy, GumbelRoot) else "noise"
    measures: dict[str, Measure] = {}
    for key, each in (("own", others[name]), ("user's", strategy)):
        rule, root = (each, VisitsRoot()) if is_rule else (Puct(), each)
        measures[key] = partial(rate, partial(_search, rule, root))
    rates = rates_in_turns(measures, _SPEED_S)
    return name, median_ratio(rates["user's"], rates["own"])


def _search(rule: Any, root: Any) -> int:
    """Searches in many trees; returns the number of simulations."""
    game = make_game("connect_four")
    evaluate = UniformEvaluator(game.num_actions).evaluate
    search = Search(game, evaluate, _SPEED_SIMULATIONS, settings={"look_ahead": False}, selection=rule, root=root)
    search.run([game.new_initial_state()] * _SPEED_TREES)
    return _SPEED_TREES * _SPEED_SIMULATIONS
