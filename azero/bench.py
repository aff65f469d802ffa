"""What this machine does in a second: kernels, nets, self-play, training. `azero bench` prints it."""

import contextlib
import json
import time
from collections.abc import Callable

import numpy as np

from azero.config import Config, find_config, load_config
from azero.errors import BrokenRules
from azero.games import Game, make_game, new_states
from azero.machine import count_cores
from azero.mcts import Evaluator, Puct, Search, Settings, Uct, UniformEvaluator, rule_from_config
from azero.mcts.pace import next_size
from azero.mcts.rollout import count_random_games
from azero.mcts.tree import new_forest


def rate(work: Callable[[], int], seconds: float) -> float:
    """Returns the units a second of `work`, which returns how many units it did; after one call to warm up."""
    work()
    done, begin = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - begin) < seconds:
        done += work()
    return done / elapsed


def random_games(game: Game, seconds: float) -> float:
    """Returns random games a second, on one thread. Raises BrokenRules, with the moves, where one cannot go on."""
    state, rng = new_states(game.rules, 1)[0], new_forest(game.rules, 1, 1).trees[0]  # a tree is a random generator
    legal, actions = np.empty(game.num_actions, np.int32), np.zeros(game.max_plies + 1, np.int32)
    num = 1

    def work() -> int:
        nonlocal num
        begin, done = time.perf_counter(), num
        try:
            count_random_games(game.rules, state, legal, rng, actions, done)
        except BrokenRules:
            play_again = game.new_initial_state()
            for action in actions:
                play_again.apply_action(int(action))  # fails, and knows the moves
            raise
        num = next_size(num, time.perf_counter() - begin)
        return done

    return rate(work, seconds)


def uct_simulations(game: Game, seconds: float, num_simulations: int = 20_000) -> float:
    """Returns simulations a second of plain UCT from the start of the game, on one thread, each search a new tree."""
    search = Search(game, Uct(), Settings(is_proving=False), max_nodes=num_simulations * game.num_actions + 1)
    state = game.new_initial_state()

    def work() -> int:
        search.start(0, state, 1)
        search.run([0], num_simulations, seconds)
        return int(search.forest.trees[0].simulations)

    return rate(work, seconds)


def puct_simulations(game: Game, seconds: float, num_trees: int = 128, num_simulations: int = 64) -> float:
    """Returns simulations a second of many PUCT trees whose evaluator costs nothing, on one thread."""
    settings = Settings(is_looking_ahead=True)
    search = Search(game, Puct(), settings, UniformEvaluator(game.num_actions), num_trees, 1 << 13)
    state = game.new_initial_state()

    def work() -> int:
        for b in range(num_trees):
            search.start(b, state, b)
        search.run(range(num_trees), num_simulations)
        return num_trees * num_simulations

    return rate(work, seconds)


def net_evaluations(config: Config, game: Game, seconds: float, batch_size: int) -> float:
    """Returns the bare net's evaluations a second, on one thread, as one self-play worker has them."""
    from azero.nets.evaluator import NetEvaluator
    from azero.nets.tower import ResidualTower

    evaluator = NetEvaluator(ResidualTower(config.net, game), config.device)
    planes = np.random.default_rng(0).random((batch_size, *game.planes_shape), np.float32)

    def work() -> int:
        evaluator.evaluate(planes)
        return batch_size

    return rate(work, seconds)


def selfplay_evaluations(config: Config, game: Game, seconds: float, batch_size: int) -> float:
    """Returns evaluations a second of one self-play worker in full swing, with `batch_size` games in lockstep."""
    from azero.nets.evaluator import NetEvaluator
    from azero.nets.tower import ResidualTower
    from azero.selfplay.play import play_games
    from azero.selfplay.pool import manner_of, settings_of

    evaluator = NetEvaluator(ResidualTower(config.net, game), config.device)
    settings = game, rule_from_config(config.search), settings_of(config), manner_of(config)
    play_games(*settings, evaluator, range(1), 1)  # compiles
    clock = _Clock(evaluator, seconds)
    with contextlib.suppress(_TimeIsUp):
        play_games(*settings, clock, range(100 * batch_size), batch_size)
    return clock.evaluations / clock.elapsed_s


class _TimeIsUp(Exception):
    """The measurement is complete."""


class _Clock:
    """Counts what an evaluator does from its second call on, the first being to warm up; ends the games in time."""

    def __init__(self, evaluator: Evaluator, seconds: float):
        self._evaluator, self._seconds = evaluator, seconds
        self._begin = 0.0
        self.evaluations = 0
        self.elapsed_s = 0.0

    def evaluate(self, planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        answer = self._evaluator.evaluate(planes)
        if self._begin == 0.0:
            self._begin = time.perf_counter()
            return answer
        self.evaluations += len(planes)
        self.elapsed_s = time.perf_counter() - self._begin
        if self.elapsed_s >= self._seconds:
            raise _TimeIsUp
        return answer


def training_positions(config: Config, game: Game, seconds: float) -> float:
    """Returns positions a second that training learns from, on all cores."""
    from azero.selfplay.replay import Sample
    from azero.training.trainer import Trainer

    trainer, rng = Trainer(config, game), np.random.default_rng(0)
    size = config.training.batch_size
    planes = rng.random((size, *game.planes_shape), np.float32)
    policies = rng.dirichlet(np.ones(game.num_actions), size).astype(np.float32)
    sample = Sample(planes, policies, rng.dirichlet(np.ones(3), size).astype(np.float32))

    def work() -> int:
        trainer.step(sample, 0.0)
        return size

    return rate(work, seconds)


def measure_all(game_name: str, config_name: str, seconds: float) -> list[dict]:
    """Returns a row {what, rate, unit, note} for each measurement."""
    config = load_config(find_config(config_name), [f"game.name={json.dumps(game_name)}"])
    game, size = make_game(game_name), config.selfplay.parallel_games
    net = f"{config.net.blocks} x {config.net.channels} net, batch {size}"
    selfplay_evaluations(config, game, seconds, size)  # for nothing: a process is slower in its first seconds
    bare = net_evaluations(config, game, seconds, size)
    selfplay = selfplay_evaluations(config, game, seconds, size)
    rows = [
        ("random games", random_games(game, seconds), "games/s", "one thread"),
        ("UCT with rollouts", uct_simulations(game, seconds), "simulations/s", "one thread, 20,000 from the start"),
        (
            "PUCT, free evaluator",
            puct_simulations(game, seconds),
            "simulations/s",
            "one thread, 128 trees, 64 from the start",
        ),
        ("net alone", bare, "evaluations/s", f"one thread, {net}"),
        ("self-play", selfplay, "evaluations/s", f"one worker, the same net: {selfplay / bare:.0%} of it alone"),
        ("training", training_positions(config, game, seconds), "positions/s", f"{count_cores()} threads, fp32"),
    ]
    return [{"what": what, "rate": round(value), "unit": unit, "note": note} for what, value, unit, note in rows]


def show_table(rows: list[dict]) -> str:
    """Returns the rows as text."""
    return "\n".join(f"{row['what']:<22}{row['rate']:>13,} {row['unit']:<15}{row['note']}" for row in rows)
