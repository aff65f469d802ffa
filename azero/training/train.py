"""`azero.train`: begins or resumes a run, from a command or from Python."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from azero.arena.agents.names import split_program
from azero.config.reading import as_overrides, find_config, load_config
from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games.user.trust import trust_config
from azero.mcts import selection_from_config
from azero.mcts.reference.trial import try_strategies
from azero.mcts.roots.strategies import root_from_config
from azero.runs.folder import check_is_run, hold, repair_of
from azero.selfplay.workers import MakePool, local_pool
from azero.system.console import say
from azero.training.callbacks import RunView, check_callbacks
from azero.training.learning.precision import is_settled_from
from azero.training.loop import train_run
from azero.training.resuming import check_same_game, open_run
from azero.training.trial import fit_to_time


def train(
    config: str | Path | Config | None = None,
    run: str | Path | None = None,
    *,
    settings: Sequence[str] | Mapping[str, object] = (),
    resume: bool = False,
    callbacks: Sequence[object] = (),
    allow_commands: bool = False,
    minutes: float | None = None,
    make_pool: MakePool = local_pool,
) -> RunView:
    """Trains an agent by self-play, as the command `azero train`; returns the run at its end.

    A run that was interrupted or killed is continued with `resume=True`, and ends as an unbroken run. It prints its
    table on stdout, and progress on stderr.

    Args:
      config: the name of an included config, such as "tic_tac_toe", a path, or what `load_config` returns. A run that
        is resumed has its own.
      run: the run's folder; runs/CONFIG by default.
      settings: changes of settings: {"training.iterations": 10} or ["training.iterations=10"].
      resume: whether to continue the run.
      callbacks: objects with methods of `Callback`, called after each stage, in this order.
      allow_commands: whether a program that the config names as the opponent, gtp:COMMAND, uci:COMMAND
        or gomocup:COMMAND, may run.
      minutes: the time of a new run. What the machine does is measured, and the numbers of iterations, games, samples
        and more are set so that the run takes about that long. `settings` that name one of these numbers hold.
      make_pool: makes the workers: those of this machine, or a cluster's, as `azero.cluster.connection.Cluster.pool`.

    Raises:
      BadInput: the config, a setting or the folder cannot be used.
      Exception: what a callback has raised, with a note that names the callback.
    """
    check_callbacks(callbacks)
    overrides = as_overrides(settings)
    place, given = _places_of(config, run, overrides, resume)
    if resume and minutes is not None:
        raise BadInput("minutes are for a new run, and resume=True continues one; leave one of the two out")
    held = frozenset(each.partition("=")[0].strip() for each in overrides)
    if minutes is not None and held & {"training", "training.iterations"}:
        raise BadInput("minutes set training.iterations; leave one of the two out")
    if minutes is not None and make_pool is not local_pool:
        raise BadInput("minutes measure the workers of this machine; with a cluster set training.iterations")
    if resume:
        with _advice(place):
            return _resume(place, given, overrides, callbacks, allow_commands, make_pool)
    new = _loaded(given, overrides)  # type: ignore[arg-type]
    check_program(new, overrides, allow_commands)
    trust_config(new)
    try_strategies(selection_from_config(new.search), root_from_config(new))  # before anything is written
    if minutes is None:
        return train_run(place, new, False, callbacks, make_pool=make_pool)
    with fit_to_time(place, new, minutes, held, make_pool) as (fitted, its_workers):
        return train_run(place, fitted, False, callbacks, make_pool=its_workers)


def _places_of(
    config: str | Path | Config | None, run: str | Path | None, overrides: list[str], is_resuming: bool
) -> tuple[Path, Path | Config | None]:
    """Returns the run's folder, and the config or its file; raises BadInput if one is missing."""
    if config is None and not (is_resuming and run):
        raise BadInput("train needs a config, e.g. azero.train('tic_tac_toe'), or resume=True and a run")
    if isinstance(config, Config):
        if run is None or overrides:
            raise BadInput("a config that is loaded needs run=FOLDER, and takes no settings; give these to load_config")
        return Path(run), config
    file = find_config(config) if isinstance(config, str) else config
    return Path(run or Path("runs") / file.stem), file  # type: ignore[union-attr]


@contextmanager
def _advice(folder: Path) -> Iterator[None]:
    """Adds to the error of a file in a run's folder how the run may be mended."""
    try:
        yield
    except Damaged as error:
        if repr(str(folder))[1:-1] not in str(error):  # it is not the run's file
            raise
        raise Damaged(f"{error}; {repair_of(folder)} may mend it") from None
    except FileNotFoundError as error:
        if not Path(str(error.filename)).is_relative_to(folder):
            raise
        raise BadInput(f"{error.filename!r} is missing; {repair_of(folder)} may mend it") from None


def _resume(
    folder: Path,
    config: Path | Config | None,
    overrides: list[str],
    callbacks: Sequence[object],
    allow_commands: bool,
    make_pool: MakePool,
) -> RunView:
    """Continues a run. `config` may be given, too; it must be for the same game."""
    check_is_run(folder)
    with hold(folder):  # before the settings are read: another process may be changing them
        if config is not None:
            with suppress(BadInput):  # its game's file may have been moved with the run
                trust_config(_loaded(config, []))
        values = open_run(folder, overrides)
        check_program(values, overrides, allow_commands)
        if config is not None:
            check_same_game(folder, values, _loaded(config, []))
            other = _loaded(config, overrides).model_copy(update={"game": values.game})  # the path may differ
            if not is_settled_from(values, other):
                name = "the config" if isinstance(config, Config) else config
                say(f"{folder} continues with its own settings, which differ from {name}")
        return train_run(folder, values, True, callbacks, make_pool=make_pool)


def _loaded(config: Path | Config, overrides: list[str]) -> Config:
    return config if isinstance(config, Config) else load_config(config, overrides)


def check_program(config: Config, overrides: Sequence[str], is_allowed: bool) -> None:
    """Raises BadInput if a file names a program to run, and the caller neither names nor allows it."""
    opponent = config.evaluation.opponent
    is_named = any(each.partition("=")[0].strip() in ("evaluation", "evaluation.opponent") for each in overrides)
    if config.evaluation.every and split_program(opponent) and not (is_named or is_allowed):
        raise BadInput(
            f"the settings name a program, evaluation.opponent = {opponent!r}; it runs only with --allow-commands"
        )
