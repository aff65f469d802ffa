"""The stages of an iteration: self-play, training and the gate.

In self-play the iteration's games are played, or were played ahead, and fill the replay window. In training the
candidate takes the iteration's steps. In the gate it is promoted if it beats the best net, and the iteration ends.
"""

import time

import numpy as np

from azero.config.checks import describe_warmup
from azero.runs.folder import iteration_of
from azero.runs.metrics import read_metrics, write_metrics
from azero.runs.state import NUM_PROMOTED, Progress, keep_beginning
from azero.selfplay.data.replay import Replay
from azero.system.console import warn_once
from azero.system.interrupt import interruption_waits
from azero.system.worker_pool import Pool
from azero.training.final import hold_final
from azero.training.fresh_games import Ahead, FreshGames
from azero.training.gate import evaluate_best, hold_gate
from azero.training.health import Case, examine
from azero.training.learning.losses import Losses
from azero.training.learning.optimizer import learning_rate, steps_for
from azero.training.learning.ranks import ALONE, Ranks, generators_of
from azero.training.learning.trainer import Trainer, check_divergence
from azero.training.measure import add_steps, describe_games, describe_speed, describe_steps, judge_fresh_positions
from azero.training.rating import meet_older_nets, rated, with_gate
from azero.training.report import Report
from azero.training.run import Run, save_state
from azero.training.symptoms import OF_METRICS


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
    notes |= {"replay/positions": replay.num_learnt, "replay/age_iterations": _replay_age(replay, iteration)}
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


def _replay_age(replay: Replay, iteration: int) -> float:
    """Returns the mean age of the window's positions, in iterations."""
    ages = [iteration - iteration_of(name) for name in replay.names]
    return float(np.average(ages, weights=[shard.num_learnt for shard in replay.shards]))


def learn(
    run: Run, progress: Progress, replay: Replay, trainer: Trainer, report: Report, ranks: Ranks = ALONE
) -> Progress:
    """Trains the candidate: takes the iteration's steps on samples from the replay window."""
    training, iteration = run.config.training, progress.iteration
    fresh = progress.notes["selfplay/positions"]
    num_steps = steps_for(training, int(fresh))
    first = progress.steps_this_iteration
    if trainer.steps == 0:
        report.tell(*describe_warmup(training, num_steps))
    steps = range(first, num_steps)
    shares = [(iteration - 1 + step / num_steps) / training.iterations for step in range(num_steps)]
    generators = generators_of(run.config.seed, iteration, steps)
    samples = replay.samples(training.batch_size, generators, trainer.rows)
    losses: list[Losses] = []  # of the steps that `sums` does not include yet
    sums, begin = progress.sums, time.perf_counter()
    with (
        report.stage("training", num_steps, "steps", first) as bar,
        interruption_waits() as interrupted,
        ranks.at_work(replay, iteration, steps),
    ):
        for step, sample in zip(steps, samples, strict=True):
            losses.append(trainer.step(sample, shares[step]))
            bar.update(1)
            is_saving = (step + 1) % training.save_every_steps == 0 and step + 1 < num_steps
            if is_saving or interrupted():
                check_divergence(trainer, losses)
                now = time.perf_counter()
                sums, losses, begin = add_steps(sums, losses, now - begin), [], now
                so_far = progress.changed(steps=trainer.steps, steps_this_iteration=step + 1, sums=sums)
                save_state(run.folder, run.config, trainer, so_far)
            if interrupted():
                raise KeyboardInterrupt
    check_divergence(trainer, losses)
    sums = add_steps(sums, losses, time.perf_counter() - begin)
    notes = progress.notes | describe_steps(sums) | {"train/steps": sums["steps"]}
    notes |= {"train/learning_rate": learning_rate(training, trainer.steps - 1, shares[-1])}
    done = progress.changed(stage="gate", steps=trainer.steps, steps_this_iteration=0, notes=notes, sums={})
    run.save_net(run.candidate_path, trainer.candidate(), done)
    done = run.with_digests(done)
    save_state(run.folder, run.config, trainer, done)
    return done


def promote(run: Run, progress: Progress, trainer: Trainer, report: Report, pool: Pool) -> Progress:
    """Plays the candidate against the best net, promotes it if it is better, and ends the iteration."""
    begin = time.perf_counter()
    iteration, workers = progress.iteration, pool if pool.is_cluster else None
    player = progress.best if run.config.plays_ahead(iteration) else None
    verdict = hold_gate(run, progress, report, workers)
    progress = with_gate(progress, verdict.matches)
    if verdict.is_promoted:
        promoted = [*progress.promoted, iteration][-NUM_PROMOTED:]
        progress = progress.changed(best=iteration, promotions=progress.promotions + 1, promoted=promoted)
        progress = meet_older_nets(run, progress, report, workers)
    progress = rated(progress)
    if verdict.is_promoted:
        run.save_net(run.checkpoint_path(iteration), trainer.candidate(), progress)
    notes = progress.notes | verdict.notes | {"time/gate_s": time.perf_counter() - begin}
    every, last = run.config.evaluation.every, run.config.training.iterations
    if iteration == last and run.config.gate.final_games:
        progress, of_final = hold_final(run, progress, report, workers)
        notes |= of_final
    notes |= {"gate/rating": progress.rating, "gate/promotions": progress.promotions}
    if every and (iteration % every == 0 or iteration == last):
        begin = time.perf_counter()
        notes |= evaluate_best(run, progress, report, workers)
        notes["time/evaluation_s"] = time.perf_counter() - begin
    stages = "play", "train", "gate", "evaluation"
    notes["time/iteration_s"] = sum(notes.get(f"time/{stage}_s", 0.0) for stage in stages)
    write_metrics(
        run.metrics_path, {"iteration": iteration, "positions": progress.positions, "steps": progress.steps, **notes}
    )
    report.iteration(iteration, progress, notes)
    report.health(iteration, examine(Case(run.config, read_metrics(run.metrics_path)), OF_METRICS))
    done = run.with_digests(progress.changed(iteration=iteration + 1, stage="play", player=player, notes={}))
    save_state(run.folder, run.config, trainer, done)
    run.publish_best(done)
    keep_beginning(run.folder)  # last: until then, check-run knows by it which net was the best one before
    run.remove_old_shards(done)
    return done
