"""The stage of self-play: the iteration's games are played, or were played ahead, and fill the replay window."""

import time

import numpy as np

from azero.runs.folder import iteration_of
from azero.runs.state import Progress
from azero.selfplay.data.replay import Replay
from azero.system.formats import warn_once
from azero.training.learning.trainer import Trainer
from azero.training.rating import rated
from azero.training.run import Run, save_state
from azero.training.stages.ahead import Ahead
from azero.training.stages.fresh_games import FreshGames
from azero.training.watching.measure import describe_games, describe_speed, judge_fresh_positions
from azero.training.watching.report import Report


def play(run: Run, progress: Progress, replay: Replay, trainer: Trainer, report: Report, ahead: Ahead) -> Progress:
    """Plays games of the best net against itself and adds them to the replay window.

    With `training.play_ahead`, the net is the one that was best before the last gate.
    """
    begin, iteration = time.perf_counter(), progress.iteration
    games = ahead.take(progress, report)
    fresh = games.shards()
    notes = describe_games(fresh) | judge_fresh_positions(trainer, run.games, fresh)
    notes |= describe_speed(games.played(), games.ended - games.begun) | _describe_times(games, begin)
    if notes["selfplay/full_trees"]:
        warn_once(
            "self-play: search trees had no room to grow at some moves; metrics.jsonl counts them, as "
            "selfplay/full_trees"
        )
    for name, (size, shard) in zip(games.names, fresh, strict=True):
        replay.add(name, shard, size)
    positions = progress.positions + sum(shard.num_learnt for _, shard in fresh)
    if replay.lessons is not None:
        notes["replay/lessons"] = len(replay.lessons)
    notes |= {"replay/positions": replay.num_learnt, "replay/age_iterations": replay_age(replay, iteration)}
    notes["selfplay/worker_deaths"] = games.num_deaths
    notes |= ahead.pool.figures()
    if progress.final:  # a finished run is extended
        progress = rated(progress)
    done = progress.changed(
        stage="train",
        player=None,
        positions=positions,
        shards=list(replay.names),
        notes=notes,
        final="",  # its next final may remove the net that won the last one
    )
    done = run.with_digests(done)
    save_state(run.folder, run.config, trainer, done)
    run.publish_best(done)  # not the winner of a final before this iteration
    run.remove_old_shards(done)
    return done


def _describe_times(games: FreshGames, begin: float) -> dict:
    """Returns metrics of when the games were played.

    Args:
      begin: when the stage began, in seconds of `time.perf_counter`.
    """
    notes = {"time/play_s": time.perf_counter() - begin}
    if games.begun < begin:  # ahead
        ahead_s = min(begin, games.ended) - games.begun
        notes["time/ahead_s"] = ahead_s
        notes["time/overlap"] = ahead_s / (games.ended - games.begun)
        notes["time/games_waited_s"] = max(0.0, begin - games.ended)
    return notes


def replay_age(replay: Replay, iteration: int) -> float:
    """Returns the mean age of the window's positions, in iterations."""
    ages = [iteration - iteration_of(name) for name in replay.names]
    return float(np.average(ages, weights=[shard.num_learnt for shard in replay.shards]))
