"""The stage of training: the candidate takes the iteration's steps."""

import time

from azero.config.checks import describe_warmup
from azero.runs.state import Progress
from azero.selfplay.data.replay import Replay
from azero.system.interrupt import interruption_waits
from azero.training.learning.losses import Losses
from azero.training.learning.rank import generators_of
from azero.training.learning.ranks import ALONE, Ranks
from azero.training.learning.schedule import learning_rate, steps_for
from azero.training.learning.trainer import Trainer, check_divergence
from azero.training.run import Run, save_state
from azero.training.watching.measure import add_steps, describe_steps
from azero.training.watching.report import Report


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
