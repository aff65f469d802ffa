"""Finds the file of a user's own game: by its path from the working folder, or by its path from the run's folder.

A card has both paths. With the second one the file is found from any working folder, and after run and file have been
moved together.
"""

import os
from pathlib import Path

from azero.errors import BadInput
from azero.games.names import file_of
from azero.games.user.loading import digest_of_file
from azero.nets.checkpoint_card import Card


def place_of(game: str, run_folder: Path) -> str:
    """Returns the path from a run's folder to the file of a user's own game; empty for azero's own games."""
    file = file_of(game)
    if file is None:
        return ""
    try:
        return Path(os.path.relpath(Path(file).resolve(), run_folder.resolve())).as_posix()
    except ValueError:  # on another drive of Windows
        return str(Path(file).resolve())


def find_game(game: str, card: Card, path: Path) -> str:
    """Returns the name of a game, with the file that the card most likely means. Runs no code.

    There are two candidates: the file in the name, and the file at the card's path from the run's folder. The one with
    the card's digest is chosen; if neither has it, the second. Without a second file the name stays as it is, and so do
    the names of azero's own games.

    Args:
      path: path of the checkpoint with that card, in a run's folder or in its checkpoints/.
    """
    file = file_of(game)
    if file is None or not card.game_file:
        return game
    folder = path.resolve().parent
    run_folder = folder.parent if folder.name == "checkpoints" else folder
    beside = os.path.normpath(run_folder / card.game_file)
    if not Path(beside).is_file() or (Path(file).is_file() and Path(file).samefile(beside)):
        return game
    if _has_digest(file, card.game_digest):
        return game
    return game.replace(file, beside, 1)


def _has_digest(file: str, digest: str) -> bool:
    try:
        return digest_of_file(file) == digest
    except BadInput:  # it is not there
        return False
