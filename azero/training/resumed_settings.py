"""Resuming a run: its settings with overrides, and checks that these fit the run."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from azero.config.reading import load_config
from azero.config.schema import Config, GameConfig, SearchConfig
from azero.config.selfplay import SelfPlayConfig
from azero.config.text import config_to_toml
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.games.names import file_of, is_made_with, without_folder
from azero.games.sizes import games_of
from azero.games.user.trust import Untrusted, trust_name
from azero.nets.checkpoint import load_checkpoint
from azero.nets.checkpoint_file import read_card
from azero.nets.runtimes.choice import wanted_runtimes
from azero.nets.users_files import find_named
from azero.system.console import say
from azero.system.files import remove, write_whole
from azero.training.heads.registry import HEADS
from azero.training.learning.trainer import Trainer
from azero.training.run import Run, has_state, repair_of
from azero.training.state import BEGINNING, Progress, others_among, read_settings, save_state, shards_at_beginning


def open_run(folder: Path, overrides: list[str]) -> Config:
    """Returns the settings of an existing run with overrides. Changes nothing in its folder.

    Seed, game, net, heads, optimiser and starts cannot change. The file of a user's own game may have been moved.

    Raises:
      BadInput: there is no run, its config.toml was changed by hand, or an override changes something that cannot
        change.
    """
    check_is_run(folder)
    _check_settings(folder)
    before, config = load_settings(folder), load_settings(folder, overrides)
    if any(each.partition("=")[0].strip() in ("game", "game.name") for each in overrides):
        trust_name(config.game.name, is_kept=True)  # the user has named it
    _check_game(folder, before, config)
    was, now = _identity(before), _identity(config)
    for name in was:
        if was[name] != now[name]:
            raise BadInput(f"a run's {name} cannot change when it is resumed; begin another with --run")
    return config


def check_is_run(folder: Path) -> None:
    """Raises BadInput if there is no run in `folder`, or none with a config.toml."""
    if not (folder / "config.toml").is_file():
        if has_state(folder):
            raise BadInput(f"run {str(folder)!r} has no config.toml; {repair_of(folder)} may mend it")
        reason = (
            "it has no config.toml" if folder.is_dir() else "it is a file" if folder.exists() else "it does not exist"
        )
        raise BadInput(f"there is no run in {str(folder)!r}: {reason}")


def load_settings(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Returns a run's settings with overrides. A user's own game and net are named by the present place of their files.

    Raises BadInput.
    """
    path = folder / "config.toml"
    config = load_config(path, is_of_run=True)
    newest = _newest_checkpoint(folder)
    if newest:
        card = read_card(newest)
        game = find_named(config.game.name, card.origin_of_game, newest)
        net = find_named(config.net.name, card.origin_of_net, newest)
        overrides = [f"game.name={_quoted(game)}", f"net.name={_quoted(net)}", *overrides]
    return load_config(path, overrides, is_of_run=True)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def game_of_run(folder: Path, config: GameConfig) -> Game:
    """Returns the game of a run, of several sizes the largest; raises BadInput, Untrusted with what to do."""
    try:
        return games_of(config)[-1]
    except Untrusted as error:
        advice = f"if you trust it, name it first, e.g. with azero check-game {config.name!r}"
        raise Untrusted(f"run {str(folder)!r}: {error}; {advice}") from None
    except BadInput as error:
        raise BadInput(f"run {str(folder)!r}: {error}") from None


def _check_settings(folder: Path) -> None:
    """Raises BadInput if config.toml differs from the settings in the run's state, beyond the folder of a game's file.

    A run that goes on with other settings does not play the same games as without a break. `--set` says so openly.
    """
    path, states = folder / "config.toml", read_settings(folder)
    own = load_config(path, is_of_run=True).model_dump(mode="json")
    found = [differences(own, saved) for saved in states]
    if found and all(found):
        (name, here, there), *more = found[0]
        raise BadInput(
            f"config {str(path)!r} has {name} = {here!r}, and the run was saved with {there!r}"
            f"{f' (and {len(more)} more)' if more else ''}; undo that, e.g. with "
            f"{repair_of(folder)}, and change settings with --set"
        )


def differences(own: dict, saved: dict) -> list[tuple[str, object, object]]:
    """Returns the settings in both dictionaries, nested by section, whose values differ: name, own and saved value."""
    found: list[tuple[str, object, object]] = []
    for key, value in own.items():
        if isinstance(value, dict) and isinstance(saved.get(key), dict):
            found += [(f"{key}.{name}", one, other) for name, one, other in differences(value, saved[key])]
        elif key in saved and value != saved[key]:
            found.append((key, value, saved[key]))
    return [each for each in found if each[0] not in _FILE_SETTINGS or not _is_same_name(*each[1:])]


_FILE_SETTINGS = ("game.name", "net.name")
"""Settings that may name a user's file, which may have been moved."""


def _is_same_name(*names: object) -> bool:
    """Returns whether two names differ at most in the folder of the file."""
    return len({without_folder(str(each)) for each in names}) == 1


def _newest_checkpoint(folder: Path) -> Path | None:
    """Returns the newest of the run's nets whose card can be read."""
    for path in sorted((folder / "checkpoints").glob("*.safetensors"), reverse=True):
        with suppress(Damaged):
            read_card(path)
            return path
    return None


def _identity(config: Config) -> dict[str, object]:
    """Returns the settings, other than the game, that the trainer's state depends on, by name."""
    training = config.training
    heads = {
        f"{head.name.replace('_', '-')} head (training.{head.name}_loss_weight, 0 or not)": (
            training.loss_weight(head.name) > 0
        )
        for head in HEADS
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
    newest = _newest_checkpoint(folder)
    nets = [path for path in (newest, folder / "candidate.safetensors") if path and path.is_file()]
    is_as_it_was = any(is_made_with(game.rules, read_card(path).game_digest) for path in nets)
    is_moved = file and is_as_it_was and config.game.sizes == before.game.sizes
    if config.game != before.game and not is_moved:
        moved = ", except for the place of an unchanged file" if file else ""
        raise BadInput(f"a run's game cannot change when it is resumed{moved}; begin another with --run")
    if newest and (file or file_of(config.net.name, "net")):
        load_checkpoint(newest, game)


def check_same_game(folder: Path, config: Config, other: Config) -> None:
    """Raises BadInput if `other`, a config for resuming, has another game than the run's settings `config`."""
    played, asked = (played_game(each.game) for each in (config, other))
    if played != asked:
        raise BadInput(f"run {str(folder)!r} plays {played}, and cannot continue with a config for {asked}")


def played_game(config: GameConfig) -> str:
    """Returns the name of a run's game with its sizes, but without the folder of a user's file."""
    name = without_folder(config.name) if file_of(config.name) else str(make_trusted_game(config.name))
    return f"{name} in sizes {list(config.sizes)}" if config.sizes else name


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
                f"run {str(run.folder)!r} has played, but its state.safetensors is missing; "
                f"{repair_of(run.folder)} may mend it"
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

    A game whose file was found by its path from the run's folder keeps its name in config.toml. If settings of
    self-play change, the games of the current iteration are repeated.
    """
    path = run.folder / "config.toml"
    before = load_settings(run.folder)
    if run.config == before:
        return
    if _play_of(run.config) != _play_of(before):
        kept = {*(progress.shards if progress else []), *shards_at_beginning(run.folder)}
        for shard in (run.folder / "replay").glob("*.safetensors"):
            if shard.stem not in kept:
                remove(shard)
    named = load_config(path, is_of_run=True)  # by their first places
    same = {key: getattr(named, key) for key in ("game", "net") if getattr(run.config, key) == getattr(before, key)}
    if progress:  # first: a process that is killed in between leaves a state that fits both files
        save_state(run.folder, run.config, trainer, progress, before)
    write_whole(path, config_to_toml(run.config.model_copy(update=same)).encode())


def _play_of(config: Config) -> tuple[SelfPlayConfig, SearchConfig]:
    """Returns the settings on which the games of self-play depend. How many are played at once is none of them."""
    selfplay = config.selfplay.model_copy(update={"num_workers": 0, "parallel_games": 0})
    return selfplay, config.search.model_copy(update={"stop_early": False})
