"""The classical searches as agents: UCT in its documented forms, plain Monte Carlo, MMMC, alpha-beta.

uct    c, cp or k                  exploration constant: for Q in [-1, 1]; C_p of the UCT paper; K of Sensei's Library
       bias=ucb1|depth             UCB1, or the paper's bias that shrinks with depth
       by=visits|value|bound       how the best move is chosen
       min_visits=N                below N visits a node's moves are chosen at random
       prove=true|false            whether proven results are backed up
       table=N|NMiB                a transposition table of N entries, or of N MiB, instead of the tree
       stored_visits=N             if a table cannot store all moves: take a stored move with more than N visits
       stored_value=Q              the same for a value above Q in [-1, 1], for the mover; with both, both must be true
       root=actions|turns          moves of the root: actions, or whole turns if a turn has several actions
       rollout=own|uniform|FILE    rollout policy: the game's own, uniform, or a trained one
all    resign=Q                    resign if the value of the position, in [-1, 1], is below this
mc
       root, rollout               as above
mmmc
       keep=leaf|episode           what a simulation adds to the tree: one node, or the whole game as in the UCT paper
       rollout                     as above, with keep=leaf
alphabeta
       rollouts=N                  random games that evaluate a leaf
       table=N|NMiB                size of its transposition table
"""

from collections.abc import Callable

from azero.arena.agents.agent import Agent
from azero.arena.agents.alphabeta import make_alphabeta_agent
from azero.arena.agents.names import AgentName, Options, split_options
from azero.arena.agents.search_agent import SearchAgent
from azero.errors import BadInput
from azero.games import Game
from azero.mcts import (
    DepthBias,
    EpisodeSearch,
    FlatSearch,
    FlatTurnSearch,
    MinimaxSearch,
    RolloutPolicy,
    Settings,
    TableSearch,
    TableTurnSearch,
    TreeSearch,
    TurnSearch,
    Uct,
    affordable_nodes,
    rollout_named,
)
from azero.mcts.classical.table import ENTRY_DTYPE, FEWEST_ENTRIES, MOST_ENTRIES, StoredMoves
from azero.mcts.roots.ranking import BY_VALUE, CHOSEN_BY

SearchMaker = Callable[[int, int], TreeSearch]
"""Returns a search, given the number of trees and the node capacity of each."""

_ROOTS = ("actions", "turns")
_KEEPS = ("leaf", "episode")
_PLAIN = Settings(is_proving=False, chosen_by=BY_VALUE)


def make_classical_agent(name: AgentName, game: Game, seed: int, threads: int, max_nodes: int | None) -> Agent:
    """Returns the agent of a name whose word is in CLASSICAL; raises BadInput."""
    if name.word == "alphabeta":
        agent: Agent = make_alphabeta_agent(name, game, seed)
    else:
        make_search = search_maker(name.base, game, threads, max_nodes)
        most_trees = threads if type(make_search(1, 1)) is TreeSearch else 1
        agent = SearchAgent(
            name.text, game, name.limit, lambda trees, nodes, _: make_search(trees, nodes), seed, 1, most_trees
        )
    agent.resign_below = Options(name.base).resign_below()
    return agent


def search_maker(base: str, game: Game, threads: int = 1, max_nodes: int | None = None) -> SearchMaker:
    """Returns the function that makes the searches of a name. `max_nodes` replaces the requested capacity of a tree."""
    options, word = Options(base), split_options(base)[0]
    policy = options.text("rollout")
    threads = 1 if game.rules.calls_python else threads
    rollout = rollout_named(policy or "own", game)
    if word == "uct":
        return _uct_maker(options, game, rollout, threads, max_nodes)
    kind: type[TreeSearch]
    if word == "mc":
        kind = FlatTurnSearch if options.choice("root", _ROOTS) == "turns" else FlatSearch
    else:
        kind = EpisodeSearch if options.choice("keep", _KEEPS) == "episode" else MinimaxSearch
    options.finish()
    if kind is EpisodeSearch and policy is not None:
        raise BadInput(f"agent {base!r}: rollout has no effect with keep=episode; give only one of the two")

    def make_search(num_trees: int, nodes: int) -> TreeSearch:
        if kind is EpisodeSearch:
            nodes = max(nodes, min(nodes * game.max_plies, affordable_nodes(num_trees)))
        return kind(game, Uct(), _PLAIN, None, num_trees, max_nodes or nodes, threads, rollout)

    return make_search


def _uct_maker(
    options: Options, game: Game, rollout: RolloutPolicy, threads: int, max_nodes: int | None
) -> SearchMaker:
    """Returns the function that makes the searches of UCT, with a tree or a table."""
    selection, settings, stored = _selection(options), _settings(options), _stored_moves(options)
    has_turns = options.choice("root", _ROOTS) == "turns"
    entries = options.memory("table", ENTRY_DTYPE.itemsize, FEWEST_ENTRIES, MOST_ENTRIES)
    options.finish()
    if entries is None and stored.are_preferred:
        raise BadInput(f"agent {options.base!r}: stored_visits and stored_value need a table: add e.g. table=64MiB")
    if entries is not None:
        on_table = TableTurnSearch if has_turns else TableSearch
        return lambda trees, _: on_table(game, selection, settings, entries, trees, threads, rollout, stored)
    on_tree = TurnSearch if has_turns else TreeSearch
    return lambda trees, nodes: on_tree(game, selection, settings, None, trees, max_nodes or nodes, threads, rollout)


def _settings(options: Options) -> Settings:
    """Returns the search settings of UCT's options."""
    return Settings(
        is_proving=options.choice("prove", ("true", "false")) == "true",
        chosen_by=CHOSEN_BY.index(options.choice("by", CHOSEN_BY)),
        min_visits=options.whole("min_visits", 0, 0, 1 << 30),
    )


def _stored_moves(options: Options) -> StoredMoves:
    """Returns which stored moves are preferred; any, without the options for it."""
    visits = options.whole("stored_visits", -1, 0, 1 << 30)
    value = options.number("stored_value", -2.0, -1.0, 1.0)
    return StoredMoves(visits >= 0 or value >= -1.0, max(visits, 0), value)


def _selection(options: Options) -> Uct | DepthBias:
    """Returns the selection rule. The options `c`, `cp` and `k` are three ways to write its constant."""
    is_by_depth = options.choice("bias", ("ucb1", "depth")) == "depth"
    c, C_p, K = (options.number(key, -1.0, 0.0, 10_000.0) for key in ("c", "cp", "k"))
    if sum(constant >= 0 for constant in (c, C_p, K)) > 1:
        raise BadInput(f"agent {options.base!r}: c, cp and k are the same constant; give only one of them")
    if is_by_depth:
        if max(C_p, K) >= 0:
            raise BadInput(f"agent {options.base!r}: bias=depth takes c, not cp or k")
        return DepthBias(c) if c >= 0 else DepthBias()
    if C_p >= 0:
        return Uct.of_bias(C_p)
    if K >= 0:
        return Uct.of_win_rate(K)
    return Uct(c) if c >= 0 else Uct()
