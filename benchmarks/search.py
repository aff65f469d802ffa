"""Measures searches of one position: threads, leaves that wait for the net, clocks, and alpha-beta's order of moves.

    python benchmarks/search.py threads --threads 2 --games connect_four "go(size=9)" gomoku
    python benchmarks/search.py leaves --agent "connect_four(solve_nodes=0)@800" --games 800
    python benchmarks/search.py clock --agent "uct --game connect_four" go_7x7 --clock 1s --games 400
    python benchmarks/search.py replies --game "clobber(rows=6,columns=6)" --plies 11

`threads`: the net of each game has 5 blocks of 64 channels and random weights. The bare net runs on as many threads,
with the rows in a pass that serve it best. The search has no proofs and no cache, so each simulation needs the net; its
leaves and passes are those of agents. The bare net, a search on one thread and a search on all threads take turns, and
`uct` on one thread and on all. The figures are medians of simulations a second.

`leaves`: a match. A has `FIRST_LEAVES` leaves in a new tree, one more for every `--visits-per-leaf` visits of the root,
and `--leaves` at most. B has one leaf. Both have the same net and simulations.

`clock`: a match. A manages its time. B, the same agent with the same clock, thinks about each move for the same time:
the main time divided by the own moves of a game. Quick games tell how many these are, and a quarter is added.

`replies`: positions some plies before the end of random games are solved with and without trying moves with few replies
first, in turns. The Elo differences of matches are A's, with 95 % intervals.
"""

import argparse
import random
import statistics
import threading
import time
from collections.abc import Callable
from unittest.mock import patch

import numpy as np

import azero
from azero import TimeControl, make_agent, make_game, play_match, play_timed_match
from azero.arena.agents import make
from azero.arena.agents.make import MOST_LEAVES, PASS_ROWS
from azero.arena.agents.search_agent import VISITS_PER_LEAF, SearchAgent
from azero.arena.agents.time_management import Share, TimeManager
from azero.config.schema import DeviceConfig, NetConfig
from azero.exact.solver import solve
from azero.games import Game, State
from azero.interfaces.terminal.results import show_match
from azero.mcts import Puct, Settings, TreeSearch
from azero.nets.architectures.contract import Net
from azero.nets.evaluator import NetEvaluator
from azero.nets.make import make_net
from azero.nets.runtimes.calibration import sample_positions

ROWS = (8, 16, 32, 64, 128)
SECONDS = 1.0


def rate_of(run: Callable[[float], int]) -> float:
    """Returns the evaluations or simulations a second of a run for `SECONDS`."""
    begin = time.perf_counter()
    return run(SECONDS) / (time.perf_counter() - begin)


def bare(net: Net, game: Game, rows: int, num_threads: int) -> Callable[[float], int]:
    """Returns a function that evaluates on all threads for some seconds, and returns how many positions."""
    evaluator = NetEvaluator(net, DeviceConfig(), rows, num_threads)
    planes = np.resize(sample_positions(game), (rows, *game.planes_shape))

    def run(seconds: float) -> int:
        counts, end = [0] * num_threads, time.perf_counter() + seconds

        def work(number: int) -> None:
            while time.perf_counter() < end:
                evaluator.evaluate(planes)
                counts[number] += rows

        threads = [threading.Thread(target=work, args=(number,)) for number in range(num_threads)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return sum(counts)

    run(0.1)
    return run


def searching(net: Net, game: Game, num_threads: int) -> Callable[[float], int]:
    """Returns a function that searches the initial position for some seconds, and returns how many simulations."""
    evaluator = NetEvaluator(net, DeviceConfig(), PASS_ROWS, num_threads)
    leaves = MOST_LEAVES * num_threads
    settings = Settings(
        is_proving=False, is_rollout_only=False, leaves_per_tree=leaves, visits_per_leaf=VISITS_PER_LEAF
    )
    search = TreeSearch(game, Puct(), settings, evaluator, threads_per_tree=num_threads)
    search.prepare()

    def run(seconds: float) -> int:
        search.start(0, game.new_initial_state(), seed=0)
        search.run([0], 1 << 30, seconds)
        return int(search.forest.trees.simulations[0])

    run(0.1)
    return run


def uct(game: Game, num_threads: int) -> Callable[[float], int]:
    """Returns a function that suggests a move with plain UCT for some seconds, and returns how many simulations."""
    agent = make_agent("uct(prove=false)", game, threads=num_threads)
    state = game.new_initial_state()

    def run(seconds: float) -> int:
        return agent.suggest(state, seconds=seconds).simulations

    run(0.1)
    return run


def add_threads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--games", nargs="+", default=["connect_four", "go(size=9)", "gomoku"])
    parser.add_argument("--repeats", type=int, default=5)


def measure_threads(options: argparse.Namespace) -> None:
    """A tree on several threads, as a ratio to the bare net."""
    threads = options.threads
    print(f"{'game':16}{'rows':>6}{'bare net/s':>12}{'1 thread/s':>12}{f'{threads} threads/s':>13}", end="")
    print(f"{'of the net':>12}{'uct/s':>14}{f'{threads} threads':>12}")
    for game in map(make_game, options.games):
        net = make_net(NetConfig(), game)
        rows = max(ROWS, key=lambda rows: rate_of(bare(net, game, rows, threads)))
        runs = [bare(net, game, rows, threads), *(searching(net, game, each) for each in (1, threads))]
        runs += [uct(game, each) for each in (1, threads)]
        rates = [[rate_of(run) for run in runs] for _ in range(options.repeats)]
        nets, one, several, plain, _ = (statistics.median(each) for each in zip(*rates, strict=True))
        ratio = statistics.median(each[2] / each[0] for each in rates)
        times = statistics.median(each[4] / each[3] for each in rates)
        print(f"{game!s:16}{rows:6}{nets:12,.0f}{one:12,.0f}{several:13,.0f}", end="")
        print(f"{100 * ratio:11.0f}%{plain:14,.0f}{times:11.2f}x", flush=True)


def with_leaves(agent: SearchAgent, leaves: int, visits_per_leaf: int) -> SearchAgent:
    """Lets an agent's searches collect so many leaves of a tree at a time, on one thread."""
    make.MOST_LEAVES, make.VISITS_PER_LEAF = leaves, visits_per_leaf
    make_search = agent.make_search
    agent.make_search = lambda trees, nodes, _: make_search(trees, nodes, leaves)
    agent.name = f"{agent.name} with {leaves} leaves"
    return agent


def add_leaves(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", default="connect_four(solve_nodes=0)@800")
    parser.add_argument("--leaves", type=int, default=64)
    parser.add_argument("--visits-per-leaf", type=int, nargs="+", default=[VISITS_PER_LEAF])
    parser.add_argument("--games", type=int, default=800)
    parser.add_argument("--opening-plies", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)


def measure_leaves(options: argparse.Namespace) -> None:
    """What a search loses if many leaves wait for the net, by matches."""
    for visits in options.visits_per_leaf:
        one = make_agent(options.agent, seed=options.seed + 1)
        many = with_leaves(make_agent(options.agent, seed=options.seed), options.leaves, visits)
        match = play_match(many, one, one.game, options.games, options.seed, options.opening_plies)
        print(f"{options.leaves} leaves, one per {visits} visits, against one leaf")
        print(show_match(match, None), flush=True)


LONGER = 1.25


class EqualShares(TimeManager):
    """Gives each move the same time, as long as there is enough."""

    def __init__(self, share_s: float):
        super().__init__()
        self._share_s = share_s

    def share(self, state, clock) -> Share:
        left_s = max(0.0, super().share(state, clock).planned_s)
        share_s = min(self._share_s, max(clock.main_s - 0.1 * clock.control.main_s, left_s))
        return Share(share_s, share_s)

    def has_seen_enough(self, *standing) -> bool:
        return False


def own_moves(name: str, game, opening_plies: int) -> float:
    """Returns the mean number of moves that a player makes in quick games."""
    agents = [make_agent(f"{name}@100", game, seed) for seed in (1, 2)]
    match = play_match(*agents, agents[0].game, 40, 1, opening_plies)
    return (statistics.mean(len(each.actions) for each in match.results) - opening_plies) / 2


def add_clock(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--agent", nargs="+", default=["uct --game connect_four", "go_7x7"])
    parser.add_argument("--clock", default="1s")
    parser.add_argument("--games", type=int, default=400)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--opening-plies", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)


def measure_clock(options: argparse.Namespace) -> None:
    """What managing time is worth, by matches."""
    control, plies = TimeControl.parse(options.clock), options.opening_plies
    for each in options.agent:
        name, _, game = each.partition(" --game ")
        made = make_game(game) if game else None
        managed, equal = (make_agent(name, made, options.seed + k, options.threads) for k in range(2))
        share_s = control.main_s / own_moves(name, made, plies) / LONGER
        equal.player.time_manager = EqualShares(share_s)
        managed.name, equal.name = "managed", "equal shares"
        match = play_timed_match(managed, equal, managed.game, options.games, control, options.seed, plies)
        print(f"{each}, {options.clock}, equal shares of {1000 * share_s:.0f} ms")
        print(show_match(match, None), flush=True)


CASES = (
    ("othello(size=6)", 13),
    ("othello(size=6)", 17),
    ("othello", 14),
    ("othello", 16),
    ("clobber(rows=6,columns=6)", 11),
    ("clobber", 12),
    ("amazons(rows=6,columns=6)", 24),
    ("breakthrough(size=6)", 12),
)


def position_before_the_end(game: azero.Game, plies: int, rng: random.Random) -> State:
    """Returns the position that is so many plies before the end of a random game."""
    actions: list[int] = []
    while len(actions) < plies:
        state, actions = game.new_initial_state(), []
        while not state.is_terminal():
            actions.append(rng.choice(state.legal_actions()))
            state.apply_action(actions[-1])
    state = game.new_initial_state()
    for action in actions[: len(actions) - plies]:
        state.apply_action(action)
    return state


def compare(states: list[State], limit: int) -> str:
    """Returns nodes, times and the numbers of solved positions, without and with this order of moves."""
    rules = type(states[0].game.rules)
    nodes, seconds, solved = [0, 0], [0.0, 0.0], [0, 0]
    solve(states[0], node_limit=1)  # compiles
    for state in states:
        for is_on in (False, True):
            with patch.object(rules, "is_about_mobility", is_on):
                begin = time.perf_counter()
                solution = solve(state, node_limit=limit)
            seconds[is_on] += time.perf_counter() - begin
            nodes[is_on] += solution.num_nodes
            solved[is_on] += solution.value is not None
    num, (without, with_it) = len(states), nodes
    return (
        f"{without / num:,.0f} nodes without, {with_it / num:,.0f} with it, {without / with_it:.2f} to 1; "
        f"{1000 * seconds[0] / num:.1f} and {1000 * seconds[1] / num:.1f} ms, {seconds[0] / seconds[1]:.2f} to 1; "
        f"solved {solved[0]} and {solved[1]} of {num}"
    )


def add_replies(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--game", help="only this game")
    parser.add_argument("--plies", type=int, help="plies to the end of the random games; 12 by default")
    parser.add_argument("--positions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=int, default=6_000_000, help="nodes of a search")


def measure_replies(options: argparse.Namespace) -> None:
    """What alpha-beta saves by trying moves with few replies first."""
    if options.plies is not None and options.game is None:
        raise SystemExit("--plies is for the game that --game make")
    for game, plies in [(options.game, options.plies or 12)] if options.game else CASES:
        rng = random.Random(options.seed)
        states = [position_before_the_end(azero.make_game(game), plies, rng) for _ in range(options.positions)]
        print(f"{game}, {plies} plies before the end: {compare(states, options.limit)}", flush=True)


COMMANDS = {
    "threads": (add_threads, measure_threads, "a tree on several threads, as a ratio to the bare net"),
    "leaves": (add_leaves, measure_leaves, "what a search loses if many leaves wait for the net, by matches"),
    "clock": (add_clock, measure_clock, "what managing time is worth, by matches"),
    "replies": (add_replies, measure_replies, "what alpha-beta saves by trying moves with few replies first"),
}
"""See `subcommands.py`."""


if __name__ == "__main__":
    from subcommands import run_command

    run_command(COMMANDS, __doc__)
