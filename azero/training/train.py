"""`azero.train`: begins or resumes a run, from a command or from Python."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from azero.config.reading import as_overrides, find_config, load_config
from azero.config.schema import Config
from azero.errors import BadInput, Damaged
from azero.games.make import trust_game, trust_net
from azero.system.console import say
from azero.training import loop
from azero.training.callbacks import Callback, RunView, check_callbacks
from azero.training.learning.precision import is_settled_from
from azero.training.resumed_settings import check_is_run, check_same_game, open_run
from azero.training.run import hold, repair_of


def train(
    config: str | Path | Config | None = None,
    folder: str | Path | None = None,
    *,
    settings: Sequence[str] | Mapping[str, object] = (),
    resume: bool = False,
    callbacks: Sequence[Callback] = (),
    allow_commands: bool = False,
) -> RunView:
    """Trains an agent by self-play, as the command `azero train`; returns the run at its end.

    A run that was interrupted or killed is continued with `resume=True`, and ends as an unbroken run. It prints its
    table on stdout, and progress on stderr.

    Args:
      config: the name of an included config, such as "tic_tac_toe", a path, or what `load_config` returns. A run that
        is resumed has its own.
      folder: the run's folder; runs/CONFIG by default.
      settings: changes of settings: {"training.iterations": 10} or ["training.iterations=10"].
      resume: whether to continue the run in `folder`.
      callbacks: called after each stage, in this order.
      allow_commands: whether a program that the config names as the opponent, gtp:COMMAND, may run.

    Raises:
      BadInput: the config, a setting or the folder cannot be used.
      Exception: what a callback has raised, with a note that names the callback.
    """
    check_callbacks(callbacks)
    overrides = as_overrides(settings)
    if config is None and not (resume and folder):
        raise BadInput("train needs a config, e.g. azero.train('tic_tac_toe'), or resume=True and a folder")
    if isinstance(config, Config):
        if folder is None or overrides:
            raise BadInput("a config that is loaded needs a folder, and takes no settings; give these to load_config")
    elif config is not None:
        config = config if isinstance(config, Path) else find_config(config)
        folder = folder or Path("runs") / config.stem
    place = Path(folder)  # type: ignore[arg-type]
    if not resume:
        return _begin(place, _loaded(config, overrides), overrides, callbacks, allow_commands)  # type: ignore[arg-type]
    try:
        return _resume(place, config, overrides, callbacks, allow_commands)
    except Damaged as error:
        if repr(str(place))[1:-1] not in str(error):  # it is not the run's file
            raise
        raise Damaged(f"{error}; {repair_of(place)} may mend it") from None
    except FileNotFoundError as error:
        if not Path(str(error.filename)).is_relative_to(place):
            raise
        raise BadInput(f"{error.filename!r} is missing; {repair_of(place)} may mend it") from None


def _begin(
    folder: Path, config: Config, overrides: list[str], callbacks: Sequence[Callback], allow_commands: bool
) -> RunView:
    """Begins a run. The caller has named the config, and trusts the files of game and net that it names."""
    _check_program(config, overrides, allow_commands)
    _trust_code_of(config)
    return loop.train(folder, config, False, callbacks)


def _resume(
    folder: Path,
    config: Path | Config | None,
    overrides: list[str],
    callbacks: Sequence[Callback],
    allow_commands: bool,
) -> RunView:
    """Continues a run. `config` may be given, too; it must be for the same game."""
    check_is_run(folder)
    with hold(folder):  # before the settings are read: another process may be changing them
        if config is not None:
            with suppress(BadInput):  # its game's file may have been moved with the run
                _trust_code_of(_loaded(config, []))
        values = open_run(folder, overrides)
        _check_program(values, overrides, allow_commands)
        if config is not None:
            check_same_game(folder, values, _loaded(config, []))
            other = _loaded(config, overrides).model_copy(update={"game": values.game})  # the path may differ
            if not is_settled_from(values, other):
                name = "the config" if isinstance(config, Config) else config
                say(f"{folder} continues with its own settings, which differ from {name}")
        return loop.train(folder, values, True, callbacks)


def _loaded(config: Path | Config, overrides: list[str]) -> Config:
    return config if isinstance(config, Config) else load_config(config, overrides)


def _trust_code_of(config: Config) -> None:
    """Trusts the files of a user's game and net in this process, since its caller has named the config."""
    trust_game(config.game.name)
    trust_net(config.net.architecture)


def _check_program(config: Config, overrides: list[str], is_allowed: bool) -> None:
    """Raises BadInput if a file names a program to run, and the caller neither names nor allows it."""
    opponent = config.evaluation.opponent
    is_named = any(each.partition("=")[0].strip() in ("evaluation", "evaluation.opponent") for each in overrides)
    if config.evaluation.every and opponent.startswith("gtp:") and not (is_named or is_allowed):
        raise BadInput(
            f"the settings name a program, evaluation.opponent = {opponent!r}; it runs only with --allow-commands"
        )
