"""The training loop: an iteration is self-play, training and a gate. See `azero.training.stages`."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import torch

from azero.arena.agents.checkpoints import check_search_trusted
from azero.arena.agents.make import make_agent
from azero.config.checks import find_oddities
from azero.config.schema import Config
from azero.games.sizes import games_of
from azero.runs.folder import check_is_new, has_state, hold
from azero.runs.metrics import mend_metrics, read_metrics
from azero.runs.shards import check_largest
from azero.runs.state import STAGES, Progress, keep_beginning
from azero.selfplay.data.lessons import Lessons
from azero.selfplay.workers import MakePool, local_pool
from azero.system.console import say
from azero.system.files import make_folder, remove_temporaries
from azero.training.beginning import begin, create_run, read_beginning, read_starts
from azero.training.callbacks import RunView, StopTraining, call_back
from azero.training.doctor import verdict
from azero.training.fresh_games import Ahead
from azero.training.gate import find_benchmark
from azero.training.learning.learner import Learner
from azero.training.learning.precision import settle_arithmetic
from azero.training.learning.ranks import check_ranks, joined_ranks
from azero.training.learning.trainer import Trainer
from azero.training.lessons.files import read_lessons
from azero.training.report import Report
from azero.training.resuming import check_files, check_progress, check_runtime, keep_settings
from azero.training.run import Run, load_state
from azero.training.stages import learn, play, promote


def train_run(
    folder: Path,
    config: Config,
    is_resuming: bool,
    callbacks: Sequence[object] = (),
    make_pool: MakePool = local_pool,
) -> RunView:
    """Runs all iterations of a run in `folder` and returns the run at its end. A killed run can be resumed.

    Raises BadInput if the settings cannot be used; Untrusted if the user has not named the game's file.

    Each stage ends by saving the whole state. The result of a stage depends only on the state before it, the seed and
    the lessons. So an interrupted stage is repeated or continued, with the same result.

    Args:
      make_pool: makes the workers; their pool also starts the further ranks of the trainer.
    """
    games = games_of(config.game)
    game = games[-1]
    check_runtime(config, is_resuming)
    Learner(config, game)  # raises errors of net and heads before the folder exists
    check_ranks(config)
    if not is_resuming:
        check_largest(game, config.selfplay, len(games))
    if config.evaluation.every:
        check_search_trusted(config.evaluation.opponent)
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
        return RunView.of(run, run_iterations(run, lessons, starts, callbacks, make_pool))


def run_iterations(
    run: Run,
    lessons: Lessons | None,
    starts: list[str],
    callbacks: Sequence[object],
    make_pool: MakePool,
) -> Progress:
    """Continues a run from its saved state to the last iteration, or until a callback stops it.

    A run without a state gets the starts.
    """
    trainer = Trainer(run.config, run.game, run.canvas)
    remove_temporaries(run.folder)
    progress = load_state(run.folder, trainer)
    mend_metrics(run.metrics_path)
    check_progress(run, progress)
    check_files(run, progress)
    keep_settings(run, progress, trainer)
    if progress is None:
        progress = begin(run, trainer, starts)
    if progress.stage == STAGES[0]:
        keep_beginning(run.folder)
    run.publish_best(progress)
    run.remove_old_shards(progress)
    replay = run.load_replay(progress, lessons)
    with (
        Report(run, progress) as report,
        make_pool(run.config, report.tell) as pool,
        joined_ranks(run.config, run.game, trainer, lessons, pool.launch) as ranks,
        Ahead(run, pool, trainer.net.identity) as ahead,
    ):
        report.tell(*find_oddities(run.config, run.game.max_plies))
        if pool.is_mixed:
            report.tell("cluster.mixed = true: machines may differ, so the games depend on which of them plays them")
        if run.config.training.play_ahead and not pool.works_beside:
            report.tell("training.play_ahead = 1: a single worker is this process, which takes turns")
        with suppress(StopTraining):
            call_back(run, progress, callbacks)  # again: a killed run may have saved a stage without calling them
            while progress.iteration <= run.config.training.iterations:
                ahead.begin(progress)
                if progress.stage == "play":
                    progress = play(run, progress, replay, trainer, report, ahead)
                elif progress.stage == "train":
                    progress = learn(run, progress, replay, trainer, report, ranks)
                else:
                    progress = promote(run, progress, trainer, report, pool)
                call_back(run, progress, callbacks)
            if lines := read_metrics(run.metrics_path):
                report.tell(verdict(run.folder, run.config, lines, run.game))
    return progress
