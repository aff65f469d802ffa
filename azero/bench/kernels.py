"""Speed of the compiled kernels on one thread: random games, UCT, PUCT. It needs no torch."""

import time
from typing import NamedTuple

import numpy as np

from azero.bench.rates import rate
from azero.compiler.rng import new_rng
from azero.errors import BrokenRules
from azero.games import Game, new_states
from azero.mcts import Puct, Settings, TreeSearch, Uct, UniformEvaluator
from azero.mcts.rollouts.playing import count_random_games
from azero.system.pace import next_size


class KernelRow(NamedTuple):
    """One measurement, on one thread."""

    what: str
    rate: float
    unit: str
    note: str


def measure_kernels(game: Game, seconds: float) -> list[KernelRow]:
    """Returns a row for each kernel."""
    return [
        KernelRow("random games", random_games(game, seconds).per_s, "games/s", ""),
        KernelRow("UCT with rollouts", uct_simulations(game, seconds), "simulations/s", "20,000 from the start"),
        KernelRow("PUCT, free evaluator", puct_simulations(game, seconds), "simulations/s", "128 trees, 64 each"),
    ]


class RandomGames(NamedTuple):
    """Random games by a game's rollout policy, on one thread.

    Attributes:
      per_s: games per second.
      plies: their mean length.
      first_wins: the share of games that the first player wins.
      draws: the share of draws.
    """

    per_s: float
    plies: float
    first_wins: float
    draws: float


def random_games(game: Game, seconds: float) -> RandomGames:
    """Plays random games for some time. Raises BrokenRules if the rules fail in a game."""
    state, rng = new_states(game.rules, 1)[0], new_rng(0)
    legal, actions = np.empty(game.num_actions, np.int32), np.zeros(game.max_plies + 1, np.int32)
    played, num, all_played = np.zeros(1, np.int64), 1, 0
    totals = np.zeros(3, np.int64)

    def work() -> int:
        nonlocal num, all_played
        begin, done = time.perf_counter(), num
        try:
            totals[:] += count_random_games(game.rules, state, legal, rng, actions, played, done)
        except Exception as error:  # of the rules
            raise _broken_again(game, actions[: played[0]]) or error from None
        num = next_size(num, time.perf_counter() - begin)
        all_played += done
        return done

    per_s = rate(work, seconds)
    plies, wins, draws = (totals / all_played).tolist()
    return RandomGames(per_s, plies, wins, draws)


def _broken_again(game: Game, actions: np.ndarray) -> BrokenRules | None:
    """Plays a game again, without the rollout policy. Returns the error, with the actions, if the rules fail again."""
    try:
        state = game.new_initial_state()
        for action in actions.tolist():
            state.apply_action(action)
    except BrokenRules as error:
        return error
    except Exception:  # the caller has a better error
        return None
    return None


def uct_simulations(game: Game, seconds: float, num_simulations: int = 20_000) -> float:
    """Returns simulations per second of plain UCT from the initial position, on one thread. Each search is new."""
    search = TreeSearch(game, Uct(), Settings(is_proving=False), max_nodes=num_simulations * game.num_actions + 1)
    state = game.new_initial_state()

    def work() -> int:
        search.start(0, state, 1)
        search.run([0], num_simulations, seconds)
        return int(search.forest.trees[0].simulations)

    return rate(work, seconds)


def puct_simulations(game: Game, seconds: float, num_trees: int = 128, num_simulations: int = 64) -> float:
    """Returns simulations per second of many PUCT trees with an evaluator that costs nothing, on one thread."""
    settings = Settings(is_looking_ahead=True)
    search = TreeSearch(game, Puct(), settings, UniformEvaluator(game.num_actions), num_trees, 1 << 13)
    state = game.new_initial_state()

    def work() -> int:
        for b in range(num_trees):
            search.start(b, state, b)
        search.run(range(num_trees), num_simulations)
        return num_trees * num_simulations

    return rate(work, seconds)
