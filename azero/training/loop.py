"""The training loop: self-play, replay, training, gate, promotion."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from azero.arena.agents.names import make_agent
from azero.compiler.rng import derive_seed
from azero.config.checks import describe_warmup, find_oddities
from azero.config.schema import Config
from azero.errors import BadInput
from azero.games.names import identity_of
from azero.games.sizes import games_of
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.data.records import SizedShard
from azero.selfplay.data.replay import Replay
from azero.selfplay.data.shard_files import save_shard
from azero.selfplay.pool import AnyPool, MakePool, local_pool
from azero.selfplay.tasks import Identities, new_plan, play_task, split_seeds
from azero.system.console import say
from azero.system.files import make_folder, remove_temporaries
from azero.system.interrupt import interruption_waits
from azero.system.peers import Launcher, local_host
from azero.training.beginning import begin, create_run, read_beginning
from azero.training.callbacks import RunView, StopTraining, call_back
from azero.training.final import hold_final
from azero.training.gate import evaluate_best, find_benchmark, hold_gate
from azero.training.learning.learner import Learner
from azero.training.learning.losses import Losses
from azero.training.learning.precision import settle_arithmetic
from azero.training.learning.rank import generators_of
from azero.training.learning.ranks import ALONE, Ranks, check_ranks, joined_ranks
from azero.training.learning.schedule import learning_rate, steps_for
from azero.training.learning.trainer import Trainer, check_divergence
from azero.training.lessons.reading import read_lessons
from azero.training.rating import meet_older_nets, rated, with_gate
from azero.training.resumed_settings import check_progress, check_runtime, keep_settings
from azero.training.run import Run, check_is_new, has_state, hold, iteration_of, shard_name
from azero.training.starts import read_starts
from azero.training.state import NUM_PROMOTED, STAGES, Progress, keep_beginning, load_state, save_state
from azero.training.watching.health import find_symptoms
from azero.training.watching.measure import (
    add_steps,
    describe_games,
    describe_speed,
    describe_steps,
    judge_fresh_positions,
)
from azero.training.watching.metrics import mend_metrics, read_metrics, write_metrics
from azero.training.watching.report import Report


def train(
    folder: Path,
    config: Config,
    is_resuming: bool,
    callbacks: Sequence[object] = (),
    make_pool: MakePool = local_pool,
    launch: Launcher = local_host,
) -> RunView:
    """Runs all iterations of a run in `folder` and returns the run at its end. A killed run can be resumed.

    Raises BadInput if the settings cannot be used; Untrusted if the user has not named the game's file.

    Each stage ends by saving the whole state. The result of a stage depends only on the state before it, the seed and
    the lessons. So an interrupted stage is repeated or continued, with the same result.

    Args:
      make_pool: makes the workers.
      launch: starts the further ranks of the trainer, if the settings ask for some.
    """
    games = games_of(config.game)
    game = games[-1]
    check_runtime(config, is_resuming)
    Learner(config, game)  # raises errors of net and heads before the folder exists
    check_ranks(config)
    if config.evaluation.every:
        make_agent(config.evaluation.opponent, game).close()  # raises errors now, not after the first iterations
        find_benchmark(config.evaluation, game)
    lessons = read_lessons(config.training, game)
    if lessons:
        say(f"{len(lessons)} lessons from {config.training.lessons}: {lessons.share:.0%} of each batch")
    starts = [] if is_resuming and has_state(folder) else read_starts(config.selfplay.starts, game)
    torch.use_deterministic_algorithms(True, warn_only=True)
    beginning = None if is_resuming else read_beginning(config, games)
    config = settle_arithmetic(config, game)
    if not is_resuming:
        check_is_new(folder)
        make_folder(folder)
    with hold(folder):
        run = create_run(folder, config, game, beginning) if beginning else Run(folder, config, game)
        return RunView.of(run, run_iterations(run, lessons, starts, callbacks, make_pool, launch))


def run_iterations(
    run: Run,
    lessons: Lessons | None,
    starts: list[str],
    callbacks: Sequence[object],
    make_pool: MakePool,
    launch: Launcher,
) -> Progress:
    """Continues a run from its saved state to the last iteration, or until a callback stops it.

    A run without a state gets the starts.
    """
    trainer = Trainer(run.config, run.game, run.canvas)
    remove_temporaries(run.folder)
    progress = load_state(run.folder, trainer)
    mend_metrics(run.metrics_path)
    check_progress(run, progress)
    keep_settings(run, progress, trainer)
    if progress is None:
        progress = begin(run, trainer, starts)
    if not progress.promoted:  # azero 0.1.0 did not save them
        progress = replace(progress, promoted=run.promoted(progress))
    if progress.stage == STAGES[0]:
        keep_beginning(run.folder)
    run.publish_best(progress)
    run.remove_old_shards(progress)
    replay = run.load_replay(progress, lessons)
    with (
        Report(run, progress) as report,
        make_pool(run.config, report.tell) as pool,
        joined_ranks(run.config, run.game, trainer, lessons, launch) as ranks,
    ):
        report.tell(*find_oddities(run.config, run.game.max_plies))
        if pool.is_mixed:
            report.tell("cluster.mixed = true: machines may differ, so the games depend on which of them plays them")
        with suppress(StopTraining):
            call_back(run, progress, callbacks)  # again: a killed run may have saved a stage without calling them
            while progress.iteration <= run.config.training.iterations:
                if progress.stage == "play":
                    progress = play(run, progress, replay, pool, trainer, report)
                elif progress.stage == "train":
                    progress = learn(run, progress, replay, trainer, report, ranks)
                else:
                    progress = gate(run, progress, trainer, report, pool)
                call_back(run, progress, callbacks)
    return progress


def play(run: Run, progress: Progress, replay: Replay, pool: AnyPool, trainer: Trainer, report: Report) -> Progress:
    """Plays games of the best net against itself and adds them to the replay window."""
    begin, deaths_before = time.perf_counter(), pool.num_deaths
    selfplay, iteration = run.config.selfplay, progress.iteration
    seeds = [derive_seed(run.config.seed, "selfplay", iteration, k) for k in range(selfplay.games_per_iteration)]
    parts = split_seeds(seeds, len(run.games), selfplay.games_per_shard)
    names = [shard_name(iteration, number) for number in range(len(parts))]
    shards = {name: run.load_shard(name) for name in names if run.shard_path(name).exists()}
    missing = [number for number, name in enumerate(names) if name not in shards]
    with report.stage("self-play", len(seeds), "games", sum(len(shard.lengths) for _, shard in shards.values())) as bar:
        identities = Identities(identity_of(run.game.rules), trainer.net.identity)
        configs = [run.config_of(each) for each in run.games]
        plan = new_plan(run.config, configs, run.best_weights(progress), identities, progress.starts, pool.is_mixed)
        tasks, title = [parts[number] for number in missing], f"self-play, iteration {iteration}"
        for place, shard in pool.run(play_task, tasks, bar.update, plan, title):
            number = missing[place]
            size, name = parts[number].size, names[number]
            save_shard(run.shard_path(name), shard, run.games[size])
            shards[name] = SizedShard(size, shard)
    fresh = [shards[name] for name in names]
    if not any(shard.num_learnt for _, shard in fresh):
        raise BadInput(
            f"no search of iteration {iteration} was full: selfplay.full_search_share = {selfplay.full_search_share} "
            f"is too low for {len(seeds)} games"
        )
    elapsed = time.perf_counter() - begin
    notes = describe_games(fresh) | judge_fresh_positions(trainer, run.games, fresh)
    notes |= describe_speed([shards[names[number]].shard for number in missing], elapsed)
    for name in names:
        replay.add(name, shards[name].shard, shards[name].size)
    positions = progress.positions + sum(shard.num_learnt for _, shard in fresh)
    if replay.lessons is not None:
        notes["replay/lessons"] = len(replay.lessons)
    notes |= {"replay/positions": replay.num_learnt, "replay/age_iterations": replay_age(replay, iteration)}
    notes["selfplay/worker_deaths"] = pool.num_deaths - deaths_before
    notes |= pool.figures()
    done = replace(
        progress,
        stage="train",
        positions=positions,
        shards=list(replay.names),
        notes=notes,
        final="",  # when a finished run is extended: its next final may remove the net that won the last one
    )
    save_state(run.folder, run.config, trainer, done)
    run.publish_best(done)  # not the winner of a final before this iteration
    run.remove_old_shards(done)
    return done


def replay_age(replay: Replay, iteration: int) -> float:
    """Returns the mean age of the window's positions, in iterations."""
    ages = [iteration - iteration_of(name) for name in replay.names]
    return float(np.average(ages, weights=[shard.num_learnt for shard in replay.shards]))


def learn(
    run: Run, progress: Progress, replay: Replay, trainer: Trainer, report: Report, ranks: Ranks = ALONE
) -> Progress:
    """Trains the candidate: takes the iteration's steps on samples from the replay window."""
    training, iteration = run.config.training, progress.iteration
    fresh = progress.notes["selfplay/positions"]
    num_steps = steps_for(training, fresh)
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
                so_far = replace(progress, steps=trainer.steps, steps_this_iteration=step + 1, sums=sums)
                save_state(run.folder, run.config, trainer, so_far)
            if interrupted():
                raise KeyboardInterrupt
    check_divergence(trainer, losses)
    notes = progress.notes | describe_steps(add_steps(sums, losses, time.perf_counter() - begin))
    notes |= {"train/steps": num_steps, "train/learning_rate": learning_rate(training, trainer.steps - 1, shares[-1])}
    done = replace(progress, stage="gate", steps=trainer.steps, steps_this_iteration=0, notes=notes, sums={})
    run.save_net(run.candidate_path, trainer.candidate(), done)
    save_state(run.folder, run.config, trainer, done)
    return done


def gate(run: Run, progress: Progress, trainer: Trainer, report: Report, pool: AnyPool) -> Progress:
    """Plays the candidate against the best net, promotes it if it is better, and ends the iteration."""
    begin = time.perf_counter()
    iteration, players = progress.iteration, pool if pool.plays_matches else None
    verdict = hold_gate(run, progress, report, players)
    progress = with_gate(progress, verdict.matches)
    if verdict.is_promoted:
        promoted = [*progress.promoted, iteration][-NUM_PROMOTED:]
        progress = replace(progress, best=iteration, promotions=progress.promotions + 1, promoted=promoted)
        progress = meet_older_nets(run, progress, report, players)
    progress = rated(progress)
    if verdict.is_promoted:
        run.save_net(run.checkpoint_path(iteration), trainer.candidate(), progress)
    notes = progress.notes | verdict.notes | {"time/gate_s": time.perf_counter() - begin}
    every, last = run.config.evaluation.every, run.config.training.iterations
    if iteration == last and run.config.gate.final_games:
        progress, of_final = hold_final(run, progress, report, players)
        notes |= of_final
    notes |= {"gate/rating": progress.rating, "gate/promotions": progress.promotions}
    if every and (iteration % every == 0 or iteration == last):
        begin = time.perf_counter()
        notes |= evaluate_best(run, progress, report, players)
        notes["time/evaluation_s"] = time.perf_counter() - begin
    write_metrics(
        run.metrics_path, {"iteration": iteration, "positions": progress.positions, "steps": progress.steps, **notes}
    )
    report.iteration(iteration, progress, notes)
    report.health(iteration, find_symptoms(read_metrics(run.metrics_path)))
    done = replace(progress, iteration=iteration + 1, stage="play", notes={})
    save_state(run.folder, run.config, trainer, done)
    keep_beginning(run.folder)
    run.publish_best(done)
    run.remove_old_shards(done)
    return done
