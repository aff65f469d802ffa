"""What workers of self-play do: games to play, and old positions to search anew. A task goes out, a shard comes back.

A task is plain data and a checkpoint's path, and a shard plain arrays; so a worker can as well be on another host
that sees the same files.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from azero.compiler.rng import derive_seed
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games import make_game
from azero.games.names import source_digest_of
from azero.nets.checkpoint import load_checkpoint
from azero.nets.evaluator import NetEvaluator
from azero.selfplay.data.records import Shard, load_shard
from azero.selfplay.data.surprise import weigh_by_surprise
from azero.selfplay.play import SelfPlay, play_games
from azero.selfplay.pool import count_workers
from azero.selfplay.reanalysis import search_anew
from azero.selfplay.resignation import NOBODY
from azero.system.machine import count_cores


@dataclass(frozen=True)
class Task:
    """What all tasks tell a worker: by which net and settings, and which rules."""

    checkpoint: str
    config: Config
    game_digest: str  # of the sources of a user's own game, as `source_digest_of` tells it


@dataclass(frozen=True)
class PlayTask(Task):
    """Games for one worker to play, a game for each seed."""

    seeds: tuple[int, ...]
    resign_threshold: float = NOBODY


@dataclass(frozen=True)
class SearchTask(Task):
    """A shard for one worker to search anew, for an iteration."""

    shard: str  # its path; the seeds follow from its name
    iteration: int


def play_task(task: PlayTask, on_games: Callable[[int], None]) -> Shard:
    """Plays a task's games; calls `on_games` with the number of those that ended."""
    selfplay = _prepare(task, task.resign_threshold)
    return _weigh(task, selfplay, play_games(selfplay, task.seeds, on_games))


def search_task(task: SearchTask, on_positions: Callable[[int], None]) -> Shard:
    """Searches a task's shard anew; calls `on_positions` with the number of positions that have just been searched."""
    selfplay, path = _prepare(task), Path(task.shard)
    shard = load_shard(path, selfplay.game)
    shard = shard._replace(searched=np.full(len(shard.lengths), task.iteration, np.int32))

    def seed_of(index: int) -> int:
        return derive_seed(task.config.seed, "reanalysis", task.iteration, path.stem, index)

    return _weigh(task, selfplay, search_anew(selfplay, shard, seed_of, on_positions))


def _prepare(task: Task, resign_threshold: float = NOBODY) -> SelfPlay:
    """Returns self-play by the task's net and settings, in this worker's share of the cores.

    Raises BadInput where the sources of a user's own game are not those of the task's digest.
    """
    config, game = task.config, make_game(task.config.game.name)
    if source_digest_of(game.rules) != task.game_digest:
        raise BadInput(f"{game} has changed while it was being played; --resume goes on by the rules as they are now")
    evaluator = NetEvaluator(load_checkpoint(Path(task.checkpoint), game).net, config.device)
    num_threads = max(1, count_cores() // count_workers(config)) if evaluator.is_on_device else 1
    return SelfPlay.from_config(config, game, evaluator, resign_threshold, num_threads)


def _weigh(task: Task, selfplay: SelfPlay, shard: Shard) -> Shard:
    """Returns the shard, its positions weighed as the settings ask for."""
    return weigh_by_surprise(selfplay.game, selfplay.evaluator, shard, task.config.selfplay.policy_surprise_share)
