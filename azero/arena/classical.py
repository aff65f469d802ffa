"""The classical searches as agents: UCT in its documented forms, plain Monte Carlo, MMMC, alpha-beta.

uct    c, cp or k                  the constant: of Q in [-1, 1]; C_p of the UCT paper; K of Sensei's Library
       bias=ucb1|depth             UCB1, or the paper's bias that shrinks with depth
       by=visits|value|bound       what the best move is chosen by
       min_visits=N                visits of a node, before which its moves are chosen at random
       prove=true|false            whether proven results are carried up
       table=N|NMiB                a transposition table of so many entries, or of that size, in place of the tree
       rollout=own|uniform|FILE    how games are played on: the game's policy, any move, a trained policy
mc, mmmc
       rollout=...                 as above
alphabeta
       rollouts=N                  random games that judge a position at the horizon
       table=N|NMiB                its transposition table
"""

from collections.abc import Callable

from azero.arena.agents import Agent, Limit, SearchAgent
from azero.arena.alphabeta import make_alphabeta_agent
from azero.arena.options import Options
from azero.errors import BadInput
from azero.games import Game
from azero.mcts import DepthBias, FlatSearch, MinimaxSearch, Search, Settings, TableSearch, Uct, rollout_named
from azero.mcts.root import BY_VALUE, CHOSEN_BY
from azero.mcts.table import ENTRY_DTYPE, FEWEST_ENTRIES, MOST_ENTRIES

_PLAIN: dict[str, type[Search]] = {"mc": FlatSearch, "mmmc": MinimaxSearch}

CLASSICAL = ("uct", *_PLAIN, "alphabeta")
"""Agents that search without a net."""


def word_of(base: str) -> str:
    """Returns an agent's name without its options."""
    return base.partition("(")[0]


def make_classical_agent(
    name: str, base: str, game: Game, limit: Limit, seed: int, threads: int, max_nodes: int | None
) -> Agent:
    """Returns the agent of a name whose `base`, without its limit, is a word of CLASSICAL with options or without."""
    if word_of(base) == "alphabeta":
        return make_alphabeta_agent(name, Options(base), game, limit, seed)
    make_search = search_maker(base, game, threads)
    return SearchAgent(name, game, limit, lambda trees, nodes, _: make_search(trees, max_nodes or nodes), seed)


def search_maker(base: str, game: Game, threads: int = 1) -> Callable[[int, int], Search]:
    """Returns a function that is given the numbers of trees, and of nodes at most, and returns the search of a name."""
    options = Options(base)
    rollout = rollout_named(options.text("rollout") or "own", game)
    kind = _PLAIN.get(options.word, Search)
    rule = _rule(options) if kind is Search else Uct()
    settings = _settings(options) if kind is Search else Settings(is_proving=False, chosen_by=BY_VALUE)
    entries = options.memory("table", ENTRY_DTYPE.itemsize, FEWEST_ENTRIES, MOST_ENTRIES) if kind is Search else None
    options.finish()
    if entries is not None:
        return lambda trees, nodes: TableSearch(game, rule, settings, entries, trees, threads, rollout)
    return lambda trees, nodes: kind(game, rule, settings, None, trees, nodes, threads, rollout)


def _settings(options: Options) -> Settings:
    """Returns what is switched on in UCT."""
    return Settings(
        is_proving=options.choice("prove", ("true", "false")) == "true",
        chosen_by=CHOSEN_BY.index(options.choice("by", CHOSEN_BY)),
        min_visits=options.whole("min_visits", 0, 0, 1 << 30),
    )


def _rule(options: Options) -> Uct | DepthBias:
    """Returns the selection rule; its constant may be written in one of three ways."""
    is_by_depth = options.choice("bias", ("ucb1", "depth")) == "depth"
    c, C_p, K = (options.number(key, -1.0, 0.0, 10_000.0) for key in ("c", "cp", "k"))
    if sum(constant >= 0 for constant in (c, C_p, K)) > 1:
        raise BadInput(f"agent {options.base!r}: c, cp and k are one constant written in three ways: give one of them")
    if is_by_depth:
        if max(C_p, K) >= 0:
            raise BadInput(f"agent {options.base!r}: the constant of bias=depth is c")
        return DepthBias(c) if c >= 0 else DepthBias()
    if C_p >= 0:
        return Uct.of_bias(C_p)
    if K >= 0:
        return Uct.of_win_rate(K)
    return Uct(c) if c >= 0 else Uct()
