"""The stage of reanalysis: positions of older games are searched again with the best net."""

import math
import time
from dataclasses import replace

import numpy as np

from azero.games.names import identity_of
from azero.selfplay.data.records import Shard
from azero.selfplay.data.replay import Replay
from azero.selfplay.data.shard_files import save_shard
from azero.selfplay.pool import Pool
from azero.selfplay.tasks import Identities, SearchTask, search_task
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, iteration_of
from azero.training.state import Progress, save_state
from azero.training.watching.report import Report


def reanalyse(run: Run, progress: Progress, replay: Replay, pool: Pool, trainer: Trainer, report: Report) -> Progress:
    """Searches positions of older games again with the best net; the new results replace the old ones."""
    begin, deaths_before = time.perf_counter(), pool.num_deaths
    iteration, weights = progress.iteration, run.best_weights(progress)
    shards = dict(zip(replay.names, replay.shards, strict=True))
    names = shards_to_search(shards, run.config.replay.reanalysed_share, iteration)
    missing = [name for name in names if shards[name].searched[0] != iteration]
    total, left = (sum(int(np.count_nonzero(shards[name].weights)) for name in each) for each in (names, missing))
    with report.stage("reanalysis", total, "positions", total - left) as bar:
        identities = Identities(identity_of(run.game.rules), trainer.net.identity)
        games = {name: run.games[replay.size_of(name)] for name in missing}
        tasks = [
            SearchTask(weights, run.config_of(game), identities, shards[name], name, iteration)
            for name, game in games.items()
        ]
        for place, shard in pool.run(search_task, tasks, bar.update):
            name = missing[place]
            save_shard(run.shard_path(name), shard, games[name])
            replay.renew(name, shard)
            shards[name] = shard
    notes = progress.notes | {
        "selfplay/worker_deaths": progress.notes.get("selfplay/worker_deaths", 0) + pool.num_deaths - deaths_before,
        "reanalysis/positions": total,
        "reanalysis/evaluations": sum(int(shards[name].evaluations[0]) for name in names),
        "reanalysis/simulations": sum(int(shards[name].simulations[0]) for name in names),
        "time/reanalysis_s": time.perf_counter() - begin,
    }
    done = replace(progress, stage="train", notes=notes)
    save_state(run.folder, run.config, trainer, done)
    return done


def shards_to_search(shards: dict[str, Shard], share: float, iteration: int) -> list[str]:
    """Returns the names of the shards that an iteration reanalyses: `share` of the window, but none of this iteration.

    These are the shards whose last search, in self-play or reanalysis, is the oldest. If the iteration was interrupted,
    the shards that it has reanalysed already come first.

    Args:
      shards: the window by name, oldest first.
    """
    last = {
        name: max(iteration_of(name), int(shard.searched[0]))
        for name, shard in shards.items()
        if iteration_of(name) < iteration
    }
    in_turn = sorted(last, key=lambda name: (last[name] != iteration, last[name]))
    return in_turn[: math.ceil(round(share * len(shards), 9))]
