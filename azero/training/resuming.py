"""Resuming a run: its settings with overrides, and checks that these fit the run."""

from pathlib import Path

from azero.config.schema import FILE_SETTINGS, Config, SearchConfig, SelfPlayConfig, named_files
from azero.errors import BadInput, Damaged
from azero.games.names import file_of, is_made_with, source_digest_of, without_folder
from azero.games.user.trust import trust_name
from azero.heads import HEADS
from azero.mcts import selection_from_config
from azero.mcts.reference.trial import try_strategies
from azero.mcts.roots.strategies import root_from_config
from azero.nets.checkpoint import load_checkpoint
from azero.nets.checkpoint_file import read_card
from azero.nets.runtimes.fastest import wanted_runtimes
from azero.runs.folder import BEGINNING, CONFIG, STATE, RunFolder, check_is_run, repair_of, shards_in
from azero.runs.settings import (
    differences,
    find_settings,
    game_of_run,
    newest_checkpoint,
    played_game,
    read_settings,
    write_settings,
)
from azero.runs.state import Progress, others_among, read_state, shards_at_beginning
from azero.system.console import say
from azero.system.files import remove
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, save_state


def open_run(folder: Path, overrides: list[str]) -> Config:
    """Returns the settings of an existing run with overrides. Changes nothing in its folder.

    Seed, game, net, heads, optimiser and starts cannot change. The file of a user's own game may have been moved.

    Raises:
      BadInput: there is no run, its config.toml was changed by hand, or an override changes something that cannot
        change.
    """
    check_is_run(folder)
    _check_settings(folder)
    before, config = find_settings(folder), find_settings(folder, overrides)
    given, names = {each.partition("=")[0].strip() for each in overrides}, named_files(config)
    for (section, key), kind in FILE_SETTINGS.items():
        if given & {section, f"{section}.{key}"}:
            trust_name(names[kind], kind, is_kept=True)  # the user has named it
    _check_game(folder, before, config)
    _check_search(folder, config)
    was, now = _identity(before), _identity(config)
    for name in was:
        if was[name] != now[name]:
            raise BadInput(f"a run's {name} cannot change when it is resumed; begin another with --run")
    return config


def _check_settings(folder: Path) -> None:
    """Raises BadInput if config.toml differs from the settings in the run's state, beyond the folder of a game's file.

    A run that goes on with other settings does not play the same games as without a break. `--set` says so openly.
    """
    own = read_settings(folder)
    states = read_state(folder / STATE).settings if (folder / STATE).exists() else []
    found = [differences(own, saved) for saved in states]
    if found and all(found):
        (name, here, there), *more = found[0]
        raise BadInput(
            f"config {str(folder / CONFIG)!r} has {name} = {here!r}, and the run was saved with {there!r}"
            f"{f' (and {len(more)} more)' if more else ''}; undo that, e.g. with "
            f"{repair_of(folder)}, and change settings with --set"
        )


def _identity(config: Config) -> dict[str, object]:
    """Returns the settings, other than the game, that the trainer's state depends on, by name."""
    training = config.training
    heads = {
        f"{head.name.replace('_', '-')} head (training.{head.name}_loss_weight, 0 or not)": (
            training.loss_weight(head.name) > 0
        )
        for head in HEADS.values()
    }
    return {
        "seed": config.seed,
        "net": config.net,
        "training.optimizer": training.optimizer,
        "training.first_net": training.first_net,
        "replay.first_games": config.replay.first_games,
        "selfplay.starts": config.selfplay.starts,
        **heads,
    }


def _check_game(folder: Path, before: Config, config: Config) -> None:
    """Raises BadInput if the run's game is missing, another one, or does not fit its nets; warns of other changes."""
    name = config.game.name
    file = file_of(name)
    if file and not Path(file).exists():
        advice = f"name its new place with --set 'game.name=path/to/{without_folder(name)}'"
        raise BadInput(f"run {str(folder)!r} plays {name}, and there is no such file; {advice}")
    game = game_of_run(folder, config.game)
    newest = newest_checkpoint(folder)
    nets = [path for path in (newest, RunFolder(folder).candidate_path) if path and path.is_file()]
    is_as_it_was = any(is_made_with(game.rules, read_card(path).game_digest) for path in nets)
    is_moved = file and is_as_it_was and config.game.sizes == before.game.sizes
    if config.game != before.game and not is_moved:
        moved = ", except for the place of an unchanged file" if file else ""
        raise BadInput(f"a run's game cannot change when it is resumed{moved}; begin another with --run")
    if newest and (file or file_of(config.net.name, "net")):
        load_checkpoint(newest, game)


def _check_search(folder: Path, config: Config) -> None:
    """Raises BadInput if a user's selection rule or root strategy cannot be used; says if it has changed."""
    try:
        rule, root = selection_from_config(config.search), root_from_config(config)
        try_strategies(rule, root)
    except BadInput as error:
        raise type(error)(f"run {str(folder)!r}: {error}") from None
    if changed := _changed_files(folder, config, rule, root):
        say(f"run {str(folder)!r}: {' and '.join(changed)} changed since its newest net; the games will differ")


def _changed_files(folder: Path, config: Config, rule: object, root: object) -> list[str]:
    """Returns the names of a user's rule and root whose code has changed since the newest net."""
    newest = newest_checkpoint(folder)
    origins, names = read_card(newest).origins if newest else {}, named_files(config)
    return [
        names[kind]
        for kind, strategy in ((("rule", rule), ("root", root)) if origins else ())
        if without_folder(names[kind]) == without_folder(origins[kind].name)
        and origins[kind].digest != source_digest_of(strategy)
    ]


def check_same_game(folder: Path, config: Config, other: Config) -> None:
    """Raises BadInput if `other`, a config for resuming, has another game than the run's settings `config`."""
    played, asked = (played_game(each.game) for each in (config, other))
    if played != asked:
        raise BadInput(f"run {str(folder)!r} plays {played}, and cannot continue with a config for {asked}")


def check_runtime(config: Config, is_resuming: bool) -> None:
    """Raises BadInput if no runtime of this machine is what the settings ask for."""
    try:
        wanted_runtimes(config.device)
    except BadInput as error:
        advice = "; choose another with --set device.runtime=auto --set device.precision=auto; the games will differ"
        raise BadInput(f"{error}{advice if is_resuming else ''}") from None


def check_progress(run: Run, progress: Progress | None) -> None:
    """Prints a notice if a run is over. `progress` is None if there is no saved state.

    Raises BadInput if the state of a run that had begun is missing, or if the run has done more iterations than wanted.
    """
    if progress is None:
        if run.metrics_path.exists() or (run.folder / BEGINNING).exists():
            raise BadInput(
                f"run {str(run.folder)!r} has played, but its {STATE} is missing; {repair_of(run.folder)} may mend it"
            )
        return
    num_played, wanted = progress.iteration - 1, run.config.training.iterations
    if num_played > wanted:
        raise BadInput(
            f"training.iterations = {wanted} is less than the {num_played} that run {str(run.folder)!r} has played; "
            "go on with --set training.iterations=N"
        )
    if num_played == wanted:
        without = "" if progress.final or not run.config.gate.final_games else ", without a final"
        say(
            f"run {str(run.folder)!r} has played its {wanted} iterations{without}, and there is nothing to do; "
            "go on with --set training.iterations=N"
        )


def check_files(run: Run, progress: Progress | None) -> None:
    """Raises Damaged if another file is in the place of one that the run's state names. See `Progress.digests`."""
    for path in others_among(run.folder, progress.digests) if progress else ():
        raise Damaged(f"{str(path)!r} is another file than the one that the run's state names")


def keep_settings(run: Run, progress: Progress | None, trainer: Trainer) -> None:
    """Writes the new settings to config.toml and to the state. Call it only after all checks.

    What is in a file that was found by its path from the run's folder keeps its name in config.toml. If settings of
    self-play, or the code of a user's search, change, the games of the current iteration are repeated.
    """
    before = find_settings(run.folder)
    strategies = selection_from_config(run.config.search), root_from_config(run.config)
    is_changed = bool(_changed_files(run.folder, run.config, *strategies))
    if run.config == before and not is_changed:
        return
    if is_changed or _play_of(run.config) != _play_of(before):
        kept = {*(progress.shards if progress else []), *shards_at_beginning(run.folder)}
        for shard in shards_in(run.folder):
            if shard.name not in kept:
                remove(shard.path)
    named = read_settings(run.folder)  # by their first places
    sections = {section for section, _ in FILE_SETTINGS}
    same = {key: getattr(named, key) for key in sections if getattr(run.config, key) == getattr(before, key)}
    if progress:  # first: a process that is killed in between leaves a state that fits both files
        save_state(run.folder, run.config, trainer, progress, before)
    write_settings(run.folder, run.config.model_copy(update=same))


def _play_of(config: Config) -> tuple[SelfPlayConfig, SearchConfig]:
    """Returns the settings on which the games of self-play depend. How many are played at once is none of them."""
    selfplay = config.selfplay.model_copy(update={"num_workers": 0, "parallel_games": 0})
    return selfplay, config.search.model_copy(update={"stop_early": False})
