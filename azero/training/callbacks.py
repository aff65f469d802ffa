"""Callbacks: code of one's own that a run calls after each stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from azero.config.schema import Config
from azero.errors import BadInput, suggest_nearest
from azero.games import Game
from azero.runs.folder import RunFolder
from azero.runs.metrics import read_metrics
from azero.runs.shards import read_games
from azero.runs.state import Progress
from azero.selfplay.data.games import Games
from azero.training.run import Run


class StopTraining(Exception):
    """Raised by a callback, it ends the run in good order. The run can be resumed."""


@dataclass(frozen=True)
class RunView:
    """A run after one of its stages, as callbacks see it, or at its end, as `train` returns it. Read-only.

    Attributes:
      folder: the run's folder.
      config: the run's settings.
      game: the game; of several sizes, the largest.
      sizes: the sizes of the game, the smallest first; usually one.
      iteration: the iteration that the stage belongs to; at the end of a run, the number of iterations.
      positions: training positions of self-play so far.
      steps: training steps so far.
      rating: Elo above the first net of the best net, or of the final's winner, by the games between nets of the run.
      promotions: how many candidates have become the best net.
      final: the net that won the final: an iteration such as "00010", "mean" or "candidate"; empty without a final.
      best_path: the file of the best net, best.safetensors.
      metrics: the metrics of the iteration's finished stages, by name; after the gate, the iteration's whole line in
        metrics.jsonl. docs/metrics.md explains the names.
    """

    folder: Path
    config: Config
    game: Game
    sizes: tuple[Game, ...]
    iteration: int
    positions: int
    steps: int
    rating: float
    promotions: int
    final: str
    best_path: Path
    metrics: Mapping[str, float]

    @classmethod
    def of(cls, run: Run, progress: Progress) -> "RunView":
        """Returns the view of a run whose state is `progress`."""
        is_over = progress.stage == "play"
        iteration = progress.iteration - is_over
        steps = progress.steps - progress.steps_this_iteration  # those of the stage under way do not count
        metrics = {"iteration": iteration, "positions": progress.positions, "steps": steps, **progress.notes}
        if is_over:
            lines = read_metrics(run.metrics_path)
            metrics = next((line for line in lines if line["iteration"] == iteration), metrics)
        return cls(
            folder=run.folder,
            config=run.config,
            game=run.game,
            sizes=run.games,
            iteration=iteration,
            positions=progress.positions,
            steps=steps,
            rating=progress.rating,
            promotions=progress.promotions,
            final=progress.final,
            best_path=run.best_path,
            metrics=MappingProxyType(metrics),
        )

    def history(self) -> list[dict[str, float]]:
        """Returns the metrics of all finished iterations, the lines of metrics.jsonl."""
        return read_metrics(RunFolder(self.folder).metrics_path)

    def games(self, game: Game | None = None) -> Games:
        """Returns the iteration's games of self-play; raises BadInput if a file is damaged.

        Args:
          game: one of `sizes`, in a run of several sizes.
        """
        if len(self.sizes) == 1:
            game = game or self.game
        return read_games(self.folder, self.config.game, game, self.iteration)


class Callback:
    """Code of your own that a run calls after each stage, once the run's state is saved. Override what you need.

    Another object with some of these methods will do, too.

    Each method is called at least once for each stage, in order. The exception is a stage that was finished before the
    callback was given to `train`. When a run is resumed, the methods of the last finished stage are called again, with
    an equal view, because the run may have been killed before they returned. No other call is repeated.

    An exception of a method ends the run, and `train` raises it. Nothing is lost, and the run can be resumed. After
    `StopTraining`, `train` returns.
    """

    def after_selfplay(self, run: RunView) -> None:
        """Called when the iteration's games are played; `run.games()` has them."""

    def after_training(self, run: RunView) -> None:
        """Called when the candidate is trained; `run.metrics` has the losses, such as train/policy_loss."""

    def after_gate(self, run: RunView) -> None:
        """Called when the candidate has met the best net; `run.metrics` has gate/score and gate/is_promoted."""

    def after_iteration(self, run: RunView) -> None:
        """Called after `after_gate`, with the same view, when all callbacks have seen the gate."""


_METHODS = {
    "play": ("after_selfplay",),
    "train": ("after_training",),
    "gate": ("after_gate", "after_iteration"),
}
"""The methods that are called after each stage."""


def check_callbacks(callbacks: Sequence[object]) -> None:
    """Raises BadInput if something is not a callback, or has a method that would never be called."""
    known = [name for names in _METHODS.values() for name in names]
    if not isinstance(callbacks, Sequence):
        raise BadInput(f"callbacks = {callbacks!r} should be a list of objects, e.g. [{type(callbacks).__name__}()]")
    for callback in callbacks:
        if isinstance(callback, type) or not any(callable(getattr(callback, name, None)) for name in known):
            raise BadInput(f"callback {callback!r} should be an object with one of the methods {', '.join(known)}")
        for name in dir(callback):
            if name.startswith("after_") and name not in known:
                raise BadInput(
                    f"{type(callback).__name__}.{name} would never be called; {suggest_nearest(name, known)}"
                )


def call_back(run: Run, progress: Progress, callbacks: Sequence[object]) -> None:
    """Calls the methods for the stage that `progress` has finished last, if there is one."""
    stage = _last_finished(progress)
    if stage == "play" and progress.iteration == 1 and run.config.replay.first_games != "none":
        return  # the games are another run's
    if stage is None or not callbacks:
        return
    view = RunView.of(run, progress)
    for method in _METHODS[stage]:
        for callback in callbacks:
            try:
                getattr(callback, method, _ignore)(view)
            except StopTraining:
                raise
            except Exception as error:
                error.add_note(
                    f"raised by {type(callback).__name__}.{method} in iteration {view.iteration} of run "
                    f"{str(run.folder)!r}; the run is saved, and can be resumed"
                )
                raise


def _ignore(view: RunView) -> None:
    """Stands for a method that a callback lacks."""


def _last_finished(progress: Progress) -> str | None:
    """Returns the stage that was finished last; None at the beginning of a run."""
    if progress.stage == "play":
        return "gate" if progress.iteration > 1 else None
    return "train" if progress.stage == "gate" else "play"
