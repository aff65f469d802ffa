"""A run's settings: config.toml, in which all of them are, and the game that they name."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from azero.config.reading import load_config
from azero.config.schema import FILE_SETTINGS, Config, GameConfig, named_files
from azero.config.text import config_to_toml
from azero.errors import BadInput, Damaged
from azero.games import Game
from azero.games.make import make_trusted_game
from azero.games.names import file_of, without_folder
from azero.games.sizes import games_of
from azero.games.user.trust import Untrusted
from azero.nets.checkpoint_file import read_card
from azero.nets.origins import find_named
from azero.runs.folder import CHECKPOINTS, CONFIG, files_in
from azero.system.files import write_whole

_FILE_SETTINGS = {f"{section}.{key}": kind for (section, key), kind in FILE_SETTINGS.items()}
"""Settings that may name a user's file, which may have been moved; with what the file has."""


def write_settings(folder: Path, config: Config) -> None:
    """Writes config.toml. With it, a folder is that of a run."""
    write_whole(folder / CONFIG, config_to_toml(config).encode())


def read_settings(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Returns a run's settings with overrides, as config.toml names them; raises BadInput."""
    return load_config(folder / CONFIG, overrides, is_of_run=True)


def find_settings(folder: Path, overrides: Sequence[str] = ()) -> Config:
    """Returns a run's settings with overrides. What is in a user's file is named by the file's present place.

    Raises BadInput.
    """
    names = named_files(read_settings(folder))
    newest = newest_checkpoint(folder)
    if newest:
        origins = read_card(newest).origins
        for kind in ("rule", "root"):  # which may have changed since that net was saved
            if without_folder(names[kind]) != without_folder(origins[kind].name):
                del names[kind]
        found = {kind: find_named(name, origins[kind], newest) for kind, name in names.items()}
        places = [f"{key}={_quoted(found[kind])}" for key, kind in _FILE_SETTINGS.items() if kind in found]
        overrides = [*places, *overrides]
    return read_settings(folder, overrides)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def newest_checkpoint(folder: Path) -> Path | None:
    """Returns the newest of the run's nets whose card can be read."""
    for path in reversed(files_in(folder, CHECKPOINTS)):
        with suppress(Damaged):
            read_card(path)
            return path
    return None


def game_of_run(folder: Path, config: GameConfig) -> Game:
    """Returns the game of a run, of several sizes the largest; raises BadInput, Untrusted with what to do."""
    try:
        return games_of(config)[-1]
    except Untrusted as error:
        advice = f"if you trust it, name it first, e.g. with azero check-game {config.name!r}"
        raise Untrusted(f"run {str(folder)!r}: {error}; {advice}") from None
    except BadInput as error:
        raise BadInput(f"run {str(folder)!r}: {error}") from None


def played_game(config: GameConfig) -> str:
    """Returns the name of a run's game with its sizes, but without the folder of a user's file."""
    name = without_folder(config.name) if file_of(config.name) else str(make_trusted_game(config.name))
    return f"{name} in sizes {list(config.sizes)}" if config.sizes else name


def differences(one: Config, other: Config) -> list[tuple[str, object, object]]:
    """Returns the settings whose values differ, beyond the folder of a user's file: name, and both values."""
    found = []
    for section, own in one.model_dump(mode="json").items():
        others = other.model_dump(mode="json")[section]
        named = {section: (own, others)}
        if isinstance(own, dict):
            named = {f"{section}.{key}": (value, others[key]) for key, value in own.items()}
        found += [(name, here, there) for name, (here, there) in named.items() if here != there]
    return [each for each in found if each[0] not in _FILE_SETTINGS or not _is_same_name(*each[1:])]


def _is_same_name(*names: object) -> bool:
    """Returns whether two names differ at most in the folder of the file."""
    return len({without_folder(str(each)) for each in names}) == 1
